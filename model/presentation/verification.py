"""Describe which records of sources are whole, as their content gives their hash."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from spackscope.model.core.frozen import asdict
from spackscope.model.core.text import clean, counted
from spackscope.model.readers.nodes import WrongHash
from spackscope.model.sources.verify import VerifiedSource

HEADS = ("source", "kind", "whole", "wrong", "unchecked")
"""The heads of the columns."""

_DIFFERING = {
    "unindexed": "in the mirror, but not in its index",
    "missing": "in the index, but not in the mirror",
    "without_blobs": "in the mirror without the archive or another file",
}


def verified_cells(source: VerifiedSource) -> tuple[str, ...]:
    """Return the cells of a source under `HEADS`."""
    kind = "unreadable" if source.failure else source.kind
    unchecked = set().union(*source.unchecked.values())
    counts = (len(source.whole), source.wrong_count, len(unchecked))
    return clean(source.name), clean(kind), *(f"{count:,}" for count in counts)


def verified_lines(sources: Iterable[VerifiedSource]) -> Iterator[str]:
    """Yield what is wrong, record by record, and how many cannot be checked, with the reasons."""
    for source in sources:
        name = clean(source.name)
        # By the document that they are in, and by what that may mean.
        wrong: dict[tuple[str, str], list[WrongHash]] = {}
        for record, document in source.wrong.items():
            wrong.setdefault((document, record.reason), []).append(record)
        for (document, reason), records in wrong.items():
            origin = clean(document)
            noun = counted(len(records), "record")
            yield ""
            yield f"{origin}: the content of {noun} gives another hash ({reason}):"
            yield from map(_record_text, records)
        if hidden := source.wrong_count - len(source.wrong):
            yield f"  and {hidden:,} more"
        for kind, specs in source.differing.items():
            if specs:
                yield ""
                yield f"{name}: {counted(len(specs), 'spec')} {_DIFFERING[kind]}:"
                yield from (clean(f"  {spec} /{hash_}") for hash_, spec in _by_name(specs))
        if source.not_compared:
            yield ""
            yield clean(f"{source.name}: {source.not_compared}")
        for reason, hashes in source.unchecked.items():
            yield ""
            yield f"{name}: {counted(len(hashes), 'record')} cannot be checked: {reason}"


def verified_json_lines(sources: Iterable[VerifiedSource]) -> Iterator[str]:
    """Yield what is known of sources as JSON objects, one per line."""
    for source in sources:
        wrong = [
            {"document": document, **record._asdict()} for record, document in source.wrong.items()
        ]
        values = {
            "name": source.name,
            "kind": source.kind,
            "whole": len(source.whole),
            "wrong_count": source.wrong_count,
            "wrong": wrong,
            **{
                kind: [{"spec": name, "hash": hash_} for hash_, name in _by_name(specs)]
                for kind, specs in source.differing.items()
            },
            "not_compared": source.not_compared,
            "unchecked": {reason: len(hashes) for reason, hashes in source.unchecked.items()},
            "problems": [asdict(problem) for problem in source.problems],
            "failure": source.failure,
        }
        yield json.dumps(values)


def _by_name(specs: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(specs.items(), key=lambda item: (item[1], item[0]))


def _record_text(record: WrongHash) -> str:
    digest = f"gives {record.content_hash}" if record.content_hash else "gives none"
    version = f"@{record.version}" if record.version else ""
    return clean(f"  {record.package}{version} /{record.hash} {digest}")
