"""Describe sources, what was read of each, and problems."""

from __future__ import annotations

import re
from collections.abc import Iterable

from spackscope.model.core.records import Problem, SourceStatus
from spackscope.model.core.text import clean, counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import exact_query
from spackscope.model.query.parser import parse
from spackscope.model.report.report import Column, Row, styled

SOURCE_COLUMNS = (Column(floors=(36, 12)), Column(keep="start", floors=(32, 20)))
PROBLEM_COLUMNS = (
    Column(keep="start", floors=(40, 20)),
    Column(floors=(12,), may_go=True, is_right=False),
    Column(most=36, floors=(8,), may_go=True, is_right=False),
)
"""The columns of their rows on the screen: the reason of a problem is cut last."""

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def _kind(source: SourceStatus) -> str:
    return "unreadable" if source.failure else clean(f"{source.kind} {source.layout}".strip())


def stale_copies(sources: Iterable[SourceStatus], now: float) -> list[str]:
    """Return a sentence for each source whose cached copy is used as it is, with its age."""
    sentences = []
    for source in sources:
        if source.remark and not source.failure:
            checked = "" if source.checked is None else f", checked {age(now - source.checked)}"
            sentence = f"{source.name}: using its cached copy{checked}: {source.remark}"
            sentences.append(clean(sentence))
    return sentences


def age(seconds: float) -> str:
    """Return how long ago something was, in the largest unit that fits."""
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{counted(int(seconds // length), unit)} ago"
    return "just now"


def problem_rows(catalog: Catalog) -> list[Row]:
    """Return a row for each problem, in the order of reading: the reason, the place, a name.

    Its note is all of it, and its queries find the specs that it is about.
    """
    located = zip(catalog.problems, catalog.problem_sources, strict=True)
    return [_problem_row(problem, source) for problem, source in located]


def _problem_row(problem: Problem, source: str) -> Row:
    origin, place, reason = (clean(t) for t in (problem.origin, problem.place, problem.reason))
    # Every page is a specs.md, in a directory of its own.
    name = "/".join(origin.rstrip("/").split("/")[-2:]) or clean(source)
    queries = []
    # The end of the place of a record is its hash.
    if (hash_ := re.search(r"/([a-z2-7]{7,32})$", problem.place)) is not None:
        queries.append(parse(f"/{hash_[1]}"))
    if source:
        queries.append(exact_query("source", source))
    note = "\n".join(filter(None, (origin, place, reason)))
    return Row((styled(reason, "error"), place, name), note, note, queries=tuple(queries))


def source_rows(sources: Iterable[SourceStatus], now: float) -> list[Row]:
    """Return a row for each source, with its name and facts; `now` is in seconds since 1970.

    Its note is all that is known, and its query finds its specs.
    """
    return [_source_row(source, now) for source in sources]


def _source_row(source: SourceStatus, now: float) -> Row:
    name, kind = clean(source.name), _kind(source)
    facts = [kind, counted(source.specs, "spec"), counted(source.problems, "problem")]
    if source.kind == "pages" and not source.failure:
        facts.append("no dependencies listed")
    if source.checked is not None:
        facts.append(f"checked {age(now - source.checked)}")
    remarks = [clean(source.failure)] if source.failure else stale_copies([source], now)
    # Name and kind stand before it.
    why = clean(source.failure).removeprefix(f"the source {name} ").split("cannot be read: ")[-1]
    in_line = f"{kind} · {why}" if why else " · ".join(facts)
    note = "\n".join([name, " · ".join(facts), *remarks])
    cells = name, styled(in_line, "error" if source.failure else "")
    return Row(cells, note, source.name, queries=(exact_query("source", source.name),))


def failure_rows(failure: str) -> list[Row]:
    """Return a row for each source where none could be read, from the sentence on all."""
    failures = clean(failure).split("; ")
    return [Row((styled(f"unreadable: {each}", "error"),), each, each) for each in failures]
