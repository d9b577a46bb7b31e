"""Read how the selected spec relates to others: for a worker thread."""

from __future__ import annotations

from dataclasses import replace

from spackscope.model.analysis.differences.differences import compare
from spackscope.model.analysis.environments.needs import read_needs
from spackscope.model.analysis.fit.session_fit import fit_of, host_phrase
from spackscope.model.analysis.graphs.spec_graph import SpecGraph, spec_graph
from spackscope.model.analysis.kinds.run_kinds import run_kind, run_kinds
from spackscope.model.analysis.nearest.nearest import nearest
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.rows import Row
from spackscope.model.core.progress import ShouldStop
from spackscope.model.presentation.detail import DetailLine, fit_lines
from spackscope.model.presentation.relations import difference_line, needs_detail, used_by_line
from spackscope.model.sources.session import Session

_MAX_CANDIDATES = 100
"""Look-alikes of which the nearest is searched for."""
_MAX_USERS = 20


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


def _nearest(graph: SpecGraph, catalog: Catalog, row: Row, should_stop: ShouldStop) -> int | None:
    own = graph.identity(row.id)
    alike = range(*catalog.column_arrays.specs(row.look_alike))[:_MAX_CANDIDATES]
    ids = list(dict.fromkeys(map(graph.identity, alike)))
    kinds = run_kinds(graph, ids, should_stop=should_stop)
    others = [kind.ids[0] for kind in kinds if own not in kind.ids]
    if not others:
        others = [id_ for id_ in ids if id_ != own]
    best = nearest(graph, row.id, others, limit=1, should_stop=should_stop)
    return best.candidates[0].id if best.candidates else None
