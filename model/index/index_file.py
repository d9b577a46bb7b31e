"""Create and check the file of an index.

An index is an immutable SQLite file. Two fields of its header that SQLite leaves to applications
(sqlite.org/fileformat.html) make it safe to use. `application_id`, at 68, is the version of the
schema, which distinguishes an index of an older program from a damaged one. `user_version`, at
60, is the CRC-32 of the whole file with that field zeroed. Both are written last, before the file
gets its name. A CRC detects every changed byte and reads 2 GB a second. It does not protect
against somebody who may write to the file; the modes of the file and its directory do.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
import zlib
from collections.abc import Callable

from spackscope.model.core.errors import IndexDamaged
from spackscope.model.core.files import open_private, private_directory, temporary_file
from spackscope.model.index.schema import SCHEMA_VERSION

APPLICATION_ID = b"ssc" + bytes([SCHEMA_VERSION])
"""The field of the header of an index of this version; SCHEMA_VERSION is at most 255."""

_HEADER = 100
_MAGIC = b"SQLite format 3\0"
_CHECKSUM, _VERSION = slice(60, 64), slice(68, 72)
_CHUNK = 1 << 20
_SUFFIX = ".sqlite"
_DAY = 24 * 3600

UNUSED_DAYS = 30
"""Days after which an index that nobody has opened is removed, when another one is written."""


def is_current(path: str) -> bool:
    """Check whether a path is an index file of this user and of this version.

    Links and files that others can write to are not. Raises IndexDamaged if the file is cut off
    or not a database.
    """
    try:
        with open_private(path) as file:
            status, header = os.fstat(file.fileno()), file.read(_HEADER)
            if abs(time.time() - status.st_mtime) > _DAY:
                # Some file systems do not record when a file is read.
                with contextlib.suppress(OSError):
                    os.utime(file.fileno())
    except OSError:
        return False
    if len(header) < _HEADER or not header.startswith(_MAGIC):
        raise IndexDamaged("it is not a database")
    if header[_VERSION] != APPLICATION_ID:
        return False
    # A page size of 65536 is written as 1.
    page_size = int.from_bytes(header[16:18], "big")
    page_size = 65536 if page_size == 1 else page_size
    if page_size * int.from_bytes(header[28:32], "big") != status.st_size:
        raise IndexDamaged("its length is wrong")
    return True


class Verification(threading.Thread):
    """Thread that checks the file at `path`; reading and CRC-32 release the GIL."""

    def __init__(self, path: str) -> None:
        super().__init__(daemon=True)
        self.path = path
        self._is_current = False
        self._damage: IndexDamaged | None = None
        self.start()

    def run(self) -> None:
        """Read the whole file."""
        try:
            self._is_current = is_current(self.path)
            if self._is_current and not _has_right_checksum(self.path):
                raise IndexDamaged("its checksum is wrong")
        except IndexDamaged as error:
            self._damage = error

    def finish(self) -> bool:
        """Wait, and return whether the file is current. Raises IndexDamaged."""
        self.join()
        if self._damage is not None:
            raise self._damage
        return self._is_current


def create(path: str, write: Callable[[str], None]) -> None:
    """Write an index beside the one there is, and put it in its place when it is whole.

    `write` is given the path of an empty file. Raises OSError, and whatever `write` raises.
    """
    directory, name = os.path.split(path)
    private_directory(directory)
    with temporary_file(directory, name.removesuffix(_SUFFIX)) as file:
        write(file.name)
        descriptor = file.fileno()
        os.pwrite(descriptor, APPLICATION_ID, _VERSION.start)
        os.pwrite(descriptor, _checksum(descriptor), _CHECKSUM.start)
        os.fsync(descriptor)
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        os.replace(file.name, path)
        # The clock of the file system has dated the other indexes, too.
        now = os.fstat(descriptor).st_mtime
    _remove_unused(directory, now - UNUSED_DAYS * _DAY)


def _remove_unused(directory: str, newest: float) -> None:
    """Remove the index files that have not been opened for long."""
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.endswith(_SUFFIX) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    status = entry.stat()
                    if max(status.st_atime, status.st_mtime) < newest:
                        os.unlink(entry.path)


def _has_right_checksum(path: str) -> bool:
    with contextlib.suppress(OSError), open_private(path) as file:
        return _checksum(file.fileno()) == os.pread(file.fileno(), _HEADER, 0)[_CHECKSUM]
    return False


def _checksum(descriptor: int) -> bytes:
    """Return the CRC-32 of a file as its header has it."""
    checksum = offset = 0
    while chunk := os.pread(descriptor, _CHUNK, offset):
        if not offset:
            chunk = chunk[: _CHECKSUM.start] + bytes(4) + chunk[_CHECKSUM.stop :]
        checksum = zlib.crc32(chunk, checksum)
        offset += len(chunk)
    return checksum.to_bytes(4, "big")
