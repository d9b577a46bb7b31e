"""Read the members of an archive: from its beginning, once, and within bounds.

An archive of a mirror, of any layout, is a tar file that is compressed with gzip. Its first files
are those in `.spack`, after a few in the prefix itself: `reproducible_tarfile_from_prefix` of
lib/spack/spack/util/archive.py adds the files of a folder, sorted, before its folders. Before
Spack 0.17 it is a member of another tar file, beside its spec file: `build_tarball` of
lib/spack/spack/binary_distribution.py of 0.16.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import BinaryIO, NamedTuple, cast

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.file_access import max_unpacked_size
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.readers.unpack import GZIP, gzip_pieces

MAX_ARCHIVE = 2**30
"""Bytes of an archive; larger ones are not read."""

MAX_UNPACKED, MAX_EXPANSION = 2**30, 20
"""Bytes that the archives of a mirror may unpack to, or a multiple of their sizes if it is more.

Real archives unpack to three to ten times their sizes, except archives of less than 64 KiB.
"""

_SMALL_ARCHIVE = 2**16

BEGINNINGS = (2**17, 900_000)
"""Bytes at the beginning of an archive in which Spack's own files are searched: first, and last.

The list of 1,000 files takes some 50 kB.
"""

MANIFEST, TIMES = "/.spack/install_manifest.json", "/.spack/install_times.json"
MAX_MANIFEST = 2**26
_MAX_HEADER = 2**16

_MAX_OUTER = 16
"""Members that are searched for the compressed one, with those that hold long names."""

_HEADER_COST = 8
"""The time to parse a byte of a header, as a multiple of the time to unpack a byte."""


class UnpackBudget:
    """The limit for unpacking the archives of a mirror, in bytes; header bytes count more.

    A limit for each archive alone would be no limit for thousands of them.
    """

    def __init__(self) -> None:
        self._packed = self._cost = self._limit = 0
        self._reason = ""

    def add(self, size: int) -> None:
        """Allow for an archive of so many bytes."""
        self._packed += max(size, _SMALL_ARCHIVE)
        own = self._cost + max_unpacked_size(size)
        self._limit = max(MAX_UNPACKED, MAX_EXPANSION * self._packed)
        self._reason = "the archives of the mirror unpack to too much data for their sizes"
        if own < self._limit:
            self._limit = own
            self._reason = f"it unpacks to too much data for {size:,} bytes"

    def spend(self, cost: int) -> None:
        """Count the bytes read from an archive. Raises Unreadable if too many, and Cancelled."""
        check_cancelled()
        self._cost += cost
        if self._cost > self._limit:
            raise Unreadable(self._reason)


def _find_packed(file: BinaryIO) -> tuple[int, int | None]:
    """Return where in a file the compressed archive begins, and its size; None to the end."""
    at = 0
    for _ in range(_MAX_OUTER):
        file.seek(at)
        header, start = file.read(tarfile.BLOCKSIZE), file.read(len(GZIP))
        try:
            member = tarfile.TarInfo.frombuf(header, "utf-8", "surrogateescape")
        except tarfile.HeaderError:
            break
        at += tarfile.BLOCKSIZE
        if start == GZIP and member.isreg():
            return at, max(0, member.size)
        at += max(0, -(-member.size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE)
    return 0, None


class _Unpacked:
    """An archive that is unpacked once, from its beginning, as far as a budget allows."""

    def __init__(self, file: BinaryIO, budget: UnpackBudget) -> None:
        self._pieces, self._budget = gzip_pieces(file, *_find_packed(file)), budget
        self._piece, self._at = memoryview(b""), 0

    def tell(self) -> int:
        """Return how many bytes were read or skipped."""
        return self._at

    def read(self, size: int) -> bytes:
        """Read some bytes of a header or a file. Raises Unreadable and OSError."""
        if not 0 <= size <= _MAX_HEADER:
            raise Unreadable(
                f"it has a header of {size:,} bytes; at most {_MAX_HEADER:,} are read"
            )
        self._budget.spend(_HEADER_COST * size)
        return b"".join(self._parts(size))

    def seek(self, offset: int) -> None:
        """Skip the bytes before an offset. Raises Unreadable and OSError."""
        if offset < self._at:
            raise Unreadable("the sizes of its files are wrong")
        for _ in self._parts(offset - self._at):
            pass

    def _parts(self, size: int) -> Iterator[memoryview]:
        while size:
            while not self._piece:
                piece = next(self._pieces, None)
                if piece is None:
                    return
                self._budget.spend(len(piece))
                self._piece = memoryview(piece)
            part, self._piece = self._piece[:size], self._piece[size:]
            size -= len(part)
            self._at += len(part)
            yield part


def read_members(
    file: BinaryIO, budget: UnpackBudget, endings: tuple[str, ...] = (), max_size: int = 0
) -> Iterator[tuple[tarfile.TarInfo, bytes]]:
    """Yield the members of an archive, and up to `max_size` bytes of files by their `endings`.

    `max_size` is a multiple of 64 KiB. Raises Unreadable, OSError and Cancelled.
    """
    unpacked = _Unpacked(file, budget)
    try:
        with tarfile.open(fileobj=cast(BinaryIO, unpacked), mode="r:", encoding="utf-8") as tar:
            while (member := tar.next()) is not None:
                # Earlier members are not kept.
                tar.members.clear()  # type: ignore[attr-defined]
                content = b""
                if member.isreg() and f"/{member.name}".endswith(endings):
                    opened = cast(BinaryIO, tar.extractfile(member))
                    pieces = iter(partial(opened.read, _MAX_HEADER), b"")
                    content = b"".join(islice(pieces, max_size // _MAX_HEADER))
                yield member, content
        # A broken header ends the loop as well.
        while padding := unpacked.read(_MAX_HEADER):
            if padding.strip(b"\0"):
                raise tarfile.ReadError
    except Unreadable:
        raise
    # Long names that follow each other are read within each other.
    except (ValueError, EOFError, RecursionError, tarfile.TarError):
        raise Unreadable("it is not a complete tar file") from None


class ArchiveStart(NamedTuple):
    """The files of Spack's that an archive begins with, each b"" if it is not there.

    `is_whole` if both have passed: the next file has begun.
    """

    manifest: bytes = b""
    times: bytes = b""
    is_whole: bool = False


def read_start(file: BinaryIO) -> ArchiveStart:
    """Return what the part of an archive so far has. Raises OSError and Cancelled."""
    budget, start = UnpackBudget(), ArchiveStart()
    budget.add(BEGINNINGS[-1])
    with suppress(Unreadable):
        for member, content in read_members(file, budget, (MANIFEST, TIMES), MAX_MANIFEST):
            if f"/{member.name}".endswith(TIMES):
                start = start._replace(times=start.times or content)
            elif start.manifest:
                return start._replace(is_whole=True)
            else:
                start = start._replace(manifest=content)
    return start
