"""Read an index: packages and their counts, listings of rows, single specs, problems."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, lru_cache

from spackscope.model.catalog.adjacency import EdgeArrays
from spackscope.model.catalog.column_arrays import ColumnArrays
from spackscope.model.catalog.dependency_filter import DependencyFilter
from spackscope.model.catalog.dependency_graph import DependencyGraph
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.catalog.listing import Listing, View
from spackscope.model.catalog.query_execution import matching, tables
from spackscope.model.catalog.rows import Row, checked_source, provenance_of, rows_of
from spackscope.model.catalog.sql_filter import Clause, condition
from spackscope.model.catalog.virtuals import Virtuals
from spackscope.model.core.bounded_cache import BoundedCache
from spackscope.model.core.column import Column
from spackscope.model.core.columns import COLUMNS
from spackscope.model.core.progress import ShouldStop, never
from spackscope.model.core.records import (
    Dependency,
    Problem,
    Provenance,
    SourceStatus,
    Spec,
    is_hash,
)
from spackscope.model.index.connection import Database
from spackscope.model.index.damage import class_reading_index, natural, text
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import Depends, Term, exact_term
from spackscope.model.sources.document import DiscoveredSource

_MOST_VIRTUALS = 100
"""Virtuals whose providers are remembered; a real index has some forty."""

_PACKAGE = {"package"}

_ENTRY = 100
"""Bytes that an entry of a dict of numbers takes, about."""


@dataclass(frozen=True, slots=True)
class PackageCount:
    """Hold a package with the number of its specs that match, and of all of them.

    `first` is the id of its first spec; the others follow on it.
    """

    id: int
    name: str
    shown: int
    total: int
    first: int


@class_reading_index
class Catalog:
    """Answer questions from one index; safe to use from several threads.

    `dictionaries` know its values, `dependencies` its edges, `virtuals` who provides mpi.
    `notice` says what the user should know of how the index came about, or is empty;
    `was_damaged` says that it was rebuilt because it was damaged. `discovered` is what the sources
    were found to be when they were last looked at, if they were. All methods raise IndexDamaged.
    """

    def __init__(
        self,
        uri: str,
        *,
        notice: str = "",
        was_damaged: bool = False,
        keep: sqlite3.Connection | None = None,
        discovered: Sequence[DiscoveredSource] = (),
    ) -> None:
        self.database = Database(uri, keep)
        self.meta = self.database.meta
        self.notice = notice
        self.was_damaged = was_damaged
        self.discovered = discovered
        self.column_arrays = ColumnArrays(self.database)
        self.dictionaries = Dictionaries(self.database, self._dependents, self._propagated)
        edges = EdgeArrays(self.database, self.column_arrays)
        self.dependencies = DependencyGraph(
            self.database, self.column_arrays, edges, self.dictionaries
        )
        self._graph = DependencyFilter(self.database, self.column_arrays, edges, self.dictionaries)
        self.virtuals = Virtuals(
            lambda: self.dictionaries.texts("package"),
            lru_cache(_MOST_VIRTUALS)(self._graph.providers),
        )
        self._varying_columns: dict[str | None, frozenset[str]] = {}
        self._matches: BoundedCache[Query, IdRanges] = BoundedCache(lambda specs: specs.nbytes)
        self._dependent_masks: BoundedCache[Depends, bytes] = BoundedCache(len)
        self._code_counts: BoundedCache[tuple[Query, str], dict[int, int]] = BoundedCache(
            lambda counts: _ENTRY * len(counts)
        )

    @cached_property
    def _packages(self) -> list[PackageCount]:
        rows = self.database.execute(
            "SELECT id, package, n, first FROM package WHERE n ORDER BY id"
        )
        records = self.column_arrays.first[-1]
        return [
            PackageCount(natural(id_), text(name), natural(n), n, natural(first, records - n))
            for id_, name, n, first in rows
        ]

    @cached_property
    def total(self) -> int:
        """Count the records."""
        ((total,),) = self.database.execute("SELECT coalesce(sum(n), 0) FROM package")
        return natural(total)

    @cached_property
    def _sources_as_read(self) -> list[SourceStatus]:
        rows = self.database.execute(
            "SELECT name, kind, layout, coalesce(sum(specs), 0), checked, remark, failure,"
            " (SELECT count(*) FROM problem WHERE problem.source = source.id)"
            " FROM source LEFT JOIN document ON source.id = document.source"
            " GROUP BY source.id ORDER BY source.id"
        )
        return [checked_source(row) for row in rows]

    @property
    def sources(self) -> list[SourceStatus]:
        """Hold what is known of each source, in the order given."""
        now = {one.source: one for one in self.discovered}
        return [
            replace(state, checked=now[state.name].checked, remark=now[state.name].remark)
            if state.name in now
            else state
            for state in self._sources_as_read
        ]

    @cached_property
    def problems(self) -> list[Problem]:
        """Hold what could not be read, in the order of reading."""
        rows = self.database.execute("SELECT origin, place, reason FROM problem")
        return [Problem(*map(text, row)) for row in rows]

    @cached_property
    def problem_count(self) -> int:
        """Count the problems."""
        return int(self.database.execute("SELECT count(*) FROM problem").fetchone()[0])

    def _dependents(self, asked: Depends) -> bytes:
        return self._dependent_masks.get(asked, lambda: self._graph.dependents(asked, self._find))

    def _propagated(self, term: Term) -> bytes:
        return self._graph.propagated(term, self._find)

    def _find(self, query: Query) -> IdRanges:
        """Give the ids of all records that match, those that are only dependencies among them."""
        return matching(query, self.database, self.dictionaries, self.column_arrays)

    def match(self, query: Query, *, should_stop: ShouldStop = never) -> IdRanges:
        """Give the ids of the records that match.

        They are kept for a while, since packages, rows and counts all come of them. Raises
        Cancelled where `should_stop` says so, and Unanswerable.
        """

        package = self.selected_package(query)
        if package is not None and query.package is not None:
            rest = query.with_package(None)
            if not rest or rest in self._matches:
                # The specs of a package follow on each other.
                specs = self.match(rest, should_stop=should_stop)
                return specs.within(package.first, package.first + package.total)

        def find() -> IdRanges:
            with self.database.stoppable(should_stop):
                return self._find(self.virtuals.resolved(query)).within(0, self.total)

        return self._matches.get(query, find)

    @cached_property
    def _packages_by_name(self) -> dict[str, PackageCount]:
        return {package.name: package for package in self._packages}

    def selected_package(self, query: Query) -> PackageCount | None:
        """Return the package that a query names, with all its specs; None where it names none."""
        if (term := query.package_term) is None:
            return None
        if query.package is not None:
            return self._packages_by_name.get(query.package)
        return next((p for p in self._packages if exact_term("package", p.name) == term), None)

    def packages(self, query: Query, *, should_stop: ShouldStop = never) -> list[PackageCount]:
        """Give the packages with a match, in the order of their names."""
        specs = self.match(query, should_stop=should_stop)
        if len(specs) == self.total:
            return self._packages
        counts = (
            (package, specs.count(package.first, package.first + package.total))
            for package in self._packages
        )
        return [replace(package, shown=shown) for package, shown in counts if shown]

    def listing(self, view: View, *, should_stop: ShouldStop = never) -> Listing:
        """Give the rows of a view.

        Raises Cancelled where `should_stop` says so, and Unanswerable.
        """
        specs = self.match(view.query, should_stop=should_stop)
        with self.database.stoppable(should_stop):
            return Listing(view, specs, self.column_arrays, self.dictionaries)

    def count_codes(
        self, query: Query, place: str, *, should_stop: ShouldStop = never
    ) -> dict[int, int]:
        """Count the matching records by the codes of one dictionary, as of `variant_set`.

        Counts are kept: while a word is typed, what else is asked for stays as it is. Raises
        Cancelled where `should_stop` says so, and Unanswerable.
        """

        def count() -> dict[int, int]:
            resolved = self.virtuals.resolved(query)
            made = condition(resolved, self.dictionaries) & Clause("look_alike.unlisted = 0")
            number = "count(*)" if made.on_specs else "sum(n)"
            with self.database.stoppable(should_stop):
                rows = self.database.execute(
                    f"SELECT look_alike.{place}, {number} FROM {tables(made)} WHERE {made.sql}"
                    f" GROUP BY look_alike.{place}",
                    made.parameters,
                )
                return dict(rows.fetchall())

        return self._code_counts.get((query, place), count)

    def columns(self, view: View) -> list[Column]:
        """Give the columns to show: the core, and those that say something or are asked for.

        Filters play no part, so that no column comes or goes while one is typed.
        """
        telling, query = self.varying_columns(view.query), view.query
        named = query.columns if self.selected_package(query) is None else query.columns - _PACKAGE
        return [
            c
            for c in COLUMNS
            if c.shown == "always"
            or c.name in telling
            or c.name in named
            or (c.shown == "if_any" and any(self.dictionaries.values(c.name)))
        ]

    def varying_columns(self, query: Query) -> frozenset[str]:
        """Name the columns with more than one value within the package of a query, or at all."""
        package = self.selected_package(query)
        name = package.name if package is not None else None
        if name not in self._varying_columns:
            first, behind = 0, self.total
            if package is not None:
                first, behind = package.first, package.first + package.total
            spans = list(self.column_arrays.spans(IdRanges([(first, behind)])))
            sized = self.database.execute(
                "SELECT 1 FROM spec WHERE size IS NOT NULL AND id BETWEEN ? AND ? LIMIT 1",
                (first, behind - 1),
            ).fetchone()
            named = {"hash", *(["size"] if sized else [])}
            named.update(c.name for c in COLUMNS if c.has_dictionary and self._varies(c, spans))
            self._varying_columns[name] = frozenset(named)
        return self._varying_columns[name]

    def _varies(self, column: Column, spans: Sequence[tuple[int, int]]) -> bool:
        values = self.dictionaries.values(column.name)
        return (
            len({values[code] for code in self.column_arrays.distinct(column.storage, spans)}) > 1
        )

    def rows(self, ids: Sequence[int], counts: Sequence[int] | None = None) -> list[Row]:
        """Give the rows with these ids, in the order of the ids."""
        return rows_of(ids, counts, self.database, self.dictionaries)

    def specs(self, listing: Listing) -> Iterator[Spec]:
        """Give the records of a listing in its order, a window at a time."""
        for start in range(0, len(listing.ids), 512):
            for row in self.rows(listing.ids[start : start + 512]):
                yield row.spec

    def by_hash(self, hash_: str) -> list[Row]:
        """Give every record with this whole hash."""
        if not is_hash(hash_):
            return []
        found = self.database.execute("SELECT id FROM spec WHERE hash = ? ORDER BY id", (hash_,))
        return self.rows([id_ for (id_,) in found])

    def with_compilers(self, row: Row) -> Spec:
        """Return the record of a row with its compilers, as its spec string needs them."""
        return replace(row.spec, compilers=self.dependencies.compilers(row.id))

    def full_record(self, row: Row) -> Spec:
        """Give the record of a row with all that any document tells of it."""
        spec = replace(row.spec, **asdict(self.provenance(row.id)))
        if not self.dependencies.lists(row.id):
            return spec
        edges = self.dependencies.of(row.id)
        children = [edge.child for edge in edges if self.dependencies.absent(edge.child) is None]
        rows = self.rows(list(dict.fromkeys(children)))
        named = {row.id: (row.spec.package, row.spec.hash) for row in rows}
        found = []
        for edge in edges:
            name, hash_ = self.dependencies.absent(edge.child) or named[edge.child]
            found.append(Dependency(hash_, name, edge.deptypes, edge.virtuals))
        return replace(spec, dependencies=tuple(found))

    def provenance(self, id_: int) -> Provenance:
        """Give where the record with this id comes from."""
        return provenance_of(id_, self.database)

    def count(self, query: Query, *, should_stop: ShouldStop = never) -> int:
        """Count the records that match.

        Raises Cancelled where `should_stop` says so, and Unanswerable.
        """
        return len(self.match(query, should_stop=should_stop))
