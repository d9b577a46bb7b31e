"""How the selected spec relates to others, read after its other lines and shown above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from spackscope.model.analysis.differences import compare
from spackscope.model.analysis.graph import Graph
from spackscope.model.analysis.nearest import nearest
from spackscope.model.analysis.needs import read_needs
from spackscope.model.analysis.run_kinds import run_kind, run_kinds
from spackscope.model.analysis.session_fit import fit_of, host_phrase
from spackscope.model.analysis.spec_graph import spec_graph
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.rows import Row
from spackscope.model.core.progress import ShouldStop
from spackscope.model.presentation.detail import DetailLine, fit_lines
from spackscope.model.presentation.relations import (
    FITS,
    NEEDS,
    NEXT_TO,
    USED_BY,
    difference_line,
    needs_detail,
    pending_lines,
    used_by_line,
)
from spackscope.model.sources.session import Session
from spackscope.tui.browser.state import Host, Task

_MAX_CANDIDATES = 100
"""Look-alikes of which the nearest is searched for."""
_MAX_USERS = 20
_REST = 0.05
"""Seconds that the cursor rests on a row before its relations are read."""
_MAX_KEPT = 200


class _Key(NamedTuple):
    """What the lines depend on: the spec, and the marked one that it is compared with."""

    id: int
    mark: str


class Relations:
    """Read the lines of one spec after the other; a newer one replaces the job."""

    def __init__(self, host: Host, session: Session) -> None:
        self._host, self._session = host, session
        self._catalog: Catalog | None = None
        self._lines: dict[_Key, Sequence[DetailLine]] = {}
        self._shown_hash = ""
        self._shown: Sequence[DetailLine] = ()

    def known(self, row: Row) -> Sequence[DetailLine]:
        """Return the lines that were read before, or as many that are still to be read.

        Until they are read from another catalog they are those that were shown last.
        """
        state, key = self._host.state, self._key(row)
        catalog = state.catalog
        if catalog is not self._catalog:
            self._catalog, self._lines = catalog, {}
        if key in self._lines:
            self._shown_hash, self._shown = row.spec.hash, self._lines[key]
        if row.spec.hash == self._shown_hash:
            return self._shown
        if catalog is None or state.connected is not catalog:
            return ()
        labels = [FITS] if catalog.by_host.is_connected else []
        labels += [NEXT_TO] if self._other_count(catalog, row) else []
        labels += [NEEDS, USED_BY] if catalog.dependencies.lists(row.id) else []
        return pending_lines(labels)

    def request(self, row: Row) -> None:
        """Read the lines of the selected spec, unless they are known."""
        state, key = self._host.state, self._key(row)
        catalog = state.catalog
        if catalog is None or state.connected is not catalog or key in self._lines:
            self._host.cancel("relations")
            return
        has_other = self._other_count(catalog, row) > 0

        def job(task: Task) -> Sequence[DetailLine]:
            fits = read_fit(catalog, self._session, row.id)
            others = read_relations(catalog, row.id)
            if not has_other:
                return [*fits, *others]
            if row.spec.hash != self._shown_hash:
                part = [*fits, *pending_lines([NEXT_TO]), *others]
                task.report(lambda: self._show(row, part))
            return [*fits, *read_difference(catalog, row, key.mark, task), *others]

        take = partial(self._take, key, row)
        self._host.run(job, take, group="relations", delay=_REST)

    def _key(self, row: Row) -> _Key:
        marks = self._host.state.marks
        return _Key(row.id, marks[0] if len(marks) == 1 and marks[0] != row.spec.hash else "")

    def _other_count(self, catalog: Catalog, row: Row) -> int:
        """Return how many specs this one can be compared with."""
        if self._key(row).mark:
            return 1
        first, end = catalog.column_arrays.specs(row.look_alike)
        return end - first - 1

    def _take(self, key: _Key, row: Row, lines: Sequence[DetailLine]) -> None:
        self._lines[key] = lines
        while len(self._lines) > _MAX_KEPT:
            del self._lines[next(iter(self._lines))]
        self._show(row, lines)

    def _show(self, row: Row, lines: Sequence[DetailLine]) -> None:
        details = self._host.state.details
        if details is not None and details.row.id == row.id and not details.is_pending:
            self._shown_hash, self._shown = row.spec.hash, lines
            self._host.change(details=replace(details, relations=lines, at=None))


def read_fit(catalog: Catalog, session: Session, id_: int) -> list[DetailLine]:
    """Read whether a spec runs on the host, and why not. Raises IndexDamaged."""
    fit = fit_of(catalog, id_)
    if fit is None:
        return []
    lines = fit_lines(fit, host_phrase(session))
    return [replace(line, kind="good") if fit.fits else line for line in lines]


def read_relations(catalog: Catalog, id_: int) -> list[DetailLine]:
    """Read what a spec needs to run, and who uses it; nothing if its source does not tell."""
    needs = read_needs(catalog, id_)
    if needs is None:
        return []
    graph = spec_graph(catalog)
    users = sorted(graph.dependents(id_))
    first = {graph.name(user): user for user in reversed(users)}
    shown = sorted(first.values())[:_MAX_USERS]
    names = [(graph.name(user), graph.attributes(user).version) for user in shown]
    return [needs_detail(needs), used_by_line(names, len(users))]


def read_difference(
    catalog: Catalog, row: Row, mark: str, should_stop: ShouldStop
) -> list[DetailLine]:
    """Compare a spec with the marked one, or with the look-alike nearest to it.

    That is the most used one of another run-time kind, if there is any. Raises Cancelled and
    IndexDamaged.
    """
    graph = spec_graph(catalog)
    other = _marked(catalog, mark) if mark else _nearest(graph, catalog, row, should_stop)
    if other is None or graph.identity(other) == graph.identity(row.id):
        return []
    comparison = compare(graph, row.id, other, should_stop=should_stop)
    is_told = graph.lists_dependencies(row.id) and graph.lists_dependencies(other)
    runs_the_same = is_told and run_kind(graph, row.id) == run_kind(graph, other)
    (hash_,) = graph.hashes([other])
    return [difference_line(hash_, comparison, runs_the_same=runs_the_same)]


def _marked(catalog: Catalog, mark: str) -> int | None:
    return next((row.id for row in catalog.by_hash(mark)), None)


def _nearest(graph: Graph, catalog: Catalog, row: Row, should_stop: ShouldStop) -> int | None:
    own = graph.identity(row.id)
    alike = range(*catalog.column_arrays.specs(row.look_alike))[:_MAX_CANDIDATES]
    ids = list(dict.fromkeys(map(graph.identity, alike)))
    kinds = run_kinds(graph, ids, should_stop=should_stop)
    others = [kind.ids[0] for kind in kinds if own not in kind.ids]
    if not others:
        others = [id_ for id_ in ids if id_ != own]
    best = nearest(graph, row.id, others, limit=1, should_stop=should_stop)
    return best.candidates[0].id if best.candidates else None
