"""Describe sources, what was read of each, problems, and which of their records are whole."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from spackscope.model.core.frozen import asdict
from spackscope.model.core.records import Problem, SourceStatus
from spackscope.model.core.text import clean, counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import exact_query
from spackscope.model.query.parser import parse
from spackscope.model.report.report import Column, Report, Row, Section, styled

if TYPE_CHECKING:
    from spackscope.model.sources.verify import VerifiedSource


SOURCE_COLUMNS = (Column(floors=(36, 12)), Column(keep="start", floors=(32, 20)))
PROBLEM_COLUMNS = (
    Column(keep="start", floors=(40, 20)),
    Column(floors=(12,), may_go=True, is_right=False),
    Column(most=36, floors=(8,), may_go=True, is_right=False),
)
"""The columns of their rows on the screen: the reason of a problem is cut last."""

_UNITS = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def source_table(sources: Iterable[SourceStatus], now: float) -> list[Row]:
    """Return a head and a row for each source; `now` is in seconds since 1970."""
    rows = [Row(("source", "kind", "specs", "problems", "checked"))]
    for source in sources:
        checked = "-" if source.checked is None else age(now - source.checked)
        counts = f"{source.specs:,}", f"{source.problems:,}"
        rows.append(Row((clean(source.name), _kind(source), *counts, checked)))
    return rows


def _kind(source: SourceStatus) -> str:
    return "unreadable" if source.failure else clean(f"{source.kind} {source.layout}".strip())


STALE_DAYS = 14
"""Days after which a tag of each week is stale."""

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}$")


def tag_table(tags: Mapping[str, object], now: float) -> list[Row]:
    """Return a head and a row for each tag, the newest first: its indexes, and how old it is.

    Only the date in a name tells that, and the tag of a branch is as old as the newest of these.
    """
    ages: dict[str, int] = {}
    for tag in tags:
        if match := _DATE.search(tag):
            with suppress(ValueError):
                day = datetime.strptime(match[0], "%Y-%m-%d").replace(tzinfo=timezone.utc)
                ages[tag] = int((now - day.timestamp()) // 86_400)
    rows = [Row(("tag", "indexes", "age"))]
    for tag in sorted(tags, key=lambda tag: (ages.get(tag, -1), tag)):
        entries, days = tags[tag], ages.get(tag)
        same = [age for other, age in ages.items() if other.startswith(f"{tag}-")]
        if days is None and same:
            days = min(same)
        stale = ", stale" if days is not None and days > STALE_DAYS and same else ""
        age_text = "unknown" if days is None else f"{counted(max(0, days), 'day')}{stale}"
        count = f"{len(entries):,}" if isinstance(entries, list) else "-"
        rows.append(Row((clean(tag), count, age_text)))
    return rows


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


def verified_table(sources: Iterable[VerifiedSource]) -> list[Row]:
    """Return a head and a row for each verified source."""
    rows = [Row(("source", "kind", "whole", "wrong", "unchecked"))]
    for source in sources:
        kind = "unreadable" if source.failure else source.kind
        unchecked = set().union(*source.unchecked.values())
        counts = (len(source.whole), source.wrong_count, len(unchecked))
        rows.append(Row((clean(source.name), clean(kind), *(f"{count:,}" for count in counts))))
    return rows


def verified_report(source: VerifiedSource) -> Report:
    """Describe what is wrong, record by record, and how many cannot be checked, with the reasons.

    It has no title: a table of all sources has their names.
    """

    def data() -> dict[str, Any]:
        return {
            "name": source.name,
            "kind": source.kind,
            "whole": len(source.whole),
            "wrong_count": source.wrong_count,
            "wrong": [
                {"document": document, **record._asdict()}
                for record, document in source.wrong.items()
            ],
            "differing": [
                {"spec": name, "hash": hash_, "reason": why}
                for why, specs in source.differing.items()
                for hash_, name in _by_name(specs)
            ],
            "not_compared": source.not_compared,
            "unchecked": {reason: len(hashes) for reason, hashes in source.unchecked.items()},
            "problems": [asdict(problem) for problem in source.problems],
            "failure": source.failure,
        }

    return Report("", _verified_sections(source), data)


def _verified_sections(source: VerifiedSource) -> Iterator[Section]:
    wrong: dict[tuple[str, str], list[Row]] = {}
    for record, document in source.wrong.items():
        digest = f"gives {record.content_hash}" if record.content_hash else "gives none"
        version = f"@{record.version}" if record.version else ""
        text = clean(f"{record.package}{version} /{record.hash} {digest}")
        wrong.setdefault((document, record.reason), []).append(Row((text,)))
    for (document, reason), rows in wrong.items():
        noun = counted(len(rows), "record")
        heading = f"{document}: the content of {noun} gives another hash ({reason}):"
        yield Section(clean(heading), rows, is_apart=True)
    if hidden := source.wrong_count - len(source.wrong):
        yield Section("", [Row((f"and {hidden:,} more",))])
    for why, specs in source.differing.items():
        rows = [Row((clean(f"{name} /{hash_}"),)) for hash_, name in _by_name(specs)]
        heading = f"{source.name}: {counted(len(specs), 'spec')}: {why}:"
        yield Section(clean(heading), rows, is_apart=True)
    if source.not_compared:
        yield Section(clean(f"{source.name}: {source.not_compared}"), is_apart=True)
    for reason, hashes in source.unchecked.items():
        noun = counted(len(hashes), "record")
        yield Section(clean(f"{source.name}: {noun} cannot be checked: {reason}"), is_apart=True)


def _by_name(specs: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(specs.items(), key=lambda item: (item[1], item[0]))
