"""Read the specs of an environment: its roots, its build order, and what caches offer of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import NamedTuple

from spackscope.model.analysis.dag import Dag, dag_of, post_order
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import is_run
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.index.columns import class_reading_index
from spackscope.model.query.ast import Query

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
        return frozenset(map(self.graph.identity, self.graph.reached(self.roots, run_only=True)))

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

    def __init__(self, graph: Dag, names: Mapping[int, str], run: Collection[int]) -> None:
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


class Environment(Frozen):
    """Specs in a graph by their identities, each once, of which some are `roots`.

    `described` has the id of a spec in the environment's own document. Of a spec that it does not
    describe, the identity is used, which another source describes.
    """

    graph: Dag
    specs: tuple[int, ...]
    roots: tuple[int, ...]
    described: dict[int, int]

    def node(self, spec: int) -> int:
        """Return the id by which the graph describes a spec best."""
        return self.described.get(spec, spec)

    def is_external(self, spec: int) -> bool:
        """Check whether Spack does not build a spec."""
        return bool(self.graph.attributes(self.node(spec)).external)

    def dependencies(self, spec: int, *, to_build: bool) -> list[int]:
        """Return what is linked or run by a spec, and with `to_build` what builds it, too."""
        return [
            self.graph.identity(edge.child)
            for edge in self.graph.edges(self.node(spec))
            if is_run(edge.deptypes) or (to_build and "build" in edge.deptypes)
        ]

    def reached(self, specs: Collection[int]) -> set[int]:
        """Return specs with all that they link or run."""
        return set(self._in_build_order(specs, to_build=False))

    @cached_property
    def all_in_build_order(self) -> tuple[int, ...]:
        """The specs with all that they depend on, dependencies before dependents."""
        return tuple(self._in_build_order((*self.roots, *self.specs), to_build=True))

    @cached_property
    def in_build_order(self) -> tuple[int, ...]:
        """The specs, dependencies before dependents."""
        specs = set(self.specs)
        return tuple(spec for spec in self.all_in_build_order if spec in specs)

    def _in_build_order(self, starts: Collection[int], *, to_build: bool) -> Iterator[int]:
        return post_order(starts, partial(self.dependencies, to_build=to_build))


def environment_of(catalog: Catalog, caches: Catalog) -> Environment:
    """Return the environment that a catalog has, joined with the specs of caches.

    Its roots are the explicit specs; without any, those that no other depends on.
    """
    own = dag_of(catalog)
    graph = Dag(caches, catalog)
    ids = sorted(own.reached(range(own.count)))
    tops = [id_ for id_ in ids if not own.dependents(id_)]
    # In a damaged document each may depend on another one.
    roots = ListedSpecs(catalog).explicit or tops or ids
    described = {
        graph.identity(graph.second_id(id_)): graph.second_id(id_)
        for id_ in reversed(ids)
        if own.is_described(id_)
    }
    return _environment(graph, ids, roots, described)


def environment_of_hashes(hashes: Sequence[str], caches: Catalog) -> Environment:
    """Return the environment of some hashes, of which only the caches know more."""
    graph = Dag(caches, hashes)
    return _environment(graph, range(len(hashes)), range(len(hashes)), {})


def _environment(
    graph: Dag, ids: Sequence[int], roots: Sequence[int], described: dict[int, int]
) -> Environment:
    specs, root_specs = (
        tuple(dict.fromkeys(graph.identity(graph.second_id(id_)) for id_ in some))
        for some in (ids, roots)
    )
    return Environment(graph, specs, root_specs, described)


_WINDOW = 512
_LOCK = ".lock"
"""How the names of lock files end."""


def environments(catalog: Catalog) -> list[str]:
    """Return the names of the sources that are environments: what they list is not there."""
    return [
        source.name
        for source in catalog.sources
        if source.kind == "environment" or (source.kind == "file" and source.name.endswith(_LOCK))
    ]


class Location(NamedTuple):
    """The sources that list a spec, and whether a build cache or an install tree has it."""

    sources: tuple[str, ...] = ()
    is_cached: bool = False
    is_installed: bool = False

    @property
    def is_available(self) -> bool:
        """Whether it need not be built."""
        return self.is_cached or self.is_installed


NOWHERE = Location()


@class_reading_index
class Availability:
    """What the sources of a catalog offer, `besides` some of them that do not count.

    Environments offer nothing, and an index does not offer what it only records as a dependency.
    """

    def __init__(self, catalog: Catalog, besides: Collection[str] = ()) -> None:
        self._catalog = catalog
        self._besides = frozenset((*besides, *environments(catalog)))

    @cached_property
    def _locations(self) -> list[Location]:
        """The location that each code of the dictionary `presence` stands for."""
        states = self._catalog.dictionaries.values("state")
        sources = self._catalog.dictionaries.values("source")
        return [
            self._location(*entry)  # type: ignore[arg-type]
            for entry in zip(states, sources, strict=True)
        ]

    def _location(self, states: tuple[str, ...], sources: tuple[str, ...]) -> Location:
        counted = tuple(source for source in sources if source not in self._besides)
        return Location(counted, "cached" in states, "installed" in states) if counted else NOWHERE

    def locations(self, hashes: Iterable[str]) -> dict[str, Location]:
        """Return where some hashes are, of those that a source lists."""
        locations: dict[str, Location] = {}
        codes = self._catalog.column_arrays.column("presence")
        arrays, dictionaries = self._catalog.column_arrays, self._catalog.dictionaries
        for hash_ in dict.fromkeys(hashes):
            for id_ in dictionaries.ids_of_hash(hash_):
                location = self._locations[codes[arrays.look_alike(id_)]]
                if location.sources:
                    locations[hash_] = _joined(locations.get(hash_, NOWHERE), location)
        return locations

    def candidates(self, package: str) -> list[int]:
        """Return the ids of all specs of a package that are cached or installed, not external."""
        selected = self._catalog.selected_package(Query().with_package(package))
        if selected is None:
            return []
        arrays, nodes = self._catalog.column_arrays, self._catalog.dictionaries.nodes
        codes, node_codes = arrays.column("presence"), arrays.column("node")
        start, stop = selected.span
        first, last = arrays.look_alike(start), arrays.look_alike(stop - 1)
        return [
            id_
            for look_alike in range(first, last + 1)
            if self._locations[codes[look_alike]].is_available
            for id_ in range(*arrays.specs(look_alike))
            if start <= id_ < stop and not nodes[node_codes[id_]].external
        ]


def _joined(location: Location, other: Location) -> Location:
    if location.is_available != other.is_available:
        return location if location.is_available else other
    return Location(
        tuple(dict.fromkeys((*location.sources, *other.sources))),
        location.is_cached or other.is_cached,
        location.is_installed or other.is_installed,
    )
