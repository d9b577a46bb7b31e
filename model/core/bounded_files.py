"""Read files of any kind and size without blocking and within bounds."""

from __future__ import annotations

import errno
import io
import os
import stat
from collections.abc import Callable
from typing import IO, Any, BinaryIO

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
