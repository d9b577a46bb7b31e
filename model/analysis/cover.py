"""Compute which specs of an environment are cached, which are missing, and why."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from spackscope.model.analysis.compare import (
    Cause,
    Comparison,
    Difference,
    Pairs,
    fold_differences,
)
from spackscope.model.analysis.environment import NOWHERE, Availability, Environment, Location
from spackscope.model.analysis.nearest import Candidates, Nearest, NearestSearch, group_candidates
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import LANGUAGES, is_compiler
from spackscope.model.core.tasks import OnProgress, ShouldStop, never, no_progress

Role = Literal["root", "run", "build"]
"""Whether an environment asks for a spec itself, links or runs it, or only builds with it."""


_NOT_SEARCHED = Nearest()


class Hit(NamedTuple):
    """A spec that is cached or installed, and where; `id` is its id in the graph."""

    id: int
    hash: str
    location: Location


class External(NamedTuple):
    """A spec that Spack does not build; `id` is its id in the graph."""

    id: int
    hash: str


class Missing(Frozen):
    """A spec that is neither cached nor installed, and the nearest candidates for it.

    `id` is its id in the graph. It `is_needed` if an install would build it: what only builds a
    cached spec is not. It `is_recorded` if an index of the caches describes it all the same. It
    `holds_up` others if it can be built at once, and something missing waits for it.

    `comparison` is that with the nearest candidate, with the missing spec first; None without
    one, and where the two cannot be compared: see `Candidate.causes`.
    """

    id: int
    hash: str
    package: str
    version: str
    role: Role
    is_needed: bool
    is_recorded: bool
    holds_up: bool
    nearest: Nearest = _NOT_SEARCHED
    comparison: Comparison | None = None


class Plan(Frozen):
    """What an install takes from the caches and what it builds, as hashes in build order.

    An install tree among the caches counts as one, also in what is fetched.
    """

    fetch: tuple[str, ...]
    build: tuple[str, ...]


class Coverage(Frozen):
    """The specs of an environment: hits, what is missing, in build order, and externals.

    `needs` are what the roots link and run, with themselves. Externals are in none of the others.
    `unlisted` counts the specs whose sources do not list what else they need. It `is_cut` if there
    is too much missing to compare all of it with what is nearest.
    """

    environment: Environment
    hits: tuple[Hit, ...]
    missing: tuple[Missing, ...]
    externals: tuple[External, ...]
    needs: tuple[str, ...]
    plan: Plan
    unlisted: int = 0
    is_cut: bool = False

    @property
    def total(self) -> int:
        """The number of specs that are not external."""
        return len(self.hits) + len(self.missing)


def cover(environment: Environment, availability: Availability) -> Coverage:
    """Look up the specs of an environment in caches. Raises IndexDamaged.

        environment = environment_of(load(["spack.lock"], session), caches)
        coverage = cover(environment, Availability(caches))

    What comes nearest to what is missing is found by `find_nearest`, which takes longer.
    """
    return _Cover(environment, availability).coverage()


class _Cover:
    def __init__(self, environment: Environment, availability: Availability) -> None:
        self._environment = environment
        every = environment.all_in_build_order
        self._hashes = dict(zip(every, environment.graph.hashes(every), strict=True))
        locations = availability.locations(self._hashes.values())
        self._locations = {spec: locations.get(self._hashes[spec], NOWHERE) for spec in every}
        self._externals = {spec for spec in every if environment.is_external(spec)}

    def coverage(self) -> Coverage:
        environment = self._environment
        built = [s for s in environment.in_build_order if s not in self._externals]
        missing = [spec for spec in built if not self._has(spec)]
        hits = (
            Hit(environment.node(spec), self._hashes[spec], self._locations[spec])
            for spec in built
            if self._has(spec)
        )
        needed = environment.reached(environment.roots) - self._externals
        fetch, build = self._plan()
        return Coverage(
            environment,
            tuple(hits),
            tuple(self._missing(missing, needed, build)),
            tuple(
                External(environment.node(spec), self._hashes[spec])
                for spec in environment.in_build_order
                if spec in self._externals
            ),
            self._of(needed),
            Plan(self._of(fetch), self._of(build)),
            sum(
                not environment.graph.lists_dependencies(environment.node(spec)) for spec in built
            ),
        )

    def _has(self, spec: int) -> bool:
        return self._locations[spec].is_available

    def _of(self, specs: Collection[int]) -> tuple[str, ...]:
        """Return the hashes of specs in build order."""
        return tuple(hash_ for spec, hash_ in self._hashes.items() if spec in specs)

    def _plan(self) -> tuple[set[int], set[int]]:
        """Return what to fetch and what to build: what is fetched needs no build dependencies."""
        fetch: set[int] = set()
        build: set[int] = set()
        waiting = list(self._environment.roots)
        while waiting:
            spec = waiting.pop()
            if spec in fetch or spec in build or spec in self._externals:
                continue
            (fetch if self._has(spec) else build).add(spec)
            waiting += self._environment.dependencies(spec, to_build=not self._has(spec))
        return fetch, build

    def _missing(
        self, specs: Sequence[int], needed: Collection[int], build: Collection[int]
    ) -> Iterator[Missing]:
        environment, holding = self._environment, self._holding_up(specs)
        for spec in specs:
            node = environment.node(spec)
            attributes = environment.graph.attributes(node)
            is_root = spec in environment.roots
            yield Missing(
                node,
                self._hashes[spec],
                attributes.package,
                attributes.version,
                "root" if is_root else "run" if spec in needed else "build",
                spec in build,
                bool(self._locations[spec].sources),
                spec in holding,
            )

    def _holding_up(self, missing: Sequence[int]) -> set[int]:
        """Return the missing specs that wait for no other, while others wait for them."""
        waits = {spec: self._waits_for(spec) for spec in missing}
        awaited = set().union(*waits.values())
        return {spec for spec, waiting in waits.items() if spec in awaited and not waiting}

    def _waits_for(self, spec: int) -> set[int]:
        """Return the missing dependencies of a spec, which are to be built before it."""
        waits: set[int] = set()
        seen = {spec}
        waiting = self._environment.dependencies(spec, to_build=True)
        while waiting:
            dependency = waiting.pop()
            if dependency in seen or dependency in self._externals:
                continue
            seen.add(dependency)
            if self._has(dependency):
                waiting += self._environment.dependencies(dependency, to_build=False)
            elif dependency in self._locations:
                waits.add(dependency)
        return waits


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
    missing: tuple[Missing, ...]
    difference: Difference | None


def group_reasons(missing: Iterable[Missing]) -> list[ReasonGroup]:
    """Return the reasons why specs are missing, the most frequent first."""
    groups: dict[Reason, list[Missing]] = {}
    differences: dict[Reason, set[Difference | None]] = {}
    for spec in missing:
        reason, difference = reason_of(spec)
        groups.setdefault(reason, []).append(spec)
        differences.setdefault(reason, set()).add(difference)
    return [
        ReasonGroup(
            reason,
            tuple(specs),
            next(iter(differences[reason])) if len(differences[reason]) == 1 else None,
        )
        for reason, specs in sorted(groups.items(), key=lambda item: -len(item[1]))
    ]


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


MAX_STEPS = 2_000_000
"""Pairs of nodes with their dependencies that are compared for all that is missing."""


def find_nearest(
    coverage: Coverage,
    availability: Availability,
    *,
    on_progress: OnProgress = no_progress,
    should_stop: ShouldStop = never,
) -> Coverage:
    """Return a coverage with the nearest candidates of all that is missing.

    It `is_cut` if there is too much to compare. Raises Cancelled and IndexDamaged.
    """
    graph = coverage.environment.graph
    search, comparer = NearestSearch(graph), Pairs(graph)
    by_package: dict[str, Candidates] = {}

    def with_nearest(spec: Missing) -> Missing:
        if spec.package not in by_package:
            ids = availability.candidates(spec.package)
            by_package[spec.package] = group_candidates(graph, ids)
        nearest = search.find(spec.id, by_package[spec.package], should_stop=should_stop)
        comparison = None
        is_cut = comparer.steps > MAX_STEPS
        if nearest.candidates and nearest.candidates[0].causes is not None and not is_cut:
            other = nearest.candidates[0].id
            comparison = comparer.compare(spec.id, other, should_stop=should_stop)
        return replace(spec, nearest=nearest, comparison=comparison)

    missing = []
    for number, spec in enumerate(coverage.missing):
        if should_stop():
            raise Cancelled
        on_progress("missing specs compared", number, len(coverage.missing))
        missing.append(with_nearest(spec))
    is_cut = search.is_exhausted or comparer.steps > MAX_STEPS
    return replace(coverage, missing=tuple(missing), is_cut=is_cut)
