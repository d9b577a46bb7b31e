"""How much of environments or stacks caches cover, and how much of it runs on some hosts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from spackscope.model.analysis.cover import Coverage, cover
from spackscope.model.analysis.fit import HostFit
from spackscope.model.analysis.history import Observation, read_snapshots
from spackscope.model.analysis.host import Host, parse_host
from spackscope.model.analysis.session_fit import host_of
from spackscope.model.answers.asked import Asked
from spackscope.model.core.errors import QueryError, WrongQuestion
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.text import clean, counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query, exact_query
from spackscope.model.report.sheet import Sheet, SheetColumn, size_column
from spackscope.model.sources.resolve import find_environment
from spackscope.model.sources.session import Session

_BARS = "▁▂▃▄▅▆▇█"
_MAX_TREND = 20


def answer(asked: Asked) -> Sheet[Weather]:
    """Return a row for each environment or stack; not good if one is under `fail_under`."""
    limit = _limit(asked.options.get("fail_under", ""))
    try:
        hosts = [parse_host(text) for text in asked.options.get("hosts", ())]
    except QueryError as error:
        raise WrongQuestion(f"a host has an error: {error}") from None
    names = [find_environment(name, asked.session) for name in asked.words]
    caches, *environments = asked.load(asked.sources, *([name] for name in names))
    if not (names or caches.total):
        raise asked.no_match(caches, Query())
    coverages = {
        name: cover(environment, caches)
        for name, environment in zip(asked.words, environments, strict=True)
    }
    sheet = weather(caches, coverages, hosts or [host_of(asked.session)], asked.session)
    # What is asked for is to be there; where hosts are named, to run on each.
    worst = min(
        each.percent(count)
        for each in sheet.rows
        for count in (each.runs if hosts else (each.there,))
    )
    return replace(sheet, is_good=worst >= limit)


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
    """Return the weather of environments by their names; without any, of stacks of the caches.

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


def weather(
    caches: Catalog, coverages: Mapping[str, Coverage], hosts: Sequence[Host], session: Session
) -> Sheet[Weather]:
    """Return the sheet of environments by their names; without any that of stacks."""
    snapshots, failures = read_snapshots(
        [source.name for source in caches.sources if source.name not in coverages],
        session.environ,
    )
    wanted = {name: most_wanted([its]) for name, its in coverages.items()}
    # The columns of a host are told apart by its short name.
    columns: list[SheetColumn[Weather]] = [
        SheetColumn("environment" if coverages else "stack", lambda its: its.name),
        SheetColumn("specs", lambda its: its.total),
        SheetColumn("there", lambda its: its.there, drawn=False),
        SheetColumn(
            "percent",
            lambda its: _percent(its, its.there),
            "there",
            text=_percent_text,
            is_right=True,
        ),
    ]
    for number, host in enumerate(hosts):
        columns += _host_columns(number, host.short)
    columns += [
        size_column(lambda its: its.size, "archives"),
        SheetColumn(
            "unknown_sizes",
            lambda its: its.unknown_sizes,
            text=lambda count: f"{count:,}" * bool(count),
        ),
        SheetColumn(
            "trend", lambda its: [_percent(its, count) for _, count in its.trend], text=_trend_text
        ),
        SheetColumn(
            "most_needed",
            lambda its: (
                [_name_of(name, count) for (name, _), count in wanted[its.name].items()]
                if its.name in wanted
                else []
            ),
            "missing, most needed first",
            is_list=True,
        ),
    ]
    rows = read_weather(caches, hosts, coverages, snapshots)
    return Sheet(
        counted(len(rows), "environment") if coverages else "",
        columns,
        rows,
        query=lambda its: exact_query("stack", its.name),
        remarks=failures,
        limit=None,
    )


def _host_columns(number: int, name: str) -> Iterator[SheetColumn[Weather]]:
    """Yield the columns of a host: what runs there, and of how many specs that is unknown."""
    name = re.sub(r"[^\w.]+", "_", name)
    yield SheetColumn(
        f"runs_on_{name}",
        lambda its: _percent(its, its.runs[number]),
        text=_percent_text,
        is_right=True,
    )
    yield SheetColumn(
        f"unknown_on_{name}",
        lambda its: its.unknown[number],
        text=lambda count: f"{count:,}" * bool(count),
    )


def _limit(text: str) -> float:
    try:
        limit = float(text or 0)
    except ValueError:
        limit = -1.0
    if not 0 <= limit <= 100:
        message = f"--fail-under takes a percentage from 0 to 100, not {clean(text)}"
        raise WrongQuestion(message)
    return limit


def _name_of(name: str, count: int) -> str:
    return f"{name} ({count:,})" if count else name


def _percent(its: Weather, count: int) -> float:
    return round(its.percent(count), 2)


def _percent_text(percent: float) -> str:
    """Return a part in percent, rounded down, so that only all is 100 %."""
    return "<1 %" if 0 < percent < 1 else f"{int(percent)} %"


def _trend_text(percents: Sequence[float]) -> str:
    """Return the first and last percentage of the snapshots, and a bar for each recent one."""
    if not percents:
        return ""
    bars = "".join(_BARS[min(7, int(each * 8 / 100))] for each in percents[-_MAX_TREND:])
    return f"{int(percents[0])} → {int(percents[-1])} % {bars}"
