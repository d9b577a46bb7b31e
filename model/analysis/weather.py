"""Find how much of environments, or of the stacks of a cache, is there and runs on some hosts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from spackscope.model.analysis.cover import Coverage
from spackscope.model.analysis.fit import HostFit
from spackscope.model.analysis.history import Observation
from spackscope.model.analysis.host import Host
from spackscope.model.core.frozen import Frozen
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import exact_query


class Weather(Frozen):
    """How much of a row, an environment or a stack, the caches have: numbers of specs.

    `runs` has for each host how many of those that are `there` run on it, and `untold` of how many
    that is not told. `size` is that of their archives in bytes, as far as it is told, which it is
    not of `unknown_sizes`. `trend` has the time of each snapshot, and how many were there.
    """

    name: str
    total: int
    there: int
    runs: tuple[int, ...]
    untold: tuple[int, ...]
    size: float
    unknown_sizes: int
    trend: tuple[tuple[str, int], ...] = ()

    def percent(self, count: int) -> float:
        """Return a part of all in percent; of nothing there is all."""
        return 100 * count / self.total if self.total else 100.0


def of_environment(
    name: str,
    coverage: Coverage,
    caches: Catalog,
    fits: Sequence[HostFit],
    snapshots: Iterable[Sequence[Observation]] = (),
) -> Weather:
    """Return the weather of an environment by its coverage, with the trend over snapshots.

    There is one sequence of `snapshots` for each source.
    """
    ids = [caches.by_hash(hit.hash)[0].id for hit in coverage.hits]
    its_hashes = {hit.hash for hit in coverage.hits} | {spec.hash for spec in coverage.missing}
    by_time = sorted(
        (observation.when, number, observation.specs.keys() & its_hashes)
        for number, observations in enumerate(snapshots)
        for observation in observations
    )
    newest: dict[int, set[str]] = {}
    trend = []
    for when, number, present in by_time:
        newest[number] = present
        trend.append((when, len(set().union(*newest.values()))))
    return _weather(name, coverage.total, ids, caches, fits, tuple(trend))


def of_stacks(caches: Catalog, fits: Sequence[HostFit]) -> list[Weather]:
    """Return the weather of each stack of the caches, or of all in one where there are none."""
    names = sorted({name for value in caches.values("stack") for name in _names(value)})
    rows = []
    for name in names:
        ids = caches.match(exact_query("stack", name)).ids()
        rows.append(_weather(name, len(ids), ids, caches, fits))
    every = range(caches.total)
    return rows or [_weather("all", len(every), every, caches, fits)]


def _names(value: object) -> Sequence[str]:
    return value if isinstance(value, tuple) else ()


def _weather(
    name: str,
    total: int,
    ids: Sequence[int],
    caches: Catalog,
    fits: Sequence[HostFit],
    trend: tuple[tuple[str, int], ...] = (),
) -> Weather:
    runs, untold = [], []
    for fit in fits:
        answers = Counter(fit.brief(id_).fits for id_ in ids)
        runs.append(answers[True])
        untold.append(answers[None])
    sizes = [spec.size for spec in caches.records(ids)]
    known = [size for size in sizes if size]
    return Weather(
        name,
        total,
        len(ids),
        tuple(runs),
        tuple(untold),
        sum(known),
        len(sizes) - len(known),
        trend,
    )


def most_wanted(coverages: Iterable[Coverage]) -> Mapping[tuple[str, str], int]:
    """Return what is missing, by name and hash, with how much else waits for it, most first."""
    wanted: Counter[tuple[str, str]] = Counter()
    for coverage in coverages:
        for spec in coverage.missing:
            if spec.is_needed:
                wanted[f"{spec.package}@{spec.version}", spec.hash] += spec.needed_by
    return dict(wanted.most_common())


def host_fits(caches: Catalog, hosts: Iterable[Host]) -> list[HostFit]:
    """Return what says of specs whether they run on each host."""
    return [HostFit(caches, host) for host in hosts]
