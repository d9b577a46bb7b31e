"""Find what pruning a build cache would remove, and what would break."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from spackscope.model.analysis.dag import ClosureMasks, Dag, dag_of
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import is_run
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.parser import parse


class Pruning(Frozen):
    """What would be removed, and what would break, since what it links or runs is removed.

    All are ids of the graph in display order, each hash once. `needed_by` counts the specs that
    stay and link or run one that is removed directly, by its id. `unlisted` counts those that stay
    whose sources do not list what they need.
    """

    graph: Dag
    gone: tuple[int, ...]
    broken: tuple[int, ...]
    needed_by: Counter[int]
    total: int
    unlisted: int

    def needs(self, id_: int) -> int:
        """Return the nearest dependency that is removed of a spec that breaks."""
        gone, seen = set(self.gone), [id_]
        for each in seen:
            children = run_dependencies(self.graph, each)
            if found := [child for child in children if child in gone]:
                return found[0]
            seen += (child for child in children if child not in seen)
        return id_


def run_dependencies(graph: Dag, id_: int) -> list[int]:
    """Return what a spec links or runs directly."""
    links = graph.links(id_)
    return [graph.identity(child) for child, kind in links if is_run(kind.deptypes)]


def preview(
    catalog: Catalog,
    chosen: Collection[int],
    *,
    are_kept: bool,
    should_stop: ShouldStop = never,
) -> Pruning:
    """Return what is removed: the chosen specs, or where these are kept all others.

    Only what is cached is; a catalog that does not say counts as cached. Raises Cancelled.

        preview(catalog, catalog.match(parse("hdf5@1.12")).ids(), are_kept=False).broken
    """
    graph = dag_of(catalog)
    cached = catalog.match(parse("cached")).ids() or range(catalog.total)
    every = dict.fromkeys(map(graph.identity, cached))
    picked = set(map(graph.identity, chosen))
    gone = {id_: None for id_ in every if (id_ in picked) is not are_kept}
    kept = [id_ for id_ in every if id_ not in gone]
    below = ClosureMasks(lambda id_: run_dependencies(graph, id_), lambda id_: int(id_ in gone))
    broken = [id_ for id_ in kept if below.whole(id_, should_stop)]
    needed_by = Counter(
        child for id_ in broken for child in set(run_dependencies(graph, id_)) if child in gone
    )
    unlisted = sum(not graph.lists_dependencies(id_) for id_ in kept)
    return Pruning(graph, tuple(gone), tuple(broken), needed_by, len(every), unlisted)
