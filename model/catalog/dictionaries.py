"""Know the values of an index: the dictionaries behind its codes, and the order of both."""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from spackscope.model.core.bounded_cache import BoundedCache
from spackscope.model.core.column import Column, Value
from spackscope.model.core.errors import (
    IndexDamaged,
)
from spackscope.model.core.records import (
    HASH_LENGTH,
)
from spackscope.model.core.text import cell_width
from spackscope.model.core.versions import version_key
from spackscope.model.index.connection import Database
from spackscope.model.index.damage import checked_hash, class_reading_index, text, texts
from spackscope.model.query.ast import Depends, Term

_PLACES = {
    "package": "package_names",
    "version": "versions",
    "variants": "variant_sets",
    "stack": "stack_sets",
    "tag": "tags",
}
_MOST_PACKAGES = 10_000_000
"""Ids of packages up to which an index is believed; Spack has some 10,000 packages."""

_SORTING = 3
"""How much longer it takes to sort some records than to read as many in the order of an index."""

_HASH_BEGINNING = re.compile(rf"[a-z2-7]{{0,{HASH_LENGTH}}}")


@dataclass(frozen=True, slots=True)
class Arch:
    """Hold what a dictionary entry of architectures says."""

    compiler: str
    os: str
    platform: str
    target: str


@class_reading_index
class Dictionaries:
    """Give the values that codes stand for; each dictionary is read when it is first asked for.

    `dependents` marks the specs with a dependency as asked, `propagated` those whose variant is as
    asked throughout: a byte for each spec, in the order of their ids.
    """

    def __init__(
        self,
        database: Database,
        dependents: Callable[[Depends], bytes],
        propagated: Callable[[Term], bytes],
    ) -> None:
        self._database = database
        self.dependents = dependents
        self.propagated = propagated
        self._widths: dict[str, Sequence[int]] = {}
        self._fitting: BoundedCache[tuple[str, str, str], array[int]] = BoundedCache(
            lambda codes: codes.itemsize * len(codes)
        )

    @cached_property
    def package_names(self) -> list[str]:
        """Hold the names of packages by their ids; an id that is not in use has an empty one."""
        rows = self._database.execute("SELECT id, name FROM package ORDER BY id").fetchall()
        if rows and not 0 <= rows[0][0] <= rows[-1][0] < _MOST_PACKAGES:
            raise IndexDamaged("the ids of packages are damaged")
        names = [""] * (rows[-1][0] + 1 if rows else 0)
        for id_, name in rows:
            names[id_] = text(name)
        return names

    @cached_property
    def arches(self) -> list[Arch]:
        """Hold the architectures in the order of their codes."""
        rows = self._database.execute(
            "SELECT compiler, os, platform, target FROM arch ORDER BY id"
        )
        return [Arch(*map(text, row)) for row in rows]

    @cached_property
    def versions(self) -> list[str]:
        """Hold the versions in Spack's order."""
        rows = self._database.execute("SELECT name FROM version ORDER BY id")
        return [text(name) for (name,) in rows]

    @cached_property
    def variant_sets(self) -> list[tuple[str, ...]]:
        """Hold the sets of variants, each as the document has it."""
        rows = self._database.execute("SELECT texts FROM variant_set ORDER BY id")
        return [texts(variants) for (variants,) in rows]

    @cached_property
    def stack_sets(self) -> list[tuple[str, ...]]:
        """Hold the sets of stacks."""
        rows = self._database.execute("SELECT texts FROM stack_set ORDER BY id")
        return [texts(stacks) for (stacks,) in rows]

    @cached_property
    def documents(self) -> list[tuple[str, str]]:
        """Hold the origin and the source of each document."""
        rows = self._database.execute(
            "SELECT origin, name FROM document JOIN source ON source.id = source"
            " ORDER BY document.id"
        )
        return [(text(origin), text(name)) for origin, name in rows]

    @cached_property
    def presences(self) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Hold the sources with the states."""
        rows = self._database.execute("SELECT sources, states FROM presence ORDER BY id")
        return [(texts(sources), texts(states)) for sources, states in rows]

    @cached_property
    def tags(self) -> list[str]:
        """Hold the tags in the order of their names."""
        rows = self._database.execute("SELECT name FROM tag ORDER BY id")
        return [text(name) for (name,) in rows]

    @cached_property
    def lists_dependencies(self) -> bool:
        """Tell whether any document lists dependencies, and flags with them."""
        found = self._database.execute("SELECT 1 FROM document WHERE dependencies LIMIT 1")
        return found.fetchone() is not None

    @cached_property
    def extras(self) -> list[tuple[str, tuple[str, ...]]]:
        """Hold the namespaces with the flags."""
        rows = self._database.execute("SELECT namespace, flags FROM extra ORDER BY id")
        return [(text(namespace), texts(flags)) for namespace, flags in rows]

    def values(self, column: str) -> Sequence[Value]:
        """Give the values of a column, the index of each being the code of its place."""
        if column in ("source", "state"):
            return [pair[column == "state"] for pair in self.presences]
        if column == "arch":
            return [(arch.platform, arch.os, arch.target) for arch in self.arches]
        if column in ("namespace", "flags"):
            return [pair[column == "flags"] for pair in self.extras]
        values: Sequence[Value]
        if column in _PLACES:
            values = getattr(self, _PLACES[column])
        else:
            values = [getattr(arch, column) for arch in self.arches]
        return values

    def fitting(self, column: str, term: Term) -> Sequence[int]:
        """Give the codes of the values that fit a term, in their order, negation left aside.

        They are kept, since the terms of a query are asked again with each letter of the next.
        """

        def fit() -> array[int]:
            values = self.values(column)
            return array("I", (n for n, value in enumerate(values) if term.fits(column, value)))

        return self._fitting.get((column, term.column, term.pattern), fit)

    def widths(self, column: Column) -> Sequence[int]:
        """Give the cells that each value of a column takes in the table, by the codes."""
        widths = self._widths.get(column.name)
        if widths is None:
            texts = (column.cell(value) for value in self.values(column.name))
            widths = self._widths[column.name] = list(map(cell_width, texts))
        return widths

    def has_hash(self, prefix: str) -> bool:
        """Tell whether any hash begins so."""
        return bool(self.hashes(prefix, limit=1))

    def hashes(self, prefix: str, *, limit: int) -> list[str]:
        """Give the first hashes that begin so, in their order, each once."""
        if not _HASH_BEGINNING.fullmatch(prefix):
            return []
        rows = self._database.execute(
            "SELECT DISTINCT hash FROM spec WHERE hash BETWEEN ? AND ? ORDER BY hash LIMIT ?",
            (*hash_range(prefix), limit),
        )
        return [checked_hash(hash_) for (hash_,) in rows]

    def ranks(self, column: str) -> Sequence[int]:
        """Give the rank of each code in the order of a column's values."""
        values = self.values(column)
        if column not in ("compiler", "os", "platform", "target", "source", "state"):
            return range(len(values))
        keys = [_order(column, value) for value in values]
        rank_of = {key: rank for rank, key in enumerate(sorted(set(keys)))}
        return [rank_of[key] for key in keys]

    def ordered(self, column: str, first: int, last: int, *, descending: bool) -> Iterator[int]:
        """Yield the ids from `first` to `last` by hash or size, and where these are equal by id.

        A missing size comes before all others.
        """
        key = "hash" if column == "hash" else "coalesce(size, -1)"
        order = f"ORDER BY {key} {'DESC' if descending else 'ASC'}, id"
        (newest,) = self._database.execute("SELECT max(id) FROM spec").fetchone()
        if _SORTING * (last - first) < newest:
            sql = f"SELECT id FROM spec WHERE id BETWEEN ? AND ? {order}"
            return (id_ for (id_,) in self._database.execute(sql, (first, last)))
        # Without bounds SQLite reads the hashes in the order of their index, and sorts nothing.
        rows = self._database.execute(f"SELECT id FROM spec {order}")
        return (id_ for (id_,) in rows if first <= id_ <= last)


def _order(column: str, value: Value) -> tuple[object, ...]:
    if column == "compiler" and isinstance(value, str):
        name, _, version = value.partition("@")
        return name, version_key(version), value
    return (value,)


def hash_range(prefix: str) -> tuple[str, str]:
    """Give the first and the last text that a hash with this beginning can be."""
    return prefix, prefix + "z" * HASH_LENGTH
