"""Look at the listed specs of a catalog as an environment: its roots, and what they need."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from functools import cached_property

from spackscope.model.analysis.dag import Dag, dag_of
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import is_run
from spackscope.model.core.tasks import ShouldStop, never

MAX_ROOTS = 3_000
"""Roots up to which a source is searched as an environment is; caches have more."""

MAX_DEPTH = 250
"""Levels below a root that are searched; real environments have some thirty."""

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
        self._catalog = catalog
        self.graph: Dag = dag_of(catalog)

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
        states = self._catalog.values("state")
        is_explicit = ["explicit" in value for value in states if isinstance(value, tuple)]
        ids = (
            self.graph.identity(id_)
            for look_alike, code in enumerate(self._catalog.column("presence"))
            if is_explicit[code]
            for id_ in range(*self._catalog.span(look_alike))
        )
        return [id_ for id_ in dict.fromkeys(ids) if id_ < self._catalog.total]

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
        names = {id_: self.graph.name(id_) for id_ in ids}
        run = self.run.intersection(names)
        searched = [(run, True), (names.keys() - run, False)]
        uses: dict[int, Use] = {}
        ranks: dict[int, tuple[int, int]] = {}
        visits = 0
        for root in self.roots:
            if should_stop():
                raise Cancelled
            for wanted, run_only in searched:
                if not wanted and not run_only:
                    continue
                parents = self._parents(root, run_only=run_only)
                visits += len(parents)
                reached = [id_ for id_ in wanted if id_ in parents]
                builds = Counter(names[id_] for id_ in reached)
                for id_ in reached:
                    path = [id_]
                    while path[-1] != root:
                        path.append(parents[path[-1]])
                    use, rank = uses.get(id_, Use()), (builds[names[id_]], len(path))
                    if not use.count or rank < ranks[id_]:
                        ranks[id_], use = rank, Use(use.roots, use.count, tuple(path[::-1]))
                    roots = (*use.roots, root)[:_MAX_KEPT]
                    uses[id_] = Use(roots, use.count + 1, use.path)
            if visits > _MAX_VISITS:
                return {}
        return uses

    def _parents(self, root: int, *, run_only: bool) -> dict[int, int]:
        """Return for each spec below a root, itself among them, one that leads to it."""
        graph, down = self.graph, self.graph.down
        follows = [not run_only or is_run(kind.deptypes) for kind in graph.edge_kinds]
        parents = {root: root}
        frontier, depth = [root], 0
        while frontier and depth < MAX_DEPTH:
            depth += 1
            following = []
            for parent in filter(graph.is_described, frontier):
                for number in range(down.first[parent], down.first[parent + 1]):
                    child = graph.identity(down.nodes[number])
                    if follows[down.kinds[number]] and child not in parents:
                        parents[child] = parent
                        following.append(child)
            frontier = following
        return parents
