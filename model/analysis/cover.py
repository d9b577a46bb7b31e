"""Compute which specs of an environment are cached, which are missing, and why."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, cast

from spackscope.model.analysis.compare import Comparison
from spackscope.model.analysis.dag import Dag, count_dependents, dag_of, explicit_specs, post_order
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

MAX_STEPS = 2_000_000
"""Pairs of nodes with their dependencies that are compared for all missing specs."""

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


def _joined(locations: Iterable[Location]) -> Location:
    """Return the location of a hash: all that need no build, or else all that list the hash."""
    listed = [location for location in locations if location.sources]
    best = [location for location in listed if location.is_available] or listed
    return Location(
        tuple(dict.fromkeys(source for location in best for source in location.sources)),
        any(location.is_cached for location in best),
        any(location.is_installed for location in best),
    )


class Present(NamedTuple):
    """A spec that is cached or installed, with its location, or that is external.

    `id` is its id in the graph.
    """

    id: int
    hash: str
    location: Location


class Missing(Frozen):
    """A spec that is neither cached nor installed, and the nearest candidate for it.

    `id` is its id in the graph. The role is `root` if the environment asks for the spec itself,
    and `build` if it is neither linked nor run. The spec `is_needed` if an install would build it:
    build tools of a cached spec are not. It `is_recorded` if an index of the caches describes it
    all the same. If it can be built at once, `needed_by` counts the missing specs that wait for
    it, else 0.

    `comparison` compares the missing spec, first, with the nearest candidate; None without a
    candidate, and where the two cannot be compared: see `NearCandidate.causes`.
    """

    id: int
    hash: str
    package: str
    version: str
    role: Literal["root", "run", "build"]
    is_needed: bool
    is_recorded: bool
    needed_by: int
    nearest: Nearest = Nearest()
    comparison: Comparison | None = None


class Coverage(Frozen):
    """The specs of an environment: hits, missing specs and externals, in build order.

    `needs` has the roots and their link/run closures. An install takes the specs of `fetch` from
    the caches, and builds the specs of `build`; all three are hashes in build order, without
    externals. An install tree among the caches counts as a cache, also for `fetch`.

    `candidates` returns the ids of all specs of a package that are cached or installed, and not
    external. `unlisted` counts the specs whose sources do not list dependencies. The coverage
    `is_cut` if too many specs are missing to compare all of them with their nearest candidates.
    """

    graph: Dag
    candidates: Callable[[str], list[int]]
    hits: tuple[Present, ...]
    missing: tuple[Missing, ...]
    externals: tuple[Present, ...]
    needs: tuple[str, ...]
    fetch: tuple[str, ...]
    build: tuple[str, ...]
    unlisted: int = 0
    is_cut: bool = False

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
        best = {s.hash: s.nearest.best.id for s in self.missing if s.nearest.best is not None}
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
    graph = Dag(caches, environment)
    of_presence = _locations(caches)

    def location(id_: int) -> Location:
        return of_presence[caches.column("presence")[caches.look_alike(id_)]]

    def candidates(package: str) -> list[int]:
        codes, nodes = caches.column("presence"), caches.nodes
        node_codes, (start, stop) = caches.column("node"), caches.package_span(package)
        return [
            id_
            for look_alike in range(caches.look_alike(start), caches.look_alike(stop - 1) + 1)
            if of_presence[codes[look_alike]].is_available
            for id_ in range(*caches.span(look_alike))
            if start <= id_ < stop and not nodes[node_codes[id_]].external
        ]

    ids = roots = list(range(len(environment))) if not isinstance(environment, Catalog) else []
    if isinstance(environment, Catalog):
        own = dag_of(environment)
        ids = sorted(own.reached(range(own.count)))
        tops = [id_ for id_ in ids if not own.dependents(id_)]
        # In a damaged document each spec may depend on another one.
        roots = explicit_specs(environment) or tops or ids
    # Each spec by its identity, with the id that describes it best: of the environment's own
    # document, else of another source.
    second_ids = {id_: graph.second_id(id_) for id_ in ids}
    identities = {id_: graph.identity(second) for id_, second in second_ids.items()}
    described = {
        identities[id_]: second
        for id_, second in reversed(second_ids.items())
        if graph.is_described(second)
    }
    specs = set(identities.values())
    asked = dict.fromkeys(identities[id_] for id_ in roots)

    @lru_cache(None)
    def dependencies(spec: int) -> list[tuple[int, bool]]:
        """Return the build, link and run dependencies of a spec, each with whether it runs."""
        return [
            (graph.identity(child), is_run(kind.deptypes))
            for child, kind in graph.links(described.get(spec, spec))
            if is_run(kind.deptypes) or "build" in kind.deptypes
        ]

    def to_build(spec: int) -> list[int]:
        return [child for child, _ in dependencies(spec)]

    def to_run(spec: int) -> list[int]:
        return [child for child, runs in dependencies(spec) if runs]

    every = list(post_order((*asked, *identities.values()), to_build))
    hashes = dict(zip(every, graph.hashes(every), strict=True))
    nodes = {spec: described.get(spec, spec) for spec in every}
    externals = {spec for spec in every if graph.external(nodes[spec])}
    locations = {spec: _joined(map(location, graph.records(spec))) for spec in every}
    available = {spec for spec in every if locations[spec].is_available}
    missing = dict.fromkeys(
        s for s in every if s in specs and s not in externals and s not in available
    )

    def to_install(spec: int) -> list[int]:
        """Return the dependencies to install for a spec; a present spec needs no build tools."""
        return to_run(spec) if spec in available else to_build(spec)

    def reached(starts: Iterable[int], below: Callable[[int], Iterable[int]]) -> set[int]:
        """Return specs and their closures, without the dependencies of externals."""
        return {
            *nearest_first(starts, lambda spec: () if spec in externals else below(spec))
        } - externals

    planned = reached(asked, to_install)
    # Whether another spec has to be built before a spec can be used.
    delayed: dict[int, bool] = {}
    for spec in every:
        delayed[spec] = spec not in externals and any(
            delayed.get(child) or not (child in externals or child in available)
            for child in to_install(spec)
        )

    def awaited(spec: int) -> list[int]:
        """Return the dependencies that a missing spec needs first, or another needs to run."""
        children = to_build(spec) if spec in missing else to_run(spec)
        return [child for child in children if child not in externals]

    first = [spec for spec in missing if not delayed[spec]]
    waiting = count_dependents(first, missing, awaited)
    needed = {*post_order(asked, to_run)} - externals

    def describe(spec: int) -> Missing:
        return Missing(
            nodes[spec],
            hashes[spec],
            graph.name(nodes[spec]),
            graph.version(nodes[spec]),
            "root" if spec in asked else "run" if spec in needed else "build",
            spec in planned,
            bool(locations[spec].sources),
            # A spec does not wait for itself.
            max(0, waiting.get(spec, 0) - 1),
        )

    def present(chosen: Collection[int]) -> tuple[Present, ...]:
        return tuple(
            Present(nodes[spec], hashes[spec], locations[spec])
            for spec in every
            if spec in specs and spec in chosen
        )

    def in_order(chosen: Collection[int]) -> tuple[str, ...]:
        return tuple(hashes[spec] for spec in every if spec in chosen)

    return Coverage(
        graph,
        candidates,
        present(available - externals),
        tuple(map(describe, missing)),
        present(externals),
        in_order(needed),
        in_order(planned & available),
        in_order(planned - available),
        sum(not graph.lists_dependencies(nodes[spec]) for spec in specs - externals),
    )


def find_nearest(coverage: Coverage) -> Coverage:
    """Return a coverage with the nearest candidate of each missing spec.

    The coverage `is_cut` if not all pairs of specs are compared. Raises Cancelled.
    """
    graph = coverage.graph
    search = NearestSearch(graph)
    by_package: dict[str, Sequence[CandidateGroup]] = {}
    steps = 0
    every: list[Missing] = []
    for number, spec in enumerate(coverage.missing):
        report_progress("missing specs compared", number, len(coverage.missing))
        if spec.package not in by_package:
            ids = coverage.candidates(spec.package)
            by_package[spec.package] = group_candidates(graph, ids)
        nearest = search.find(spec.id, by_package[spec.package])
        comparison = None
        best = nearest.best
        if best is not None and best.causes is not None and steps <= MAX_STEPS:
            before = search.pairs.steps
            comparison = search.pairs.compare(spec.id, best.id)
            steps += search.pairs.steps - before
        every.append(replace(spec, nearest=nearest, comparison=comparison))
    is_cut = search.is_exhausted or steps > MAX_STEPS
    return replace(coverage, missing=tuple(every), is_cut=is_cut)
