"""Find the packages with several builds for one OS and target, and what makes these differ.

Builds are one if their own fields are equal and the builds that they depend on are one, bottom up.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping
from functools import partial, reduce
from operator import and_, or_
from typing import NamedTuple

from spackscope.model.analysis.dag import (
    AttributeValue,
    ClosureMasks,
    Dag,
    Mask,
    compiled_languages,
    is_always_told,
    post_order,
    run_time_deptypes,
)
from spackscope.model.analysis.follows import follows
from spackscope.model.analysis.varying import RANKS, all_values, own_values
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.query.matchers import ARCHITECTURE

_CHECK_INTERVAL = 1024

_Edge = tuple[int, int]
"""The number of the kind of an edge, and the id of the build that it leads to."""


class Build(NamedTuple):
    """A build: several builds of a package in one `place` are duplicates.

    `own` is equal for builds whose own fields are equal. `below` has the dependencies, each with
    the number of the kind of its edge.
    """

    package: str
    place: Hashable
    own: Hashable
    below: frozenset[_Edge]


class Builds:
    """Different builds and their dependencies, by their ids; equal builds are one.

    `counted` are the builds that were asked for: the others are only needed by them. `above` has
    the dependents of each build. In a cycle, which only damaged documents have, builds may not
    become one. Raises Cancelled.
    """

    def __init__(self, builds: Mapping[int, Build], counted: Iterable[int]) -> None:
        kept, edges = dict[int, int](), dict[_Edge, _Edge]()
        first = dict[tuple[Hashable, Hashable], int]()
        self.builds: dict[int, Build] = {}
        self.above: dict[int, list[int]] = defaultdict(list)
        self.by_package: dict[str, list[int]] = defaultdict(list)
        order = post_order(builds, lambda id_: [child for _, child in builds[id_].below])
        for number, id_ in enumerate(order):
            if number % _CHECK_INTERVAL == 0:
                check_cancelled()
            build = builds[id_]
            below = build.below
            if any(kept.get(child, child) != child for _, child in below):
                changed = ((kind, kept.get(child, child)) for kind, child in below)
                below = frozenset(edges.setdefault(edge, edge) for edge in changed)
            kept[id_] = first.setdefault((build.own, below), id_)
            if kept[id_] == id_:
                self.builds[id_] = build._replace(below=below)
                self.by_package[build.package].append(id_)
                for child in {child for _, child in below}:
                    self.above[child].append(id_)
        self.counted = {kept[id_] for id_ in counted}

    def duplicated(self) -> list[str]:
        """Return the packages with several builds in one place, by name."""
        return sorted(
            package
            for package, ids in self.by_package.items()
            if len({self.builds[id_].place for id_ in ids}) < len(ids)
        )


def read_builds(
    graph: Dag, ids: Iterable[int], *, run_only: bool = False, inherited: bool = False
) -> Builds:
    """Read specs and their closures as builds, of which the specs are counted.

    With `run_only` builds that run the same are one, and specs that others only build with are
    left out. With `inherited` builds are duplicates only if they differ in nothing of their own.
    Raises Cancelled.
    """
    counted = set(ids)
    if run_only:
        tops = [id_ for id_ in counted if counted.isdisjoint(graph.dependents(id_))]
        counted &= set(map(graph.identity, graph.reached(tops, run_only=True)))
    kinds, builds = dict[Hashable, int](), dict[int, Build]()
    # Many depend on one build in the same way: an object for each would take half of the memory.
    edges = dict[_Edge, _Edge]()
    for id_ in sorted(set(map(graph.identity, graph.reached(counted, run_only=run_only)))):
        check_cancelled()
        own: Hashable = id_
        if graph.lists_dependencies(id_):
            own = graph.configuration(id_), graph.lists(id_), graph.build_spec(id_)
            if run_only:
                own = frozenset(own_values(graph, id_, run_only=True).items())
        below = set()
        for child, (deptypes, virtuals) in graph.links(id_):
            kind = deptypes, virtuals
            if run_only:
                languages = () if graph.is_described(child) else compiled_languages(virtuals)
                kind = run_time_deptypes(deptypes), languages
            if any(kind):
                edge = kinds.setdefault(kind, len(kinds)), graph.identity(child)
                below.add(edges.setdefault(edge, edge))
        place = _place(graph, id_)
        place = (place, own) if inherited else place
        builds[id_] = Build(graph.name(id_), place, own, frozenset(below))
    return Builds(builds, counted)


def _place(graph: Dag, id_: int) -> Hashable:
    """Return the platform, OS and target; these are unknown of a spec that no source describes."""
    attributes = graph.attributes(id_)
    return tuple(map(attributes.get, ARCHITECTURE)) if graph.is_described(id_) else id_


class Causes:
    """The packages whose builds differ by fields of their own, which makes dependents differ.

    `attributes` has the names of the attributes in which the builds of each differ. With
    `inherited` no package is a cause of its own builds. Raises Cancelled.
    """

    def __init__(
        self, graph: Dag, builds: Builds, *, run_only: bool = False, inherited: bool = False
    ) -> None:
        self._graph, self._builds, self._inherited = graph, builds, inherited
        read = partial(own_values, run_only=True) if run_only else all_values
        self._values: Callable[[int], dict[str, AttributeValue]] = partial(read, graph)
        found = {name: self._differing(ids) for name, ids in builds.by_package.items()}
        self.attributes = {name: its for name, its in found.items() if its}
        bits = dict[Hashable, Mask]()
        own, self._bits = dict[int, Mask](), Counter[str]()
        for package in self.attributes:
            for id_ in builds.by_package[package]:
                own[id_] = bits.setdefault((package, builds.builds[id_].own), 1 << len(bits))
                self._bits[package] |= own[id_]
        self._masks = ClosureMasks(
            lambda id_: [child for _, child in builds.builds[id_].below],
            lambda id_: own.get(id_, 0),
        )

    def of(self, package: str) -> list[str]:
        """Return the package if it is one, then the causes below it that its builds differ in."""
        places = defaultdict[Hashable, list[Mask]](list)
        for id_ in self._builds.by_package[package]:
            places[self._builds.builds[id_].place].append(self._masks.whole(id_))
        causes = [package] * (package in self.attributes and not self._inherited)
        for masks in places.values():
            every, shared = reduce(or_, masks), reduce(and_, masks)
            varying = every & ~shared
            causes += [
                name
                for name, bits in self._bits.items()
                if name != package and varying & bits and (every & bits).bit_count() > 1
            ]
        return list(dict.fromkeys(causes))

    def _differing(self, ids: Iterable[int]) -> list[str]:
        """Return the own attributes in which builds of a package differ for one OS and target.

        Attributes that follow others, and those that a source does not list, are left out.
        """
        graph, places = self._graph, defaultdict[Hashable, list[int]](list)
        values = {id_: self._values(id_) for id_ in ids if graph.is_described(id_)}
        for id_ in values:
            places[_place(graph, id_)].append(id_)
        differing = dict[str, bool]()
        for of_place in places.values():
            stated = [values[id_].items() for id_ in of_place]
            every = set().union(*stated)
            for name in {name for name, _ in every - every.intersection(*stated)}:
                if is_always_told(name) or all(graph.tells(id_, name) for id_ in of_place):
                    is_lacking = any(name not in values[id_] for id_ in of_place)
                    differing[name] = differing.get(name, False) or is_lacking
        # An attribute follows the first one of a kind; there may be thousands of variants.
        leaders = {name.partition(":")[0]: name for name in sorted(differing, reverse=True)}
        return [
            name
            for name in sorted(differing, key=lambda name: (RANKS.get(name, 0), name))
            if not follows(name, leaders.values(), is_lacking=differing[name])
        ]
