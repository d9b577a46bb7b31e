"""Read files of which nobody knows beforehand what they are, without waiting and within bounds."""

from __future__ import annotations

import errno
import io
import os
import stat
from typing import IO, Any, BinaryIO

from spackscope.model.core.errors import FileTooLarge

LARGEST = 2**30
"""Bytes of a file that are read; an index of 60,000 specs with 20 dependencies each has 206 MB."""

MOST_TIMES = 100
"""How many times its size a document may unpack to; indexes pack to a tenth or twentieth."""


HARMLESS = 2**26
"""Bytes to which any document may unpack, since small ones may repeat themselves more."""


MOST_MEMBERS = 2**16
"""Members of a gzip file, one behind the other; bgzip makes one of every 64 KiB."""

_PIECE = 2**20


class _Unwaiting(io.FileIO):
    """Raise OSError where a read would wait, as those of some of the kernel's files do."""

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer."""
        size = super().readinto(buffer)
        if size is None:
            raise BlockingIOError(errno.EAGAIN, "nothing can be read from it now")
        return size


def too_large(size: int | None, largest: int) -> FileTooLarge:
    """Return the error that names the size, where it is known, and the limit."""
    if size is None:
        return FileTooLarge(f"it is larger than the {largest:,} bytes that are read")
    return FileTooLarge(f"it has {size:,} bytes; at most {largest:,} are read")


def open_file(path: str) -> BinaryIO:
    """Open a regular file for reading; what links lead to counts. Raises OSError."""
    file = io.BufferedReader(_Unwaiting(path, opener=_without_waiting))
    try:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError("it is not a regular file")
    except BaseException:
        file.close()
        raise
    return file


def read_file(path: str, largest: int = LARGEST) -> bytes:
    """Return the content of a regular file. Raises FileTooLarge, and other OSErrors."""
    with open_file(path) as file:
        return read_open(file, largest)


def read_head(path: str, size: int) -> bytes:
    """Return the first bytes of a regular file, which may be larger. Raises OSError."""
    with open_file(path) as file:
        return file.read(size)


def read_open(file: BinaryIO, largest: int = LARGEST) -> bytes:
    """Return what a file holds from where it is read. Raises FileTooLarge, and other OSErrors."""
    size = os.fstat(file.fileno()).st_size
    if size > largest:
        raise too_large(size, largest)
    data = file.read(size + 1)
    if len(data) <= size:
        return data
    # The file grew, or is one of the kernel's, which are all of size 0.
    parts, size = [data], len(data)
    while size <= largest and (part := file.read(_PIECE)):
        parts.append(part)
        size += len(part)
    if size > largest:
        raise too_large(None, largest)
    return b"".join(parts)


def copy(source: BinaryIO, target: IO[bytes], largest: int = LARGEST) -> None:
    """Copy a stream of unknown length. Raises FileTooLarge, and other OSErrors."""
    status = os.fstat(source.fileno())
    if stat.S_ISREG(status.st_mode) and status.st_size > largest:
        raise too_large(status.st_size, largest)
    size = 0
    while part := source.read(_PIECE):
        size += len(part)
        if size > largest:
            raise too_large(None, largest)
        target.write(part)


def _without_waiting(path: str, flags: int) -> int:
    # A FIFO without a writer would otherwise block for ever.
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def most_unpacked(packed: int) -> int:
    """Return to how many bytes so many may unpack that are not made to do harm."""
    return max(HARMLESS, MOST_TIMES * packed)
