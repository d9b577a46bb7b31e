"""Compute which specs of an environment are cached, which are missing, and why."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from typing import Literal, NamedTuple, cast

from spackscope.model.analysis.dag import (
    Dag,
    Walker,
    count_dependents,
    dag_of,
    explicit_specs,
    post_order,
)
from spackscope.model.analysis.differences import Difference, compare_specs
from spackscope.model.analysis.nearest import (
    CandidateGroup,
    Nearest,
    NearestSearch,
    group_candidates,
)
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import is_run
from spackscope.model.core.tasks import report_progress
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.edges import nearest_first

MAX_COMPARED = 5_000
"""Missing specs that are compared with their nearest candidates."""

_LOCK = ".lock"
"""The ending of lock files."""


def environments(catalog: Catalog) -> list[str]:
    """Return the names of the sources that are environments, which have no binaries."""
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
        """Whether it needs no build."""
        return self.is_cached or self.is_installed


def _locations(catalog: Catalog) -> list[Location]:
    """Return the location of records for each code of the dictionary `presence`.

    Environments offer nothing, and an index does not offer specs that it only describes.
    """
    ignored = environments(catalog)
    states, sources = (
        cast(Sequence[tuple[str, ...]], catalog.values(column)) for column in ("state", "source")
    )
    locations = []
    for state, listing in zip(states, sources, strict=True):
        counted = tuple(source for source in listing if source not in ignored)
        location = Location(counted, "cached" in state, "installed" in state)
        locations.append(location if counted else Location())
    return locations


def _location(caches: Catalog, ids: Iterable[int]) -> Location:
    """Return the location of a hash: all that need no build, or else all that list the hash."""
    of_presence, presence = caches.cached(_locations), caches.column("presence")
    found = (of_presence[presence[caches.look_alike(id_)]] for id_ in ids)
    listed = [location for location in found if location.sources]
    best = [location for location in listed if location.is_available] or listed
    return Location(
        tuple(dict.fromkeys(source for location in best for source in location.sources)),
        any(location.is_cached for location in best),
        any(location.is_installed for location in best),
    )


def candidates(caches: Catalog, package: str) -> list[int]:
    """Return all specs of a package that are cached or installed, and not external."""
    if (found := caches.package_named(package)) is None:
        return []
    of_presence, presence = caches.cached(_locations), caches.column("presence")
    node_of, (start, stop) = caches.column("node"), found.span
    return [
        id_
        for look_alike in range(caches.look_alike(start), caches.look_alike(stop - 1) + 1)
        if of_presence[presence[look_alike]].is_available
        for id_ in range(*caches.span(look_alike))
        if not caches.nodes[node_of[id_]].external
    ]


State = Literal["cached", "installed", "external", "missing"]


class CoveredSpec(Frozen):
    """A spec of an environment: cached, installed, external or missing.

    `id` is its id in the graph. The other fields are of missing specs, which are neither cached
    nor installed. The role is `root` if the environment asks for the spec itself, and `build` if
    it is neither linked nor run. The spec `is_needed` if an install would build it: build tools of
    a cached spec are not. It `is_recorded` if an index of the caches describes it all the same. If
    it can be built at once, `needed_by` counts the missing specs that wait for it, else 0.

    `differences` compare the missing spec, first, with the nearest candidate; None without a
    candidate, and where the dependencies of the two cannot be compared.
    """

    id: int
    hash: str
    package: str
    version: str
    state: State
    location: Location
    role: Literal["", "root", "run", "build"] = ""
    is_needed: bool = False
    is_recorded: bool = False
    needed_by: int = 0
    nearest: Nearest = Nearest()
    differences: Sequence[Difference] | None = None


class Coverage(Frozen):
    """The specs of an environment in build order.

    An install takes the specs of `fetch` from the caches, and builds the specs of `build`; both
    are hashes in build order, without externals. An install tree among the caches counts as a
    cache, also for `fetch`.

    `awaited` has the specs that each spec waits for, by their identities in the graph: what a
    missing spec needs first, or any other needs to run. `unlisted` counts the specs whose sources
    do not list dependencies. The coverage `is_cut` if too many specs are missing to compare all of
    them with their nearest candidates.
    """

    graph: Dag
    specs: tuple[CoveredSpec, ...]
    fetch: tuple[str, ...]
    build: tuple[str, ...]
    awaited: Mapping[int, Sequence[int]]
    unlisted: int = 0
    is_cut: bool = False

    @cached_property
    def hits(self) -> Sequence[CoveredSpec]:
        """The specs that are cached or installed."""
        return [spec for spec in self.specs if spec.state in ("cached", "installed")]

    @cached_property
    def missing(self) -> Sequence[CoveredSpec]:
        """The missing specs."""
        return [spec for spec in self.specs if spec.state == "missing"]

    @cached_property
    def externals(self) -> Sequence[CoveredSpec]:
        """The external specs."""
        return [spec for spec in self.specs if spec.state == "external"]

    @property
    def total(self) -> int:
        """The number of specs that are not external."""
        return len(self.hits) + len(self.missing)

    @property
    def percent(self) -> float:
        """The share that is cached or installed, in percent."""
        return percentage(len(self.hits), self.total)

    def nearest_hashes(self) -> dict[str, str]:
        """Return the hash of the nearest candidate by the hash of each missing spec with one."""
        best = {s.hash: s.nearest.id for s in self.missing if s.nearest.id is not None}
        return {hash_: self.graph.hash(id_) for hash_, id_ in best.items()}


def percentage(part: int, total: int) -> float:
    """Return a part in percent; 100 if there is nothing to cover."""
    return 100 * part / total if total else 100.0


def cover(environment: Catalog | Sequence[str], caches: Catalog) -> Coverage:
    """Look up the specs of an environment in caches.

    In place of an environment there may be hashes, which are described by the caches alone. The
    roots of an environment are its explicit specs, or else the specs without dependents.

        coverage = cover(load(["spack.lock"], session), caches)

    `find_nearest` adds the nearest builds of missing specs, which takes longer.
    """
    graph, (ids, roots) = Dag(caches, environment), _listed(environment)
    # Each spec by its identity, with the id that describes it best: of the environment's own
    # document, else of another source.
    specs = {id_: graph.identity(graph.second_id(id_)) for id_ in ids}
    seconds = ((spec, graph.second_id(id_)) for id_, spec in reversed(specs.items()))
    described = {spec: second for spec, second in seconds if graph.is_described(second)}
    asked = dict.fromkeys(specs[id_] for id_ in roots)
    listed = set(specs.values())
    # All specs in build order, with their dependencies.
    dependencies = lru_cache(None)(partial(_dependencies, graph, described))
    below = {
        spec: dependencies(spec) for spec in post_order((*asked, *specs.values()), dependencies)
    }
    hashes = dict(zip(below, graph.hashes(below), strict=True))
    nodes = {spec: described.get(spec, spec) for spec in below}
    externals = {spec for spec in below if graph.external(nodes[spec])}
    locations = {spec: _location(caches, graph.records(spec)) for spec in below}
    available = {spec for spec in below if locations[spec].is_available} - externals
    missing = {spec: nodes[spec] for spec in below if spec in listed - available - externals}
    needed = {*post_order(asked, lambda spec: [c for c, runs in below[spec].items() if runs])}
    # An install needs no build tools of a spec that is there, and nothing below an external.
    installed_with = {
        spec: [c for c, runs in its.items() if runs or spec not in available]
        if spec not in externals
        else []
        for spec, its in below.items()
    }
    planned = {*nearest_first(asked, installed_with.__getitem__)} - externals
    # Whether another spec has to be built before a spec can be used.
    delayed: dict[int, bool] = {}
    for spec, its in installed_with.items():
        delayed[spec] = any(delayed.get(c) or not (c in externals or c in available) for c in its)
    awaited = {
        spec: [c for c, runs in its.items() if (runs or spec in missing) and c not in externals]
        for spec, its in below.items()
    }
    first = [spec for spec in missing if not delayed[spec]]
    waiting = count_dependents(first, missing, awaited.__getitem__)

    def covered(spec: int) -> CoveredSpec:
        id_, location = nodes[spec], locations[spec]
        found: State = "cached" if location.is_cached else "installed"
        state: State = "external" if spec in externals else found
        of_spec = id_, hashes[spec], graph.name(id_), graph.version(id_)
        if spec not in missing:
            return CoveredSpec(*of_spec, state, location)
        return CoveredSpec(
            *of_spec,
            "missing",
            location,
            "root" if spec in asked else "run" if spec in needed else "build",
            spec in planned,
            bool(location.sources),
            # A spec does not wait for itself.
            max(0, waiting.get(spec, 0) - 1),
        )

    return Coverage(
        graph,
        tuple(covered(spec) for spec in below if spec in listed),
        tuple(hashes[spec] for spec in below if spec in planned and spec in available),
        tuple(hashes[spec] for spec in below if spec in planned and spec not in available),
        awaited,
        sum(not graph.lists_dependencies(nodes[spec]) for spec in listed - externals),
    )


def _listed(environment: Catalog | Sequence[str]) -> tuple[Sequence[int], Sequence[int]]:
    """Return the specs of an environment, and its roots."""
    if not isinstance(environment, Catalog):
        return range(len(environment)), range(len(environment))
    graph = dag_of(environment)
    ids = sorted(graph.reached(range(graph.count)))
    tops = [id_ for id_ in ids if not graph.dependents(id_)]
    # In a damaged document each spec may depend on another one.
    return ids, explicit_specs(environment) or tops or ids


def _dependencies(graph: Dag, described: Mapping[int, int], spec: int) -> dict[int, bool]:
    """Return the build, link and run dependencies of a spec, each with whether it runs."""
    uses: dict[int, bool] = {}
    for child, kind in graph.links(described.get(spec, spec)):
        identity, runs = graph.identity(child), is_run(kind.deptypes)
        if runs or "build" in kind.deptypes:
            uses[identity] = uses.get(identity, False) or runs
    return uses


def find_nearest(coverage: Coverage) -> Coverage:
    """Return a coverage with the nearest candidate of each missing spec.

    The coverage `is_cut` if not all pairs of specs are compared. Raises Cancelled.
    """
    graph = coverage.graph
    search, walker = NearestSearch(graph), Walker(graph)
    by_package: dict[str, Sequence[CandidateGroup]] = {}
    compared: dict[str, CoveredSpec] = {}
    for number, spec in enumerate(coverage.missing):
        report_progress("missing specs compared", number, len(coverage.missing))
        if spec.package not in by_package:
            ids = candidates(graph.catalog, spec.package)
            by_package[spec.package] = group_candidates(graph, ids)
        nearest = search.find(spec.id, by_package[spec.package])
        differences = None
        if nearest.id is not None and nearest.has_comparable and number < MAX_COMPARED:
            differences = compare_specs(walker, [spec.id, nearest.id])
        compared[spec.hash] = replace(spec, nearest=nearest, differences=differences)
    is_cut = search.is_exhausted or len(compared) > MAX_COMPARED
    specs = tuple(compared.get(spec.hash, spec) for spec in coverage.specs)
    return replace(coverage, specs=specs, is_cut=is_cut)
