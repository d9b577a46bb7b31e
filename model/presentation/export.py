"""Write records for scripts: JSON, JSON lines, CSV, tab-separated columns, bare hashes.

JSON is lossless and pure ASCII. The other forms are cleaned, so that a record is a line whatever
its texts hold; lists are joined by blanks in them, and an unknown size is empty.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict

from spackscope.model.core.columns import COLUMNS, Value
from spackscope.model.core.records import SourceState, Spec
from spackscope.model.core.text import clean

Export = Callable[[Iterable[Spec]], Iterator[str]]
"""Turns records into the lines of a format, without their line ends."""

KEYS = (
    "package",
    "hash",
    "version",
    "compiler",
    "platform",
    "os",
    "target",
    "variants",
    "stacks",
    "size",
    "tag",
    "sources",
    "states",
    "namespace",
    "flags",
)
"""The keys of a JSON object and the columns of CSV, in their order."""


MORE_KEYS = (
    *KEYS,
    "dependencies",
    "package_hash",
    "external",
    "path",
    "installed_at",
    "build_spec",
    "in_cache",
    "origin",
)
"""The keys of a JSON object that tells everything of one record."""


def json_text(spec: Spec) -> str:
    """Spell a record as one JSON object on one line, every character beyond ASCII escaped."""
    return json.dumps({key: getattr(spec, key) for key in KEYS})


def whole_json(specs: Iterable[Spec]) -> Iterator[str]:
    """Spell all that is known of records as JSON objects, one a line.

    Dependencies are null where the document lists none.
    """
    for spec in specs:
        told = {key: getattr(spec, key) for key in MORE_KEYS}
        if spec.dependencies is not None:
            told["dependencies"] = [asdict(edge) for edge in spec.dependencies]
        yield json.dumps(told)


def json_of_sources(states: Iterable[SourceState]) -> Iterator[str]:
    """Spell what is known of each source as a JSON object on one line."""
    return (json.dumps(asdict(state)) for state in states)


def json_array(specs: Iterable[Spec]) -> Iterator[str]:
    """Spell records as a JSON array, an object a line; an empty one is `[]`."""
    lines = map(json_text, specs)
    line = next(lines, None)
    if line is None:
        yield "[]"
        return
    opening = "["
    for following in lines:
        yield f"{opening}{line},"
        opening, line = " ", following
    yield f"{opening}{line}]"


def json_lines(specs: Iterable[Spec]) -> Iterator[str]:
    """Spell records as JSON objects, one a line."""
    return map(json_text, specs)


def csv_lines(specs: Iterable[Spec]) -> Iterator[str]:
    """Spell records as CSV with a header, quoted where needed (RFC 4180, but for the line end)."""
    import csv

    line = _Line()
    writer = csv.writer(line, lineterminator="")
    writer.writerow(KEYS)
    yield line.text
    for spec in specs:
        writer.writerow([_flat(getattr(spec, key)) for key in KEYS])
        yield line.text


def tab_lines(specs: Iterable[Spec]) -> Iterator[str]:
    """Spell records as tab-separated columns with a header, in the order of the table."""
    yield "\t".join(column.label for column in COLUMNS)
    for spec in specs:
        yield "\t".join([_flat(column.value(spec)) for column in COLUMNS])


def hashes(specs: Iterable[Spec]) -> Iterator[str]:
    """Give the whole hashes, each once, in the order of the records."""
    return iter(dict.fromkeys(spec.hash for spec in specs))


class _Line:
    """Keep what a CSV writer writes last, which is one record."""

    text = ""

    def write(self, text: str) -> None:
        self.text = text


def _flat(value: Value) -> str:
    if value is None:
        return ""
    return clean(" ".join(value) if isinstance(value, tuple) else str(value))
