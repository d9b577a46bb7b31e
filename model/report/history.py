"""Report since when versions, variants and builds are in a source, and when they went."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from spackscope.model.analysis.history import History, Observation, Timeline
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.text import clean, counted
from spackscope.model.core.versions import version_key
from spackscope.model.query.ast import exact_query
from spackscope.model.report.report import Column, Report, Row, Section, cut, styled

MAX_TIMELINES = 40
"""Lines of a source, unless all are asked for."""

_MAX_BAR = 30
"""Cells of a line of time; of more observations each cell is of several."""

_PRESENT, _PARTLY, _ABSENT = "█", "▒", "·"

_COLUMNS = (
    Column("", most=40, floors=(16,)),
    Column("hash", is_right=False),
    Column("since"),
    Column("until"),
    Column("builds"),
    Column(""),
)


def history_report(
    what: str,
    histories: Mapping[str, History],
    *,
    shows_all: bool = False,
) -> Report:
    """Report the timelines of each source, with its observations, newest version first.

    What is there at the first observation may have been there before, which is said.
    """

    def sections() -> Iterator[Section]:
        for source, (observations, lines) in histories.items():
            if not lines:
                continue
            first, last = observations[0], observations[-1]
            heading = (
                f"{clean(source)}: {counted(len(observations), 'observation')}"
                f" from {_day(first)} to {_day(last)}"
            )
            ordered = sorted(lines, key=lambda each: version_key(each.name), reverse=True)
            rows = [_row(each, observations) for each in ordered]
            limit = None if shows_all else MAX_TIMELINES
            yield Section(heading, cut(rows, limit), is_apart=True, columns=_COLUMNS)

    def data() -> dict[str, Any]:
        return {
            source: {
                "observations": [{"when": e.when, "label": e.label} for e in observations],
                "timelines": [
                    {"spec": each.name, "hashes": each.hashes, "counts": each.counts}
                    for each in lines
                ],
            }
            for source, (observations, lines) in histories.items()
        }

    count = sum(len(lines) for _, lines in histories.values())
    found = counted(count, "timeline") if count else "never seen"
    return Report(f"{what}: {found}", sections(), data)


def _row(its: Timeline, observations: Sequence[Observation]) -> Row:
    since = _day(observations[its.first])
    is_gone = its.last + 1 < len(observations)
    until = ""
    if is_gone:
        last, after = observations[its.last], observations[its.last + 1]
        label = "" if last.label == "snapshot" else f", in {clean(last.label)}"
        until = f"{_day(last)}{label}, gone by {_day(after)}"
    cells = (
        clean(its.name),
        styled(its.hashes[0][:SHORT_HASH] if len(its.hashes) == 1 else "", "link"),
        since if its.first else f"{since} or before",
        until or "there",
        f"{len(its.hashes):,}",
        styled(_bar(its.counts), "bar"),
    )
    by_hash = exact_query("hash", its.hashes[0])
    return Row(cells, key=its.hashes[0], queries=(by_hash if len(its.hashes) == 1 else its.query,))


def _day(observation: Observation) -> str:
    return clean(observation.when[:10])


def _bar(counts: Sequence[int]) -> str:
    """Return a cell for each observation, or for several of them."""
    each = -(-len(counts) // _MAX_BAR)
    parts = [counts[start : start + each] for start in range(0, len(counts), each)]
    signs = {(True, True): _PRESENT, (True, False): _PARTLY, (False, False): _ABSENT}
    return "".join(signs[any(part), all(part)] for part in parts)
