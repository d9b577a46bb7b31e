"""Describe which records of sources are whole, as their content gives their hash."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from spackscope.model.core.frozen import asdict
from spackscope.model.core.text import clean, counted
from spackscope.model.report.report import Report, Row, Section
from spackscope.model.sources.verify import VerifiedSource

HEADS = ("source", "kind", "whole", "wrong", "unchecked")
"""The heads of the columns."""


def verified_cells(source: VerifiedSource) -> tuple[str, ...]:
    """Return the cells of a source under `HEADS`."""
    kind = "unreadable" if source.failure else source.kind
    unchecked = set().union(*source.unchecked.values())
    counts = (len(source.whole), source.wrong_count, len(unchecked))
    return clean(source.name), clean(kind), *(f"{count:,}" for count in counts)


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
            "unchecked": {reason: len(hashes) for reason, hashes in source.unchecked.items()},
            "problems": [asdict(problem) for problem in source.problems],
            "failure": source.failure,
        }

    return Report("", _sections(source), data)


def _sections(source: VerifiedSource) -> Iterator[Section]:
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
    for reason, hashes in source.unchecked.items():
        noun = counted(len(hashes), "record")
        yield Section(clean(f"{source.name}: {noun} cannot be checked: {reason}"), is_apart=True)
