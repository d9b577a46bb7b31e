"""Report the hashes whose archives differ between mirrors, and how bad that is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from spackscope.model.core.columns import SHORT_HASH, size_text, spec_name
from spackscope.model.core.text import clean, counted
from spackscope.model.query.ast import exact_query
from spackscope.model.report.report import (
    Column,
    Report,
    Row,
    Section,
    hash_cell,
    more_row,
    styled,
)
from spackscope.model.sources.challenge import JUDGEMENTS, Challenged, Copy

MAX_LINES = 20
"""Hashes of each judgement, unless all are asked for."""

_SHORT_CHECKSUM = 12
_COPY_COLUMNS = (
    Column(floors=(24, 12)),
    Column(),
    Column(),
    Column(),
    Column(floors=(30, 12)),
    Column(),
)
_HEADS = ("mirror", "sha256", "", "size", "prefix", "key")
"""The first row of each table of copies: a list of many tables on the screen has no heads."""


def challenge_report(challenged: Sequence[Challenged], *, shows_all: bool = False) -> Report:
    """Report the judgements, the worst first; hashes with equal archives are only counted."""
    counts = Counter(its.judgement for its in challenged)

    def sections() -> Iterator[Section]:
        for judgement in JUDGEMENTS[:-1]:
            every = [its for its in challenged if its.judgement == judgement]
            shown = every[: None if shows_all else MAX_LINES]
            groups: dict[object, list[Challenged]] = {}
            for its in shown:
                groups.setdefault(_alike(its), []).append(its)
            yield from chain.from_iterable(map(_sections, groups.values()))
            if more := len(every) - len(shown):
                yield Section("", [more_row(more)], is_apart=True)

    def data() -> dict[str, Any]:
        return {
            "counts": {name: counts[name] for name in JUDGEMENTS},
            "specs": [
                {
                    "hash": its.spec.hash,
                    "judgement": its.judgement,
                    "reasons": its.reasons,
                    "copies": [
                        {
                            "source": copy.entry.source,
                            "checksum": copy.entry.checksum or None,
                            "content": copy.content or None,
                            "size": copy.entry.size,
                            "prefix": copy.prefix or None,
                            "signer": copy.signer or None,
                        }
                        for copy in its.copies
                    ],
                }
                for its in challenged
            ],
        }

    if not challenged:
        return Report("no hash is in several mirrors", sections(), data)
    parts = [f"{counts[name]:,} {name}" for name in reversed(JUDGEMENTS) if counts[name]]
    what = counted(len(challenged), "hash")
    return Report(f"{what} in several mirrors: {', '.join(parts)}", sections(), data)


def _alike(its: Challenged) -> object:
    """Return the key of hashes that are listed together, since no archive of them is known."""
    return its.reasons, any(copy.entry.checksum for copy in its.copies) and its.spec.hash


def _sections(alike: Sequence[Challenged]) -> Iterator[Section]:
    """Yield the reasons of a judgement, and the copies of a hash, or several hashes."""
    first = alike[0]
    name = spec_name(first.spec.package, first.spec.version)
    what = f"{name} /{first.spec.hash[:SHORT_HASH]}"
    if len(alike) > 1:
        what = counted(len(alike), "hash")
    heading = f"{first.judgement}: {what}"
    reasons = [Row((clean(reason),)) for reason in first.reasons]
    if any(copy.entry.checksum for copy in first.copies):
        rows = [_copy_row(copy, first.spec.hash, name) for copy in first.copies]
        heads = Row([styled(head, "dim") for head in _HEADS])
        lines = [*reasons, heads, *rows]
        yield Section(heading, lines, is_apart=True, columns=_COPY_COLUMNS)
        return
    rows = []
    for its in alike:
        hash_ = its.spec.hash
        cells = hash_cell(hash_), spec_name(its.spec.package, its.spec.version)
        rows.append(Row(cells, key=hash_, queries=(exact_query("hash", hash_),)))
    yield Section(heading, [*reasons, *rows], is_apart=True)


def _copy_row(copy: Copy, hash_: str, name: str) -> Row:
    entry = copy.entry
    is_other = copy.content and entry.checksum and copy.content != entry.checksum
    cells = (
        clean(entry.source),
        entry.checksum[:_SHORT_CHECKSUM] or "unknown",
        styled(f"≠ {copy.content[:_SHORT_CHECKSUM]}" if is_other else "", "error"),
        size_text(entry.size),
        clean(copy.prefix) or "unknown",
        clean(copy.signer) or "not signed",
    )
    query = exact_query("hash", hash_)
    return Row(cells, key=f"{hash_} {entry.source}", group=name, queries=(query,))
