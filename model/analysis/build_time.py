"""Estimate how long the missing specs of an environment take to build."""

from __future__ import annotations

from collections.abc import Mapping

from spackscope.model.analysis.cover import Coverage, Missing
from spackscope.model.analysis.dag import post_order
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import is_run
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.index.catalog import Catalog
from spackscope.model.sources.build_times import build_seconds


class BuildTime(Frozen):
    """The seconds that missing specs took to build where they were built before.

    `seconds` has them by the hashes of missing specs, of `total` that are needed; `by_nearest` are
    those hashes that only the nearest candidate was built of. `path` are the names of the longest
    chain of builds that wait for each other, the first to be built first, with its seconds, and
    how many on it are unknown.
    """

    seconds: Mapping[str, float]
    by_nearest: tuple[str, ...]
    total: int
    path: tuple[str, ...] = ()
    path_seconds: float = 0.0
    path_unknown: int = 0


def read_build_time(
    coverage: Coverage, caches: Catalog, should_stop: ShouldStop = never
) -> BuildTime | None:
    """Read how long builds of missing specs took in the install trees among the caches.

    None where no build time is known. Raises Cancelled.

        read_build_time(find_nearest(cover(environment, caches)), caches).path
    """
    trees = [source.name for source in caches.sources if source.kind == "install tree"]
    nearest = coverage.nearest_hashes()
    hashes = {spec.hash for spec in coverage.missing} | set(nearest.values())
    known = build_seconds(trees, hashes, should_stop) if trees and hashes else {}
    if not known:
        return None
    needed = [spec for spec in coverage.missing if spec.is_needed]
    own = {spec.hash for spec in needed if spec.hash in known}
    by_nearest = {spec.hash for spec in needed if nearest.get(spec.hash, "") in known} - own
    seconds = {h: known[h] for h in own} | {h: known[nearest[h]] for h in by_nearest}
    if not seconds:
        return None
    return _with_path(coverage, needed, BuildTime(seconds, tuple(sorted(by_nearest)), len(needed)))


def _with_path(coverage: Coverage, needed: list[Missing], time: BuildTime) -> BuildTime:
    """Add the longest chain of missing specs, also through cached ones that link or run them."""
    graph = coverage.graph
    by_identity = {graph.identity(spec.id): spec for spec in needed}
    present = {graph.identity(spec.id): spec.id for spec in coverage.hits}
    ids = {graph.identity(spec.id): spec.id for spec in coverage.missing} | present

    def below(identity: int) -> list[int]:
        """Return the dependencies that a spec waits for; a cached one needs no build tools."""
        links = graph.links(ids[identity])
        is_built = identity not in present
        used = [
            id_
            for id_, kind in links
            if is_run(kind.deptypes) or (is_built and "build" in kind.deptypes)
        ]
        return [child for child in map(graph.identity, used) if child in ids]

    longest: dict[int, tuple[float, tuple[Missing, ...]]] = {}
    for identity in post_order(by_identity, below):
        chains = (longest[child] for child in below(identity) if child in longest)
        before, chain = max(chains, key=lambda each: (each[0], len(each[1])), default=(0.0, ()))
        if (spec := by_identity.get(identity)) is not None:
            before, chain = before + time.seconds.get(spec.hash, 0.0), (*chain, spec)
        longest[identity] = before, chain
    seconds, chain = max(longest.values(), key=lambda each: each[0])
    return replace(
        time,
        path=tuple(spec.package for spec in chain),
        path_seconds=seconds,
        path_unknown=sum(spec.hash not in time.seconds for spec in chain),
    )
