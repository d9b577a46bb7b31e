"""The hashes whose archives differ between mirrors, and how bad that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from spackscope.model.answers.asked import Asked
from spackscope.model.core.text import clean, counted
from spackscope.model.query.ast import exact_query
from spackscope.model.report.sheet import (
    Sheet,
    SheetColumn,
    hash_column,
    size_column,
    version_column,
)
from spackscope.model.sources.challenge import JUDGEMENTS, Challenged, Copy, challenge
from spackscope.model.sources.mirror_spec import Mirrors

_SHORT_CHECKSUM = 12

_Row = tuple[Challenged, Copy]
"""A copy of a spec, and the judgement on all of its copies."""


def answer(asked: Asked) -> Sheet[_Row]:
    """Return the copies of each hash that several mirrors have; not good if one is suspicious."""
    query = asked.query(asked.words)
    (catalog,) = asked.load(asked.sources)
    ids = catalog.match(query, should_stop=asked.session.should_stop).ids()
    mirrors = Mirrors(catalog.sources, asked.session, asked.sources)
    found = challenge(list(catalog.records(ids)), mirrors, on_progress=asked.on_progress)
    return compare_mirrors(found)


def compare_mirrors(found: Iterable[Challenged]) -> Sheet[_Row]:
    """Return the copies of each hash, those that differ most badly first."""
    challenged = sorted(found, key=lambda its: JUDGEMENTS.index(its.judgement))
    counts = Counter(its.judgement for its in challenged)
    parts = [f"{counts[name]:,} {name}" for name in reversed(JUDGEMENTS) if counts[name]]
    several = f"{counted(len(challenged), 'hash')} in several mirrors: {', '.join(parts)}"
    return Sheet(
        several if challenged else "no hash is in several mirrors",
        _COLUMNS,
        [(its, copy) for its in challenged for copy in its.copies],
        hash=lambda row: row[0].spec.hash,
        query=lambda row: exact_query("hash", row[0].spec.hash),
        group=lambda row: _heading(row[0]),
        told=("judgement", "reasons"),
        is_good=not counts["suspicious"],
        is_certain=True,
    )


def _heading(its: Challenged) -> str:
    return ": ".join(filter(None, (its.judgement, "; ".join(its.reasons))))


def _other_content(row: _Row) -> str | None:
    """Return the checksum of an archive that is not the one its manifest names."""
    content, checksum = row[1].content, row[1].entry.checksum
    return content if content and checksum and content != checksum else None


def _short(checksum: str | None) -> str:
    return clean(checksum or "")[:_SHORT_CHECKSUM]


_COLUMNS: list[SheetColumn[_Row]] = [
    SheetColumn("judgement", lambda row: row[0].judgement),
    SheetColumn("reasons", lambda row: row[0].reasons),
    hash_column(lambda row: row[0].spec.hash),
    SheetColumn("package", lambda row: row[0].spec.package),
    version_column(lambda row: row[0].spec.version),
    SheetColumn("mirror", lambda row: row[1].entry.source),
    SheetColumn("sha256", lambda row: row[1].entry.checksum or None, text=_short),
    SheetColumn("found_sha256", _other_content, "actual sha256", text=_short, style="error"),
    size_column(lambda row: row[1].entry.size),
    SheetColumn("prefix", lambda row: row[1].prefix or None, wraps=True),
    SheetColumn("key", lambda row: row[1].signer or None),
]
