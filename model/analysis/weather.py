"""Count how much of environments or stacks is in caches, and runs on some hosts."""

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
    """How many specs of an environment or a stack are in the caches.

    `runs` has for each host how many of the specs `there` run on it, and `unknown` for how many
    that is unknown. `size` is that of their archives in bytes, but for `unknown_sizes` of
    them. `trend` has the time of each snapshot, and how many were there.
    """

    name: str
    total: int
    there: int
    runs: tuple[int, ...]
    unknown: tuple[int, ...]
    size: float
    unknown_sizes: int
    trend: tuple[tuple[str, int], ...] = ()

    def percent(self, count: int) -> float:
        """Return a part of all in percent; 100 if there is nothing to cover."""
        return 100 * count / self.total if self.total else 100.0


def read_weather(
    caches: Catalog,
    hosts: Iterable[Host],
    coverages: Mapping[str, Coverage],
    snapshots: Sequence[Sequence[Observation]] = (),
) -> list[Weather]:
    """Return the weather of environments, by their names; without any of the stacks of the caches.

    Caches without stacks are one row. There is one sequence of `snapshots` for each source, from
    which environments have a trend.

        read_weather(caches, [parse_host("zen3")], {"climate": cover(climate, caches)})
    """
    fits = [HostFit(caches, host) for host in hosts]

    def of_specs(
        name: str, total: int, ids: Sequence[int], trend: tuple[tuple[str, int], ...] = ()
    ) -> Weather:
        answers = [Counter(fit.brief(id_).fits for id_ in ids) for fit in fits]
        sizes = [spec.size for spec in caches.records(ids)]
        return Weather(
            name,
            total,
            len(ids),
            tuple(each[True] for each in answers),
            tuple(each[None] for each in answers),
            sum(size or 0 for size in sizes),
            sizes.count(None),
            trend,
        )

    if coverages:
        rows = []
        for name, its in coverages.items():
            ids = [caches.by_hash(hit.hash)[0].id for hit in its.hits]
            rows.append(of_specs(name, its.total, ids, _trend(its, snapshots)))
        return rows
    values = caches.values("stack")
    names = sorted({name for value in values if isinstance(value, tuple) for name in value})
    ids_of = {name: caches.match(exact_query("stack", name)).ids() for name in names}
    ids_of = ids_of or {"all": range(caches.total)}
    return [of_specs(name, len(ids), ids) for name, ids in ids_of.items()]


def _trend(
    coverage: Coverage, snapshots: Iterable[Sequence[Observation]]
) -> tuple[tuple[str, int], ...]:
    """Return how much of an environment was there at each snapshot of any source."""
    hashes = {hit.hash for hit in coverage.hits} | {spec.hash for spec in coverage.missing}
    by_time = []
    for number, observations in enumerate(snapshots):
        present: set[str] = set()
        for each in observations:
            present = present.difference(each.went) | (each.came.keys() & hashes)
            by_time.append((each.when, number, present))
    newest: dict[int, set[str]] = {}
    trend = []
    for when, number, present in sorted(by_time):
        newest[number] = present
        trend.append((when, len(set().union(*newest.values()))))
    return tuple(trend)


def most_wanted(coverages: Iterable[Coverage]) -> Mapping[tuple[str, str], int]:
    """Return missing specs by name and hash, with how many others need each, most first."""
    wanted: Counter[tuple[str, str]] = Counter()
    for coverage in coverages:
        for spec in coverage.missing:
            if spec.is_needed:
                wanted[f"{spec.package}@{spec.version}", spec.hash] += spec.needed_by
    return dict(wanted.most_common())
