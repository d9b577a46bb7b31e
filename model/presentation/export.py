"""Write records for scripts: JSON, JSON lines, CSV, tab-separated columns, bare hashes.

JSON is lossless and pure ASCII. The other forms are cleaned, so that a record is one line whatever
its texts contain; lists are joined by blanks in them, and an unknown size is empty.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from spackscope.model.core.column import Value
from spackscope.model.core.columns import COLUMNS, EXPORTED
from spackscope.model.core.frozen import Frozen, asdict, fields, replace
from spackscope.model.core.records import Fit, Provenance, SourceStatus, Spec
from spackscope.model.core.text import clean
from spackscope.model.presentation.page_address import page_address

if TYPE_CHECKING:
    from spackscope.model.catalog.catalog import Catalog

Export = Callable[[Iterable[Spec]], Iterator[str]]
"""Returns the lines of a format, without line ends."""

_VALUES: dict[str, Callable[[Spec], Value]] = {
    **{column.json_key: column.value for column in EXPORTED},
    "page": lambda spec: page_address(spec) or None,
}
_FIT_VALUES: dict[str, Callable[[Spec], Value]] = {
    "fits": lambda spec: spec.fit.fits_values[0] if spec.fit is not None else "",
    "reusable": lambda spec: spec.fit.reusable_values[0] if spec.fit is not None else "",
    "reasons": lambda spec: (
        "; ".join(dict.fromkeys(r.label for r in spec.fit.reasons)) if spec.fit is not None else ""
    ),
}
"""The columns of CSV about the host; the reasons are those against reusing a record too."""

_MORE_KEYS = ("dependencies", *(field.name for field in fields(Provenance)), "in_cache", "origin")


def json_text(spec: Spec) -> str:
    """Return a record as a JSON object on one line, all characters beyond ASCII escaped."""
    return json.dumps(exported(spec))


def exported(spec: Spec) -> dict[str, Any]:
    """Return the columns of a record by their keys, and whether it runs on the host."""
    record = {key: value(spec) for key, value in _VALUES.items()}
    return record if spec.fit is None else record | _exported_fit(spec.fit)


def _exported_fit(fit: Fit) -> dict[str, Any]:
    reasons = [{"letter": r.letter, "sentence": r.sentence} for r in fit.reasons]
    return {"fits": fit.fits, "reusable": fit.reusable, "reasons": reasons}


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
    """Yield records as a JSON array, one object per line."""
    return array_lines(map(json_text, specs))


def array_lines(texts: Iterable[str]) -> Iterator[str]:
    """Yield JSON texts as an array, one per line; an empty array is `[]`."""
    lines = iter(texts)
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

    first, specs = _with_first(specs)
    values = dict(_VALUES)
    if first is not None and first.fit is not None:
        values |= _FIT_VALUES
    # The writer returns what the file returns: the line.
    writer = csv.writer(SimpleNamespace(write=str), lineterminator="")
    yield writer.writerow(values)
    for spec in specs:
        yield writer.writerow([_flat(value(spec)) for value in values.values()])


def tab_lines(specs: Iterable[Spec]) -> Iterator[str]:
    """Yield records as tab-separated columns with a header, in the order of the table."""
    first, specs = _with_first(specs)
    has_fit = first is not None and first.fit is not None
    columns = [column for column in COLUMNS if has_fit or not column.is_by_host]
    yield "\t".join(column.label for column in columns)
    for spec in specs:
        yield "\t".join(
            column.cell(column.value(spec)) if column.is_by_host else _flat(column.value(spec))
            for column in columns
        )


def _with_first(specs: Iterable[Spec]) -> tuple[Spec | None, Iterable[Spec]]:
    """Return the first record, and all of them."""
    iterator = iter(specs)
    first = next(iterator, None)
    return first, iterator if first is None else chain([first], iterator)


def hashes(specs: Iterable[Spec]) -> Iterator[str]:
    """Yield the full hashes, each once, in the order of the records."""
    return iter(dict.fromkeys(spec.hash for spec in specs))


def _flat(value: Value) -> str:
    if value is None:
        return ""
    return clean(" ".join(value) if isinstance(value, tuple) else str(value))


class Format(Frozen):
    """A format of files: its name, how people call it, and the ending of file names.

    With `needs_fit` each record says whether it runs on the host, and why not.
    """

    name: str
    label: str
    ending: str
    lines: Export
    needs_fit: bool = False


FORMATS = (
    Format("csv", "CSV", ".csv", csv_lines),
    Format("json", "JSON", ".json", json_array, needs_fit=True),
    Format("jsonl", "JSON lines", ".jsonl", json_lines, needs_fit=True),
    Format("hashes", "hashes", ".txt", hashes),
    Format("tab", "columns with tabs", ".tsv", tab_lines),
)
"""All formats; `find` has an option of the name of each but the last, which is its own."""

BY_NAME = {format_.name: format_ for format_ in FORMATS}


def exported_lines(catalog: Catalog, ids: Sequence[int], format_: Format) -> Iterator[str]:
    """Yield the lines of a format for the records with some ids, in their order.

    Raises IndexDamaged.
    """
    specs = catalog.records(ids)
    return format_.lines(_with_fits(catalog, ids, specs) if format_.needs_fit else specs)


def _with_fits(catalog: Catalog, ids: Sequence[int], specs: Iterable[Spec]) -> Iterator[Spec]:
    """Yield records with whether they run on the host, and why not."""
    # Not every format has it.
    from spackscope.model.analysis.fit.session_fit import fit_of

    for id_, spec in zip(ids, specs, strict=True):
        yield replace(spec, fit=fit_of(catalog, id_))
