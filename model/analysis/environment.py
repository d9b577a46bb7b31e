"""Look at the listed specs of a catalog as an environment: its roots, and what they need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from functools import cached_property, lru_cache, partial

from spackscope.model.analysis.dag import dag_of
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.edges import nearest_first, path_to
from spackscope.model.query.ast import exact_query

MAX_ROOTS = 3_000
"""Roots up to which a source is searched as an environment is; caches have more."""

_MAX_VISITS = 10_000_000
"""Specs that are reached from all roots together; real environments have a tenth of that."""

_MAX_KEPT = 20
"""Roots of one spec that are kept; all are counted."""


class Use(Frozen):
    """Which roots need a spec: the first of them, how many there are, and a path from one.

    The path begins with the root and ends with the spec.
    """

    roots: tuple[int, ...] = ()
    count: int = 0
    path: tuple[int, ...] = ()


class ListedSpecs:
    """The specs of a catalog that are listed, as an environment with roots.

    Roots are what was asked for, the explicit specs, and what no other spec depends on, such as a
    leftover in an install tree. All ids are the first ones of a hash.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog, self.graph = catalog, dag_of(catalog)

    @cached_property
    def specs(self) -> list[int]:
        """The ids of all specs that are listed, each hash once."""
        return list(dict.fromkeys(map(self.graph.identity, range(self._catalog.total))))

    @cached_property
    def roots(self) -> list[int]:
        """The ids of the roots."""
        specs, dependents = set(self.specs), self.graph.dependents
        tops = (id_ for id_ in self.specs if specs.isdisjoint(dependents(id_)))
        return list(dict.fromkeys((*self.explicit, *tops)))

    @cached_property
    def explicit(self) -> list[int]:
        """The ids of the explicit specs."""
        ids = self._catalog.match(exact_query("state", "explicit")).ids()
        return list(dict.fromkeys(map(self.graph.identity, ids)))

    @cached_property
    def run(self) -> frozenset[int]:
        """The ids of the roots, and of all that they link or run, directly or not."""
        return frozenset(map(self.graph.identity, self.graph.reached(self.roots, run_only=True)))

    def uses(self, ids: Collection[int], *, should_stop: ShouldStop = never) -> Mapping[int, Use]:
        """Return which roots need some specs; nothing if there are too many to search them all.

        What is linked or run counts as needed by the roots that link or run it; what is used for
        building only, by all that reach it. The path comes from the root that reaches the fewest
        specs of the same package. Raises Cancelled.
        """
        if len(self.roots) > MAX_ROOTS:
            return {}
        graph, names = self.graph, {id_: self.graph.name(id_) for id_ in ids}

        run = self.run.intersection(names)
        searched = [
            (run, lru_cache(None)(partial(graph.dependencies, run_only=True))),
            (names.keys() - run, lru_cache(None)(graph.dependencies)),
        ]
        uses: dict[int, Use] = {}
        ranks: dict[int, tuple[int, int]] = {}
        visits = 0
        for root in self.roots:
            if should_stop():
                raise Cancelled
            for wanted, dependencies in searched:
                parents = nearest_first([root], dependencies) if wanted else {root: root}
                visits += len(parents)
                reached = [id_ for id_ in wanted if id_ in parents]
                builds = Counter(names[id_] for id_ in reached)
                for id_ in reached:
                    path = path_to(parents, id_)
                    use, rank = uses.get(id_, Use()), (builds[names[id_]], len(path))
                    is_better = not use.count or rank < ranks[id_]
                    if is_better:
                        ranks[id_] = rank
                    uses[id_] = Use(
                        (*use.roots, root)[:_MAX_KEPT],
                        use.count + 1,
                        tuple(path) if is_better else use.path,
                    )
            if visits > _MAX_VISITS:
                return {}
        return uses
