"""Report how much of environments or stacks is cached, and runs on some hosts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spackscope.model.analysis.host import Host
from spackscope.model.analysis.weather import Weather
from spackscope.model.core.columns import sizes_text
from spackscope.model.core.frozen import asdict
from spackscope.model.core.text import clean
from spackscope.model.query.ast import exact_query
from spackscope.model.report.report import Column, Report, Row, Section, cut, hash_cell

MAX_WANTED = 10
"""Missing specs that are listed, unless all are."""

_BARS = "▁▂▃▄▅▆▇█"
_MAX_TREND = 20


def weather_report(
    rows: Sequence[Weather],
    hosts: Sequence[Host],
    wanted: Mapping[tuple[str, str], int],
    *,
    shows_all: bool = False,
) -> Report:
    """Report rows with a column for each host, and the missing specs, most needed first."""
    has_trend = any(row.trend for row in rows)
    heads = ["specs", "there", *(f"runs on {host.short}" for host in hosts), "archives"]
    columns = [
        Column(most=40, floors=(12,)),
        *(Column(head, is_right=True) for head in (*heads, *["trend"] * has_trend)),
    ]

    def row_of(its: Weather) -> Row:
        cells = (
            clean(its.name),
            f"{its.total:,}",
            _percent(its, its.there),
            *(_runs(its, *each) for each in zip(its.runs, its.unknown, strict=True)),
            sizes_text(its.size, its.there, its.unknown_sizes).removeprefix("size "),
            *[_trend(its)] * has_trend,
        )
        # The name of an environment leads to its coverage.
        return Row(cells, key=its.name, queries=(exact_query("stack", its.name),))

    def wanted_row(name: str, hash_: str, count: int) -> Row:
        about = f"needed by {count:,} missing" if count else ""
        cells = hash_cell(hash_), clean(name), about
        return Row(cells, key=hash_, queries=(exact_query("hash", hash_),))

    def sections() -> Iterator[Section]:
        yield Section("", [row_of(its) for its in rows], columns=columns, indent="")
        lines = [wanted_row(*spec, count) for spec, count in wanted.items()]
        if shown := cut(lines, None if shows_all else MAX_WANTED):
            yield Section("missing, most needed first", shown, is_apart=True)

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


def _percent(its: Weather, count: int) -> str:
    """Return a part in percent, rounded down, so that only all is 100 %."""
    percent = its.percent(count)
    if 0 < percent < 1:
        return "<1 %"
    return f"{int(percent)} %"


def _runs(its: Weather, count: int, unknown: int) -> str:
    """Return how much runs on a host, and of how many specs that is unknown."""
    if unknown and unknown == its.there:
        return "unknown"
    return _percent(its, count) + (f", {unknown:,} unknown" if unknown else "")


def _trend(its: Weather) -> str:
    """Return the first and last percentage of the snapshots, and a bar for each recent one."""
    if not its.trend:
        return ""
    percents = [its.percent(count) for _, count in its.trend]
    bars = "".join(_BARS[min(7, int(each * 8 / 100))] for each in percents[-_MAX_TREND:])
    return f"{int(percents[0])} → {int(percents[-1])} % {bars}"
