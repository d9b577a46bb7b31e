"""Write records for scripts: JSON, JSON lines, CSV, tab-separated columns, bare hashes.

JSON is lossless and pure ASCII. The other forms are cleaned, so that a record is one line whatever
its texts contain; lists are joined by blanks in them, and an unknown size is empty.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, fields
from typing import Any

from spackscope.model.core.column import Value
from spackscope.model.core.columns import COLUMNS, EXPORTED
from spackscope.model.core.records import Provenance, SourceStatus, Spec
from spackscope.model.core.text import clean

Export = Callable[[Iterable[Spec]], Iterator[str]]
"""Returns the lines of a format, without line ends."""

_VALUES = {column.json_key: column.value for column in EXPORTED}
_MORE_KEYS = ("dependencies", *(field.name for field in fields(Provenance)), "in_cache", "origin")


def json_text(spec: Spec) -> str:
    """Return a record as a JSON object on one line, all characters beyond ASCII escaped."""
    return json.dumps(exported(spec))


def exported(spec: Spec) -> dict[str, Any]:
    """Return the columns of a record by their keys."""
    return {key: value(spec) for key, value in _VALUES.items()}


def full_json_lines(specs: Iterable[Spec]) -> Iterator[str]:
    """Yield all that is known of records as JSON objects, one per line.

    Dependencies are null where the document lists none.
    """
    for spec in specs:
        record = exported(spec) | {key: getattr(spec, key) for key in _MORE_KEYS}
        if spec.dependencies is not None:
            record["dependencies"] = [asdict(edge) for edge in spec.dependencies]
        yield json.dumps(record)


def source_json_lines(sources: Iterable[SourceStatus]) -> Iterator[str]:
    """Yield what is known of sources as JSON objects, one per line."""
    return (json.dumps(asdict(source)) for source in sources)


def json_array(specs: Iterable[Spec]) -> Iterator[str]:
    """Yield records as a JSON array, one object per line; an empty array is `[]`."""
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
    """Yield records as JSON objects, one per line."""
    return map(json_text, specs)


def csv_lines(specs: Iterable[Spec]) -> Iterator[str]:
    """Yield records as CSV with a header, quoted where needed (RFC 4180 but for the line end)."""
    import csv
    from types import SimpleNamespace

    # The writer returns what the file returns: the line.
    writer = csv.writer(SimpleNamespace(write=str), lineterminator="")
    yield writer.writerow(_VALUES)
    for spec in specs:
        yield writer.writerow([_flat(value(spec)) for value in _VALUES.values()])


def tab_lines(specs: Iterable[Spec]) -> Iterator[str]:
    """Yield records as tab-separated columns with a header, in the order of the table."""
    yield "\t".join(column.label for column in COLUMNS)
    values = [column.value for column in COLUMNS]
    for spec in specs:
        yield "\t".join([_flat(value(spec)) for value in values])


def hashes(specs: Iterable[Spec]) -> Iterator[str]:
    """Yield the full hashes, each once, in the order of the records."""
    return iter(dict.fromkeys(spec.hash for spec in specs))


def _flat(value: Value) -> str:
    if value is None:
        return ""
    return clean(" ".join(value) if isinstance(value, tuple) else str(value))
