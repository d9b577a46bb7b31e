"""Compute which specs of an environment are cached, and which are missing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal, NamedTuple

from spackscope.model.analysis.differences.differences import Comparison
from spackscope.model.analysis.environments.availability import NOWHERE, Availability, Location
from spackscope.model.analysis.environments.environment import Environment
from spackscope.model.analysis.nearest.nearest import Nearest
from spackscope.model.core.frozen import Frozen

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
