"""The file of an index: named columns, written once, each read when it is first needed.

A file is a header, the sections one after the other, and a table of the sections. A section is an
array of numbers, or JSON, or bytes. Numbers are stored as planes: first the
lowest byte of each number, then the next byte of each, as many as the largest number needs. So
they take few bytes, are the same on every processor, and compress well.

The header makes the file safe to use. Its schema, a number and a checksum of the stored columns,
distinguishes an index of another program from a damaged one. Its CRC-32 detects every changed
byte, and reads 2 GB a second: it is verified when a file is opened, and the content is trusted
from then on. It does not protect against somebody who may write to the file; the modes of the file
and its directory do.

The file is read whole, some megabytes even of a large index, and kept in memory. So it can be
replaced, cut or removed while it is in use. It is never mapped into memory: a mapped file that a
server takes away ends the process.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import sys
import threading
import time
import zlib
from array import array
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, compress, count, groupby, islice
from operator import eq, sub
from typing import Any, TypeVar

from spackscope.model.core.columns import STORED, Value
from spackscope.model.core.errors import IndexDamaged
from spackscope.model.core.file_access import open_private, private_directory, temporary_file
from spackscope.model.core.records import HASH_LENGTH, STATES, NodeFacts
from spackscope.model.sources import walk_cache

SCHEMA_VERSION = 23
"""Raised with every change of sections or readers: `_schema` only detects changed columns."""

MAGIC = b"spackscope index"
SUFFIX = ".index"
_OLD_SUFFIXES = (SUFFIX, ".sqlite", walk_cache.SUFFIX)
"""Suffixes of indexes, also earlier ones, and of caches of directories."""

HASH_BYTES = HASH_LENGTH * 5 // 8
ROWS = 512
"""The number of rows in a section of JSON, if few of many rows are needed."""

UNUSED_DAYS = 30
"""Days after which an unused index is removed, when another one is written."""

_DAY = 24 * 3600


def _schema() -> bytes:
    """Return the schema: SCHEMA_VERSION, and a checksum of the columns that are stored."""
    stored = [
        (storage, [(c.name, c.attribute, c.is_list, c.restores) for c in columns])
        for storage, columns in STORED.items()
    ]
    registered = repr((stored, STATES, NodeFacts._fields)).encode()
    return bytes([SCHEMA_VERSION]) + zlib.crc32(registered).to_bytes(4, "big")


SCHEMA = _schema()
_SCHEMA = slice(len(MAGIC), len(MAGIC) + len(SCHEMA))
_CHECKSUM = slice(_SCHEMA.stop, _SCHEMA.stop + 4)
_TABLE = slice(_CHECKSUM.stop, _CHECKSUM.stop + 8)
HEADER = _TABLE.stop
"""The bytes of the header: the magic, the schema, the checksum, the length of the table."""

_LEVEL = 1
"""Higher levels of compression take several times as long, and save a tenth."""
_PAYS = 0.9
"""The part of its size to which a section must shrink to be stored compressed."""

_TYPES = {1: ("B", 1), 2: ("H", 2), 3: ("I", 4), 4: ("I", 4), 8: ("d", 8)}
"""The type of an array and the bytes of its items, by the stored bytes of an item."""

_STORAGES = tuple(STORED)
_DOCUMENT = _STORAGES.index("tag") + 1

CODES = (*_STORAGES[:_DOCUMENT], "document", *_STORAGES[_DOCUMENT:], "unlisted")
"""The columns of a look-alike that hold codes, in display order."""


Span = tuple[int, int]
"""A range of numbers: its first number, and the number after its last."""

# Hashes


_DIGITS = "0123456789abcdefghijklmnopqrstuv"
_LETTERS = "234567abcdefghijklmnopqrstuvwxyz"
"""The letters of hashes in their order, so that bytes sort like hashes."""

_TO_DIGITS = bytes.maketrans(_LETTERS.encode(), _DIGITS.encode())
_PACKED_AT_ONCE = 1024 * HASH_LENGTH


def pack_hashes(hashes: str) -> bytes:
    """Return the bytes of hashes, 20 for each; the hashes are joined to one text."""
    digits = hashes.encode().translate(_TO_DIGITS)
    return b"".join(
        int(part, 32).to_bytes(len(part) * 5 // 8, "big")
        for start in range(0, len(digits), _PACKED_AT_ONCE)
        for part in [digits[start : start + _PACKED_AT_ONCE]]
    )


def unpack_hashes(data: bytes) -> list[str]:
    """Return the hashes of bytes from `pack_hashes`."""
    # Five bytes are eight letters. All first letters are computed at once, then all second ones.
    columns = [data[n::5] for n in range(5)]
    letters = bytearray(len(data) * 8 // 5)
    for place in range(8):
        byte, bit = divmod(5 * place, 8)
        value = columns[byte].translate(_shifted(bit - 3))
        if bit > 3:
            rest = columns[byte + 1].translate(_shifted(bit - 11))
            value = union(value, rest)
        letters[place::8] = value.translate(_TO_LETTERS)
    text = letters.decode()
    return [text[at : at + HASH_LENGTH] for at in range(0, len(text), HASH_LENGTH)]


_TO_LETTERS = _LETTERS.encode() * 8


@functools.cache
def _shifted(bits: int) -> bytes:
    """Return a table for `translate` that shifts bytes left (or right) and keeps five bits."""
    return bytes((byte << bits if bits > 0 else byte >> -bits) & 0b11111 for byte in range(256))


def union(first: bytes, second: bytes) -> bytes:
    """Return the bitwise or of two bytes objects of the same length."""
    return (int.from_bytes(first, "little") | int.from_bytes(second, "little")).to_bytes(
        len(first), "little"
    )


def hash_at(hashes: bytes | bytearray | memoryview, number: int) -> bytes:
    """Return the bytes of a hash."""
    return bytes(hashes[number * HASH_BYTES : (number + 1) * HASH_BYTES])


def repeated_spans(hashes: bytes | bytearray | memoryview, order: Sequence[int]) -> Iterator[Span]:
    """Yield the spans of an order of hashes that have one hash each, of two places or more."""
    # Nearly all hashes differ in their first four bytes.
    heads = bytearray(4 * (len(hashes) // HASH_BYTES))
    for byte in range(4):
        heads[byte::4] = bytes(hashes[byte::HASH_BYTES])
    numbers = array("I", heads)
    ordered = [numbers[n] for n in order]
    alike = compress(count(1), map(eq, ordered, islice(ordered, 1, None)))
    places = (n for n in alike if hash_at(hashes, order[n - 1]) == hash_at(hashes, order[n]))
    for _, run in groupby(enumerate(places), lambda pair: pair[1] - pair[0]):
        first, *others = [place for _, place in run]
        yield first - 1, first + len(others) + 1


# Sections


def planes(numbers: array[Any]) -> tuple[int, bytes]:
    """Return the number of bytes that each number needs, and the planes of bytes."""
    size, data = numbers.itemsize, numbers.tobytes()
    parts = [data[n::size] for n in range(size)]
    if sys.byteorder == "big":
        parts.reverse()
    if numbers.typecode != "d":
        while len(parts) > 1 and not parts[-1].strip(b"\0"):
            parts.pop()
    return len(parts), b"".join(parts)


def from_planes(size: int, data: bytes) -> array[Any]:
    """Return the numbers from the result of `planes`."""
    count = len(data) // size
    if size == 1:
        return array("B", data)
    type_, width = _TYPES[size]
    numbers = bytearray(width * count)
    for n in range(size):
        place = width - 1 - n if sys.byteorder == "big" else n
        numbers[place::width] = data[n * count : (n + 1) * count]
    return array(type_, numbers)


def narrowed(codes: array[int]) -> array[int]:
    """Return a copy of 32-bit codes in the narrowest type that fits all."""
    return from_planes(*planes(codes))


def recoded(column: array[int], new_codes: Sequence[int]) -> array[int]:
    """Return a column with each code replaced."""
    if all(map(eq, new_codes, count())):
        return column
    if len(new_codes) > 256 or max(new_codes) > 255:
        return array("I", map(new_codes.__getitem__, column))
    return array("B", planes(column)[1].translate(bytes(new_codes).ljust(256, b"\0")))


def ranked(column: array[int], order: Iterable[int], count: int) -> array[int]:
    """Return a column of up to `count` codes with each replaced by its place in an order."""
    ranks = [0] * count
    for rank, code in enumerate(order):
        ranks[code] = rank
    return recoded(column, ranks)


class SectionWriter:
    """Collects the sections of an index; `seal` returns the index."""

    def __init__(self) -> None:
        # By section: its offset, stored size, size, the bytes of each number, and whether it has
        # differences of numbers.
        self._table: dict[str, tuple[int, int, int, int, bool]] = {}
        self._data = bytearray(HEADER)

    def add_bytes(
        self,
        name: str,
        data: bytes,
        size: int = 0,
        *,
        ascending: bool = False,
        random: bool = False,
    ) -> None:
        """Add bytes, compressed if that saves enough, which is not tried for `random` bytes."""
        stored = data if random else zlib.compress(data, _LEVEL)
        if len(stored) >= _PAYS * len(data):
            stored = data
        self._table[name] = len(self._data), len(stored), len(data), size, ascending
        self._data += stored

    def add_array(
        self, name: str, numbers: array[Any], *, ascending: bool = False, random: bool = False
    ) -> None:
        """Add 32-bit numbers, or floats; for `ascending` numbers, differences are stored."""
        if ascending:
            numbers = array("I", map(sub, numbers, chain((0,), numbers)))
        size, data = planes(numbers)
        self.add_bytes(name, data, size, ascending=ascending, random=random)

    def add_json(self, name: str, value: object) -> None:
        """Add a value as JSON."""
        self.add_bytes(name, json.dumps(value, separators=(",", ":")).encode())

    def add_lists(
        self, name: str, texts: Sequence[object], lists: Sequence[Sequence[int]]
    ) -> None:
        """Add lists of texts, or of other values, each list given as places in `texts`."""
        self.add_json(f"{name}.texts", texts)
        self.add_array(f"{name}.lengths", array("I", map(len, lists)))
        self.add_array(f"{name}.places", array("I", chain.from_iterable(lists)))

    def add_rows(self, name: str, rows: Sequence[object]) -> None:
        """Add rows as JSON, in parts, of which a reader may need only few."""
        self.add_json(name, len(rows))
        for start in range(0, len(rows), ROWS):
            self.add_json(f"{name}.{start // ROWS}", rows[start : start + ROWS])

    def seal(self) -> bytearray:
        """Return the index: its header, the sections, and their table."""
        table = json.dumps(self._table).encode()
        self._data += table
        length = len(table).to_bytes(8, "big")
        checksum = zlib.crc32(length, zlib.crc32(memoryview(self._data)[HEADER:]))
        header = MAGIC + SCHEMA + checksum.to_bytes(4, "big") + length
        self._data[:HEADER] = header
        return self._data


class Columns:
    """The sections of an index; safe to use from several threads.

    Raises IndexDamaged for anything but a whole index of this version.
    """

    def __init__(self, data: bytes | bytearray) -> None:
        if data[: _SCHEMA.stop] != MAGIC + SCHEMA:
            raise IndexDamaged("it is not an index of this version")
        checksum = zlib.crc32(data[_TABLE], zlib.crc32(memoryview(data)[HEADER:]))
        if checksum.to_bytes(4, "big") != data[_CHECKSUM]:
            raise IndexDamaged("its checksum is wrong")
        table = data[len(data) - int.from_bytes(data[_TABLE], "big") :]
        self._table: Mapping[str, tuple[int, int, int, int, bool]] = json.loads(table)
        self._stored = {
            name: bytes(data[offset : offset + stored])
            for name, (offset, stored, *_) in self._table.items()
        }
        self._numbers: dict[str, array[Any]] = {}
        self._lock = threading.Lock()

    def raw(self, name: str) -> bytes:
        """Return the bytes of a section, unpacked; they are gone once `numbers` has read them."""
        stored, size = self._stored[name], self._table[name][2]
        return stored if len(stored) == size else zlib.decompress(stored)

    def numbers(self, name: str) -> array[Any]:
        """Return the numbers of a section; they are kept in place of its bytes."""
        with self._lock:
            if name not in self._numbers:
                *_, size, ascending = self._table[name]
                numbers = from_planes(size, self.raw(name))
                self._numbers[name] = array("I", accumulate(numbers)) if ascending else numbers
                del self._stored[name]
            return self._numbers[name]

    def json(self, name: str) -> Any:
        """Return the value of a section of JSON."""
        return json.loads(self.raw(name))

    def lists(
        self, name: str, make: Callable[[Any], Any] = lambda text: text
    ) -> list[tuple[Any, ...]]:
        """Return lists of texts, or of what `make` makes of values; equal ones are one object."""
        values = [*map(make, self.json(f"{name}.texts"))]
        texts = map(values.__getitem__, self.numbers(f"{name}.places"))
        return [tuple(islice(texts, length)) for length in self.numbers(f"{name}.lengths")]


class Rows(Sequence[Any]):
    """The rows of `SectionWriter.add_rows`, read some hundred at a time.

    `make` turns a row into an item.
    """

    def __init__(
        self, columns: Columns, name: str, make: Callable[[Any], Any] = lambda row: row
    ) -> None:
        self._columns, self._name, self._make = columns, name, make
        self._count: int = columns.json(name)
        self._sections: dict[int, Sequence[Any]] = {}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: Any) -> Any:
        if not 0 <= number < self._count:
            raise IndexError(number)
        section, place = divmod(number, ROWS)
        if section not in self._sections:
            self._sections[section] = self._columns.json(f"{self._name}.{section}")
        return self._make(self._sections[section][place])


def node_rows(columns: Columns) -> Sequence[NodeFacts]:
    """Return the `NodeFacts`, by the codes in the column `node`."""
    return Rows(columns, "nodes", lambda row: NodeFacts(*with_tuples(row)))


def with_tuples(row: Sequence[Any]) -> tuple[Any, ...]:
    """Return a row of JSON as a tuple, with tuples in place of lists."""
    return tuple([tuple(value) if isinstance(value, list) else value for value in row])


def read_dictionary(columns: Columns, storage: str) -> dict[str, Sequence[Value]]:
    """Return, for each column of a dictionary, its values by code."""
    return {
        column.name: columns.lists(column.name)
        if column.is_list
        else columns.json(f"{column.name}.texts")
        for column in STORED[storage]
    }


# The file


def open_index(path: str) -> Columns | None:
    """Open an index file; None without one of this user and this schema.

    Links, and files that others can write to, are ignored. Raises IndexDamaged.
    """
    try:
        with open_private(path) as file:
            data = file.read()
            if abs(time.time() - os.fstat(file.fileno()).st_mtime) > _DAY:
                # Some file systems do not record when a file is read.
                with contextlib.suppress(OSError):
                    os.utime(file.fileno())
    except OSError:
        return None
    if len(data) >= HEADER and data.startswith(MAGIC) and data[_SCHEMA] != SCHEMA:
        return None
    return Columns(data)


def write_index(path: str, data: bytes | bytearray) -> None:
    """Write an index to a temporary file, and replace the old index by it. Raises OSError."""
    directory, name = os.path.split(path)
    private_directory(directory)
    with temporary_file(directory, name.removesuffix(SUFFIX)) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        os.replace(file.name, path)
        # The clock of the file system has dated the other indexes, too.
        now = os.fstat(file.fileno()).st_mtime
    _remove_unused(directory, now - UNUSED_DAYS * _DAY)


def _remove_unused(directory: str, newest: float) -> None:
    """Remove index files that were last used before a time, in seconds since 1970."""
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.endswith(_OLD_SUFFIXES) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    status = entry.stat()
                    if max(status.st_atime, status.st_mtime) < newest:
                        os.unlink(entry.path)


# Masks: a byte for each number, in order; 1 for numbers that belong, else 0.


_Key = TypeVar("_Key", bound=Hashable)

_RUN = re.compile(b"\x01+")


def spans_of(mask: bytes | bytearray) -> Iterator[Span]:
    """Return the spans of the numbers in a mask."""
    return (run.span() for run in _RUN.finditer(mask))


def mask_of(numbers: Iterable[int], count: int) -> bytearray:
    """Return a mask of `count` bytes, with 1 for some numbers."""
    mask = bytearray(count)
    for number in numbers:
        mask[number] = 1
    return mask


def look_alikes_of(first: array[int]) -> array[int]:
    """Return the look-alike of each spec; `first` has the first spec of each, and their number."""
    return array("I", accumulate(mask_of(first[1:-1], first[-1])))


def flags_of(codes: array[int], flags: bytes) -> bytes:
    """Return the flag (0 or 1) of each code; `flags` has a byte for each distinct code."""
    data, size = codes.tobytes(), codes.itemsize
    if size == 1:
        return data.translate(flags.ljust(256, b"\0"))
    if size > 2:
        return bytes([flags[code] for code in codes])
    # Tables for 256 codes at a time take a fifth of the time of looking up each code.
    low, high = (data[::2], data[1::2]) if sys.byteorder == "little" else (data[1::2], data[::2])
    joined = 0
    for part in range(0, len(flags), 256):
        table = flags[part : part + 256].ljust(256, b"\0")
        if 1 in table:
            is_in_part = high.translate(bytes(part // 256) + b"\1" + bytes(255 - part // 256))
            fits = int.from_bytes(low.translate(table), "little")
            joined |= fits & int.from_bytes(is_in_part, "little")
    return joined.to_bytes(len(codes), "little")


def sorted_by(
    keys: Iterable[_Key], numbers: Collection[int], *, descending: bool = False
) -> array[int]:
    """Return numbers sorted by their keys, stably; fast if there are few distinct keys.

    Unlike `sorted`, it lets other threads run, and makes no object for each number.
    """
    of_key: dict[_Key, array[int]] = {}
    for key, number in zip(keys, numbers, strict=True):
        if (group := of_key.get(key)) is None:
            group = of_key[key] = array("I")
        group.append(number)
    ordered = array("I")
    for key in sorted(of_key, reverse=descending):  # type: ignore[type-var]
        ordered.extend(of_key[key])
    return ordered
