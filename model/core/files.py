"""Read and write files: within bounds, for their owner alone, and completely or not at all.

Files of any kind are read without blocking. The program's own files are where the XDG
specification puts them, and only their owner can read them. A file that the user names is written
beside its name and renamed: a link stays, and its target is replaced; only regular files are,
never a device or a pipe.

A temporary file is named after the process that writes it (host, PID namespace, process id and
start time), so that a later process can check whether it is still being written, and remove it.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import hashlib
import io
import os
import re
import stat
from collections.abc import Callable, Iterator, Mapping
from typing import IO, Any, BinaryIO, Literal

from spackscope.model.core.errors import Cancelled, Unwritable, reason
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.text import clean

MAX_FILE_SIZE = 2**30
"""Bytes of a file that are read; an index of 60,000 specs with 20 dependencies each has 206 MB."""

MAX_EXPANSION = 100
"""How many times its size a document may unpack to; indexes pack to a tenth or twentieth."""

SMALL_UNPACKED_SIZE = 2**26
"""Bytes to which any document may unpack, since small ones may repeat themselves more."""

MAX_GZIP_MEMBERS = 2**16
"""Consecutive members of a gzip file; bgzip writes one for every 64 KiB."""

_PIECE = 2**20
_HEAD = 16


class _NonBlocking(io.FileIO):
    """File that raises OSError where a read would block, as with some files of the kernel."""

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer."""
        size = super().readinto(buffer)
        if size is None:
            raise BlockingIOError(errno.EAGAIN, "nothing can be read from it now")
        return size


def too_large(size: int | None, max_size: int) -> OSError:
    """Return the error that names the size, where it is known, and the limit."""
    if size is None:
        return OSError(f"it is larger than the {max_size:,} bytes that are read")
    return OSError(f"it has {size:,} bytes; at most {max_size:,} are read")


def open_file(path: str, *, follows_links: bool = True) -> BinaryIO:
    """Open a regular file, or a link to one, for reading. Raises OSError."""
    more_flags = 0 if follows_links else os.O_NOFOLLOW
    file = io.BufferedReader(
        _NonBlocking(path, opener=lambda name, flags: _open_nonblocking(name, flags | more_flags))
    )
    try:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is not a regular file")
    except BaseException:
        file.close()
        raise
    return file


def read_file(
    path: str,
    max_size: int = MAX_FILE_SIZE,
    is_wanted: Callable[[bytes], bool] | None = None,
) -> bytes:
    """Return the content of a regular file, or its first bytes unless `is_wanted` is true of them.

    Raises OSError.
    """
    # Reading through a file object takes twice the time.
    descriptor = _open_nonblocking(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        if not stat.S_ISREG(status.st_mode):
            raise OSError("it is not a regular file")
        head = b""
        if is_wanted is not None and not is_wanted(head := os.read(descriptor, _HEAD)):
            return head
        return _read_rest(descriptor, head, status.st_size, max_size)
    finally:
        os.close(descriptor)


def read_head(path: str, size: int) -> bytes:
    """Return the first bytes of a regular file, which may be larger. Raises OSError."""
    with open_file(path) as file:
        return file.read(size)


def _read_rest(descriptor: int, head: bytes, stated: int, max_size: int) -> bytes:
    """Return the content of a file of a stated size, whose head was read. Raises OSError."""
    if stated > max_size:
        raise too_large(stated, max_size)
    part = os.read(descriptor, max(stated - len(head), 0) + 1)
    parts, size = [head, part], len(head) + len(part)
    # The file grew or shrank, or is one of the kernel's, which are all of size 0.
    while part and size != stated and size <= max_size:
        part = os.read(descriptor, _PIECE)
        parts.append(part)
        size += len(part)
    if size > max_size:
        raise too_large(None, max_size)
    return b"".join(parts)


def copy_stream(source: BinaryIO, target: IO[bytes], max_size: int = MAX_FILE_SIZE) -> None:
    """Copy a stream of unknown length. Raises OSError."""
    status = os.fstat(source.fileno())
    if stat.S_ISREG(status.st_mode) and status.st_size > max_size:
        raise too_large(status.st_size, max_size)
    size = 0
    while part := source.read(_PIECE):
        size += len(part)
        if size > max_size:
            raise too_large(None, max_size)
        target.write(part)


def _open_nonblocking(path: str, flags: int) -> int:
    # A FIFO without a writer would otherwise block forever.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def max_unpacked_size(packed: int) -> int:
    """Return how many bytes so many packed bytes may unpack to, unless they are a bomb."""
    return max(SMALL_UNPACKED_SIZE, MAX_EXPANSION * packed)


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
        cause = str(getattr(error, "strerror", None) or error).lower()
        raise Unwritable(f"cannot write to {directory} ({cause})") from None


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
        remove_abandoned(directory)
        for entry in os.scandir(directory):
            with contextlib.suppress(OSError):
                status = entry.stat(follow_symlinks=False)
                is_own = status.st_uid == os.geteuid()
                if stat.S_ISDIR(status.st_mode):
                    keep_private(entry.path)
                    remove_abandoned(entry.path)
                elif stat.S_ISREG(status.st_mode) and status.st_mode & 0o077 and is_own:
                    os.chmod(entry.path, 0o600)


def remove_abandoned(directory: str) -> None:
    """Remove the temporary files in a directory whose process is gone."""
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if is_temporary(entry.name):
                with contextlib.suppress(OSError):
                    if _is_abandoned(entry):
                        os.unlink(entry.path)


def _is_abandoned(entry: os.DirEntry[str]) -> bool:
    match = re.fullmatch(_TEMPORARY, entry.name)
    if match is not None and match["host"] == _host():
        return not _is_running(int(match["pid"]), int(match["start"]))
    changed = entry.stat(follow_symlinks=False).st_mtime
    return file_system_time(os.path.dirname(entry.path)) - changed > ABANDONED_SECONDS


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


_NOT_WRITTEN = "cannot be written"
_STEM = "spackscope"
"""Begins the temporary name: a long name with more at its end might be too long."""
_NEW_MODE = 0o666
"""The mode of a new file, from which the umask takes rights."""
_STEP = 500
"""Lines after which progress is shown."""


class OutputFile(Frozen):
    """Where a text is written: the path behind all links, and the size of the file there.

    `size` is None where there is no file yet.
    """

    path: str
    size: int | None


def find_output(name: str) -> OutputFile:
    """Return the file that a name means here, with `~` for the home directory.

    Raises Unwritable where no regular file can be written there.
    """
    if not name.strip():
        raise Unwritable("The file needs a name")
    status = None
    try:
        path = os.path.realpath(os.path.expanduser(name))
        with contextlib.suppress(FileNotFoundError):
            status = os.stat(path)
    except (OSError, ValueError) as error:
        raise Unwritable(f"{clean(name)} {reason(error, _NOT_WRITTEN)}") from None
    directory = path if name.endswith("/") else os.path.dirname(path)
    if status is None:
        if name.endswith("/") or not os.path.isdir(directory):
            raise Unwritable(f"There is no directory {clean(directory)}")
        return OutputFile(path, None)
    if stat.S_ISDIR(status.st_mode) or name.endswith("/"):
        raise Unwritable(f"{clean(name)} is a directory: add the name of a file")
    if not stat.S_ISREG(status.st_mode):
        raise Unwritable(f"{clean(name)} is not a regular file")
    return OutputFile(path, status.st_size)


def write_lines(
    output: OutputFile,
    lines: Iterator[str],
    *,
    on_lines: Callable[[int], object] = lambda count: None,
    should_stop: ShouldStop = never,
) -> int:
    """Write lines in UTF-8, each with a line end; return how many.

    `on_lines` is called with the number of those that are written. Until all are, the file stays
    as it was; it keeps its mode. Raises Unwritable, for a full disk too, or where a file has come
    to be there meanwhile; and Cancelled, and whatever yields the lines raises.
    """
    count = 0
    try:
        mode = _NEW_MODE if output.size is None else stat.S_IMODE(os.stat(output.path).st_mode)
        with temporary_file(os.path.dirname(output.path), _STEM, mode=mode) as file:
            if output.size is not None:
                os.fchmod(file.fileno(), mode)
            for line in lines:
                if count % _STEP == 0:
                    on_lines(count)
                    if should_stop():
                        raise Cancelled
                file.write(f"{line}\n".encode())
                count += 1
            file.flush()
            # A full disk is often noticed only here.
            os.fsync(file.fileno())
            if should_stop():
                raise Cancelled
            if output.size is None and os.path.lexists(output.path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            os.replace(file.name, output.path)
    except OSError as error:
        raise Unwritable(f"{clean(output.path)} {reason(error, _NOT_WRITTEN)}") from None
    return count
