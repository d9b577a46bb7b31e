"""The packages of an index, and how many specs of each match."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.index.columns import Columns
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

    def __init__(self, columns: Columns, dictionaries: Dictionaries) -> None:
        self._columns, self._dictionaries = columns, dictionaries

    @cached_property
    def all(self) -> list[PackageCount]:
        """The packages, each with the number of all its specs."""
        names = self._dictionaries.texts("package")
        firsts = self._columns.numbers("package.first")
        packages = zip(range(len(names)), names, self._counts, self._counts, firsts, strict=True)
        return [PackageCount(*package) for package in packages if package[3]]

    @cached_property
    def _counts(self) -> Sequence[int]:
        """The number of specs of each package, 0 for one that is not listed."""
        return self._columns.numbers("package.specs")

    @cached_property
    def total(self) -> int:
        """The number of all specs that are listed."""
        return sum(self._counts)

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
