"""Compute which specs of an environment are cached, which are missing, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, cast

from spackscope.model.analysis.compare import Cause, Comparison, Difference, fold_differences
from spackscope.model.analysis.dag import Dag, dag_of, post_order
from spackscope.model.analysis.environment import ListedSpecs
from spackscope.model.analysis.nearest import Candidates, Nearest, NearestSearch, group_candidates
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import LANGUAGES, is_compiler, is_run
from spackscope.model.core.tasks import OnProgress, ShouldStop, never, no_progress

MAX_STEPS = 2_000_000
"""Pairs of nodes with their dependencies that are compared for all that is missing."""

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


_NOWHERE = Location()


class Availability:
    """What the sources of a catalog offer, `besides` some of them that do not count.

    Environments offer nothing, and an index does not offer what it only records as a dependency.
    """

    def __init__(self, catalog: Catalog, besides: Collection[str]) -> None:
        self._catalog = catalog
        ignored = {*besides, *environments(catalog)}
        states, sources = (
            cast(Sequence[tuple[str, ...]], catalog.values(column))
            for column in ("state", "source")
        )
        # What each code of the dictionary `presence` stands for.
        self._locations: list[Location] = []
        for state, listing in zip(states, sources, strict=True):
            counted = tuple(source for source in listing if source not in ignored)
            location = Location(counted, "cached" in state, "installed" in state)
            self._locations.append(location if counted else _NOWHERE)

    def location(self, ids: Iterable[int]) -> Location:
        """Return where records of one hash are: where it need not be built, if there is one."""
        catalog, joined = self._catalog, _NOWHERE
        for id_ in ids:
            location = self._locations[catalog.column("presence")[catalog.look_alike(id_)]]
            if not location.sources or joined.is_available > location.is_available:
                continue
            if joined.is_available < location.is_available:
                joined = location
            else:
                joined = Location(
                    tuple(dict.fromkeys((*joined.sources, *location.sources))),
                    joined.is_cached or location.is_cached,
                    joined.is_installed or location.is_installed,
                )
        return joined

    def candidates(self, package: str) -> list[int]:
        """Return the ids of all specs of a package that are cached or installed, not external."""
        catalog, nodes = self._catalog, self._catalog.nodes
        codes, node_codes = catalog.column("presence"), catalog.column("node")
        start, stop = catalog.package_span(package)
        return [
            id_
            for look_alike in range(catalog.look_alike(start), catalog.look_alike(stop - 1) + 1)
            if self._locations[codes[look_alike]].is_available
            for id_ in range(*catalog.span(look_alike))
            if start <= id_ < stop and not nodes[node_codes[id_]].external
        ]


class Present(NamedTuple):
    """A spec that is cached or installed, and where, or that is external.

    `id` is its id in the graph.
    """

    id: int
    hash: str
    location: Location


class Missing(Frozen):
    """A spec that is neither cached nor installed, and the nearest candidates for it.

    `id` is its id in the graph. The environment asks for a `root` itself; what is only needed to
    `build` is neither linked nor run. It `is_needed` if an install would build it: what only
    builds a cached spec is not. It `is_recorded` if an index of the caches describes it all the
    same. It `holds_up` others if it can be built at once, and something missing waits for it.

    `comparison` is that with the nearest candidate, with the missing spec first; None without
    one, and where the two cannot be compared: see `Candidate.causes`.
    """

    id: int
    hash: str
    package: str
    version: str
    role: Literal["root", "run", "build"]
    is_needed: bool
    is_recorded: bool
    holds_up: bool
    nearest: Nearest = Nearest()
    comparison: Comparison | None = None


class Coverage(Frozen):
    """The specs of an environment: hits, what is missing, and externals, in build order.

    `needs` are what the roots link and run, with themselves. An install takes from the caches what
    it is to `fetch`, and builds what it is to `build`; all are hashes in build order, without
    externals. An install tree among the caches counts as one, also in what is fetched.

    `unlisted` counts the specs whose sources do not list what else they need. It `is_cut` if there
    is too much missing to compare all of it with what is nearest.
    """

    graph: Dag
    availability: Availability
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


def cover(
    environment: Catalog | Sequence[str], caches: Catalog, besides: Collection[str] = ()
) -> Coverage:
    """Look up the specs of an environment in caches, `besides` some sources that do not count.

    In place of an environment there may be hashes, of which only the caches know more. Its roots
    are the explicit specs; without any, those that no other depends on.

        coverage = cover(load(["spack.lock"], session), caches)

    What comes nearest to what is missing is found by `find_nearest`, which takes longer.
    """
    graph = Dag(caches, environment)
    availability = Availability(caches, besides)
    ids = roots = list(range(len(environment))) if not isinstance(environment, Catalog) else []
    if isinstance(environment, Catalog):
        own = dag_of(environment)
        ids = sorted(own.reached(range(own.count)))
        tops = [id_ for id_ in ids if not own.dependents(id_)]
        # In a damaged document each may depend on another one.
        roots = ListedSpecs(environment).explicit or tops or ids
    # Each spec by its identity, and by which id the graph describes it best: that of the
    # environment's own document, else that of another source.
    second_ids = {id_: graph.second_id(id_) for id_ in ids}
    identities = {id_: graph.identity(second) for id_, second in second_ids.items()}
    described = {
        identities[id_]: second
        for id_, second in reversed(second_ids.items())
        if graph.is_described(second)
    }
    specs = set(identities.values())
    roots = list(dict.fromkeys(identities[id_] for id_ in roots))

    def node(spec: int) -> int:
        return described.get(spec, spec)

    @lru_cache(None)
    def dependencies(spec: int) -> list[tuple[int, bool]]:
        """Return what builds a spec, or is linked or run by it, and whether it is the latter."""
        return [
            (graph.identity(child), is_run(kind.deptypes))
            for child, kind in graph.links(node(spec))
            if is_run(kind.deptypes) or "build" in kind.deptypes
        ]

    def to_build(spec: int) -> list[int]:
        return [child for child, _ in dependencies(spec)]

    def to_run(spec: int) -> list[int]:
        return [child for child, runs in dependencies(spec) if runs]

    every = list(post_order((*roots, *identities.values()), to_build))
    hashes = dict(zip(every, graph.hashes(every), strict=True))
    locations = {spec: availability.location(graph.records(spec)) for spec in every}
    externals = {spec for spec in every if graph.external(node(spec))}

    def lower(spec: int) -> list[int]:
        """Return what an install needs besides a spec: what is there needs nothing to build."""
        return to_run(spec) if locations[spec].is_available else to_build(spec)

    def in_order(chosen: Collection[int]) -> tuple[str, ...]:
        return tuple(hashes[spec] for spec in every if spec in chosen)

    planned, waiting = set[int](), roots[:]
    while waiting:
        if (spec := waiting.pop()) not in planned and spec not in externals:
            planned.add(spec)
            waiting += lower(spec)
    to_fetch = {spec for spec in planned if locations[spec].is_available}

    built = [spec for spec in every if spec in specs and spec not in externals]
    absent = [spec for spec in built if not locations[spec].is_available]
    # Whether something is to be built before a spec can be used, and what is so waited for.
    delayed: dict[int, bool] = {}
    awaited, waiting = set[int](), [child for spec in absent for child in to_build(spec)]
    for spec in every:
        delayed[spec] = spec not in externals and any(
            delayed.get(child) or not (child in externals or locations[child].is_available)
            for child in lower(spec)
        )
    while waiting:
        if (spec := waiting.pop()) not in awaited and spec not in externals:
            awaited.add(spec)
            waiting += to_run(spec) if locations[spec].is_available else ()
    needed = set(post_order(roots, to_run)) - externals

    def missing(spec: int) -> Missing:
        return Missing(
            node(spec),
            hashes[spec],
            graph.name(node(spec)),
            graph.version(node(spec)),
            "root" if spec in roots else "run" if spec in needed else "build",
            spec in planned,
            bool(locations[spec].sources),
            spec in awaited and not delayed[spec],
        )

    def present(chosen: Iterable[int]) -> tuple[Present, ...]:
        return tuple(Present(node(spec), hashes[spec], locations[spec]) for spec in chosen)

    return Coverage(
        graph,
        availability,
        present(spec for spec in built if locations[spec].is_available),
        tuple(map(missing, absent)),
        present(spec for spec in every if spec in specs and spec in externals),
        in_order(needed),
        in_order(to_fetch),
        in_order(planned - to_fetch),
        sum(not graph.lists_dependencies(node(spec)) for spec in built),
    )


def find_nearest(
    coverage: Coverage,
    *,
    on_progress: OnProgress = no_progress,
    should_stop: ShouldStop = never,
) -> Coverage:
    """Return a coverage with the nearest candidates of all that is missing.

    It `is_cut` if there is too much to compare. Raises Cancelled.
    """
    graph = coverage.graph
    search = NearestSearch(graph)
    by_package: dict[str, Candidates] = {}
    steps = 0
    every: list[Missing] = []
    for number, spec in enumerate(coverage.missing):
        if should_stop():
            raise Cancelled
        on_progress("missing specs compared", number, len(coverage.missing))
        if spec.package not in by_package:
            ids = coverage.availability.candidates(spec.package)
            by_package[spec.package] = group_candidates(graph, ids)
        nearest = search.find(spec.id, by_package[spec.package], should_stop=should_stop)
        comparison = None
        best = nearest.candidates[0] if nearest.candidates else None
        if best is not None and best.causes is not None and steps <= MAX_STEPS:
            before = search.pairs.steps
            comparison = search.pairs.compare(spec.id, best.id, should_stop=should_stop)
            steps += search.pairs.steps - before
        every.append(replace(spec, nearest=nearest, comparison=comparison))
    is_cut = search.is_exhausted or steps > MAX_STEPS
    return replace(coverage, missing=tuple(every), is_cut=is_cut)


_SHARED = ("compiler", "os", "platform", "target")
"""Attributes whose values many packages have in common."""

_OF_EDGES = ("dependency", "deptypes", "provider", "virtuals")


class Reason(NamedTuple):
    """Why a spec is missing.

    `attributes` are kinds of attributes in which the nearest candidate differs itself; they are
    the `only` ones if nothing else differs below, which is None if that is not known. If it does
    not differ itself, the `package` of a dependency `below` is another. There may be no build of
    the `package`, or nothing known of the spec, or of its dependencies.
    """

    kind: Literal["attributes", "below", "package", "unknown", "unexplained"]
    attributes: tuple[str, ...] = ()
    only: bool | None = None
    package: str = ""


class ReasonGroup(NamedTuple):
    """The missing specs with one reason, in build order, and the difference that all of them have.

    There is none where values are of single packages, such as versions.
    """

    reason: Reason
    missing: list[Missing]
    difference: Difference | None


def group_reasons(missing: Iterable[Missing]) -> list[ReasonGroup]:
    """Return the reasons why specs are missing, the most frequent first."""
    groups: dict[Reason, ReasonGroup] = {}
    for spec in missing:
        reason, difference = reason_of(spec)
        group = groups.get(reason, ReasonGroup(reason, [], difference))
        if group.difference != difference:
            group = group._replace(difference=None)
        group.missing.append(spec)
        groups[reason] = group
    return sorted(groups.values(), key=lambda group: -len(group.missing))


def reason_of(missing: Missing) -> tuple[Reason, Difference | None]:
    """Return why a spec is missing, with a difference that other specs may share."""
    if not missing.package:
        return Reason("unknown"), None
    if not missing.nearest.total:
        return Reason("package"), None
    if not missing.nearest.candidates:
        return Reason("unknown"), None
    causes = missing.comparison.causes if missing.comparison is not None else ()
    differences = list(missing.nearest.candidates[0].differences)
    if causes and not causes[0].path:
        differences += (d for d in causes[0].differences if not d.follows)
    kinds = tuple(sorted({_kind(difference) for difference in differences}))
    if kinds:
        shared = differences[0] if len(kinds) == 1 and kinds[0] in _SHARED else None
        only = _are_all(causes, kinds) if missing.comparison is not None else None
        return Reason("attributes", kinds, only), shared
    folded = fold_differences(causes)
    if not folded:
        return Reason("unexplained"), None
    first = folded[0]
    return Reason("below", package=first.package or first.packages[0]), first.difference


def _kind(difference: Difference) -> str:
    """Return the kind of an attribute, so that one variant is as good as another."""
    name = difference.attribute
    if name == "provider" and not set(LANGUAGES).isdisjoint(difference.virtuals):
        return "compiler"
    if name in _OF_EDGES:
        return "dependencies"
    if name.endswith("flags") or name == "ldlibs":
        return "flags"
    return "variants" if name.startswith("variant:") else name


def _are_all(causes: Iterable[Cause], kinds: Iterable[str]) -> bool:
    """Check whether nothing differs but attributes of some kinds."""
    for cause in causes:
        own = {"compiler"} if is_compiler(cause.package) else set()
        for difference in cause.differences:
            is_folded = difference.follows or cause.follows
            if not is_folded and {_kind(difference), *own}.isdisjoint(kinds):
                return False
    return True
