"""The file of an index: named columns, written once, each read when it is first needed.

A file is a header, the sections one after the other, and a table of them. A section is an array
of numbers, or JSON, or bytes that are read in parts. Numbers are stored as planes: first the
lowest byte of each, then the next one of each, as many as the largest needs. So they take as few
bytes as they can without losing their order, look the same on every processor, and compress well.

The header makes the file safe to use. Its version distinguishes an index of an older program from
a damaged one, its length one that is cut off. Its CRC-32 detects every changed byte, and reads
2 GB a second. It does not protect against somebody who may write to the file; the modes of the
file and its directory do. What such a file holds is checked where it is read.

The file is read with `pread`, and never mapped into memory: a mapped file that a server takes away
ends the process. It stays open, so that it can be replaced or removed while it is in use.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import sys
import threading
import time
import zlib
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, islice
from operator import sub
from types import FunctionType
from typing import Any, BinaryIO, TypeVar

from spackscope.model.core.columns import STORED, Value
from spackscope.model.core.errors import IndexDamaged, QueryError, Unanswerable
from spackscope.model.core.files import open_private, private_directory, temporary_file
from spackscope.model.core.records import HASH_LENGTH

SCHEMA_VERSION = 11
"""Raise it with every change of the sections, or of what the readers make of a document."""

MAGIC = b"spackscope index"
SUFFIX = ".index"
_OLD_SUFFIXES = (SUFFIX, ".sqlite")

HASH_BYTES = HASH_LENGTH * 5 // 8
ROWS = 512
"""Rows of JSON in a section, where few of many are needed."""

UNUSED_DAYS = 30
"""Days after which an index that nobody has opened is removed, when another one is written."""

_DAY = 24 * 3600
_VERSION = len(MAGIC)
CHECKSUM = slice(_VERSION + 1, _VERSION + 5)
_LENGTHS = slice(_VERSION + 5, _VERSION + 21)
HEADER = _LENGTHS.stop
"""Bytes of the header: the magic, the version, the checksum, the lengths of file and table."""

_CHUNK = 1 << 20
_LEVEL = 1
"""Higher levels of compression take several times as long, and save a tenth."""
_PAYS = 0.9
"""The part of its size that a section has to be compressed to."""

_TYPES = {1: ("B", 1), 2: ("H", 2), 3: ("I", 4), 4: ("I", 4), 8: ("d", 8)}
"""Types of arrays, and the bytes of their items, by the stored bytes of an item."""

_GENERATOR = 0x20
"""The flag of the code of a generator function, as `inspect.CO_GENERATOR`."""

_STORAGES = tuple(STORED)
_DOCUMENT = _STORAGES.index("tag") + 1

CODES = (*_STORAGES[:_DOCUMENT], "document", *_STORAGES[_DOCUMENT:], "unlisted")
"""The columns of a look-alike that hold codes, in display order."""

_Class = TypeVar("_Class")
_Function = TypeVar("_Function", bound=Callable[..., Any])

_DAMAGE = (OSError, zlib.error, LookupError, ValueError, OverflowError, RecursionError)


# Hashes


_DIGITS = "0123456789abcdefghijklmnopqrstuv"
_LETTERS = "234567abcdefghijklmnopqrstuvwxyz"
"""The letters of hashes in their order, so that bytes are in the order of hashes."""

_TO_DIGITS = bytes.maketrans(_LETTERS.encode(), _DIGITS.encode())
_PACKED_AT_ONCE = 1024 * HASH_LENGTH


def pack_hashes(hashes: str) -> bytes:
    """Return the bytes of hashes that are joined to one text, 20 for each."""
    digits = hashes.encode().translate(_TO_DIGITS)
    return b"".join(
        int(part, 32).to_bytes(len(part) * 5 // 8, "big")
        for start in range(0, len(digits), _PACKED_AT_ONCE)
        for part in [digits[start : start + _PACKED_AT_ONCE]]
    )


def unpack_hashes(data: bytes) -> list[str]:
    """Return the hashes that bytes mean."""
    # Each five bytes are eight letters; all first letters are computed at once, all second …
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
    """Return the table that shifts bytes to the left, or to the right, and keeps five bits."""
    return bytes((byte << bits if bits > 0 else byte >> -bits) & 0b11111 for byte in range(256))


def union(first: bytes, second: bytes) -> bytes:
    """Return the bytes that have the bits of two others of the same length."""
    return (int.from_bytes(first, "little") | int.from_bytes(second, "little")).to_bytes(
        len(first), "little"
    )


# Sections


def _planes(numbers: array[Any]) -> tuple[int, bytes]:
    """Return how many bytes of each number are stored, and these."""
    size, data = numbers.itemsize, numbers.tobytes()
    planes = [data[n::size] for n in range(size)]
    if sys.byteorder == "big":
        planes.reverse()
    if numbers.typecode != "d":
        while len(planes) > 1 and not planes[-1].strip(b"\0"):
            planes.pop()
    return len(planes), b"".join(planes)


def _from_planes(size: int, data: bytes) -> array[Any]:
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
    """Return a copy of 32-bit codes with as few bytes for each as fit all."""
    return _from_planes(*_planes(codes))


class SectionWriter:
    """Writes the sections of an index to an empty file; it is an index once it is sealed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._table: dict[str, tuple[int, int, int, int]] = {}
        self._checksum = 0
        self._offset = HEADER
        file.write(bytes(HEADER))

    def add_bytes(self, name: str, data: bytes, size: int = 0, *, whole: bool = False) -> None:
        """Add bytes, compressed if that pays, unless parts of them are read."""
        stored = data if whole else zlib.compress(data, _LEVEL)
        if len(stored) >= _PAYS * len(data):
            stored = data
        self._table[name] = self._offset, len(stored), len(data), size
        self._write(stored)

    def _write(self, data: bytes) -> None:
        self._file.write(data)
        self._checksum = zlib.crc32(data, self._checksum)
        self._offset += len(data)

    def add_array(self, name: str, numbers: array[Any]) -> None:
        """Add 32-bit numbers, or floating point numbers."""
        size, data = _planes(numbers)
        self.add_bytes(name, data, size)

    def add_ascending(self, name: str, numbers: array[int]) -> None:
        """Add numbers each of which is at least as large as the one before."""
        self.add_array(name, array("I", map(sub, numbers, chain((0,), numbers))))

    def add_json(self, name: str, value: object) -> None:
        """Add what JSON can represent."""
        self.add_bytes(name, json.dumps(value, separators=(",", ":")).encode())

    def add_lists(self, name: str, texts: Sequence[str], lists: Sequence[Sequence[int]]) -> None:
        """Add lists of texts, which are given by their places among all texts."""
        self.add_json(f"{name}.texts", texts)
        self.add_array(f"{name}.lengths", array("I", map(len, lists)))
        self.add_array(f"{name}.places", array("I", chain.from_iterable(lists)))

    def add_rows(self, name: str, rows: Sequence[object]) -> None:
        """Add rows of JSON of which few are needed at once."""
        for start in range(0, len(rows), ROWS):
            self.add_json(f"{name}.{start // ROWS}", rows[start : start + ROWS])

    def read_json(self, name: str) -> Any:
        """Return what JSON was added."""
        offset, stored, size, _ = self._table[name]
        self._file.seek(offset)
        data = self._file.read(stored)
        self._file.seek(self._offset)
        return json.loads(data if stored == size else zlib.decompress(data))

    def seal(self) -> None:
        """Write the table, and the header last."""
        table = json.dumps(self._table).encode()
        self._write(table)
        lengths = self._offset.to_bytes(8, "big") + len(table).to_bytes(8, "big")
        checksum = zlib.crc32(lengths, self._checksum).to_bytes(4, "big")
        self._file.seek(0)
        self._file.write(MAGIC + bytes([SCHEMA_VERSION]) + checksum + lengths)
        self._file.flush()


class Columns:
    """The sections of an index in a file, or in memory; safe to use from several threads.

    Whatever cannot be read raises IndexDamaged.
    """

    def __init__(self, source: str | bytes) -> None:
        self._data = source if isinstance(source, bytes) else None
        self._file = -1
        if isinstance(source, str):
            try:
                self._file = os.open(source, os.O_RDONLY | os.O_CLOEXEC)
            except OSError as error:
                raise IndexDamaged(str(error)) from error
        header = self.read(0, HEADER)
        if header[: _VERSION + 1] != MAGIC + bytes([SCHEMA_VERSION]):
            raise IndexDamaged("it is not an index of this version")
        length, size = _lengths(header)
        table = _json(self.read(length - size, size))
        self._table: Mapping[str, tuple[int, int, int, int]] = {
            name: checked(entry, (natural, natural, natural, natural))
            for name, entry in checked(table, dict).items()
        }

    def __del__(self) -> None:
        if self._file >= 0:
            os.close(self._file)

    def __iter__(self) -> Iterator[str]:
        return iter(self._table)

    def read(self, offset: int, size: int) -> bytes:
        """Read bytes of the file."""
        if self._data is not None:
            data = self._data[offset : offset + size]
        else:
            try:
                data = os.pread(self._file, size, offset)
            except (OSError, OverflowError) as error:
                raise IndexDamaged(str(error)) from error
        if len(data) != size:
            raise IndexDamaged("it is too short")
        return data

    def entry(self, name: str) -> tuple[int, int, int, int]:
        """Return where a section is, its stored size, its size, and the bytes of each number."""
        if name not in self._table:
            raise IndexDamaged(f"it has no {name}")
        return self._table[name]

    def size(self, name: str) -> int:
        """Return the number of bytes of a section."""
        return self.entry(name)[2]

    def raw(self, name: str) -> bytes:
        """Return the bytes of a section."""
        offset, stored, size, _ = self.entry(name)
        data = self.read(offset, stored)
        return data if stored == size else _decompressed(data, size)

    def part(self, name: str, start: int, stop: int) -> bytes:
        """Return some bytes of a section that is not compressed."""
        offset, stored, size, _ = self.entry(name)
        if stored != size or not 0 <= start <= stop <= size:
            raise IndexDamaged(f"{name} is damaged")
        return self.read(offset + start, stop - start)

    def numbers(self, name: str, length: int | None = None) -> array[Any]:
        """Return the numbers of a section, of which there must be `length`."""
        size, data = self.entry(name)[3], self.raw(name)
        if size not in _TYPES or len(data) % size or length not in (None, len(data) // size):
            raise IndexDamaged(f"{name} is damaged")
        return _from_planes(size, data)

    def ascending(self, name: str, length: int | None = None) -> array[int]:
        """Return the numbers of a section each of which is at least as large as the one before."""
        deltas = self.numbers(name, length)
        try:
            return array("I", accumulate(deltas))
        except (OverflowError, TypeError) as error:
            raise IndexDamaged(f"{name} is damaged") from error

    def json(self, name: str, kind: Any) -> Any:
        """Return the value of a section, which must be of a kind: see `checked`."""
        return checked(_json(self.raw(name)), kind)

    def lists(self, name: str) -> list[tuple[str, ...]]:
        """Return lists of texts; equal texts are one object."""
        texts, lengths = self.json(f"{name}.texts", [str]), self.numbers(f"{name}.lengths")
        places = self.numbers(f"{name}.places", sum(lengths))
        if max(places, default=-1) >= len(texts):
            raise IndexDamaged(f"{name} is damaged")
        all_texts = map(texts.__getitem__, places)
        return [tuple(islice(all_texts, length)) for length in lengths]

    def rows(self, name: str, count: int, kind: Any) -> Rows:
        """Return the rows of sections that `SectionWriter.add_rows` has written."""
        return Rows(self, name, count, kind)


class Rows(Sequence[Any]):
    """Rows of JSON, read some hundred at a time when they are first needed."""

    def __init__(self, columns: Columns, name: str, count: int, kind: Any) -> None:
        self._columns, self._name, self._count, self._kind = columns, name, count, kind
        self._sections: dict[int, Sequence[Any]] = {}

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, number: Any) -> Any:
        if not 0 <= number < self._count:
            raise IndexError(number)
        section, place = divmod(number, ROWS)
        rows = self._sections.get(section)
        if rows is None:
            rows = self._columns.json(f"{self._name}.{section}", [self._kind])
            self._sections[section] = rows
        return rows[place]

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(self._count))


def _lengths(header: bytes) -> tuple[int, int]:
    """Return the length of a file and that of its table."""
    lengths = header[_LENGTHS]
    length, size = int.from_bytes(lengths[:8], "big"), int.from_bytes(lengths[8:], "big")
    if not HEADER <= HEADER + size <= length < 1 << 62:
        raise IndexDamaged("its length is wrong")
    return length, size


def _decompressed(data: bytes, size: int) -> bytes:
    try:
        decompressor = zlib.decompressobj()
        # One more byte: the checksum is read only behind the end.
        whole = decompressor.decompress(data, size + 1)
    except zlib.error as error:
        raise IndexDamaged(str(error)) from error
    if not decompressor.eof or len(whole) != size:
        raise IndexDamaged("a section has another length")
    return whole


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise IndexDamaged(str(error)) from error


def read_dictionary(columns: Columns, storage: str) -> dict[str, Sequence[Value]]:
    """Return the values of the columns that a dictionary stores, by their codes."""
    values: dict[str, Sequence[Value]] = {
        column.name: columns.lists(column.name)
        if column.is_list
        else list(columns.json(f"{column.name}.texts", [str]))
        for column in STORED[storage]
    }
    if len({*map(len, values.values())}) > 1:
        raise IndexDamaged(f"the values of {storage} are damaged")
    return values


# Checks of what a file holds, which anybody may have written


def checked(value: Any, kind: Any) -> Any:
    """Return a value of JSON of a kind, with tuples for lists. Raises IndexDamaged for another.

    A kind is a type; a function that checks a value; for a list `[kind]` of its values; and for a
    row the kinds of its values in a tuple.
    """
    if isinstance(kind, type):
        if type(value) is not kind:
            raise IndexDamaged(f"it has a {type(value).__name__} in place of a {kind.__name__}")
        return value
    if callable(kind):
        return kind(value)
    if not isinstance(value, list):
        raise IndexDamaged(f"it has a {type(value).__name__} in place of a list")
    if isinstance(kind, list):
        (each,) = kind
        if isinstance(each, type) and {*map(type, value)} <= {each}:
            return tuple(value)
        return tuple([checked(item, each) for item in value])
    if len(value) != len(kind):
        raise IndexDamaged("a row has too many or too few values")
    return tuple(map(checked, value, kind))


def natural(value: object) -> int:
    """Return an id or a count. Raises IndexDamaged."""
    if type(value) is not int or not 0 <= value < 1 << 62:
        raise IndexDamaged(f"an id or count is {value!r:.20}")
    return value


def number(value: object) -> float | None:
    """Return a number, or None. Raises IndexDamaged."""
    if value is not None and not (isinstance(value, int | float) and abs(value) < 1e300):
        raise IndexDamaged(f"a number is {value!r:.20}")
    return value


SOURCE = (str, str, str, natural, number, str, str)
"""What checks the name, kind, layout, specs, time of check, remark and failure of a source."""
PROBLEM = (number, number, str, str, str)
"""What checks the source, document, origin, place and reason of a problem."""
NODE = (str, str, [str], str, [str], natural)
"""What checks the fields of `NodeFacts`."""
PROVENANCE = (str, number, str)
"""What checks the path, time of installation and build spec of a record."""
EDGE_KIND = ([str], [str])
"""What checks the deptypes and virtuals of edges."""


def reads_index(function: _Function) -> _Function:
    """Decorate a function or generator to raise IndexDamaged for what it cannot read."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except (Unanswerable, QueryError):
            raise
        except _DAMAGE as error:
            raise IndexDamaged(str(error)) from error

    @functools.wraps(function)
    def generate(*args: Any, **kwargs: Any) -> Iterator[Any]:
        try:
            yield from function(*args, **kwargs)
        except (Unanswerable, QueryError):
            raise
        except _DAMAGE as error:
            raise IndexDamaged(str(error)) from error

    # A context manager for both would take longer than many of the functions.
    return generate if function.__code__.co_flags & _GENERATOR else call  # type: ignore[return-value]


def class_reading_index(class_: type[_Class]) -> type[_Class]:
    """Apply `reads_index` to the public methods and properties of a class."""
    for name, member in list(vars(class_).items()):
        if name.startswith("_") and name != "__init__":
            continue
        guarded: Any
        if isinstance(member, functools.cached_property):
            guarded = functools.cached_property(reads_index(member.func))
            guarded.__set_name__(class_, name)
        elif isinstance(member, property):
            assert member.fget is not None
            guarded = property(reads_index(member.fget))
        elif isinstance(member, FunctionType):
            guarded = reads_index(member)
        else:
            continue
        setattr(class_, name, guarded)
    return class_


# The file


def is_current(path: str) -> bool:
    """Check whether a path is an index file of this user and of this version.

    Links and files that others can write to are not. Raises IndexDamaged if the file is cut off
    or not an index.
    """
    try:
        with open_private(path) as file:
            status, header = os.fstat(file.fileno()), file.read(HEADER)
            if abs(time.time() - status.st_mtime) > _DAY:
                # Some file systems do not record when a file is read.
                with contextlib.suppress(OSError):
                    os.utime(file.fileno())
    except OSError:
        return False
    if len(header) < HEADER or not header.startswith(MAGIC):
        raise IndexDamaged("it is not an index")
    if header[_VERSION] != SCHEMA_VERSION:
        return False
    if _lengths(header)[0] != status.st_size:
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


def checksum_of(file: BinaryIO) -> bytes:
    """Return the checksum that belongs into the header of a file."""
    header, checksum = file.read(HEADER), 0
    while chunk := file.read(_CHUNK):
        checksum = zlib.crc32(chunk, checksum)
    return zlib.crc32(header[_LENGTHS], checksum).to_bytes(4, "big")


def _has_right_checksum(path: str) -> bool:
    with contextlib.suppress(OSError), open_private(path) as file:
        header = os.pread(file.fileno(), HEADER, 0)
        return checksum_of(file) == header[CHECKSUM]
    return False


def create(path: str, write: Callable[[BinaryIO], None]) -> None:
    """Write an index beside the one there is, and put it in its place when it is whole.

    `write` is given an empty file. Raises OSError, and whatever `write` raises.
    """
    directory, name = os.path.split(path)
    private_directory(directory)
    with temporary_file(directory, name.removesuffix(SUFFIX)) as file:
        write(file)
        os.fsync(file.fileno())
        if os.path.isdir(path) and not os.path.islink(path):
            os.rmdir(path)
        os.replace(file.name, path)
        # The clock of the file system has dated the other indexes, too.
        now = os.fstat(file.fileno()).st_mtime
    _remove_unused(directory, now - UNUSED_DAYS * _DAY)


def _remove_unused(directory: str, newest: float) -> None:
    """Remove the index files that have not been opened for long."""
    with contextlib.suppress(OSError), os.scandir(directory) as entries:
        for entry in entries:
            if entry.name.endswith(_OLD_SUFFIXES) and entry.is_file(follow_symlinks=False):
                with contextlib.suppress(OSError):
                    status = entry.stat()
                    if max(status.st_atime, status.st_mtime) < newest:
                        os.unlink(entry.path)
