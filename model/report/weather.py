"""Report how much of environments or stacks a cache covers, on which hosts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spackscope.model.analysis.host import Host
from spackscope.model.analysis.weather import Weather
from spackscope.model.core.columns import SHORT_HASH, size_text
from spackscope.model.core.frozen import asdict
from spackscope.model.core.text import clean
from spackscope.model.query.ast import exact_query
from spackscope.model.report.report import Column, Report, Row, Section, cut, styled

MAX_WANTED = 10
"""Missing specs that are listed, unless all are."""

WANTED = "most wanted of what is missing, with how much waits for it"
_BARS = "▁▂▃▄▅▆▇█"
_MAX_TREND = 20


def weather_report(
    rows: Sequence[Weather],
    hosts: Sequence[Host],
    wanted: Mapping[tuple[str, str], int],
    *,
    shows_all: bool = False,
) -> Report:
    """Report rows of weather with a column for each host, and what is missing most."""
    has_trend = any(row.trend for row in rows)
    heads = ("", "specs", "there", *(f"runs on {host.short}" for host in hosts), "archives")
    columns = [
        Column(head, most=40, floors=(12,)) if not number else Column(head, is_right=True)
        for number, head in enumerate((*heads, *(("trend",) if has_trend else ())))
    ]

    def row_of(its: Weather) -> Row:
        runs = (_runs(its, *each) for each in zip(its.runs, its.untold, strict=True))
        known = [size_text(its.size)] if its.size else []
        unknown = [f"{its.unknown_sizes:,} unknown"] if its.unknown_sizes else []
        cells = (
            clean(its.name),
            f"{its.total:,}",
            percent_text(its, its.there),
            *runs,
            " + ".join(known + unknown) or "-",
            *((_trend(its),) if has_trend else ()),
        )
        columns = ("source", "stack")
        queries = tuple(exact_query(column, its.name) for column in columns)
        return Row(cells, key=its.name, queries=queries)

    def sections() -> Iterator[Section]:
        yield Section("", [row_of(its) for its in rows], columns=columns, indent="")
        lines = []
        for (name, hash_), count in wanted.items():
            cells = f"{count:,}", clean(name), styled(hash_[:SHORT_HASH], "link")
            query = exact_query("hash", hash_)
            lines.append(Row(cells, key=hash_, queries=(query,)))
        if lines:
            yield Section(WANTED, cut(lines, None if shows_all else MAX_WANTED), is_apart=True)

    def data() -> dict[str, Any]:
        return {
            "hosts": [str(host) for host in hosts],
            "rows": [asdict(its) | {"percent": round(its.percent(its.there), 2)} for its in rows],
            "wanted": [
                {"spec": name, "hash": hash_, "needed_by": count}
                for (name, hash_), count in wanted.items()
            ],
        }

    return Report("", sections(), data)


def percent_text(its: Weather, count: int) -> str:
    """Return a part in percent; all is only said of all, and nothing of nothing."""
    percent = its.percent(count)
    if 0 < percent < 1:
        return "<1 %"
    return f"{int(percent)} %"


def _runs(its: Weather, count: int, untold: int) -> str:
    """Return how much runs on a host; nothing where that is told of none."""
    if untold and untold == its.there:
        return "not told"
    return percent_text(its, count) + (f", {untold:,} not told" if untold else "")


def _trend(its: Weather) -> str:
    """Return the first and last percentage of the snapshots, and a bar for each of the last."""
    if not its.trend:
        return ""
    percents = [its.percent(count) for _, count in its.trend]
    bars = "".join(_BARS[min(7, int(each * 8 / 100))] for each in percents[-_MAX_TREND:])
    return f"{int(percents[0])} → {int(percents[-1])} % {bars}"
