"""Find which roots of an environment need its specs, and through what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property

from spackscope.model.analysis.graphs.spec_graph import SpecGraph, spec_graph
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
    leftover in an install tree. All ids are the first ones of a hash. Raises IndexDamaged.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self.graph: SpecGraph = spec_graph(catalog)

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
        arrays = self._catalog.column_arrays
        states = self._catalog.dictionaries.values("state")
        is_explicit = ["explicit" in value for value in states if isinstance(value, tuple)]
        ids: dict[int, None] = {}
        for look_alike, code in enumerate(arrays.column("presence")):
            if is_explicit[code]:
                ids.update(
                    dict.fromkeys(map(self.graph.identity, range(*arrays.specs(look_alike))))
                )
        return [id_ for id_ in ids if id_ < self._catalog.total]

    @cached_property
    def run(self) -> frozenset[int]:
        """The ids of the roots, and of all that they link or run, directly or not."""
        return frozenset(map(self.graph.identity, self.graph.run_closure(self.roots)))

    def uses(self, ids: Collection[int], *, should_stop: ShouldStop = never) -> Mapping[int, Use]:
        """Return which roots need some specs; nothing if there are too many to search them all.

        What is linked or run counts as needed by the roots that link or run it; what is used for
        building only, by all that reach it. The path comes from the root that reaches the fewest
        specs of the same package. Raises Cancelled.
        """
        if len(self.roots) > MAX_ROOTS:
            return {}
        search = _Search(self.graph, {id_: self.graph.name(id_) for id_ in ids}, self.run)
        for root in self.roots:
            if should_stop():
                raise Cancelled
            search.add(root)
            if search.visits > _MAX_VISITS:
                return {}
        return search.uses


class _Search:
    """Searches below one root after the other."""

    def __init__(self, graph: SpecGraph, names: Mapping[int, str], run: Collection[int]) -> None:
        self.uses: dict[int, Use] = {}
        self.visits = 0
        self._graph, self._names = graph, names
        self._run = {id_ for id_ in names if id_ in run}
        self._kinds = [is_run(kind.deptypes) for kind in graph.edge_kinds]
        self._ranks: dict[int, tuple[int, int]] = {}

    def add(self, root: int) -> None:
        """Add the uses of a root."""
        wanted = self._names.keys()
        self._add(root, self._parents(root, run_only=True), self._run)
        if len(wanted) > len(self._run):
            self._add(root, self._parents(root, run_only=False), wanted - self._run)

    def _add(self, root: int, parents: Mapping[int, int], wanted: Collection[int]) -> None:
        reached = [id_ for id_ in wanted if id_ in parents]
        builds = Counter(self._names[id_] for id_ in reached)
        for id_ in reached:
            use = self.uses.get(id_, Use())
            path = tuple(_path(parents, id_))
            rank = builds[self._names[id_]], len(path)
            if not use.count or rank < self._ranks[id_]:
                self._ranks[id_] = rank
            else:
                path = use.path
            roots = (*use.roots, root) if use.count < _MAX_KEPT else use.roots
            self.uses[id_] = Use(roots, use.count + 1, path)

    def _parents(self, root: int, *, run_only: bool) -> dict[int, int]:
        """Return for each spec below a root, itself among them, one that leads to it."""
        graph, down = self._graph, self._graph.down
        parents = {root: -1}
        frontier, depth = [root], 0
        while frontier and depth < MAX_DEPTH:
            depth += 1
            following = []
            for parent in frontier:
                if not graph.is_described(parent):
                    continue
                for number in range(down.first[parent], down.first[parent + 1]):
                    if run_only and not self._kinds[down.kinds[number]]:
                        continue
                    child = graph.identity(down.nodes[number])
                    if child not in parents:
                        parents[child] = parent
                        following.append(child)
            frontier = following
        self.visits += len(parents)
        return parents


def _path(parents: Mapping[int, int], end: int) -> Iterator[int]:
    path = []
    while end >= 0:
        path.append(end)
        end = parents[end]
    return reversed(path)
