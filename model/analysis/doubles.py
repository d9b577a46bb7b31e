"""Find packages with several hashes in an environment, and the causes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from spackscope.model.analysis.compare import Cause, Change, Pairs, changes_of
from spackscope.model.analysis.dag import Dag, by_package
from spackscope.model.analysis.environment import ListedSpecs, Use
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import ShouldStop, never

MAX_PAIRS = 2_000
"""Pairs of builds that are compared; a real site has some hundred."""

MAX_STEPS = 1_000_000
"""Pairs of nodes with their dependencies below the builds; a real site has a tenth of that."""

_MAX_CANDIDATES = 30
"""Builds that another one is compared with to find the nearest."""


class Build(Frozen):
    """One of several builds of a package in an environment.

    It `is_run` if roots link or run it, directly or not; else it is used for building only.
    `use` says which roots need it so.
    """

    id: int
    is_run: bool
    dependents: int
    use: Use


class Double(Frozen):
    """A package with several builds, the most used first.

    It `is_run` if at least two of them are linked or run.
    """

    package: str
    builds: tuple[Build, ...]

    @property
    def is_run(self) -> bool:
        """Whether several of the builds are linked or run."""
        return sum(build.is_run for build in self.builds) > 1


class PairCause(Frozen):
    """Two builds of a package with the first cause of their difference; None if unknown."""

    package: str
    a: int
    b: int
    cause: Cause | None


class DoubleCause(Frozen):
    """A cause of doubles: what changes there, and the pairs of builds that differ through it.

    `changes` is empty where the sources do not list it. It is among the `deepest` if no other
    cause is below it in one of the pairs.
    """

    changes: tuple[Change, ...]
    pairs: tuple[PairCause, ...]
    deepest: bool

    @property
    def packages(self) -> tuple[str, ...]:
        """The packages that have several builds through this cause, those that change first."""
        changed = {change.package for change in self.changes}
        names = dict.fromkeys(pair.package for pair in self.pairs)
        return tuple(sorted(names, key=lambda name: name not in changed))


class Doubles(Frozen):
    """The packages with several builds, of `packages` in an environment, and the causes.

    The deepest causes come first, then those with the most packages. `unexplained` counts the
    pairs whose causes are not searched, as they are too many or too large.
    """

    packages: int
    doubles: tuple[Double, ...]
    causes: tuple[DoubleCause, ...]
    unexplained: int = 0


def find_doubles(
    catalog: Catalog,
    *,
    is_ignored: Callable[[str], bool] = lambda name: False,
    should_stop: ShouldStop = never,
) -> Doubles:
    """Find the packages that a catalog lists with several hashes, and that are not ignored.

    Raises Cancelled.

        for double in find_doubles(load(["spack.lock"], session)).doubles:
            print(double.package, len(double.builds))
    """
    listed = ListedSpecs(catalog)
    graph = listed.graph
    packages = by_package(graph, listed.specs)
    several = {
        name: ids for name, ids in packages.items() if len(ids) > 1 and not is_ignored(name)
    }
    doubles = _doubles(listed, several, should_stop)
    pairs = list(_explained(graph, doubles, should_stop))
    total = sum(len(double.builds) - 1 for double in doubles)
    return Doubles(len(packages), doubles, _grouped(pairs), total - len(pairs))


def _doubles(
    listed: ListedSpecs, several: Mapping[str, Sequence[int]], should_stop: ShouldStop
) -> tuple[Double, ...]:
    members = set(listed.specs)
    uses = listed.uses({id_ for ids in several.values() for id_ in ids}, should_stop=should_stop)

    def build(id_: int) -> Build:
        dependents = listed.graph.dependents(id_) & members
        return Build(id_, id_ in listed.run, len(dependents), uses.get(id_, Use()))

    def rank(build: Build) -> tuple[bool, int, int]:
        return not build.is_run, -build.dependents, build.id

    return tuple(
        Double(name, tuple(sorted(map(build, ids), key=rank)))
        for name, ids in sorted(several.items())
    )


def _explained(
    graph: Dag, doubles: Sequence[Double], should_stop: ShouldStop
) -> Iterator[PairCause]:
    """Yield each build but the first with the nearest one before it, and their first cause."""
    count, pairs = 0, Pairs(graph)
    for double in doubles:
        ids = [build.id for build in double.builds]
        for number, id_ in enumerate(ids[1:], 1):
            if count == MAX_PAIRS or pairs.steps > MAX_STEPS:
                return
            if should_stop():
                raise Cancelled
            count += 1
            nearest = min(ids[: min(number, _MAX_CANDIDATES)], key=_distance_to(pairs, id_))
            comparison = pairs.compare(nearest, id_, should_stop=should_stop)
            yield PairCause(double.package, nearest, id_, _first(comparison.causes))


def _distance_to(pairs: Pairs, id_: int) -> Callable[[int], tuple[int, int]]:
    """Return a function that counts the own differences of another build, and those below."""
    children = _children(pairs.dag, id_)

    def distance(other: int) -> tuple[int, int]:
        differences = pairs.differences(pairs.number(other, id_))
        own = sum(not difference.follows for difference in differences)
        return own, len(children ^ _children(pairs.dag, other))

    return distance


def _children(graph: Dag, id_: int) -> set[int]:
    return {graph.identity(child) for child, _ in graph.links(id_)}


def _first(causes: Sequence[Cause]) -> Cause | None:
    """Return the first cause that follows no other."""
    own = (
        cause
        for cause in causes
        if not cause.follows and any(not difference.follows for difference in cause.differences)
    )
    return next(own, causes[0] if causes else None)


def _grouped(pairs: Sequence[PairCause]) -> tuple[DoubleCause, ...]:
    groups: dict[tuple[Change, ...], list[PairCause]] = {}
    for pair in pairs:
        groups.setdefault(_key(pair.cause), []).append(pair)
    causes = [
        DoubleCause(
            changes,
            tuple(group),
            any(pair.cause is not None and pair.cause.deepest for pair in group),
        )
        for changes, group in groups.items()
    ]
    return tuple(
        sorted(
            causes, key=lambda c: (not c.changes, not c.deepest, -len(c.packages), -len(c.pairs))
        )
    )


def _key(cause: Cause | None) -> tuple[Change, ...]:
    """Return the changes by which causes are equal: those of any package, if there are some."""
    if cause is None:
        return ()
    changes = [change.ordered for change in changes_of(cause.package, cause.differences)]
    shared = [change for change in changes if not change.package]
    return tuple(shared or changes)
