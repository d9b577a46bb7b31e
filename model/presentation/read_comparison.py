"""Read specs that are shown side by side: for a worker thread."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import islice

from spackscope.model.analysis.graphs.spec_graph import SpecGraph
from spackscope.model.analysis.graphs.walk import Walker
from spackscope.model.analysis.kinds.run_kinds import Kind, run_kinds
from spackscope.model.analysis.kinds.run_time import all_values
from spackscope.model.analysis.kinds.varying import varying
from spackscope.model.analysis.kinds.varying_rows import VaryingRow
from spackscope.model.core.frozen import replace
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.presentation.comparison import (
    MISSING,
    UNKNOWN,
    ComparedRow,
    ComparedSpec,
    ComparedTable,
    Part,
)

MAX_SPECS = 200
"""Specs that are compared at once."""
_MAX_ROWS = 500
"""Rows of each part of a table."""
_MAX_NAMES = 50
"""Packages that are named as users of a column."""

_COME_WITH_VERSION = frozenset(("package_hash", "patches"))
_OTHERS_FOLLOW = ("package", "version")
"""Attributes with which recipe, patches and the set of variants normally change."""
_NOT_SHOWN = frozenset(("spec_format",))


def read_comparison(
    graph: SpecGraph,
    ids: Sequence[int],
    *,
    by_kind: bool,
    should_stop: ShouldStop,
    show: Callable[[ComparedTable], object],
) -> ComparedTable:
    """Compare specs, with a column for each run-time kind, or for each spec.

    If there is one kind only each spec has a column. The table is passed to `show` as soon as its
    columns are known, and again with each part of it. Raises Cancelled and IndexDamaged.
    """
    unique = _one_of_each_hash(graph, ids)
    compared = unique[:MAX_SPECS]
    kinds = run_kinds(graph, compared, should_stop=should_stop)
    by_kind = by_kind and len(kinds) > 1
    specs = tuple(_columns(graph, kinds, by_kind=by_kind))
    columns = [spec.id for spec in specs]
    table = ComparedTable(
        _title(graph, columns),
        specs,
        len(compared),
        tuple(map(graph.lists_dependencies, columns)),
        left_out=len(unique) - len(compared),
        kinds=len(kinds),
        is_by_kind=by_kind,
    )
    show(table)
    reading = _Reading(graph, tuple(columns), kinds, should_stop)
    table = replace(table, rows=(*reading.own_rows(), *reading.rows_below(run=True)))
    show(table)
    if reading.listing:
        table = replace(table, build_rows=tuple(reading.rows_below(run=False)))
        show(table)
    return replace(table, specs=tuple(_with_users(graph, table.specs)))


def _one_of_each_hash(graph: SpecGraph, ids: Sequence[int]) -> list[int]:
    """Return one record of each hash: one whose source lists dependencies, if there is any."""
    chosen: dict[int, int] = {}
    for id_ in ids:
        other = chosen.setdefault(graph.identity(id_), id_)
        if graph.lists_dependencies(id_) and not graph.lists_dependencies(other):
            chosen[graph.identity(id_)] = id_
    return list(chosen.values())


def _columns(graph: SpecGraph, kinds: Sequence[Kind], *, by_kind: bool) -> Iterator[ComparedSpec]:
    """Yield a column for each kind, of which the most used one stands for all, or for each."""
    for kind in kinds:
        hashes = graph.hashes(kind.ids)
        if by_kind and kind.is_known:
            yield ComparedSpec(kind.ids[0], hashes[0], kind.ids, kind.total_users)
        else:
            for id_, hash_, users in zip(kind.ids, hashes, kind.users, strict=True):
                yield ComparedSpec(id_, hash_, users=users if kind.is_known else None)


def _title(graph: SpecGraph, ids: Sequence[int]) -> str:
    """Return the package, with its version if that is the same in all."""
    specs = [graph.attributes(id_) for id_ in ids]
    packages = list(dict.fromkeys(spec.package for spec in specs))
    versions = {spec.version for spec in specs}
    if len(packages) > 1:
        return ", ".join(packages[:2]) + (", …" if len(packages) > 2 else "")
    return f"{packages[0]}@{versions.pop()}" if len(versions) == 1 else packages[0]


class _Reading:
    """Read the rows of some columns; `listing` has those whose sources list dependencies."""

    def __init__(
        self,
        graph: SpecGraph,
        columns: tuple[int, ...],
        kinds: Sequence[Kind],
        should_stop: ShouldStop,
    ) -> None:
        self._graph, self._columns, self._should_stop = graph, columns, should_stop
        self._first_of_kind = {id_: kind.ids[0] for kind in kinds for id_ in kind.ids}
        self.listing = [id_ for id_ in columns if graph.lists_dependencies(id_)]
        walker = Walker(graph)
        self._run, self._all = (
            [walker.walk([id_], run_only=run_only) for id_ in self.listing]
            for run_only in (True, False)
        )

    def own_rows(self) -> Iterator[ComparedRow]:
        """Yield the attributes of the specs themselves, but what comes with another version."""
        attributes = [self._graph.attributes(id_) for id_ in self._columns]
        values = [all_values(each) for each in attributes]
        reason = next((n for n in _OTHERS_FOLLOW if len({v.get(n) for v in values}) > 1), "")
        names = {name for each in values for name in each} - _NOT_SHOWN
        for name in sorted(names, key=_own_order):
            if name == "package" and len({each.package for each in attributes}) == 1:
                continue
            is_conditional = ":" in name and any(name not in each for each in values)
            follows = reason if is_conditional or name in _COME_WITH_VERSION else ""
            texts = (
                ",".join(each.get(name, ()))
                if name in each or id_ in self.listing or ":" in name
                else UNKNOWN
                for id_, each in zip(self._columns, values, strict=True)
            )
            package = attributes[0].package
            yield ComparedRow("own", package, name, tuple(texts), follows=follows)

    def rows_below(self, *, run: bool) -> Iterator[ComparedRow]:
        """Yield what varies below the specs, and then what is equal there."""
        if not self.listing:
            return
        # Those of one kind link and run the same.
        group_of = {id_: self._first_of_kind[id_] if run else id_ for id_ in self.listing}
        groups = list(dict.fromkeys(group_of.values()))
        rows = varying(
            self._graph, [[id_] for id_ in groups], run_only=run, should_stop=self._should_stop
        )
        numbers = {id_: groups.index(group) for id_, group in group_of.items()}
        varied = [row for row in rows if row.is_run == run and _is_below(row)]
        have_version = {row.package for row in varied if row.attribute == "version"}
        shown = (r for r in varied if r.attribute != "present" or r.package not in have_version)
        for row in islice(shown, _MAX_ROWS):
            yield self._varying_row(row, numbers)
        varying_packages = {name for row in rows for name in (row.package, *row.packages)}
        yield from islice(self._equal_rows(varying_packages, run=run), _MAX_ROWS)

    def _varying_row(self, row: VaryingRow, numbers: Mapping[int, int]) -> ComparedRow:
        values = (
            ",".join(row.values[numbers[id_]] or (MISSING,)) if id_ in numbers else UNKNOWN
            for id_ in self._columns
        )
        below: Part = "run" if row.is_run else "build"
        return ComparedRow(
            "own" if row.is_run and not row.path else below,
            row.package,
            row.attribute,
            tuple(values),
            row.path,
            "" if row.tells else row.follows,
            max(0, len(row.packages) - 1),
        )

    def _equal_rows(
        self, varying_packages: Collection[str], *, run: bool
    ) -> Iterator[ComparedRow]:
        """Yield what is below all specs, and is nowhere different."""
        walks, graph = self._run if run else self._all, self._graph
        names = set(walks[0].nodes).intersection(*(walk.nodes for walk in walks))
        if not run:
            names = names.difference(*(walk.nodes for walk in self._run))
        for name in walks[0].nodes:
            path = walks[0].path(graph, name)
            if name in names and name not in varying_packages and path:
                version = graph.attributes(min(walks[0].nodes[name])).version or UNKNOWN
                values = (version if id_ in self.listing else UNKNOWN for id_ in self._columns)
                part: Part = "run" if run else "build"
                yield ComparedRow(part, name, "version", tuple(values), path)


def _own_order(name: str) -> tuple[int, str]:
    """Return a key that puts what people look for first: version, system, variants, the rest."""
    first = ("package", "version", "compiler", "platform", "os", "target")
    rank = first.index(name) if name in first else len(first) + (":" not in name)
    return rank, name


def _is_below(row: VaryingRow) -> bool:
    """Check whether a row is not about what the specs themselves state."""
    return bool(row.path) or row.attribute == "compiler"


def _with_users(graph: SpecGraph, specs: Sequence[ComparedSpec]) -> Iterator[ComparedSpec]:
    """Yield the columns with the names of those that use them."""
    for spec in specs:
        users = {user for id_ in spec.alike or [spec.id] for user in graph.dependents(id_)}
        names = dict.fromkeys(map(graph.name, sorted(users)))
        yield replace(spec, user_names=tuple(islice(names, _MAX_NAMES)))
