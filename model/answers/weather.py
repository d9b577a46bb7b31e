"""How much of environments or stacks caches cover, and how much of it runs on some hosts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, count
from typing import NamedTuple

from spackscope.model.analysis.cover import Coverage, cover
from spackscope.model.analysis.fit import HostFit
from spackscope.model.analysis.history import Observation, read_snapshots
from spackscope.model.analysis.host import Host, parse_host
from spackscope.model.analysis.session_fit import host_of
from spackscope.model.answers.asked import Asked
from spackscope.model.core.columns import size_text
from spackscope.model.core.errors import QueryError, WrongQuestion
from spackscope.model.core.text import clean, counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query, exact_query
from spackscope.model.report.sheet import Sheet, SheetColumn
from spackscope.model.sources.resolve import find_environment

_BARS = "▁▂▃▄▅▆▇█"
_MAX_TREND = 20


def answer(asked: Asked) -> Sheet[Weather]:
    """Return a row for each environment or stack; not good if one is under `fail_under`."""
    limit = _limit(asked.options.get("fail_under", ""))
    try:
        hosts = [parse_host(text) for text in asked.options.get("hosts", ())]
    except QueryError as error:
        raise WrongQuestion(f"--host: {error}") from None
    names = [find_environment(name, asked.session) for name in asked.words]
    caches, *environments = asked.load(asked.sources, *([name] for name in names))
    if not (names or caches.total):
        raise asked.no_match(caches, Query())
    coverages = {
        name: cover(environment, caches)
        for name, environment in zip(asked.words, environments, strict=True)
    }
    shown_hosts = hosts or [host_of(asked.session)]
    fits = [HostFit(caches, host) for host in shown_hosts]
    snapshots, failures = read_snapshots(
        [source.name for source in caches.sources if source.name not in coverages],
        asked.session.environ,
    )
    covered = _environments(caches, coverages, fits, snapshots)
    rows = list(covered if coverages else _stacks(caches, fits))
    # What is asked for is to be there; where hosts are named, to run on each.
    worst = min(
        each.percent(count) for each in rows for count in (each.runs if hosts else (each.there,))
    )
    return Sheet(
        counted(len(rows), "environment") if coverages else "",
        _columns("environment" if coverages else "stack", shown_hosts),
        rows,
        query=lambda its: exact_query("stack", its.name),
        remarks=failures,
        limit=None,
        is_good=worst >= limit,
    )


class Weather(NamedTuple):
    """How many specs of an environment or a stack are in the caches.

    `there` counts those that are cached or installed. Of these, `runs` counts for each host how
    many run on it, and `unknown` how many may or may not. `size` is the bytes of their archives,
    without `unknown_sizes` of them. `trend` is `there` at each snapshot, and `wanted` are the
    missing specs.
    """

    name: str
    total: int
    there: int
    runs: Sequence[int]
    unknown: Sequence[int]
    size: float
    unknown_sizes: int
    trend: Sequence[int] = ()
    wanted: Sequence[str] = ()

    def percent(self, count: int) -> float:
        """Return a part of all in percent; 100 if there is nothing to cover."""
        return 100 * count / self.total if self.total else 100.0


def _weather(
    caches: Catalog, name: str, total: int, ids: Sequence[int], fits: Iterable[HostFit]
) -> Weather:
    """Return the coverage by some specs of the caches."""
    answers = [Counter(fit.brief(id_).fits for id_ in ids) for fit in fits]
    runs, unknown = ([each[answer] for each in answers] for answer in (True, None))
    sizes = [spec.size for spec in caches.records(ids)]
    size = sum(size or 0 for size in sizes)
    return Weather(name, total, len(ids), runs, unknown, size, sizes.count(None))


def _environments(
    caches: Catalog,
    coverages: Mapping[str, Coverage],
    fits: Sequence[HostFit],
    snapshots: Sequence[Sequence[Observation]],
) -> Iterator[Weather]:
    """Yield the weather of environments; one sequence of `snapshots` is of one source."""
    for name, coverage in coverages.items():
        ids = [caches.by_hash(hit.hash)[0].id for hit in coverage.hits]
        yield _weather(caches, name, coverage.total, ids, fits)._replace(
            trend=_trend(coverage, snapshots), wanted=_most_wanted(coverage)
        )


def _stacks(caches: Catalog, fits: Sequence[HostFit]) -> Iterator[Weather]:
    """Yield the weather of the stacks of caches, or of all that those without stacks have."""
    values = caches.values("stack")
    names = sorted({name for value in values if isinstance(value, tuple) for name in value})
    ids_of = {name: caches.match(exact_query("stack", name)).ids() for name in names}
    for name, ids in (ids_of or {"all": range(caches.total)}).items():
        yield _weather(caches, name, len(ids), ids, fits)


def _trend(coverage: Coverage, snapshots: Iterable[Sequence[Observation]]) -> list[int]:
    """Return how many specs of an environment were cached at each snapshot of any source."""
    hashes = {hit.hash for hit in coverage.hits} | {spec.hash for spec in coverage.missing}
    by_time = []
    for number, observations in enumerate(snapshots):
        present: set[str] = set()
        for each in observations:
            present = present.difference(each.went) | (each.came.keys() & hashes)
            by_time.append((each.when, number, present))
    newest: dict[int, set[str]] = {}
    trend = []
    for _, number, present in sorted(by_time):
        newest[number] = present
        trend.append(len(set().union(*newest.values())))
    return trend


def _most_wanted(coverage: Coverage) -> list[str]:
    """Return missing specs with the number of others that need each, the most needed first."""
    needed = [spec for spec in coverage.missing if spec.is_needed]
    needed.sort(key=lambda spec: -spec.needed_by)
    counts = (f" ({spec.needed_by:,})" if spec.needed_by else "" for spec in needed)
    return [f"{s.package}@{s.version}{count}" for s, count in zip(needed, counts, strict=True)]


def _limit(text: str) -> float:
    try:
        limit = float(text or 0)
    except ValueError:
        limit = -1.0
    if not 0 <= limit <= 100:
        message = f"--fail-under takes a percentage from 0 to 100, not {clean(text)}"
        raise WrongQuestion(message)
    return limit


def _columns(what: str, hosts: Sequence[Host]) -> list[SheetColumn[Weather]]:
    # The columns of a host are told apart by its short name.
    return [
        SheetColumn(what, lambda its: its.name),
        SheetColumn("specs", lambda its: its.total),
        SheetColumn("cached", lambda its: its.there, drawn=False),
        _percent_column("percent", lambda its: its.there, "cached"),
        *chain.from_iterable(map(_host_columns, count(), hosts)),
        SheetColumn(
            "archives",
            lambda its: its.size,
            "download",
            text=lambda size: size_text(size) if size else "",
            is_right=True,
        ),
        _count_column("unknown_sizes", lambda its: its.unknown_sizes),
        SheetColumn(
            "trend",
            lambda its: [round(its.percent(count), 2) for count in its.trend],
            text=_trend_text,
        ),
        SheetColumn(
            "most_needed", lambda its: its.wanted, "missing, most needed first", is_list=True
        ),
    ]


def _host_columns(number: int, host: Host) -> Iterator[SheetColumn[Weather]]:
    """Yield the columns of a host: how many specs run there, and how many may or may not."""
    name = re.sub(r"[^\w.]+", "_", host.short)
    yield _percent_column(f"runs_on_{name}", lambda its: its.runs[number])
    yield _count_column(f"unknown_on_{name}", lambda its: its.unknown[number])


def _percent_column(
    name: str, part: Callable[[Weather], int], head: str | None = None
) -> SheetColumn[Weather]:
    """Return a column of parts in percent, drawn rounded down, so that only all is 100 %."""
    return SheetColumn(
        name,
        lambda its: round(its.percent(part(its)), 2),
        head,
        text=lambda percent: "<1 %" if 0 < percent < 1 else f"{int(percent)} %",
        is_right=True,
    )


def _count_column(name: str, number: Callable[[Weather], int]) -> SheetColumn[Weather]:
    return SheetColumn(name, number, text=lambda count: f"{count:,}" if count else "")


def _trend_text(percents: Sequence[float]) -> str:
    """Return the first and last percentage of the snapshots, and a bar for each recent one."""
    if not percents:
        return ""
    bars = "".join(_BARS[min(7, int(each * 8 / 100))] for each in percents[-_MAX_TREND:])
    return f"{int(percents[0])} → {int(percents[-1])} % {bars}"
