"""Find what pruning a build cache would remove, and what would break."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from functools import lru_cache, partial

from spackscope.model.analysis.dag import ClosureMasks, Dag, dag_of
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.edges import nearest_first
from spackscope.model.query.parser import parse


class Pruning(Frozen):
    """What would be removed, and what would break, since what it links or runs is removed.

    All are ids of the graph in display order, each hash once. `broken` has for each spec that
    breaks the nearest dependency that is removed. `needed_by` counts the specs that stay and link
    or run one that is removed directly, by its id. `unlisted` counts those that stay whose sources
    do not list what they need.
    """

    graph: Dag
    gone: tuple[int, ...]
    broken: Mapping[int, int]
    needed_by: Counter[int]
    total: int
    unlisted: int


def preview(
    catalog: Catalog,
    chosen: Collection[int],
    *,
    are_kept: bool,
    should_stop: ShouldStop = never,
) -> Pruning:
    """Return the specs that would be removed: the chosen ones, or if these are kept all others.

    Only cached specs are; a catalog that does not say counts as cached. Raises Cancelled.

        preview(catalog, catalog.match(parse("hdf5@1.12")).ids(), are_kept=False).broken
    """
    graph = dag_of(catalog)
    cached = catalog.match(parse("cached")).ids() or range(catalog.total)
    every = dict.fromkeys(map(graph.identity, cached))
    picked = set(map(graph.identity, chosen))
    gone = {id_: None for id_ in every if (id_ in picked) is not are_kept}
    kept = [id_ for id_ in every if id_ not in gone]

    run_dependencies = lru_cache(None)(partial(graph.dependencies, run_only=True))

    def nearest_gone(start: int) -> int:
        return next(filter(gone.__contains__, nearest_first([start], run_dependencies)))

    below = ClosureMasks(run_dependencies, lambda id_: int(id_ in gone))
    broken = {id_: nearest_gone(id_) for id_ in kept if below.whole(id_, should_stop)}
    needed_by = Counter(
        child for id_ in broken for child in set(run_dependencies(id_)) if child in gone
    )
    unlisted = sum(not graph.lists_dependencies(id_) for id_ in kept)
    return Pruning(graph, tuple(gone), broken, needed_by, len(every), unlisted)
