"""The values of an index: what its codes mean, which codes match a term, and their order."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from itertools import chain
from types import SimpleNamespace
from typing import Any, cast

from spackscope.model.catalog.arrays import grouped_by
from spackscope.model.catalog.node_table import NodeTable
from spackscope.model.core.bounded_cache import BoundedCache
from spackscope.model.core.columns import FIELDS, STORED, Column, Value
from spackscope.model.core.errors import IndexDamaged
from spackscope.model.core.records import HASH_LENGTH
from spackscope.model.core.text import cell_width
from spackscope.model.index.connection import Database
from spackscope.model.index.damage import (
    checked_hash,
    class_reading_index,
    natural,
    text,
    texts_of_all,
)
from spackscope.model.query.ast import Term

_MAX_ENTRIES = 10_000_000
"""Entries up to which a dictionary is believed; Spack has some 10,000 packages."""

_SORT_COST = 3
"""How much longer it takes to sort records than to read as many in the order of an SQL index."""

_HASH_PREFIX = re.compile(rf"[a-z2-7]{{0,{HASH_LENGTH}}}")


class _Entries(dict[int, tuple[Any, ...]]):
    """What codes mean, computed when it is first needed."""

    def __init__(self, compute: Callable[[int], tuple[Any, ...]]) -> None:
        self._compute = compute

    def __missing__(self, code: int) -> tuple[Any, ...]:
        entry = self[code] = self._compute(code)
        return entry


@class_reading_index
class Dictionaries:
    """The values that codes mean; each dictionary is read when it is first needed.

    `record_values` has for each dictionary in `STORED` the values of the fields of `Spec` that a
    code means, and `widths` returns the cells that each value of a column takes. `nodes` has what
    nodes state beside the columns, by the codes of specs.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._values: dict[str, Sequence[Value]] = {}
        self.nodes = NodeTable(database)
        self.record_values = [
            _Entries(partial(self._record_values, columns)) for columns in STORED.values()
        ]
        self.widths = lru_cache(None)(self._widths)
        self._has_any = lru_cache(None)(self._find_any)
        self._matching_codes: BoundedCache[tuple[str, str, str], array[int]] = BoundedCache(
            lambda codes: codes.itemsize * len(codes)
        )

    def values(self, column: str) -> Sequence[Value]:
        """Return the values of a column, each at the index of its code."""
        if column not in self._values:
            stored = self._read(FIELDS[column].storage)
            self._values.update(stored)
            if column not in stored:
                names = [FIELDS[name].attribute for name in stored]
                entries = zip(*stored.values(), strict=True)
                self._values[column] = [
                    FIELDS[column].value(SimpleNamespace(**dict(zip(names, entry, strict=True))))
                    for entry in entries
                ]
        return self._values[column]

    def texts(self, column: str) -> Sequence[str]:
        """Return the values of a column whose values are single texts, as `values` does."""
        return cast(Sequence[str], self.values(column))

    def _read(self, storage: str) -> dict[str, list[Value]]:
        """Read the columns that a dictionary stores; the values of unused codes are empty."""
        columns = STORED[storage]
        names = ", ".join(column.attribute for column in columns)
        rows = self._database.execute(f"SELECT id, {names} FROM {storage} ORDER BY id").fetchall()
        if rows and not 0 <= rows[0][0] <= rows[-1][0] < _MAX_ENTRIES:
            raise IndexDamaged(f"the ids of {storage} are damaged")
        count = rows[-1][0] + 1 if rows else 0
        values: dict[str, list[Value]] = {}
        for number, column in enumerate(columns, 1):
            empty: Value = () if column.is_list else ""
            column_values = values[column.name] = [empty] * count
            stored = [row[number] for row in rows]
            read: Iterable[Value] = texts_of_all(stored) if column.is_list else map(text, stored)
            for row, value in zip(rows, read, strict=True):
                column_values[row[0]] = value
        return values

    def _record_values(self, columns: Sequence[Column], code: int) -> tuple[Any, ...]:
        natural(code)
        values = [column.restore(self.values(column.name)[code]) for column in columns]
        return tuple(chain.from_iterable(values))

    def documents(self, codes: Collection[int]) -> dict[int, tuple[str, str]]:
        """Return the origin and the source of some documents, of which an index may have many."""
        # They are numbers of this index, never text of a user.
        rows = self._database.execute(
            "SELECT document.id, origin, name FROM document JOIN source ON source.id = source"
            f" WHERE document.id IN ({','.join(map(str, map(natural, codes)))})"
        )
        return {code: (text(origin), text(name)) for code, origin, name in rows}

    @cached_property
    def source_names(self) -> frozenset[str]:
        """The names of the sources that have records."""
        return frozenset(chain.from_iterable(cast(Sequence[Sequence[str]], self.values("source"))))

    @cached_property
    def lists_dependencies(self) -> bool:
        """Whether any document lists dependencies, and flags with them."""
        rows = self._database.execute("SELECT 1 FROM document WHERE dependencies LIMIT 1")
        return rows.fetchone() is not None

    def matching_codes(self, column: str, term: Term) -> Sequence[int]:
        """Return the codes of the values that match a term, ascending, regardless of negation.

        They are cached, since the next letter of a query hardly changes its other terms.
        """

        def match() -> array[int]:
            fits = term.matcher(column)
            return array("I", [n for n, value in enumerate(self.values(column)) if fits(value)])

        return self._matching_codes.get((column, term.column, term.pattern), match)

    def _widths(self, column: Column) -> Sequence[int]:
        return [cell_width(column.cell(value)) for value in self.values(column.name)]

    def ranks(self, column: Column) -> Sequence[int]:
        """Return the rank of each code in the order of a column's values."""
        values = self.values(column.name)
        if STORED[column.storage] == (column,):
            return range(len(values))
        keys = list(map(column.sort_key, values))
        rank_of = {key: rank for rank, key in enumerate(sorted(set(keys)))}
        return [rank_of[key] for key in keys]

    def is_known(self, column: Column, first: int, last: int) -> bool:
        """Check whether any of the records from `first` to `last` has a value of its own."""
        if not self._has_any(column):
            return False
        sql = f"SELECT 1 FROM spec WHERE {column.attribute} IS NOT NULL AND id BETWEEN ? AND ?"
        return self._database.execute(f"{sql} LIMIT 1", (first, last)).fetchone() is not None

    def _find_any(self, column: Column) -> bool:
        """Check whether any record has a value of its own: pages may have none at all."""
        sql = f"SELECT 1 FROM spec WHERE {column.attribute} IS NOT NULL LIMIT 1"
        return self._database.execute(sql).fetchone() is not None

    def has_hash(self, prefix: str) -> bool:
        """Check whether any hash has a prefix."""
        return bool(self.hashes(prefix, limit=1))

    def hashes(self, prefix: str, *, limit: int) -> list[str]:
        """Return the first hashes with a prefix, in their order, each once."""
        if not _HASH_PREFIX.fullmatch(prefix):
            return []
        rows = self._database.execute(
            "SELECT DISTINCT hash FROM spec WHERE hash BETWEEN ? AND ? ORDER BY hash LIMIT ?",
            (*hash_range(prefix), limit),
        )
        return [checked_hash(hash_) for (hash_,) in rows]

    def by_hash(self, first: int, last: int, *, descending: bool) -> Iterator[int]:
        """Yield all ids by hash, at least those from `first` to `last`; equal ones by id."""
        order = f"ORDER BY hash {'DESC' if descending else 'ASC'}, id"
        ((newest,),) = self._database.execute("SELECT max(id) FROM spec")
        if _SORT_COST * (last - first) < newest:
            sql = f"SELECT id FROM spec WHERE id BETWEEN ? AND ? {order}"
            return self._database.numbers(sql, (first, last))
        # Without bounds SQLite reads the hashes in the order of their index, and sorts nothing.
        return self._database.numbers(f"SELECT id FROM spec {order}")

    def by_size(self, first: int, last: int, *, descending: bool) -> Iterator[int]:
        """Yield the ids from `first` to `last` by size, a missing one first; equal ones by id."""
        rows = self._database.numbers(
            "SELECT coalesce(size, -1) FROM spec WHERE id BETWEEN ? AND ? ORDER BY id",
            (first, last),
        )
        sizes = array("d", rows)
        # Sizes of one magnitude at a time: sorting all at once would stop all other threads.
        magnitudes = (int(size + 1).bit_length() for size in sizes)
        groups = grouped_by(magnitudes, range(len(sizes)))
        for magnitude in sorted(groups, reverse=descending):
            group: Sequence[int] = groups[magnitude]
            if magnitude:
                group = sorted(group, key=sizes.__getitem__, reverse=descending)
            yield from map(first.__add__, group)


def hash_range(prefix: str) -> tuple[str, str]:
    """Return the first and the last text that a hash with a prefix can be."""
    return prefix, prefix + "z" * HASH_LENGTH
