"""Create files that only their owner can read, where the XDG specification puts them.

A temporary file is named after the process that writes it (host, PID namespace, process id and
start time), so that a later process can check whether it is still being written, and remove it.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping
from typing import BinaryIO, Literal

from spackscope.model.core.bounded_files import open_file, too_large
from spackscope.model.core.errors import Unwritable

ABANDONED_SECONDS = 24 * 3600
"""Age after which a temporary file is removed although its process cannot be looked up."""

_XDG_DEFAULTS = {"cache": ".cache", "state": ".local/state", "data": ".local/share"}
_SUFFIX = ".tmp"
_TEMPORARY = r"\..*\.(?P<host>[^.]+)\.(?P<pid>[0-9]{1,9})\.(?P<start>[0-9]+)\.[^.]*\.tmp"


def xdg_dir(environ: Mapping[str, str], kind: Literal["cache", "state", "data"]) -> str | None:
    """Return the program's directory in XDG_CACHE_HOME or the like, or in its default.

    Relative paths are ignored, as the specification asks; None without a home directory.

    >>> xdg_dir({"HOME": "/home/ann"}, "cache")
    '/home/ann/.cache/spackscope'
    """
    base = environ.get(f"XDG_{kind.upper()}_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(environ.get("HOME", ""), _XDG_DEFAULTS[kind])
    return os.path.join(base, "spackscope") if os.path.isabs(base) else None


def sha256_of(file: BinaryIO) -> str:
    """Return the hexadecimal digest of a file from where it is read. Raises OSError."""
    digest = hashlib.sha256()
    while part := file.read(1 << 20):
        digest.update(part)
    return digest.hexdigest()


def write_atomically(path: str, data: bytes) -> None:
    """Replace a file, or create it, so that no reader sees a part of it. Raises OSError."""
    with temporary_file(os.path.dirname(path), os.path.basename(path)) as file:
        file.write(data)
        file.flush()
        os.replace(file.name, path)


def write_private(path: str, data: bytes) -> None:
    """Write a file in a directory of the program's, for the user alone and never through a link.

    Missing directories are created, and what abandoned writes left is removed. Raises
    Unwritable, where there is something else than a regular file too.
    """
    directory = os.path.dirname(path)
    try:
        private_directory(directory)
        if os.path.lexists(path) and not stat.S_ISREG(os.lstat(path).st_mode):
            raise Unwritable(f"{path} is not a regular file")
        remove_abandoned(directory)
        write_atomically(path, data)
    except (OSError, ValueError) as error:
        reason = str(getattr(error, "strerror", None) or error).lower()
        raise Unwritable(f"cannot write to {directory} ({reason})") from None


def open_private(path: str) -> BinaryIO:
    """Open a file in a directory of the program's, never through a link.

    Raises OSError for one that somebody else may have written.
    """
    keep_private(os.path.dirname(path))
    file = open_file(path, follows_links=False)
    status = os.fstat(file.fileno())
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        file.close()
        raise PermissionError(errno.EPERM, "others can write to it", path)
    return file


def read_private(path: str, max_size: int) -> bytes:
    """Return the content of a file as `open_private` opens it. Raises OSError."""
    with open_private(path) as file:
        data = file.read(max_size + 1)
    if len(data) > max_size:
        raise too_large(None, max_size)
    return data


def make_directories(path: str) -> None:
    """Create a directory and its missing parents, whatever the umask is. Raises OSError."""
    if os.path.isdir(path):
        return
    parent = os.path.dirname(path)
    if not os.path.lexists(parent):
        # os.makedirs would create the parents with all rights that the umask leaves.
        make_directories(parent)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        if not os.path.isdir(path):
            raise


def private_directory(path: str) -> None:
    """Create a directory unless it exists, and keep everybody else out. Raises OSError."""
    make_directories(path)
    keep_private(path)


def keep_private(path: str) -> None:
    """Remove all rights of group and others to a directory.

    Raises OSError where others could still write to it, as on a file system without modes, or
    where the directory or the link to it belongs to another user.
    """
    for status in (os.lstat(path), os.stat(path)):
        if status.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "it belongs to another user", path)
    if status.st_mode & 0o077:
        # On a read-only file system an index can still be read.
        with contextlib.suppress(OSError):
            os.chmod(path, stat.S_IMODE(status.st_mode) & 0o700)
        if os.stat(path).st_mode & 0o022:
            raise PermissionError(errno.EPERM, "others can write to it", path)


@contextlib.contextmanager
def temporary_file(directory: str, stem: str, *, mode: int = 0o600) -> Iterator[BinaryIO]:
    """Create a file with a mode in a directory, never through a link, and open it.

    It is removed afterwards unless it was renamed. Raises OSError.
    """
    owner = f"{_host()}.{os.getpid()}.{_started(os.getpid()) or 0}"
    path = os.path.join(directory, f".{stem}.{owner}.{os.urandom(8).hex()}{_SUFFIX}")
    try:
        # Opened in here, so that a signal at any moment leaves no file.
        with open(path, "x+b", opener=lambda path, flags: os.open(path, flags, mode)) as file:
            yield file
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)


def file_system_time(directory: str) -> float:
    """Return the time in seconds since 1970 as a file system has it, whose clock may be another.

    Ages of files are measured by it. Raises OSError.
    """
    with temporary_file(directory, "time") as file:
        return os.fstat(file.fileno()).st_mtime


def is_temporary(name: str) -> bool:
    """Check whether a file has the name of a temporary one."""
    return name.startswith(".") and name.endswith(_SUFFIX)


def tidy(directory: str) -> None:
    """Remove temporary files whose process is gone, and the rights of others to the rest.

    Looks into the directories directly below, too. What cannot be changed stays as it is.
    """
    with contextlib.suppress(OSError):
        keep_private(directory)
        for entry in os.scandir(directory):
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                if stat.S_ISDIR(status.st_mode):
                    keep_private(entry.path)
                    remove_abandoned(entry.path)
                elif is_temporary(entry.name):
                    _remove_if_abandoned(entry.path, status)
                elif (
                    stat.S_ISREG(status.st_mode)
                    and status.st_mode & 0o077
                    and status.st_uid == os.geteuid()
                ):
                    os.chmod(entry.path, 0o600)


def remove_abandoned(directory: str) -> None:
    """Remove the temporary files in a directory whose process is gone."""
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if is_temporary(entry.name):
                with contextlib.suppress(OSError):
                    _remove_if_abandoned(entry.path, entry.stat(follow_symlinks=False))


def _remove_if_abandoned(path: str, status: os.stat_result) -> None:
    match = re.fullmatch(_TEMPORARY, os.path.basename(path))
    if match is not None and match["host"] == _host():
        is_abandoned = not _is_running(int(match["pid"]), int(match["start"]))
    else:
        age = file_system_time(os.path.dirname(path)) - status.st_mtime
        is_abandoned = age > ABANDONED_SECONDS
    if is_abandoned:
        os.unlink(path)


def _is_running(pid: int, started: int) -> bool:
    """Check whether a process of this host runs that was started at this time (0: unknown)."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        # It belongs to another user, who may have been given the number since.
        pass
    now = _started(pid)
    return now is None or not started or now == started


def _started(pid: int) -> int | None:
    """Return when a process was started, 0 for one that has ended, or None where /proc is missing.

    It is field 22 of /proc/PID/stat, in clock ticks since boot (proc(5)).
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            fields = file.read().rpartition(b")")[2].split()
        return 0 if fields[0] in (b"Z", b"X") else int(fields[19])
    except (OSError, IndexError, ValueError):
        return None


@functools.cache
def _host() -> str:
    """Name this host, and the namespace that its process ids belong to."""
    name = re.sub("[^A-Za-z0-9-]", "-", os.uname().nodename)[:64]
    with contextlib.suppress(OSError):
        name += f"+{os.stat('/proc/self/ns/pid').st_ino}"
    return name
