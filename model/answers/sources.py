"""List the sources and their state, their problems, or the tags of a public cache."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from spackscope.model.answers import Asked
from spackscope.model.core.errors import SourceError, WrongQuestion
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import CONFIGURATION, Gap, SourceStatus
from spackscope.model.core.text import clean, counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query, exact_query
from spackscope.model.query.parser import parse
from spackscope.model.report.progress import age
from spackscope.model.report.sheet import (
    Sheet,
    SheetColumn,
    hash_column,
    size_column,
    version_column,
)
from spackscope.model.sources.discover import discover
from spackscope.model.sources.source_name import PUBLIC, parse_public_cache

if TYPE_CHECKING:
    from spackscope.model.sources.mirror_copies import Copies, Copy
    from spackscope.model.sources.verify import VerifiedSource

STALE_DAYS = 14
"""Days after which a tag of each week is stale."""

_EPOCH = date(1970, 1, 1).toordinal()
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}$")

_SHORT_CHECKSUM = 12

_MAX_PROBLEMS = 20
"""Problems of verified sources that are printed."""


def answer(asked: Asked) -> Sheet[Any]:
    """Return the sources; or their problems, or wrong records, or the tags of a public cache."""
    if asked.options.get("verify"):
        return _verify(asked)
    if asked.words or asked.options.get("archives"):
        raise WrongQuestion(
            "a query and --archives need --verify; see `spackscope sources --help`"
        )
    if asked.options.get("tags"):
        return _list_tags(asked)
    asked.grounds.add(CONFIGURATION)
    (catalog,) = asked.load(asked.sources)
    if asked.options.get("problems"):
        return _problem_sheet(catalog)
    return Sheet(
        "",
        _source_columns(time.time()),
        catalog.sources,
        query=lambda source: exact_query("source", source.name),
        limit=None,
    )


def _source_columns(now: float) -> list[SheetColumn[SourceStatus]]:
    """Return the columns of sources; `now` is in seconds since 1970."""
    return [
        SheetColumn("source", lambda source: source.name),
        SheetColumn("kind", lambda source: "unreadable" if source.failure else source.kind),
        SheetColumn("layout", lambda source: source.layout or None),
        SheetColumn("specs", lambda source: source.specs),
        SheetColumn("problems", lambda source: source.problems),
        SheetColumn("remark", lambda source: source.remark or None, wraps=True),
        SheetColumn(
            "failure", lambda its: _reason(its.failure, its.name), style="error", wraps=True
        ),
        SheetColumn(
            "checked",
            lambda source: source.checked,
            text=lambda checked: "" if checked is None else age(now - checked),
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
        query=query,
    )


_PROBLEM_COLUMNS: list[SheetColumn[Gap]] = [
    SheetColumn(
        "reason",
        lambda gap: _reason(gap.problem.reason, gap.ground),
        style="error",
        wraps=True,
        least=40,
    ),
    SheetColumn("place", lambda gap: gap.problem.place or None),
    # Every page is a specs.md, in a directory of its own.
    SheetColumn(
        "document",
        lambda gap: gap.problem.origin or None,
        text=lambda origin: "/".join(clean(origin or "").rstrip("/").split("/")[-2:]),
    ),
    SheetColumn("source", lambda gap: gap.ground or None),
]


# Tags


class Tag(NamedTuple):
    """A tag of a public cache, with its indexes and its age in days, if that is known."""

    name: str
    indexes: Sequence[Mapping[str, Any]] | None
    days: int | None
    is_stale: bool


def _list_tags(asked: Asked) -> Sheet[Tag]:
    """Return the tags of the public cache, or of the tag list among the sources."""
    # Hardly anybody who lists sources lists tags, or verifies them.
    from spackscope.model.sources.mirror import read_tag_list

    session = asked.session
    parse = partial(parse_public_cache, environ=session.environ, tag_list=session.tag_list)
    public = next(filter(None, map(parse, (*asked.sources, PUBLIC))))
    tags, _ = read_tag_list(public, session)
    return Sheet("", _TAG_COLUMNS, _dated(tags, time.time()), limit=None)


def _dated(tags: Mapping[str, object], now: float) -> list[Tag]:
    """Return tags with their age, tags without a date first, then the newest first.

    The age comes from the date in a name; the tag of a branch is as old as its newest dated tag.
    """
    ages, newest = dict[str, int](), dict[str, int]()
    today = int(now // 86_400) + _EPOCH
    for tag in tags:
        if match := _DATE.search(tag):
            with suppress(ValueError):
                ages[tag] = age = max(0, today - date.fromisoformat(match[0]).toordinal())
                branch = tag[: match.start()].removesuffix("-")
                newest[branch] = min(age, newest.get(branch, age))
    rows = []
    for tag in sorted(tags, key=lambda tag: (ages.get(tag, -1), tag)):
        entries, days = tags[tag], ages.get(tag, newest.get(tag))
        is_stale = days is not None and days > STALE_DAYS and tag in newest
        rows.append(Tag(tag, entries if isinstance(entries, list) else None, days, is_stale))
    return rows


def _index_texts(tag: Tag, key: str) -> list[str]:
    """Return the texts that the indexes of a tag have at a key, such as their addresses."""
    entries = (entry for entry in tag.indexes or () if isinstance(entry, dict))
    return [str(entry[key]) for entry in entries if key in entry]


_TAG_COLUMNS: list[SheetColumn[Tag]] = [
    SheetColumn("tag", lambda tag: tag.name),
    SheetColumn("indexes", lambda tag: None if tag.indexes is None else len(tag.indexes)),
    SheetColumn(
        "days",
        lambda tag: tag.days,
        "age",
        text=lambda days: "unknown" if days is None else counted(days, "day"),
    ),
    SheetColumn(
        "stale", lambda tag: tag.is_stale, "", text=lambda is_stale: "stale" * bool(is_stale)
    ),
    SheetColumn("labels", lambda tag: _index_texts(tag, "label"), drawn=False),
    SheetColumn("urls", lambda tag: _index_texts(tag, "url"), drawn=False),
]


# Verified sources


class WrongSpec(NamedTuple):
    """A record that does not match its hash, or a spec that differs in a mirror.

    `content_hash` is computed from the content of the record. A `copy` of a spec differs from
    copies in other mirrors, and the `judgement` is on all copies.
    """

    source: str
    problem: str
    package: str
    version: str
    hash: str
    document: str = ""
    content_hash: str = ""
    judgement: str = ""
    copy: Copy | None = None


def _verify(asked: Asked) -> Sheet[WrongSpec]:
    """Return the wrong records of the sources, and the differences between mirrors.

    The sheet is not good if a record is wrong, or a difference suspicious. It ends with
    SourceError if nothing is wrong, but a source could not be read whole.
    """
    from spackscope.model.sources import mirror_copies, mirror_spec, verify

    verified = [*map(verify.verify, discover(asked.sources, asked.session))]
    if not asked.words and sum(not source.failure for source in verified) < 2:
        return _verified_sheet(verified)
    query = asked.query(asked.words)
    (catalog,) = asked.load(asked.sources)
    ids = catalog.match(query).ids()
    hashes = {*catalog.hashes.of(ids)} if asked.words else None
    reads_archives = bool(asked.options.get("archives"))
    remote = {source.name for source in catalog.sources if source.checked is not None}
    specs = catalog.records(ids)
    compared = (spec for spec in specs if reads_archives or remote.isdisjoint(spec.sources))
    mirrors = mirror_spec.Mirrors(catalog.sources, asked.session, asked.sources)
    copies = [*mirror_copies.compare_copies(compared, mirrors, reads_archives=reads_archives)]
    copies.sort(key=lambda its: mirror_copies.JUDGEMENTS.index(its.judgement))
    sheet = _verified_sheet(verified, copies, hashes, {*map(str, catalog.problems)})
    if reads_archives or not (copies or remote):
        return sheet
    note = "Only documents on this machine are compared: --archives compares archives, and copies"
    return replace(sheet, notes=[*sheet.notes, f"{note} on servers"])


def _verified_sheet(
    verified: Sequence[VerifiedSource],
    copies: Sequence[Copies] = (),
    hashes: Container[str] | None = None,
    known: Container[str] = (),
) -> Sheet[WrongSpec]:
    """Return a row for each wrong record, spec or copy, by source and problem.

    `copies` begin with the worst. With `hashes` only specs with these hashes are listed; `known`
    problems are not repeated.
    """
    wrong = [
        row
        for source in verified
        for row in _wrong_specs(source)
        if hashes is None or row.hash in hashes
    ]
    is_right = not wrong and (hashes is not None or all(its.is_right for its in verified))
    counts = Counter((row.source, row.problem) for row in wrong)
    judged = Counter(its.judgement for its in copies)
    differing = [row for its in copies if its.differ for row in _copy_rows(its)]

    def heading(row: WrongSpec) -> str:
        if row.copy is not None:
            return f"{row.judgement}: {row.problem}"
        noun = counted(counts[row.source, row.problem], "spec")
        return f"{row.source}: {noun}: {row.problem}"

    lines = [*map(_line, verified)]
    parts = [f"{judged[name]:,} {name}" for name in reversed(judged)]
    several = f"{counted(judged.total(), 'hash')} in several mirrors: {', '.join(parts)}"
    problems = [
        text
        for source in verified
        for text in ([source.failure] if source.failure else map(str, source.problems))
    ]
    new = [text for text in problems if text not in known]
    more = len(new) - _MAX_PROBLEMS
    is_good = is_right and not judged["suspicious"]
    unread = counted(sum(bool(its.failure or its.problems) for its in verified), "source")
    return Sheet(
        lines[0] if len(lines) == 1 else f"{len(lines):,} sources: {_sums(verified)}",
        _WRONG_COLUMNS,
        [*wrong, *differing],
        hash=lambda row: row.hash,
        query=lambda row: exact_query("hash", row.hash),
        group=heading,
        told=("judgement", "problem", *(() if differing else ("source",))),
        notes=[
            *(lines if len(lines) > 1 else ()),
            *([several] if judged else ()),
            *chain.from_iterable(map(_doubts, verified)),
        ],
        remarks=[
            *new[:_MAX_PROBLEMS],
            *([f"and {counted(more, 'more problem')}"] if more > 0 else ()),
        ],
        is_good=is_good,
        is_certain=True,
        ending=SourceError(f"{unread} could not be read completely")
        if is_good and problems
        else None,
    )


def _copy_rows(its: Copies) -> Iterator[WrongSpec]:
    for copy in its.copies:
        named = its.spec.package, its.spec.version, its.spec.hash
        problem = "; ".join(text for _, text in its.reasons)
        yield WrongSpec(copy.entry.source, problem, *named, judgement=its.judgement, copy=copy)


def _wrong_specs(source: VerifiedSource) -> Iterator[WrongSpec]:
    for record, document in source.wrong.items():
        problem = "the content does not match the hash (changed after Spack hashed it)"
        named = record.package, record.version, record.hash
        yield WrongSpec(source.name, problem, *named, document, record.content_hash)
    for problem, specs in source.differing.items():
        for hash_, name in sorted(specs.items(), key=lambda item: (item[1], item[0])):
            package, _, version = name.partition("@")
            yield WrongSpec(source.name, problem, package, version, hash_)


def _sums(sources: Iterable[VerifiedSource]) -> str:
    """Return how many records are intact, wrong and so on: `22 intact, 1 wrong`."""
    counts = Counter[str]()
    for source in sources:
        counts["intact"] += len(source.whole)
        counts["wrong"] += source.wrong_count
        counts["different from the index"] += sum(map(len, source.differing.values()))
        counts["unchecked"] += len(set().union(*source.unchecked.values()))
    return (
        ", ".join(f"{count:,} {what}" for what, count in counts.items() if count) or "no records"
    )


def _line(source: VerifiedSource) -> str:
    sums = "unreadable" if source.failure else f"{source.kind}, {_sums([source])}"
    return f"{source.name}: {sums}"


def _doubts(source: VerifiedSource) -> Iterator[str]:
    """Yield sentences on records that are not listed or could not be checked, with reasons."""
    if hidden := source.wrong_count - len(source.wrong):
        yield f"{source.name}: {hidden:,} more wrong records are not listed"
    for reason, hashes in source.unchecked.items():
        yield f"{source.name}: {counted(len(hashes), 'record')} cannot be checked: {reason}"
    if source.not_compared:
        yield f"{source.name}: {source.not_compared}"


def _other_content(row: WrongSpec) -> str | None:
    """Return the checksum of an archive that is not the one its manifest names."""
    content, checksum = (row.copy.content, row.copy.entry.checksum) if row.copy else ("", "")
    return content if content and checksum and content != checksum else None


def _short(checksum: str | None) -> str:
    return clean(checksum or "")[:_SHORT_CHECKSUM]


_WRONG_COLUMNS: list[SheetColumn[WrongSpec]] = [
    SheetColumn("source", lambda row: row.source),
    SheetColumn("problem", lambda row: row.problem),
    SheetColumn("package", lambda row: row.package),
    version_column(lambda row: row.version or None),
    hash_column(lambda row: row.hash),
    hash_column(lambda row: row.content_hash or None, "content_hash"),
    SheetColumn("document", lambda row: row.document or None, drawn=False),
    SheetColumn("judgement", lambda row: row.judgement or None),
    SheetColumn("sha256", lambda row: row.copy and (row.copy.entry.checksum or None), text=_short),
    SheetColumn("found_sha256", _other_content, "actual sha256", text=_short, style="error"),
    size_column(lambda row: row.copy.entry.size if row.copy else None),
    SheetColumn("prefix", lambda row: row.copy and (row.copy.prefix or None), wraps=True),
    SheetColumn("key", lambda row: row.copy and (row.copy.signer or None)),
]
