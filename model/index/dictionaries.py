"""Number the values of records, and write them in the order in which they are shown."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from operator import attrgetter, itemgetter
from typing import Any

from spackscope.model.core.column import Column
from spackscope.model.core.columns import STORED
from spackscope.model.core.records import Spec
from spackscope.model.index.schema import CODES
from spackscope.model.readers.fields import storable

_DOCUMENT = CODES.index("document")

Entry = Any
"""The value of a dictionary with one column, else the tuple of their values."""

_SOURCES = "sources"
"""The attribute whose values are codes of sources here, so that sources stay in their order."""


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

    def codes(self, specs: Sequence[Spec], values: dict[str, Iterable[Any]]) -> Iterator[Codes]:
        """Yield the codes of records.

        `values` has what comes from their document instead: entries, and the codes of what is
        not in a dictionary.
        """
        codes: list[Iterable[int]] = [
            map(dictionary.__getitem__, values[storage] if storage in values else map(get, specs))
            for storage, dictionary, get in self._getters
        ]
        codes.insert(_DOCUMENT, values["document"])
        return map(Codes, zip(*codes, values["unlisted"], strict=False))

    def entry(self, storage: str, code: int) -> Entry:
        """Return the entry that a code of a dictionary means."""
        dictionary, entries = self._dictionaries[storage], self._entries[storage]
        if len(entries) < len(dictionary):
            entries.extend(islice(dictionary, len(entries), None))
        return entries[code]

    def write(
        self, connection: sqlite3.Connection, sources: Sequence[str], documents: int
    ) -> dict[str, Sequence[int]]:
        """Write each dictionary in the order of its values; return the ranks of the codes.

        The ranks are by the names of `CODES`. Documents keep their codes.
        """
        ranks: dict[str, Sequence[int]] = {"document": range(documents), "unlisted": range(2)}
        for storage, columns in STORED.items():
            ranks[storage] = _write(
                connection, storage, columns, self._dictionaries[storage], sources
            )
        return ranks


def _write(
    connection: sqlite3.Connection,
    storage: str,
    columns: Sequence[Column],
    dictionary: Dictionary,
    sources: Sequence[str],
) -> Sequence[int]:
    def values(entry: Entry) -> Iterable[tuple[Column, Any]]:
        return zip(columns, entry if len(columns) > 1 else (entry,), strict=True)

    def key(entry: Entry) -> tuple[Any, ...]:
        return tuple(column.sort_key(value) for column, value in values(entry))

    def stored(column: Column, value: Any) -> str:
        if column.attribute == _SOURCES:
            value = [storable(sources[code]) for code in value]
        return json.dumps(value) if column.is_list else value

    ranks = [0] * len(dictionary)
    rows = []
    for rank, entry in enumerate(sorted(dictionary, key=key)):
        ranks[dictionary[entry]] = rank
        rows.append((rank, *(stored(column, value) for column, value in values(entry))))
    names = ", ".join(["id", *(column.attribute for column in columns)])
    marks = ", ".join("?" * (len(columns) + 1))
    connection.executemany(f"INSERT INTO {storage} ({names}) VALUES ({marks})", rows)
    return ranks
