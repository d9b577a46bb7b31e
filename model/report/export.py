"""Write records for scripts: JSON, JSON lines, CSV, tab-separated columns, bare hashes.

JSON is lossless and pure ASCII. The other forms are cleaned, so that a record is one line whatever
its texts contain; lists are joined by blanks in them, and an unknown size is empty.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice, repeat
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from spackscope.model.core.columns import COLUMNS, EXPORTED, Value
from spackscope.model.core.frozen import Frozen, asdict, replace
from spackscope.model.core.records import PROVENANCE, Spec, is_hash
from spackscope.model.core.text import clean

if TYPE_CHECKING:
    from spackscope.model.index.catalog import Catalog


def page_address(spec: Spec) -> str:
    """Return the address of the page that lists a record, or "" if it is of no tag.

    Only pages, and indexes of the public cache, have tags. The site shows one package at a time,
    as `createSidebarItem` in templates/static/sidebar.js of spack/spack-cache builds its address.
    """
    if not (spec.tag and spec.package):
        return ""
    return f"https://cache.spack.io/?package={_escaped(spec.package)}&release={_escaped(spec.tag)}"


def _escaped(text: str) -> str:
    """Escape what is not allowed in the query of a URL."""
    plain = text.replace("-", "").replace("_", "").replace(".", "")
    if plain.isascii() and plain.isalnum():
        return text
    # Hardly any name needs it.
    from urllib.parse import quote

    return quote(text, safe="")


NO_DEPENDENCIES = "No source lists dependencies, so the keep-list has none of them"

Export = Callable[[Iterable[Spec]], Iterator[str]]
"""Returns the lines of a format, without line ends."""

_VALUES: dict[str, Callable[[Spec], Value]] = {
    **{column.json_key: column.value for column in EXPORTED},
    "build_spec": lambda spec: spec.build_spec,
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

_FORMULA = frozenset("=+-@\t\r'")
"""How a formula begins in some spreadsheet, and an apostrophe."""

_MORE_KEYS = ("dependencies", *PROVENANCE, "in_cache", "origin")


def json_text(spec: Spec) -> str:
    """Return a record as a JSON object on one line, all characters beyond ASCII escaped."""
    return json.dumps(exported(spec))


def exported(spec: Spec) -> dict[str, Any]:
    """Return the columns of a record by their keys, and whether it runs on the host."""
    record: dict[str, Any] = {key: value(spec) for key, value in _VALUES.items()}
    if (fit := spec.fit) is not None:
        reasons = [{"letter": r.letter, "sentence": r.sentence} for r in fit.reasons]
        record |= {"fits": fit.fits, "reusable": fit.reusable, "reasons": reasons}
    return record


def full_json_lines(
    specs: Iterable[Spec], mirrors: Iterable[object] = repeat(())
) -> Iterator[str]:
    """Yield all that is known of records as JSON objects, one per line.

    Dependencies are null where the document lists none. `mirrors` has what mirrors have of each.
    """
    # Without strict, since `repeat` never ends.
    for spec, of_mirrors in zip(specs, mirrors, strict=False):
        record = exported(spec) | {key: getattr(spec, key) for key in _MORE_KEYS}
        if spec.dependencies is not None:
            record["dependencies"] = [asdict(edge) for edge in spec.dependencies]
        yield json.dumps(record | {"mirrors": of_mirrors})


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


def csv_writer() -> Callable[[Iterable[str]], str]:
    """Return a function that makes a line of CSV (RFC 4180 but for the line end) from cells.

    An apostrophe before what a spreadsheet would run as a formula makes it a text; one that the
    text begins with gets another, so that a reader can always remove one.
    """
    import csv
    from types import SimpleNamespace

    # The writer returns what the file returns: the line.
    writer = csv.writer(SimpleNamespace(write=str), lineterminator="")

    def is_formula(cell: str) -> bool:
        # Some spreadsheets take letters of another width for the same.
        return normalize("NFKC", cell[:1]) in _FORMULA

    def line(cells: Iterable[str]) -> str:
        text: str = writer.writerow(f"'{cell}" if is_formula(cell) else cell for cell in cells)
        return text

    return line


def csv_lines(specs: Iterable[Spec]) -> Iterator[str]:
    """Yield records as CSV with a header."""
    has_fit, specs = _has_fit(specs)
    values = _VALUES | _FIT_VALUES if has_fit else _VALUES
    line = csv_writer()
    yield line(values)
    for spec in specs:
        yield line(_flat(value(spec)) for value in values.values())


def tab_lines(specs: Iterable[Spec]) -> Iterator[str]:
    """Yield records as tab-separated columns with a header, in the order of the table."""
    has_fit, specs = _has_fit(specs)
    columns = [column for column in COLUMNS if has_fit or not column.is_by_host]
    # Scripts know columns of a host by what a query calls them.
    yield "\t".join(c.name if c.is_by_host else c.label for c in columns)
    for spec in specs:
        yield "\t".join(
            column.cell(column.value(spec)) if column.is_by_host else _flat(column.value(spec))
            for column in columns
        )


def _has_fit(specs: Iterable[Spec]) -> tuple[bool, Iterable[Spec]]:
    """Check whether records say what fits the host, all of them or none; and return them."""
    iterator = iter(specs)
    first = [*islice(iterator, 1)]
    return any(spec.fit is not None for spec in first), chain(first, iterator)


def hashes(specs: Iterable[Spec]) -> Iterator[str]:
    """Yield the full hashes, each once, in the order of the records."""
    return iter(dict.fromkeys(spec.hash for spec in specs))


def _flat(value: Value) -> str:
    if value is None:
        return ""
    return clean(" ".join(value) if isinstance(value, tuple) else str(value))


def keep_list(catalog: Catalog, ids: Sequence[int]) -> Iterator[str]:
    """Yield the hashes of records and of all that they link or run, each once.

    That is what `spack buildcache prune --keeplist` must not delete. Dependencies are missing
    where a document lists none.
    """
    # Nothing else here needs the edges.
    from spackscope.model.analysis.dag import dag_of

    graph = dag_of(catalog)
    needed = graph.reached(ids, run_only=True).difference(ids)
    hashes_ = chain(graph.hashes(ids), graph.hashes(sorted(needed)))
    return iter(dict.fromkeys(filter(is_hash, hashes_)))


class Format(Frozen):
    """A format of output: its name, how people call it, and the ending of file names.

    `lines` returns the lines of records of a catalog, which are given by their ids, in this
    order.
    """

    name: str
    label: str
    ending: str
    lines: Callable[[Catalog, Sequence[int]], Iterator[str]]


def _plain(export: Export) -> Callable[[Catalog, Sequence[int]], Iterator[str]]:
    return lambda catalog, ids: export(catalog.records(ids))


def _with_fits(export: Export) -> Callable[[Catalog, Sequence[int]], Iterator[str]]:
    """Export records with whether they run on the host, and why not."""

    def lines(catalog: Catalog, ids: Sequence[int]) -> Iterator[str]:
        # Not every format has it.
        from spackscope.model.analysis.session_fit import fit_of

        specs = zip(ids, catalog.records(ids), strict=True)
        return export(replace(spec, fit=fit_of(catalog, id_)) for id_, spec in specs)

    return lines


FORMATS = (
    Format("csv", "CSV", ".csv", _plain(csv_lines)),
    Format("json", "JSON", ".json", _with_fits(json_array)),
    Format("jsonl", "JSON lines", ".jsonl", _with_fits(json_lines)),
    Format("hashes", "hashes", ".txt", _plain(hashes)),
    Format("keep-list", "keep-list", ".txt", keep_list),
    Format("tab", "columns with tabs", ".tsv", _plain(tab_lines)),
)
"""All formats; the options of `find` have their names, except for the last, which has none."""

BY_NAME = {format_.name: format_ for format_ in FORMATS}
