"""Unpack spackscope.pyz into a cache directory, and start the program from there.

The directories, and what makes one of them usable, are those of start.sh, which finds what was
unpacked without starting Python twice. No lock is needed, as each process unpacks into a directory
of its own and renames it; some file systems of clusters do not have locks.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from zipfile import BadZipFile, ZipFile

_UNUSED_SECONDS = 30 * 24 * 3600
_PARTIAL_SECONDS = 24 * 3600
_PARTIAL = ".unpacking-"
_FAILED = 3


def start() -> None:
    """Replace this process by the program; unpack it first if that has not been done."""
    archive = os.path.abspath(sys.argv[0])
    try:
        start_file = _unpack_somewhere(archive)
    except KeyboardInterrupt:
        sys.exit(130)
    except (BadZipFile, zlib.error, EOFError, KeyError, ValueError):
        print(f"spackscope: {archive} is damaged or cut off: copy it again", file=sys.stderr)
        sys.exit(_FAILED)
    os.environ["SPACKSCOPE_PYZ"] = archive
    os.execv(sys.executable, [sys.executable, start_file, *sys.argv[1:]])


def _unpack_somewhere(archive: str) -> str:
    """Return the path of start.py in the first directory that the archive can be unpacked to."""
    reasons = []
    for directory, is_shared in _directories():
        try:
            unpacked = _unpack(archive, directory, is_shared)
            _note_python(unpacked)
        except OSError as error:
            reasons.append(f"{directory}: {error.strerror or error}")
        else:
            return os.path.join(unpacked, "start.py")
    print(
        f"spackscope cannot be unpacked ({'; '.join(reasons)}): set XDG_CACHE_HOME to a directory"
        " that you can write to",
        file=sys.stderr,
    )
    sys.exit(_FAILED)


def _directories() -> Iterator[tuple[str, bool]]:
    """Yield the directories to unpack to, and whether others can write to the one above it."""
    cache = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(cache):
        cache = os.path.join(os.environ.get("HOME", ""), ".cache")
    if os.path.isabs(cache):
        yield os.path.join(cache, "spackscope", "pyz"), False
    shared = os.environ.get("TMPDIR") or "/tmp"
    yield os.path.join(shared, f"spackscope-{os.getuid()}"), True


def _unpack(archive: str, directory: str, is_shared: bool) -> str:
    """Unpack an archive below a directory unless it is there; return where. Raises OSError."""
    with ZipFile(archive) as file:
        unpacked = os.path.join(directory, file.read("build").decode())
        _make_directories(directory)
        _check_ours(directory, is_shared)
        # Where old files are removed, some may be missing by now.
        if _is_private(unpacked) and not is_shared:
            return unpacked
        _remove_unused(directory)
        with tempfile.TemporaryDirectory(prefix=_PARTIAL, dir=directory) as partial:
            new = os.path.join(partial, "new")
            names = [name for name in file.namelist() if name.startswith(("start.py", "site/"))]
            umask = os.umask(0o077)
            try:
                file.extractall(new, names)
                with open(os.path.join(new, "python"), "w", encoding="utf-8") as python:
                    python.write(f"{sys.executable}\n")
            finally:
                # The program has that of the user.
                os.umask(umask)
            if os.path.isdir(unpacked) and (is_shared or not _is_private(unpacked)):
                os.rename(unpacked, os.path.join(partial, "old"))
            _rename(new, unpacked)
    return unpacked


def _make_directories(path: str) -> None:
    """Create a directory and its missing parents for their owner alone. Raises OSError."""
    if not os.path.isdir(path):
        _make_directories(os.path.dirname(path))
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)


def _check_ours(directory: str, is_shared: bool) -> None:
    """Raise PermissionError if others could have put something into a directory.

    With sudo the home may be that of another user.
    """
    status = os.lstat(directory) if is_shared else os.stat(directory)
    if not stat.S_ISDIR(status.st_mode) or not _is_ours(status):
        raise PermissionError(errno.EPERM, "it belongs to others, or they can write to it")


def _is_ours(status: os.stat_result) -> bool:
    """Check whether a file is the user's, and nobody else can write to it."""
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


def _is_private(unpacked: str) -> bool:
    """Check whether start.sh would run what has been unpacked."""
    try:
        parts = ("", "site", "start.py", "python")
        return all(_is_ours(os.stat(os.path.join(unpacked, part))) for part in parts)
    except OSError:
        return False


def _rename(new: str, unpacked: str) -> None:
    """Move a directory to its name, where another process may have put its own. Raises OSError."""
    try:
        os.rename(new, unpacked)
    except OSError:
        if not os.path.isfile(os.path.join(unpacked, "start.py")):
            raise


def _remove_unused(directory: str) -> None:
    """Remove versions that have not been started for long, and what was left half unpacked."""
    now = time.time()
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            is_partial = entry.name.startswith(_PARTIAL)
            path = entry.path if is_partial else os.path.join(entry.path, "start.py")
            with contextlib.suppress(OSError):
                status = os.stat(path)
                # Some file systems do not record when a file is read.
                age = now - max(status.st_atime, status.st_mtime)
                if age > (_PARTIAL_SECONDS if is_partial else _UNUSED_SECONDS):
                    shutil.rmtree(entry.path, ignore_errors=True)


def _note_python(unpacked: str) -> None:
    """Note this Python for start.sh if the one noted is gone.

    A directory that has become read-only is used as it is.
    """
    path = os.path.join(unpacked, "python")
    with contextlib.suppress(OSError):
        with open(path, encoding="utf-8") as file:
            noted = file.readline().rstrip("\n")
        if not os.access(noted, os.X_OK):
            with tempfile.NamedTemporaryFile("w", dir=unpacked, delete=False) as new:
                new.write(f"{sys.executable}\n")
            os.replace(new.name, path)
