"""List the sources and their state, their problems, or the tags of a public cache."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from typing import Any, NamedTuple

from spackscope.model.answers import Asked
from spackscope.model.core.commands import CACHES, SHEET, SOURCES, Command, flag
from spackscope.model.core.records import Gap, SourceStatus
from spackscope.model.core.redaction import without_secrets
from spackscope.model.core.text import clean, counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query, exact_query
from spackscope.model.query.parser import parse
from spackscope.model.report.progress import age
from spackscope.model.report.sheet import Sheet, SheetColumn
from spackscope.model.sources.source_name import PUBLIC, parse_public_cache, tags_below

COMMAND = Command(
    "sources",
    "list the sources, with kind, specs, problems and age",
    ("[-f SOURCE]... [--problems | --tags] [OUTPUT]",),
    """\
List the sources: the kind of each, how many specs and problems it has, and
when a remote source was last known to be current.""",
    (
        flag("problems", "list what could not be read, and where"),
        flag("tags", "list the tags of the public cache, and how old they are"),
        *SHEET,
        *SOURCES,
    ),
    examples="""\
spackscope sources
spackscope sources -f spack:develop -f ~/spack/opt/spack
spackscope sources --problems -f ~/mirror""",
    group=CACHES,
)


STALE_DAYS = 14
"""Days after which a tag of each week is stale."""

_EPOCH = date(1970, 1, 1).toordinal()
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}$", re.ASCII)
_MONTH = re.compile(r"(?:v(\d{4})\.(\d{1,2})(?:\.\d+)?|/(\d{2})\.(\d{2}))$", re.ASCII)
"""The end of a release: `v2026.06.0`, `releases/v2026.06`, `e4s/25.11`."""


def answer(asked: Asked) -> Sheet[Any]:
    """Return the sources; or their problems, or the tags of a public cache."""
    if asked.options.get("tags"):
        return _list_tags(asked)
    asked.rests_on_configuration = True
    (catalog,) = asked.load(asked.sources)
    if asked.options.get("problems"):
        return _problem_sheet(catalog)
    return Sheet(
        "",
        _source_columns(time.time()),
        catalog.sources,
        row="a source that is open",
        query=lambda source: exact_query("source", source.name),
        limit=None,
        is_good=catalog.is_whole,
    )


def _source_columns(now: float) -> list[SheetColumn[SourceStatus]]:
    """Return the columns of sources; `now` is in seconds since 1970."""
    return [
        SheetColumn("source", lambda source: source.name, meaning="the source"),
        SheetColumn(
            "kind",
            lambda source: "unreadable" if source.failure else source.kind,
            meaning="what it is, such as a mirror or a file",
        ),
        SheetColumn(
            "layout", lambda source: source.layout or None, meaning="v2 or v3, of a mirror"
        ),
        SheetColumn("specs", lambda source: source.specs, meaning="how many specs"),
        SheetColumn(
            "problems", lambda source: source.problems, meaning="how many problems it has"
        ),
        SheetColumn(
            "remark",
            lambda source: source.remark or None,
            wraps=True,
            meaning="a note, such as an age",
        ),
        SheetColumn(
            "failure",
            lambda its: _reason(its.failure, its.name),
            style="error",
            wraps=True,
            meaning="why it cannot be read",
        ),
        SheetColumn(
            "checked",
            lambda source: source.checked,
            text=lambda checked: "" if checked is None else age(now - checked),
            meaning="seconds since the Epoch when it was last known to be current",
        ),
    ]


def _reason(sentence: str, source: str) -> str | None:
    """Return a sentence without the name of its source, which is in the row."""
    return sentence.removeprefix(f"the source {source} ") or None


def _problem_sheet(catalog: Catalog) -> Sheet[Gap]:
    """Return the problems of the sources in the order of reading, and then all other problems.

    A row leads to its record, if the record was read, or else to its source.
    """

    names, gaps = [source.name for source in catalog.sources], catalog.gaps()

    def query(gap: Gap) -> Query | None:
        problem, source = gap
        # The end of the place of a record is its hash.
        hash_ = re.search(r"/([a-z2-7]{7,32})$", problem.place)
        of_record = parse(f"/{hash_[1]}") if hash_ is not None else None
        if of_record is not None and catalog.count(of_record):
            return of_record
        return exact_query("source", source) if source in names else None

    return Sheet(
        "" if gaps else "All documents were read without a problem",
        _PROBLEM_COLUMNS,
        gaps,
        row="a part of a source that could not be read",
        query=query,
    )


_PROBLEM_COLUMNS: list[SheetColumn[Gap]] = [
    SheetColumn(
        "reason",
        lambda gap: _reason(gap.problem.reason, gap.ground),
        style="error",
        wraps=True,
        least=40,
        meaning="what is wrong",
    ),
    SheetColumn(
        "place", lambda gap: gap.problem.place or None, meaning="its place in the document"
    ),
    # Every page is a specs.md, in a directory of its own.
    SheetColumn(
        "document",
        lambda gap: gap.problem.origin or None,
        text=lambda origin: "/".join(clean(origin or "").rstrip("/").split("/")[-2:]),
        meaning="the document that has the record",
    ),
    SheetColumn("source", lambda gap: gap.ground or None, meaning="the source"),
]


# Tags


class Tag(NamedTuple):
    """A tag of a public cache, with its indexes and its age in days, if that is known."""

    name: str
    indexes: Sequence[Mapping[str, Any]] | None
    days: int | None
    is_stale: bool


def _list_tags(asked: Asked) -> Sheet[Tag]:
    """Return the tags of the public cache, or of the tag list among the sources.

    Of a folder, as `public:e4s`, they are the tags in it, if the list has some.
    """
    # Hardly anybody who lists sources lists tags.
    from spackscope.model.sources.mirror import TAG_FORMS, read_tag_list

    session = asked.session
    parse = partial(parse_public_cache, environ=session.environ, tag_list=session.tag_list)
    public = next(filter(None, map(parse, (*asked.sources, PUBLIC))))
    tags, _ = read_tag_list(public, session)
    if below := tags_below(public.tags, tags):
        tags = {tag: tags[tag] for tag in below}
    unlisted = [tag for tag in public.tags if tag in TAG_FORMS and not below]
    remarks = [
        f"The list has no tags of {tag}: name one, as public:{tag}/{TAG_FORMS[tag]}"
        for tag in unlisted
    ]
    return Sheet(
        "", _TAG_COLUMNS, _dated(tags, time.time()), row="a tag", remarks=remarks, limit=None
    )


def _dated(tags: Mapping[str, object], now: float) -> list[Tag]:
    """Return tags with their age, tags without a date first, then the newest first.

    The age comes from the date in a name, and for a month from its first day, whenever the list
    was written. The tag of a branch is as old as its newest dated tag.
    """
    ages, newest = dict[str, int](), dict[str, int]()
    today = int(now // 86_400) + _EPOCH
    for tag in tags:
        if match := _DATE.search(tag):
            with suppress(ValueError):
                ages[tag] = age = max(0, today - date.fromisoformat(match[0]).toordinal())
                branch = tag[: match.start()].removesuffix("-")
                newest[branch] = min(age, newest.get(branch, age))
        elif match := _MONTH.search(tag):
            year, month = match[1] or f"20{match[3]}", match[2] or match[4]
            with suppress(ValueError):
                ages[tag] = max(0, today - date(int(year), int(month), 1).toordinal())
    rows = []
    for tag in sorted(tags, key=lambda tag: (ages.get(tag, -1), tag)):
        entries, days = tags[tag], ages.get(tag, newest.get(tag))
        is_stale = days is not None and days > STALE_DAYS and tag in newest
        rows.append(Tag(tag, entries if isinstance(entries, list) else None, days, is_stale))
    return rows


def _index_texts(tag: Tag, key: str) -> list[str]:
    """Return the texts that the indexes of a tag have at a key, without secrets of addresses."""
    entries = (entry for entry in tag.indexes or () if isinstance(entry, dict))
    return [without_secrets(str(entry[key])) for entry in entries if key in entry]


_TAG_COLUMNS: list[SheetColumn[Tag]] = [
    SheetColumn("tag", lambda tag: without_secrets(tag.name), meaning="the tag of the cache"),
    SheetColumn(
        "indexes",
        lambda tag: None if tag.indexes is None else len(tag.indexes),
        meaning="how many indexes the tag has",
    ),
    SheetColumn(
        "days",
        lambda tag: tag.days,
        "age",
        text=lambda days: "unknown" if days is None else counted(days, "day"),
        meaning="the age of the tag by its name; a month counts from its first day",
    ),
    SheetColumn(
        "stale",
        lambda tag: tag.is_stale,
        "",
        text=lambda is_stale: "stale" if is_stale else "",
        meaning="whether it is outdated",
    ),
    SheetColumn(
        "labels",
        lambda tag: _index_texts(tag, "label"),
        drawn=False,
        meaning="the names of the indexes of a tag",
    ),
    SheetColumn(
        "urls",
        lambda tag: _index_texts(tag, "url"),
        drawn=False,
        meaning="the addresses of its indexes",
    ),
]
