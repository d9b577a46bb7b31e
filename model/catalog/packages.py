"""The packages of an index, and how many specs of each match."""

from __future__ import annotations

from functools import cached_property
from operator import add
from typing import NamedTuple

from spackscope.model.catalog.arrays import ColumnArrays
from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.index.connection import Database
from spackscope.model.index.damage import natural, naturals, text
from spackscope.model.query.ast import Query, exact_term


class PackageCount(NamedTuple):
    """A package with the number of its specs that match, and of all of them.

    `first` is the id of its first spec; the ids of the others follow.
    """

    id: int
    name: str
    shown: int
    total: int
    first: int

    @property
    def span(self) -> tuple[int, int]:
        """The id of its first spec, and the id after its last."""
        return self.first, self.first + self.total


class Packages:
    """The packages with a spec that is listed, in the order of their names."""

    def __init__(self, database: Database, arrays: ColumnArrays) -> None:
        self._database = database
        self._arrays = arrays

    @cached_property
    def all(self) -> list[PackageCount]:
        """The packages, each with the number of all its specs."""
        rows = self._database.execute(
            "SELECT id, package, n, first FROM package WHERE n ORDER BY id"
        ).fetchall()
        ids, names, counts, firsts = zip(*rows, strict=True) if rows else [()] * 4
        naturals([*ids, *counts, *firsts])
        naturals(list(map(add, firsts, counts)), self._arrays.first[-1])
        return list(map(PackageCount, ids, map(text, names), counts, counts, firsts))

    @cached_property
    def total(self) -> int:
        """The number of all specs that are listed."""
        ((total,),) = self._database.execute("SELECT coalesce(sum(n), 0) FROM package")
        return natural(total, self._arrays.first[-1])

    @cached_property
    def _by_name(self) -> dict[str, PackageCount]:
        return {package.name: package for package in self.all}

    def selected(self, query: Query) -> PackageCount | None:
        """Return the package that a query names, with all its specs; None if it names none."""
        if (term := query.package_term) is None:
            return None
        if query.package is not None:
            return self._by_name.get(query.package)
        return next((p for p in self.all if exact_term("package", p.name) == term), None)

    def span_of(self, name: str) -> tuple[int, int]:
        """Return the ids of the specs of a package; none for one that is not listed."""
        package = self._by_name.get(name)
        return (0, 0) if package is None else package.span

    def counts(self, specs: IdRanges) -> list[PackageCount]:
        """Return the packages with some of the specs."""
        counts = ((package, specs.count(*package.span)) for package in self.all)
        return [package._replace(shown=shown) for package, shown in counts if shown]
