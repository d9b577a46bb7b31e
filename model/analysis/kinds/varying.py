"""Build a table of what varies between specs or groups of specs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from spackscope.model.analysis.differences.own_differences import LISTED_BY_PAGES
from spackscope.model.analysis.graphs.graph import Graph
from spackscope.model.analysis.graphs.walk import Walk, Walker
from spackscope.model.analysis.kinds.run_time import (
    Values,
    all_values,
    compilers,
    run_time_deptypes,
    run_time_values,
)
from spackscope.model.analysis.kinds.varying_rows import Cell, VaryingRow, fewest_telling, fold
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import replace
from spackscope.model.core.tasks import ShouldStop, never

_RANKS = {"version": -3, "provider": -2, "present": -1, "compiler": 1, "platform": 2, "os": 3}
_RANKS |= {"target": 4, "package_hash": 5, "namespace": 6}
"""The order of the attributes of a package; those that are not here are 0."""

_WITH_VERSION = ("package_hash", "patches", "namespace", "external", "external_extra")
"""Attributes that normally change with the version."""


def varying(
    graph: Graph,
    groups: Sequence[Sequence[int]],
    *,
    run_only: bool = False,
    should_stop: ShouldStop = never,
) -> tuple[VaryingRow, ...]:
    """Return what varies between groups of specs, each a column; what tells all apart first.

    With `run_only` each group is one run-time kind, of which the first spec stands for all, and
    only what makes the kind is compared. Raises Cancelled and IndexDamaged.

        varying(graph, [kind.ids for kind in run_kinds(graph, ids)], run_only=True)
    """
    walker, tables = Walker(graph), list[_Table]()
    for is_run in (True,) if run_only else (True, False):
        walks = []
        for ids in groups:
            if should_stop():
                raise Cancelled
            walks.append(walker.walk(ids[:1] if run_only else ids, run_only=is_run))
        tables.append(_Table(graph, walks, is_run=is_run, only_kinds=run_only))
    rows = tables[0].rows()
    known = {(row.package, row.attribute) for row in rows}
    for table in tables[1:]:
        rows += (row for row in table.rows() if (row.package, row.attribute) not in known)
    rows = fold(rows)
    telling = fewest_telling(rows, len(groups))
    is_known = not any(each.unknown for each in tables[-1].walks)
    if telling is None and is_known:
        for table in tables:
            rows += table.edge_rows()
        telling = fewest_telling(rows, len(groups))
    telling = telling or []
    first = [replace(rows[number], tells=True) for number in telling]
    rest = (row for number, row in enumerate(rows) if number not in telling)
    return (*first, *rest)


class _Table:
    """The rows of the linked and run closures of all columns, or of the whole closures.

    With `only_kinds` only values that make a run-time kind are compared.
    """

    def __init__(
        self, graph: Graph, walks: Sequence[Walk], *, is_run: bool, only_kinds: bool
    ) -> None:
        self.walks = walks
        self._graph, self._is_run, self._only_kinds = graph, is_run, only_kinds
        self._values: dict[int, Values] = {}

    def rows(self) -> list[VaryingRow]:
        """Return all rows in the order of causes."""
        rows: list[VaryingRow] = []
        for name in dict.fromkeys(name for walk in self.walks for name in walk.nodes):
            nodes = [walk.nodes.get(name) for walk in self.walks]
            if any(each != nodes[0] for each in nodes):
                rows += self._rows_of(name, nodes)
        rows += self._provider_rows()
        return sorted(self._with_follows(rows), key=self._order())

    def _rows_of(self, name: str, nodes: Sequence[set[int] | None]) -> Iterator[VaryingRow]:
        """Yield the rows of a package, given its specs in each column."""
        graph = self._graph
        if self._is_missing(nodes):
            versions = [
                None if each is None else _joined((graph.attributes(id_).version,) for id_ in each)
                for each in nodes
            ]
            yield self._row(name, "present", versions)
        absent = {id_ for each in nodes for id_ in each or () if not graph.is_described(id_)}
        if absent:
            # All that is known of them is the hash.
            yield self._row(name, "hash", [None if x is None else self._hashes(x) for x in nodes])
        values = [
            None if each is None or absent & each else [self._values_of(id_) for id_ in each]
            for each in nodes
        ]
        are_pages = [
            bool(each and each & walk.unknown)
            for each, walk in zip(nodes, self.walks, strict=True)
        ]
        for attribute in sorted({key for each in values for node in each or () for key in node}):
            is_listed = attribute in LISTED_BY_PAGES or attribute.startswith("variant:")
            cells = [
                None
                if each is None or (is_page and not is_listed)
                else _joined(node.get(attribute, ()) for node in each)
                for each, is_page in zip(values, are_pages, strict=True)
            ]
            if len(set(cells) - {None}) > 1:
                yield self._row(name, attribute, cells)

    def _is_missing(self, nodes: Sequence[set[int] | None]) -> bool:
        """Check whether a column is known not to have a package.

        A package that no source describes is not a difference.
        """
        never_described = set.intersection(*(walk.unknown for walk in self.walks))
        columns = zip(nodes, self.walks, strict=True)
        return any(each is None and walk.unknown <= never_described for each, walk in columns)

    def _row(self, package: str, attribute: str, cells: Iterable[Cell]) -> VaryingRow:
        return VaryingRow(package, (), attribute, tuple(cells), self._is_run, packages=(package,))

    def _hashes(self, ids: Iterable[int]) -> tuple[str, ...]:
        return tuple(sorted(hash_[:SHORT_HASH] for hash_ in self._graph.hashes(ids)))

    def _values_of(self, id_: int) -> Values:
        if id_ not in self._values:
            graph = self._graph
            read = run_time_values if self._only_kinds else all_values
            values = read(graph.attributes(id_))
            if languages := compilers(graph, id_):
                values["compiler"] = languages
            self._values[id_] = values
        return self._values[id_]

    def _provider_rows(self) -> Iterator[VaryingRow]:
        """Yield a row for each virtual that different packages provide."""
        graph = self._graph
        providers: list[dict[str, set[int]]] = []
        for walk_ in self.walks:
            providers.append(defaultdict(set))
            for _, step in walk_.steps:
                for virtual in step.kind.virtuals:
                    providers[-1][virtual].add(step.id)
        for virtual in sorted({virtual for each in providers for virtual in each}):
            names = [{graph.name(id_) for id_ in each.get(virtual, ())} for each in providers]
            if len({frozenset(each) for each in names if each}) > 1:
                cells = [
                    _joined((self._spelled(id_),) for id_ in each[virtual])
                    if virtual in each
                    else None
                    for each in providers
                ]
                yield self._row(virtual, "provider", cells)

    def _spelled(self, id_: int) -> str:
        return f"{self._graph.name(id_)}@{self._graph.attributes(id_).version}"

    def _with_follows(self, rows: Sequence[VaryingRow]) -> list[VaryingRow]:
        """Return the rows, each with its path and what it follows."""
        own = {(row.package, row.attribute) for row in rows}
        changed = {row.package for row in rows}
        provided = {
            text.partition("@")[0]: row.package
            for row in rows
            if row.attribute == "provider"
            for cell in row.values
            for text in cell or ()
        }
        return [
            replace(
                row,
                path=self._path(row),
                follows=(provided.get(row.package) or self._needed_by(row, changed))
                if row.attribute == "present"
                else self._follows(row, own),
            )
            for row in rows
        ]

    def _follows(self, row: VaryingRow, own: set[tuple[str, str]]) -> str:
        """Return the attribute, or the package, that an attribute normally changes with."""
        is_new_variant = row.attribute.startswith("variant:") and () in row.values
        if (row.package, "version") in own and (row.attribute in _WITH_VERSION or is_new_variant):
            return "version"
        if row.attribute == "package_hash" and (row.package, "patches") in own:
            return "patches"
        if row.attribute == "compiler" and not self._is_run:
            # In whole closures the compiler has rows of its own.
            names = {
                text.partition("=")[2].partition("@")[0] for c in row.values for text in c or ()
            }
            return next((name for name in sorted(names) if (name, "version") in own), "")
        return ""

    def _path(self, row: VaryingRow) -> tuple[str, ...]:
        name = row.package
        if row.attribute == "provider":
            name = next(cell[0].partition("@")[0] for cell in row.values if cell)
        walk_ = next(walk_ for walk_ in self.walks if name in walk_.nodes)
        return walk_.path(self._graph, name)

    def _needed_by(self, row: VaryingRow, changed: set[str]) -> str:
        """Return a dependent that changed, which explains why a package is there or not.

        Empty if a dependent is otherwise the same in all columns.
        """
        parents: dict[str, None] = {}
        for walk_ in self.walks:
            parents |= walk_.parents.get(row.package, {})
        explaining = [name for name in parents if name in changed]
        return explaining[0] if explaining and len(explaining) == len(parents) else ""

    def edge_rows(self) -> Iterator[VaryingRow]:
        """Yield rows of packages whose dependencies differ, though all packages are the same."""
        columns = []
        for walk_ in self.walks:
            children: dict[str, set[str]] = defaultdict(set)
            for name, step in walk_.steps:
                deptypes = step.kind.deptypes
                deptypes = run_time_deptypes(deptypes) if self._is_run else deptypes
                children[name].add(f"{step.name} ({', '.join(deptypes)})")
            columns.append(children)
        for name in sorted({name for children in columns for name in children}):
            sets = [children.get(name, set()) for children in columns]
            same = set.intersection(*sets)
            if any(each != same for each in sets):
                cells = (tuple(sorted(each - same)) for each in sets)
                row = self._row(name, "dependencies", cells)
                yield replace(row, path=self._path(row))

    def _order(self) -> _Order:
        parents: dict[str, set[str]] = defaultdict(set)
        for walk_ in self.walks:
            for name, above in walk_.parents.items():
                parents[name].update(above)
        return _Order(parents)


class _Order:
    """The order of causes: the root's own first, then what most depends on, then the nearest."""

    def __init__(self, parents: dict[str, set[str]]) -> None:
        self._parents = parents
        self._above: dict[str, int] = {}

    def __call__(self, row: VaryingRow) -> tuple[object, ...]:
        """Return the key to sort rows by."""
        name = row.path[-1] if row.path else row.package
        above = self._count_above(name)
        rank = _RANKS.get(row.attribute, 0)
        return bool(row.path), -above, len(row.path), row.package, rank, row.attribute

    def _count_above(self, name: str) -> int:
        if name not in self._above:
            reached, frontier = {name}, {name}
            while frontier:
                frontier = set().union(*map(self._parents.__getitem__, frontier)) - reached
                reached |= frontier
            self._above[name] = len(reached)
        return self._above[name]


def _joined(values: Iterable[tuple[str, ...]]) -> Cell:
    """Return the values of the specs of one package; there are mostly one spec and one value."""
    distinct = {value for value in values if any(value)}
    if len(distinct) == 1:
        return distinct.pop()
    return tuple(sorted(",".join(value) for value in distinct))
