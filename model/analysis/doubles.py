"""Find packages with several hashes in an environment, and the causes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from spackscope.model.analysis.compare import Cause, Difference, Pairs, changes_of
from spackscope.model.analysis.dag import AttributeValue, by_package
from spackscope.model.analysis.environment import ListedSpecs, Use
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.tasks import OnProgress, ShouldStop, never, no_progress
from spackscope.model.core.versions import version_key
from spackscope.model.index.catalog import Catalog

MAX_PAIRS = 2_000
"""Pairs of builds that are compared; a real site has some hundred."""

MAX_STEPS = 1_000_000
"""Pairs of nodes with their dependencies below the builds, and differences of the builds
themselves; a real site has a tenth of that."""

_MAX_CANDIDATES = 30
"""Builds that another one is compared with to find the nearest."""


class Build(NamedTuple):
    """One of several builds of a package in an environment.

    It `is_run` if roots link or run it, directly or not; else it is used for building only.
    `use` says which roots need it so.
    """

    id: int
    is_run: bool
    dependents: int
    use: Use


class PairCause(NamedTuple):
    """Two builds of a package with the first cause of their difference; None if unknown."""

    package: str
    a: int
    b: int
    cause: Cause | None


class DoubleCause(Frozen):
    """A cause of doubles: what changes there, and the pairs of builds that differ through it.

    `changes` is empty where the sources do not list it. It is among the `deepest` if no other
    cause is below it in one of the pairs. `packages` have several builds through it; those that
    change come first.
    """

    changes: tuple[Difference, ...]
    pairs: Sequence[PairCause]
    deepest: bool
    packages: Sequence[str]


class Doubles(Frozen):
    """The `builds` of each package with several, the most used first, and the causes.

    The environment has so many `packages`; several builds of those in `run` are linked or run.
    The deepest causes come first, then those with the most packages. `unexplained` counts the
    pairs whose causes are not searched, as they are too many or too large.
    """

    packages: int
    builds: Mapping[str, Sequence[Build]]
    run: frozenset[str]
    causes: Sequence[DoubleCause]
    unexplained: int = 0


def find_doubles(
    catalog: Catalog,
    *,
    is_ignored: Callable[[str], bool] = lambda name: False,
    should_stop: ShouldStop = never,
    on_progress: OnProgress = no_progress,
) -> Doubles:
    """Find the packages that a catalog lists with several hashes, and that are not ignored.

    Raises Cancelled.

        for package, builds in find_doubles(load(["spack.lock"], session)).builds.items():
            print(package, len(builds))
    """
    listed = ListedSpecs(catalog)
    graph, members = listed.graph, set(listed.specs)
    packages = by_package(graph, listed.specs)
    several = {
        name: ids
        for name, ids in sorted(packages.items())
        if len(ids) > 1 and not is_ignored(name)
    }
    uses = listed.uses({id_ for ids in several.values() for id_ in ids}, should_stop=should_stop)
    builds = {
        name: sorted(
            (
                Build(
                    id_,
                    id_ in listed.run,
                    len(graph.dependents(id_) & members),
                    uses.get(id_, Use()),
                )
                for id_ in ids
            ),
            key=lambda build: (not build.is_run, -build.dependents, build.id),
        )
        for name, ids in several.items()
    }
    pairs = [*_explained(Pairs(graph), builds, should_stop, on_progress)]
    groups: dict[tuple[Difference, ...], list[PairCause]] = {}
    for pair in pairs:
        # Changes of any package, if there are some, and the same in both directions.
        changes = () if pair.cause is None else changes_of(pair.cause.differences)
        changes = tuple(c for c in changes if not c.package) or changes
        groups.setdefault(tuple(map(_ordered, changes)), []).append(pair)
    causes = []
    for changes, group in groups.items():
        changed = {change.package for change in changes}
        names = sorted({pair.package: None for pair in group}, key=lambda n: n not in changed)
        deepest = any(pair.cause is not None and pair.cause.deepest for pair in group)
        causes.append(DoubleCause(changes, group, deepest, names))
    causes.sort(key=lambda c: (not c.changes, not c.deepest, -len(c.packages), -len(c.pairs)))
    total = sum(len(its) - 1 for its in builds.values())
    run = frozenset(name for name, its in builds.items() if sum(b.is_run for b in its) > 1)
    return Doubles(len(packages), builds, run, causes, total - len(pairs))


def _explained(
    pairs: Pairs,
    builds: Mapping[str, Sequence[Build]],
    should_stop: ShouldStop,
    on_progress: OnProgress,
) -> Iterator[PairCause]:
    """Yield each build but the first with the nearest one before it, and their first cause."""

    def distance(id_: int, other: int) -> tuple[int, int]:
        """Count the differences of two builds themselves, and their other dependencies."""
        if should_stop():
            raise Cancelled
        own = pairs.differences(pairs.number(other, id_))
        pairs.steps += len(own)
        a, b = ({link.identity for link in pairs.links(each)} for each in (other, id_))
        return sum(not difference.follows for difference in own), len(a ^ b)

    count, total = 0, sum(len(its) - 1 for its in builds.values())
    for package, its in builds.items():
        ids = [build.id for build in its]
        for number, id_ in enumerate(ids[1:], 1):
            if count == MAX_PAIRS or pairs.steps > MAX_STEPS:
                return
            on_progress("builds compared", count, total)
            count += 1
            nearest = min(
                ids[: min(number, _MAX_CANDIDATES)], key=lambda other: distance(id_, other)
            )
            causes = pairs.compare(nearest, id_, should_stop=should_stop).causes
            # The first cause that follows no other.
            own = (
                cause
                for cause in causes
                if not cause.follows and not all(each.follows for each in cause.differences)
            )
            yield PairCause(package, nearest, id_, next(own, causes[0] if causes else None))


def _ordered(change: Difference) -> Difference:
    """Return a change with the lower value first."""

    def key(value: AttributeValue) -> tuple[Any, ...]:
        if isinstance(value, str):
            return 1, version_key(value) if change.attribute == "version" else (), value
        return 0, (), str(value)

    if key(change.a) <= key(change.b):
        return change
    return replace(change, a=change.b, b=change.a)
