"""Find the records that match queries."""

from __future__ import annotations

from array import array
from collections import Counter
from itertools import pairwise

from spackscope.model.catalog.arrays import ColumnArrays
from spackscope.model.catalog.by_host import ByHost
from spackscope.model.catalog.dependency_filter import DependencyFilter
from spackscope.model.catalog.dependency_graph import EdgeArrays
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.catalog.id_ranges import IdRanges
from spackscope.model.catalog.packages import Packages
from spackscope.model.catalog.sql_filter import FALSE, TRUE, Clause, QueryCompiler, hash_between
from spackscope.model.catalog.virtuals import Virtuals
from spackscope.model.core.bounded_cache import BoundedCache
from spackscope.model.core.columns import Value
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.index.connection import Database
from spackscope.model.query.ast import Query, Term
from spackscope.model.query.matchers import target_ranges, unknown_target

_MAX_RANGES = 200
"""Ranges in one statement; SQLite takes expressions a thousand deep."""

_BEFORE_TARGET = frozenset(("package", "hash", "namespace", "version", "platform", "os"))
"""What `Spec._satisfies` of Spack compares before the target."""

_ENTRY_SIZE = 100
"""Approximate bytes of an entry of a dict of numbers."""


class QueryExecution:
    """Execute queries on one index, cached; `virtuals` resolves the virtuals in queries."""

    def __init__(
        self,
        arrays: ColumnArrays,
        edges: EdgeArrays,
        dictionaries: Dictionaries,
        packages: Packages,
        database: Database,
        by_host: ByHost,
    ) -> None:
        self._database, self._dictionaries = database, dictionaries
        self._arrays = arrays
        self._packages = packages
        filter_ = DependencyFilter(arrays, edges, dictionaries, self._find)
        self._by_host = by_host
        self._compiler = QueryCompiler(dictionaries, filter_, by_host)
        self.virtuals = Virtuals(dictionaries, filter_.providers, filter_.states_compilers)
        self._matches: BoundedCache[Query, IdRanges] = BoundedCache(lambda specs: specs.nbytes)
        self._code_counts: BoundedCache[tuple[Query, str], dict[int, int]] = BoundedCache(
            lambda counts: _ENTRY_SIZE * len(counts)
        )

    def match(self, query: Query, should_stop: ShouldStop) -> IdRanges:
        """Return the ids of the listed records that match.

        Raises Cancelled if `should_stop` returns True, and Unanswerable.
        """
        package = self._packages.selected(query)
        if package is not None and query.package is not None:
            rest = query.with_package(None)
            if not rest or rest in self._matches:
                # The specs of a package are adjacent.
                return self.match(rest, should_stop).within(*package.span)

        def find() -> IdRanges:
            with self._database.stoppable(should_stop):
                resolved = self._resolved(query, should_stop)
                self._check_targets(resolved)
                return self._find(resolved).within(0, self._packages.total)

        return self._matches.get(query, find)

    def count_codes(self, query: Query, storage: str, should_stop: ShouldStop) -> dict[int, int]:
        """Count the matching records that are listed by their codes of a dictionary.

        Raises Cancelled if `should_stop` returns True, and Unanswerable.
        """

        def count() -> dict[int, int]:
            return self._arrays.counts(storage, self.match(query, should_stop))

        # While a word is typed, the conditions under which its values are counted stay the same.
        return self._code_counts.get((query, storage), count)

    def count_by_host(self, query: Query, column: str, should_stop: ShouldStop) -> Counter[Value]:
        """Count the matching records that are listed by their values of a column by host.

        Raises Cancelled if `should_stop` returns True, and Unanswerable.
        """
        return self._by_host.counts(column, self.match(query, should_stop), should_stop)

    def _resolved(self, query: Query, should_stop: ShouldStop) -> Query:
        """Return a query without virtuals and parts of the host, once the rest is computed."""
        self._by_host.prepare(query, should_stop)
        return self._by_host.resolved(self.virtuals.resolved(query))

    def _check_targets(self, query: Query) -> None:
        """Check that the ends of ranges of targets are known. Raises Unanswerable.

        As in Spack only where the target of a record is compared with them.
        """
        for spec in query.specs or ((),):
            groups = (*query.groups, *spec)
            before = tuple(g for g in groups if all(c.column in _BEFORE_TARGET for c in g))
            for term in (c for g in groups for c in g if isinstance(c, Term)):
                for low, high in target_ranges(term.pattern) if term.column == "target" else ():
                    above_low = (*before, (Term("target", f"{low}:"),))
                    for name, compared in ((low, before), (high, above_low)):
                        is_known = name in ("", *self._dictionaries.texts("target"))
                        sentence = "" if is_known else unknown_target(name)
                        if sentence and self._find(Query(compared)):
                            raise Unanswerable(sentence, term)

    def _find(self, query: Query) -> IdRanges:
        """Return the ids of all records that match, dependency-only specs included.

        Look-alikes are matched first, as if no hash had the requested prefix, and then the
        specs whose hash has one. So a bare word, which may be the prefix of a hash, needs no look
        at every spec. Raises Unanswerable.
        """
        ranges = self._compiler.hash_ranges(query)
        specs = self._matching_specs(self._compiler.clause(query, hashes=False))
        if not ranges:
            return specs
        clause = self._compiler.clause(query)
        matches: dict[int, bool] = {}
        for start in range(0, len(ranges), _MAX_RANGES):
            bounds = ranges[start : start + _MAX_RANGES]
            has_prefix = " OR ".join(hash_between(first, last) for first, last in bounds)
            matches.update(
                self._database.execute(
                    f"SELECT spec.id, {clause.sql} FROM spec"
                    f" JOIN look_alike ON look_alike.id = look_alike WHERE {has_prefix}",
                    clause.parameters,
                )
            )
        return specs.changed((id_, bool(is_match)) for id_, is_match in sorted(matches.items()))

    def _matching_specs(self, clause: Clause) -> IdRanges:
        first = self._arrays.first
        if clause == FALSE:
            return IdRanges()
        if clause == TRUE:
            return IdRanges([(0, first[-1])])
        id_ = "spec.id" if clause.needs_specs else "id"
        numbers = self._database.numbers(
            f"SELECT {id_} FROM {_tables(clause)} WHERE {clause.sql} ORDER BY {id_}",
            clause.parameters,
        )
        if clause.needs_specs:
            return IdRanges.of(numbers)
        ids = array("I", numbers)
        breaks = [at for at, (left, right) in enumerate(pairwise(ids), 1) if right - left > 1]
        bounds = zip([0, *breaks], [*breaks, len(ids)], strict=True)
        return IdRanges(
            (first[ids[start]], first[ids[stop - 1] + 1]) for start, stop in bounds if ids
        )


def _tables(clause: Clause) -> str:
    """Return the tables that a condition reads, joined in the order that is fastest."""
    if not clause.needs_specs:
        return "look_alike"
    # CROSS JOIN keeps the order of the tables, which the planner cannot know to choose.
    if clause.starts_at_hashes:
        return "spec CROSS JOIN look_alike ON look_alike.id = spec.look_alike"
    return "look_alike CROSS JOIN spec ON spec.id BETWEEN first AND first + n - 1"
