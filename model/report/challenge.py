"""Report which hashes several mirrors have as different archives, and whether that is benign."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from spackscope.model.core.columns import SHORT_HASH, size_text
from spackscope.model.core.text import clean, counted
from spackscope.model.query.ast import exact_query
from spackscope.model.report.needs import spec_name
from spackscope.model.report.report import Report, Row, Section, cut, styled
from spackscope.model.sources.challenge import Challenged, Copy, Judgement

MAX_LINES = 20
"""Hashes of each judgement, unless all are asked for."""

_ORDER: tuple[Judgement, ...] = ("suspicious", "not told", "benign")
_SHORT_CHECKSUM = 12


def challenge_report(challenged: Sequence[Challenged], *, shows_all: bool = False) -> Report:
    """Report the judgements, the suspicious ones first; what is alike is only counted."""
    counts = Counter(its.judgement for its in challenged)

    def sections() -> Iterator[Section]:
        for judgement in _ORDER:
            each = [its for its in challenged if its.judgement == judgement]
            for its in each[: None if shows_all else MAX_LINES]:
                why = clean("; ".join(its.reasons))
                name = f"{its.spec.hash[:SHORT_HASH]}  {spec_name(its.spec)}"
                rows = [_row(copy, its.spec.hash) for copy in its.copies]
                yield Section(f"{judgement}: {name}: {why}", rows, is_apart=True)
            if not shows_all and len(each) > MAX_LINES:
                yield Section("", cut([Row(("",))] * len(each), MAX_LINES)[-1:])

    def data() -> dict[str, Any]:
        return {
            "counts": {name: counts[name] for name in (*_ORDER, "alike")},
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
                            "signer": _signer(copy) or None,
                        }
                        for copy in its.copies
                    ],
                }
                for its in challenged
            ],
        }

    what = f"{counted(len(challenged), 'hash')}es" if len(challenged) != 1 else "1 hash"
    parts = [f"{counts[name]:,} {name}" for name in ("alike", *reversed(_ORDER)) if counts[name]]
    title = f"{what.replace('hashs', 'hash')} in several mirrors: {', '.join(parts)}"
    return Report(title if challenged else "no hash is in several mirrors", sections(), data)


def _row(copy: Copy, hash_: str) -> Row:
    entry = copy.entry
    is_other = bool(copy.content and entry.checksum and copy.content != entry.checksum)
    shown = f"{entry.checksum[:_SHORT_CHECKSUM]}" if entry.checksum else "not told"
    cells = (
        clean(entry.source),
        f"sha256 {shown}",
        styled(f"has {copy.content[:_SHORT_CHECKSUM]}" if is_other else "", "error"),
        size_text(entry.size) if entry.size else "-",
        clean(f"prefix {copy.prefix}") if copy.prefix else "prefix not told",
        clean(_signer(copy)) or "not signed",
    )
    query = exact_query("hash", hash_)
    return Row(cells, key=f"{hash_} {entry.source}", queries=(query,))


def _signer(copy: Copy) -> str:
    return f"key {copy.entry.signer.signature.key_id}" if copy.entry.signer is not None else ""
