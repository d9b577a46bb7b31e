"""Number the values of records, and write them in the order in which they are shown."""

from __future__ import annotations

import sqlite3
from array import array
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from json.encoder import encode_basestring_ascii
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from spackscope.model.core.columns import STORED, Column
from spackscope.model.core.records import Look, Spec
from spackscope.model.index.connection import insert
from spackscope.model.index.damage import text, texts
from spackscope.model.index.schema import CODES
from spackscope.model.readers.json import storable

_DOCUMENT = CODES.index("document")

Entry = Any
"""The value of a dictionary with one column, else the tuple of their values."""

_SOURCES = "sources"
"""The attribute whose values are codes of sources here, so that sources stay in their order."""


_Row = tuple[Any, ...]
"""An entry as its table stores it, without its code."""


class KeptEntries(NamedTuple):
    """The rows of a dictionary of an old index by their codes, and the codes that are kept."""

    rows: Sequence[_Row] = ()
    used: Collection[int] = ()


class Ranks(NamedTuple):
    """The ranks of codes: of those of staged records, and of those of an old index.

    Those of codes that are not used are 0.
    """

    staged: array[int]
    kept: array[int]


class Codes(tuple[int, ...]):
    """The codes that make a look-alike, in the order of `CODES`."""

    __slots__ = ()

    package = property(itemgetter(CODES.index("package")))
    version = property(itemgetter(CODES.index("version")))
    arch = property(itemgetter(CODES.index("arch")))
    stack_set = property(itemgetter(CODES.index("stack_set")))
    tag = property(itemgetter(CODES.index("tag")))
    document = property(itemgetter(CODES.index("document")))
    presence = property(itemgetter(CODES.index("presence")))
    unlisted = property(itemgetter(CODES.index("unlisted")))

    def with_codes(self, **codes: int) -> Codes:
        """Return the codes with others for some names."""
        return Codes(codes.get(name, code) for name, code in zip(CODES, self, strict=True))


class Dictionary(dict[Entry, int]):
    """Number values in the order in which they are first seen."""

    def __missing__(self, value: Entry) -> int:
        code = self[value] = len(self)
        return code


class Dictionaries:
    """All dictionaries of an index that is being written."""

    def __init__(self) -> None:
        self._dictionaries = {storage: Dictionary() for storage in STORED}
        self._entries: dict[str, list[Entry]] = {storage: [] for storage in STORED}
        self._getters = [
            (storage, dictionary, attrgetter(*(column.attribute for column in STORED[storage])))
            for storage, dictionary in self._dictionaries.items()
        ]

    def __getitem__(self, storage: str) -> Dictionary:
        return self._dictionaries[storage]

    def codes(
        self, looks: Sequence[Spec | Look], values: Mapping[str, Iterable[Any]]
    ) -> Iterator[tuple[int, ...]]:
        """Yield the codes of look-alikes, in the order of `CODES`.

        `values` has what comes from their document instead: entries, and the codes of what is
        not in a dictionary.
        """
        codes: list[Iterable[int]] = [
            map(dictionary.__getitem__, values[storage] if storage in values else map(get, looks))
            for storage, dictionary, get in self._getters
        ]
        codes.insert(_DOCUMENT, values["document"])
        return zip(*codes, values["unlisted"], strict=False)

    def entry(self, storage: str, code: int) -> Entry:
        """Return the entry that a code of a dictionary means."""
        dictionary, entries = self._dictionaries[storage], self._entries[storage]
        if len(entries) < len(dictionary):
            entries.extend(islice(dictionary, len(entries), None))
        return entries[code]

    def write(
        self,
        connection: sqlite3.Connection,
        sources: Sequence[str],
        used: Mapping[str, Collection[int]],
        kept: Mapping[str, KeptEntries],
    ) -> dict[str, Ranks]:
        """Write each dictionary in the order of its values; return the ranks of the codes.

        Only entries that are `used` are written, and those `kept` of an old index.
        """
        ranks = {}
        for storage, columns in STORED.items():
            entries = {code: self.entry(storage, code) for code in used[storage]}
            staged = array("I", bytes(4 * len(self._dictionaries[storage])))
            writer = _DictionaryWriter(columns, sources)
            kept_ranks = writer.write(connection, storage, entries, kept[storage], staged)
            ranks[storage] = Ranks(staged, kept_ranks)
        return ranks


class _DictionaryWriter:
    """Writes one dictionary: the entries of new records, and rows that an old index has."""

    def __init__(self, columns: Sequence[Column], sources: Sequence[str]) -> None:
        self._columns = columns
        self._sources = [storable(source) for source in sources]
        self._codes = {source: code for code, source in enumerate(self._sources)}

    def write(
        self,
        connection: sqlite3.Connection,
        storage: str,
        entries: Mapping[int, Entry],
        kept: KeptEntries,
        ranks: array[int],
    ) -> array[int]:
        """Write entries, given by their codes, in order; set their ranks, return the kept ones."""
        known, used = {row: code for code, row in enumerate(kept.rows)}, set(kept.used)
        new: list[tuple[tuple[Any, ...], int, _Row]] = []
        same: dict[int, int] = {}
        columns = self._by_column(entries.values())
        stored = zip(*map(self._stored, self._columns, columns), strict=True)
        for code, key, row in zip(entries, self._keys(columns), stored, strict=True):
            if row in known:
                same[code] = known[row]
            else:
                new.append((key, code, row))
        used.update(same.values())
        kept_ranks = array("I", bytes(4 * len(kept.rows)))
        rows: list[_Row] = []
        for is_kept, code, row in self._merged(sorted(used), kept.rows, sorted(new)):
            (kept_ranks if is_kept else ranks)[code] = len(rows)
            rows.append(row)
        for code, old in same.items():
            ranks[code] = kept_ranks[old]
        names = ", ".join(["id", *(column.attribute for column in self._columns)])
        numbered = ((rank, *row) for rank, row in enumerate(rows))
        insert(connection, f"{storage} ({names})", numbered)
        return kept_ranks

    def _merged(
        self,
        kept: Sequence[int],
        rows: Sequence[_Row],
        new: Sequence[tuple[tuple[Any, ...], int, _Row]],
    ) -> Iterator[tuple[bool, int, _Row]]:
        """Yield kept codes and new ones in the order of their values, each with its row."""

        def key(code: int) -> tuple[Any, ...]:
            return next(self._keys(self._by_column([self._entry(rows[code])])))

        done = 0
        for new_key, code, row in new:
            stop = bisect_left(kept, new_key, done, key=key)
            yield from ((True, old, rows[old]) for old in kept[done:stop])
            yield False, code, row
            done = stop
        yield from ((True, old, rows[old]) for old in kept[done:])

    def _by_column(self, entries: Collection[Entry]) -> list[Collection[Any]]:
        """Return the values of each column of entries."""
        if len(self._columns) == 1:
            return [entries]
        return list(zip(*entries, strict=True)) or [()] * len(self._columns)

    def _keys(self, columns: Sequence[Collection[Any]]) -> Iterator[tuple[Any, ...]]:
        """Yield the keys that put entries in the order of their values."""
        keys = [
            map(column.sort_key, values)
            for column, values in zip(self._columns, columns, strict=True)
        ]
        return zip(*keys, strict=True)

    def _stored(self, column: Column, values: Collection[Any]) -> Iterable[str]:
        """Return values of a column as the table stores them."""
        if column.attribute == _SOURCES:
            values = [[self._sources[code] for code in codes] for codes in values]
        return map(_json, values) if column.is_list else values

    def _entry(self, row: _Row) -> Entry:
        """Return the entry that a row stores."""
        pairs = zip(self._columns, row, strict=True)
        values = tuple(self._value(column, text(value)) for column, value in pairs)
        return values if len(values) > 1 else values[0]

    def _value(self, column: Column, value: str) -> Any:
        if column.attribute == _SOURCES:
            return tuple(self._codes[source] for source in texts(value))
        return texts(value) if column.is_list else value


def _json(texts: Iterable[str]) -> str:
    """Return a list of texts as JSON; `json.dumps` makes an encoder for each."""
    return f"[{', '.join(map(encode_basestring_ascii, texts))}]"
