"""Describe which records of sources are whole, as their content gives their hash."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from spackscope.model.core.frozen import asdict
from spackscope.model.core.text import clean, counted
from spackscope.model.readers.stored_hashes import WrongHash
from spackscope.model.sources.verify import VerifiedSource

HEADS = ("source", "kind", "whole", "wrong", "unchecked")
"""The heads of the columns."""


def verified_cells(source: VerifiedSource) -> tuple[str, ...]:
    """Return the cells of a source under `HEADS`."""
    kind = "unreadable" if source.failure else source.kind
    counts = (len(source.whole), source.wrong_count, _unchecked_count(source))
    return clean(source.name), clean(kind), *(f"{count:,}" for count in counts)


def verified_lines(sources: Iterable[VerifiedSource]) -> Iterator[str]:
    """Yield what is wrong, record by record, and how many cannot be checked, with the reasons."""
    for source in sources:
        name = clean(source.name)
        for (document, reason), records in _grouped(source).items():
            origin = clean(document)
            noun = counted(len(records), "record")
            yield ""
            yield f"{origin}: the content of {noun} gives another hash ({reason}):"
            yield from map(_record_text, records)
        if hidden := source.wrong_count - len(source.wrong):
            yield f"  and {hidden:,} more"
        for specs, what in (
            (source.unindexed, "in the mirror, but not in its index"),
            (source.missing, "in the index, but not in the mirror"),
            (source.without_blobs, "in the mirror without the archive or another file"),
        ):
            yield from _spec_lines(f"{name}: {counted(len(specs), 'spec')} {what}:", specs)
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
            "unindexed": _spec_list(source.unindexed),
            "missing": _spec_list(source.missing),
            "without_blobs": _spec_list(source.without_blobs),
            "not_compared": source.not_compared,
            "unchecked": {reason: len(hashes) for reason, hashes in source.unchecked.items()},
            "problems": [asdict(problem) for problem in source.problems],
            "failure": source.failure,
        }
        yield json.dumps(values)


def _unchecked_count(source: VerifiedSource) -> int:
    return len(set().union(*source.unchecked.values()))


def _grouped(source: VerifiedSource) -> dict[tuple[str, str], Sequence[WrongHash]]:
    """Return the wrong records by the document that they are in, and by what that may mean."""
    groups: dict[tuple[str, str], list[WrongHash]] = {}
    for record, document in source.wrong.items():
        groups.setdefault((document, record.reason), []).append(record)
    return dict(groups)


def _spec_lines(head: str, specs: Mapping[str, str]) -> Iterator[str]:
    if specs:
        yield ""
        yield head
        yield from (clean(f"  {name} /{hash_}") for hash_, name in _by_name(specs))


def _spec_list(specs: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"spec": name, "hash": hash_} for hash_, name in _by_name(specs)]


def _by_name(specs: Mapping[str, str]) -> list[tuple[str, str]]:
    return sorted(specs.items(), key=lambda item: (item[1], item[0]))


def _record_text(record: WrongHash) -> str:
    digest = f"gives {record.content_hash}" if record.content_hash else "gives none"
    version = f"@{record.version}" if record.version else ""
    return clean(f"  {record.package}{version} /{record.hash} {digest}")
