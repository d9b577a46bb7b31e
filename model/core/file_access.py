"""Read and write files: within bounds, for their owner alone, and completely or not at all.

Files of any kind are read without blocking. The program's own files are where the XDG
specification puts them, and only their owner can read them. They are written beside their name
and renamed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, BinaryIO, Literal

from spackscope.model.core.errors import Unwritable

if TYPE_CHECKING:
    from hashlib import sha256 as sha256
else:
    # `hashlib` loads OpenSSL, which takes as long as ten modules; `random` avoids it like this.
    try:
        from _sha2 import sha256
    except ImportError:
        try:
            from _sha256 import sha256
        except ImportError:
            from hashlib import sha256 as sha256

MAX_FILE_SIZE = 2**30
"""Bytes of a file that are read; an index of 60,000 specs with 20 dependencies each has 206 MB."""

MAX_EXPANSION = 100
"""How many times its size a document may unpack to; indexes pack to a tenth or twentieth."""

_SMALL_UNPACKED_SIZE = 2**26
"""Bytes to which any document may unpack, since small ones may repeat themselves more."""

MAX_GZIP_MEMBERS = 2**16
"""Consecutive members of a gzip file; bgzip writes one for every 64 KiB."""

ABANDONED_SECONDS = 3600
"""Age of a temporary file that nobody writes any more: a download fails long before."""

_RECENT = 3
"""Seconds after a change in which another may not show, on file systems with whole seconds."""

_PIECE = 2**20
_HEAD = 16
_XDG_DEFAULTS = {"data": ".local/share", "state": ".local/state"}
_SUFFIX = ".tmp"


def max_unpacked_size(packed: int) -> int:
    """Return the number of bytes that `packed` bytes may unpack to; more is taken for a bomb."""
    return max(_SMALL_UNPACKED_SIZE, MAX_EXPANSION * packed)


def too_large(size: int | None, max_size: int) -> OSError:
    """Return the error for a file over a size limit; it names the size, if that is known."""
    if size is None:
        return OSError(f"it is larger than the {max_size:,} bytes that are read")
    return OSError(f"it has {size:,} bytes; at most {max_size:,} are read")


def _open_regular(path: str, more_flags: int = 0) -> int:
    """Open a regular file, or a link to one, for reading. Raises OSError."""
    try:
        # A FIFO without a writer would block for ever, and so would some of the kernel's.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | more_flags)
    except ValueError as error:
        # A path from data may have a NUL.
        raise OSError(str(error)) from None
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise OSError("is a directory" if stat.S_ISDIR(mode) else "it is not a regular file")
    return descriptor


def open_file(path: str, *, follows_links: bool = True) -> BinaryIO:
    """Open a regular file for reading. Raises OSError."""
    return os.fdopen(_open_regular(path, 0 if follows_links else os.O_NOFOLLOW), "rb")


def read_file(
    path: str,
    max_size: int = MAX_FILE_SIZE,
    is_wanted: Callable[[bytes], bool] | None = None,
) -> bytes:
    """Return the content of a regular file of at most `max_size` bytes. Raises OSError.

    Where `is_wanted` returns False for the first 16 bytes, only these bytes are returned.
    """
    # Reading through a file object takes twice the time.
    descriptor = _open_regular(path)
    try:
        head = b""
        if is_wanted is not None and not is_wanted(head := os.read(descriptor, _HEAD)):
            return head
        if (stated := os.fstat(descriptor).st_size) > max_size:
            raise too_large(stated, max_size)
        part = os.read(descriptor, max(stated - len(head), 0) + 1)
        parts, size = [head, part], len(head) + len(part)
        # The file grew or shrank, or is one of the kernel's, which are all of size 0.
        while part and size != stated and size <= max_size:
            part = os.read(descriptor, _PIECE)
            parts.append(part)
            size += len(part)
    finally:
        os.close(descriptor)
    if size > max_size:
        raise too_large(None, max_size)
    return b"".join(parts)


def read_head(path: str, size: int) -> bytes:
    """Return the first bytes of a regular file, which may be larger. Raises OSError."""
    with open_file(path) as file:
        return file.read(size) or b""


def times_of(status: os.stat_result) -> tuple[int, int]:
    """Return the mtime and the ctime of a file in nanoseconds; they change when the file changes.

    On a file system with whole seconds, another change within the next seconds would not show. The
    ctime is then negative, as that of no file, and another one at each call.
    """
    mtime, ctime = status.st_mtime_ns, status.st_ctime_ns
    if ctime % 10**9 == 0 and abs(time.time() - ctime / 10**9) < _RECENT:
        return mtime, -time.time_ns()
    return mtime, ctime


def sha256_of(file: BinaryIO) -> str:
    """Return the hexadecimal digest of a file, from its current position. Raises OSError."""
    # For large files the faster function of OpenSSL is worth its import.
    import hashlib

    digest = hashlib.sha256()
    while part := file.read(_PIECE):
        digest.update(part)
    return digest.hexdigest()


@contextlib.contextmanager
def temporary_file(
    directory: str, stem: str, *, mode: int = 0o600, replaces: str = ""
) -> Iterator[BinaryIO]:
    """Create a file in a directory, never through a link, and open it.

    It gets the mode, or the owner, group and mode of the file `replaces`, if that exists. It is
    removed afterwards unless it was renamed. Raises OSError, also where the owner cannot be set.
    """
    path = os.path.join(directory, f".{stem}.{os.urandom(8).hex()}{_SUFFIX}")
    old = os.stat(replaces) if replaces and os.path.exists(replaces) else None
    mode = mode if old is None else 0o600
    try:
        # Opened in here, so that a signal at any moment leaves no file.
        with open(path, "x+b", opener=lambda path, flags: os.open(path, flags, mode)) as file:
            if old is not None:
                _keep_rights(file.fileno(), old)
            yield file
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)


def _keep_rights(descriptor: int, old: os.stat_result) -> None:
    """Copy the owner, group and mode of another file to an open one. Raises OSError."""
    new = os.fstat(descriptor)
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid):
        try:
            os.fchown(descriptor, old.st_uid, old.st_gid)
        except PermissionError as error:
            raise PermissionError(error.errno, "its owner and group would change") from None
    # After the owner, whose change takes away some of the rights.
    os.fchmod(descriptor, stat.S_IMODE(old.st_mode))


def is_temporary(name: str) -> bool:
    """Check whether a file name is one that `temporary_file` gives."""
    return name.startswith(".") and name.endswith(_SUFFIX)


def remove_abandoned(directory: str) -> None:
    """Remove temporary files at any depth that have not changed for an hour."""
    for folder, _, names in os.walk(directory):
        for path in (os.path.join(folder, name) for name in names if is_temporary(name)):
            with contextlib.suppress(OSError):
                if time.time() - os.lstat(path).st_mtime > ABANDONED_SECONDS:
                    os.unlink(path)


def write_atomically(path: str, data: bytes, *, keeps_rights: bool = False) -> None:
    """Replace a file, or create it, so that no reader sees a part of it. Raises OSError.

    Only the user can read it, unless it `keeps_rights`: its owner, group and mode before.
    """
    replaces = path if keeps_rights else ""
    with temporary_file(*os.path.split(path), replaces=replaces) as file:
        file.write(data)
        file.flush()
        os.replace(file.name, path)


def xdg_path(
    environ: Mapping[str, str], kind: Literal["cache", "config", "data", "state"], *names: str
) -> str | None:
    """Return a path in the program's directory in XDG_CACHE_HOME or the like, or in its default.

    Relative paths are ignored, as the specification asks; None without a home directory.

    >>> xdg_path({"HOME": "/home/ann"}, "cache", "copies")
    '/home/ann/.cache/spackscope/copies'
    """
    base = environ.get(f"XDG_{kind.upper()}_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(environ.get("HOME", ""), _XDG_DEFAULTS.get(kind, f".{kind}"))
    return os.path.join(base, "spackscope", *names) if os.path.isabs(base) else None


def make_directories(path: str) -> None:
    """Create a directory and its missing parents, whatever the umask is. Raises OSError."""
    if not os.path.isdir(path):
        parent = os.path.dirname(path)
        if not os.path.lexists(parent):
            # os.makedirs would create the parents with all rights that the umask leaves.
            make_directories(parent)
        with contextlib.suppress(FileExistsError):
            os.mkdir(path, 0o700)


def private_directory(path: str) -> None:
    """Create a directory unless it exists, and keep everybody else out. Raises OSError."""
    make_directories(path)
    keep_private(path)


def keep_private(path: str) -> None:
    """Remove all rights of group and others to a directory.

    Raises OSError where others could still write to it, as on a file system without modes, or
    where the directory, or a link to it, belongs to another user.
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


def open_private(path: str) -> BinaryIO:
    """Open a file in a directory of the program, never through a link.

    Raises OSError, also for a file that somebody else may have written.
    """
    keep_private(os.path.dirname(path))
    file = open_file(path, follows_links=False)
    status = os.fstat(file.fileno())
    if status.st_uid != os.geteuid() or status.st_mode & 0o022:
        file.close()
        raise PermissionError(errno.EPERM, "others can write to it", path)
    return file


def read_private(path: str, max_size: int) -> bytes:
    """Return the content of a file that `open_private` opens. Raises OSError."""
    with open_private(path) as file:
        data = file.read(max_size + 1)
    if len(data) > max_size:
        raise too_large(None, max_size)
    return data


def write_private(path: str, data: bytes) -> None:
    """Write a file in a directory of the program, for the user alone and never through a link.

    Creates missing directories, and removes abandoned temporary files. Raises Unwritable, also
    where the path is not a regular file.
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
