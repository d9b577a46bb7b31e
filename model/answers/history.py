"""Since when versions, variants and builds are in a source, and when they went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from spackscope.model.analysis.history import (
    HASH,
    KNOWN,
    VERSION,
    History,
    Observation,
    Timeline,
    read_history,
)
from spackscope.model.answers.asked import Asked
from spackscope.model.core.columns import ALIASES, FIELDS
from spackscope.model.core.errors import WrongQuestion
from spackscope.model.core.frozen import replace
from spackscope.model.core.text import clean, counted
from spackscope.model.core.versions import version_key
from spackscope.model.query.ast import Query, Term, exact_query, join_words
from spackscope.model.report.sheet import Sheet, SheetColumn, hash_column

_MAX_BAR = 30
"""Cells of a line of time; of more observations each cell is of several."""

_PRESENT, _PARTLY, _ABSENT = "█", "▒", "·"


class SourceTimeline(NamedTuple):
    """A timeline in a source, and all observations of this source."""

    source: str
    observations: Sequence[Observation]
    its: Timeline

    @property
    def since(self) -> str:
        """The day on which it is first seen; at the first look it may have been there before."""
        day = _day(self.observations[self.its.first])
        return day if self.its.first else f"{day} or before"

    @property
    def until(self) -> str:
        """When it was seen last, and by when it had gone; or that it is there."""
        if self.its.last + 1 == len(self.observations):
            return "there"
        last, after = self.observations[self.its.last : self.its.last + 2]
        label = "" if last.label == "snapshot" else f", in {clean(last.label)}"
        return f"{_day(last)}{label}, gone by {_day(after)}"

    @property
    def hash(self) -> str:
        """The hash that it is of, if it is one."""
        return self.its.hashes[0] if len(self.its.hashes) == 1 else ""

    @property
    def query(self) -> Query:
        """What finds its specs."""
        return exact_query("hash", self.hash) if self.hash else self.its.query


def answer(asked: Asked) -> Sheet[SourceTimeline]:
    """Return the timelines of specs; not good if they were never seen."""
    query = asked.query(asked.words)
    if query.specs or any(
        not (isinstance(condition, Term) and condition.column in KNOWN)
        for condition in query.conditions
    ):
        raise WrongQuestion("history knows packages, versions, variants and hashes only")
    by = asked.options.get("by", (HASH if "hash" in query.columns else VERSION,))[-1]
    if by not in (VERSION, HASH) and ALIASES.get(by, by) in FIELDS:
        raise WrongQuestion(f"--by takes version, hash or a variant, not {clean(by)}")
    (catalog,) = asked.load(asked.sources)
    histories, failures = read_history(
        catalog,
        query,
        asked.session.environ,
        asked.session.should_stop,
        by,
        given=asked.sources,
        on_progress=asked.on_progress,
    )
    packages = {line.query.package for _, lines in histories.values() for line in lines}
    unknown = [term for term in catalog.virtuals.unknown(query) if term.pattern not in packages]
    if packages and unknown:
        raise asked.no_match(catalog, query)
    return replace(history(clean(join_words(asked.words)), histories), remarks=failures)


def history(what: str, histories: Mapping[str, History]) -> Sheet[SourceTimeline]:
    """Return the timelines of each source, the newest version first."""
    rows = [
        SourceTimeline(source, observations, line)
        for source, (observations, lines) in histories.items()
        for line in sorted(lines, key=lambda each: version_key(each.name), reverse=True)
    ]
    headings = {
        source: f"{clean(source)}: {counted(len(observations), 'observation')}"
        f" from {_day(observations[0])} to {_day(observations[-1])}"
        for source, (observations, lines) in histories.items()
        if lines
    }
    return Sheet(
        f"{what}: {counted(len(rows), 'timeline') if rows else 'never seen'}",
        _COLUMNS,
        rows,
        hash=lambda row: row.hash,
        query=lambda row: row.query,
        group=lambda row: headings[row.source],
        told=("source",),
        is_good=bool(rows),
    )


def _day(observation: Observation) -> str:
    return clean(observation.when[:10])


def _bar(counts: Sequence[int]) -> str:
    """Return a cell for each observation, or for several of them."""
    each = -(-len(counts) // _MAX_BAR)
    parts = [counts[start : start + each] for start in range(0, len(counts), each)]
    signs = {(True, True): _PRESENT, (True, False): _PARTLY, (False, False): _ABSENT}
    return "".join(signs[any(part), all(part)] for part in parts)


_COLUMNS: list[SheetColumn[SourceTimeline]] = [
    SheetColumn("source", lambda row: row.source),
    SheetColumn("spec", lambda row: row.its.name, sort_key=version_key),
    hash_column(lambda row: row.hash or None),
    SheetColumn("since", lambda row: row.since),
    SheetColumn("until", lambda row: row.until, wraps=True),
    SheetColumn("builds", lambda row: len(row.its.hashes)),
    SheetColumn("counts", lambda row: row.its.counts, "", text=_bar, style="bar", least=_MAX_BAR),
    SheetColumn("hashes", lambda row: row.its.hashes, drawn=False),
    SheetColumn("observed", lambda row: [each.when for each in row.observations], drawn=False),
    SheetColumn("labels", lambda row: [each.label for each in row.observations], drawn=False),
]
