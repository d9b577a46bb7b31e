"""Records as sheets, and the formats in which the browser writes them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from spackscope.model.analysis.session_fit import fit_of
from spackscope.model.core.columns import COLUMNS, EXPORTED, FIELDS
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import PROVENANCE, Fit, Spec
from spackscope.model.report.sheet import HashedRows, Sheet, SheetColumn
from spackscope.model.sources.site_url import record_url

if TYPE_CHECKING:
    from spackscope.model.index.catalog import Catalog


_OF_REASON = ("of_dependency", "label", "sentence")
_WINDOW = 10_000
"""The number of hashes that are read at once."""
_FITS = {True: "yes", False: "no", None: "unknown"}


def _reasons(fit: Fit) -> list[dict[str, Any]]:
    return [
        {"rule": reason.rule.name, **{name: getattr(reason, name) for name in _OF_REASON}}
        for reason in fit.reasons
    ]


def _flat(reasons: list[dict[str, Any]]) -> str:
    return "; ".join(dict.fromkeys("{rule}: {label}".format_map(each) for each in reasons))


def _flat_edges(edges: list[dict[str, Any]] | None) -> str:
    return " ".join(edge["hash"] for edge in edges or ())


_MEANINGS = {
    "build_spec": "the hash that a spliced spec was built as; else empty",
    "package_hash": "the hash of the recipe",
    "external": "the prefix of an external",
    "external_modules": "the modules of an external",
    "external_attributes": "further attributes of an external",
    "patches": "checksums of the patches",
    "spec_format": "the version of the spec file",
    "path": "the prefix in the install tree",
    "installed_at": "when it was installed",
    "in_cache": "whether a cache has the binary",
    "origin": "the document that has the record",
}
"""What fields of a record mean that have no column in the table."""

_COLUMNS: list[SheetColumn[Spec]] = [
    SheetColumn(
        column.json_key,
        column.value,
        text=column.cell,
        sort_key=column.sort_key,
        drawn=column in COLUMNS,
        meaning=column.meaning,
    )
    for column in EXPORTED
]
_COLUMNS += [
    SheetColumn(
        "build_spec",
        lambda spec: spec.build_spec,
        drawn=False,
        meaning=_MEANINGS["build_spec"],
    ),
    SheetColumn(
        "page",
        lambda spec: record_url(spec) or None,
        drawn=False,
        meaning="the address of its page on cache.spack.io",
    ),
]
_FIT_COLUMNS: list[SheetColumn[Spec]] = [
    SheetColumn(
        "fits",
        lambda spec: spec.fit and spec.fit.fits,
        flat=_FITS.__getitem__,
        meaning=f"{FIELDS['fits'].meaning}; null if unknown",
    ),
    SheetColumn(
        "reusable",
        lambda spec: spec.fit and spec.fit.reusable,
        flat=_FITS.__getitem__,
        meaning=f"{FIELDS['reusable'].meaning}; null if unknown",
    ),
    SheetColumn(
        "reasons",
        lambda spec: spec.fit and _reasons(spec.fit),
        flat=_flat,
        sort_key=_flat,
        meaning="why not: objects with a name in `rule`, `of_dependency`, `label` and `sentence`",
    ),
]
_MORE_COLUMNS: list[SheetColumn[Spec]] = [
    SheetColumn(
        "dependencies",
        lambda spec: (
            None if spec.dependencies is None else [edge._asdict() for edge in spec.dependencies]
        ),
        drawn=False,
        flat=_flat_edges,
        sort_key=_flat_edges,
        meaning="objects with `deptypes` and `virtuals`; null if the source lists none",
    ),
    *(
        SheetColumn(key, attrgetter(key), drawn=False, meaning=_MEANINGS[key])
        for key in (*PROVENANCE, "in_cache", "origin")
    ),
]


def json_text(spec: Spec) -> str:
    """Return a record as a JSON object on one line, all characters beyond ASCII escaped."""
    columns = [*_COLUMNS, *(_FIT_COLUMNS if spec.fit is not None else ())]
    return json.dumps({column.name: column.value(spec) for column in columns})


class _Records(HashedRows[Spec]):
    """Records that are read from the index whenever they are needed."""

    def __init__(self, catalog: Catalog, ids: Sequence[int], *, has_fit: bool) -> None:
        self._catalog, self._ids, self._has_fit = catalog, ids, has_fit

    def __len__(self) -> int:
        return len(self._ids)

    def hashes(self) -> Iterator[str]:
        for start in range(0, len(self._ids), _WINDOW):
            yield from self._catalog.hashes.of(self._ids[start : start + _WINDOW])

    def __getitem__(self, part: Any) -> Any:
        is_part = isinstance(part, slice)
        ids = self._ids[part] if is_part else [self._ids[part]]
        rows = _Records(self._catalog, ids, has_fit=self._has_fit)
        return rows if is_part else next(iter(rows))

    def __iter__(self) -> Iterator[Spec]:
        specs = self._catalog.records(self._ids)
        if not self._has_fit:
            return specs
        return (
            replace(spec, fit=fit_of(self._catalog, id_))
            for id_, spec in zip(self._ids, specs, strict=True)
        )


def spec_sheet(catalog: Catalog, ids: Sequence[int], *, tells_fit: bool = False) -> Sheet[Spec]:
    """Return records as a sheet, with their fit for the host if it is known or asked for."""
    by_host = catalog.by_host
    has_fit = by_host.has_host and (tells_fit or by_host.fills_rows or by_host.is_ready)
    columns = [*_COLUMNS, *(_FIT_COLUMNS if has_fit else ())]
    rows = _Records(catalog, ids, has_fit=has_fit)
    return Sheet("", columns, rows, hash=attrgetter("hash"), limit=None)


def full_sheet(specs: Sequence[Spec], mirrors: Sequence[object]) -> Sheet[tuple[Spec, object]]:
    """Return all that is known of records, and their entries in mirrors, as a sheet.

    Dependencies are null where the document lists none.
    """
    # The last of several columns with one name counts, as in an object of JSON.
    every = (*_COLUMNS, *_FIT_COLUMNS, *_MORE_COLUMNS)
    columns = {column.name: column for column in every}.values()

    def of_pair(column: SheetColumn[Any]) -> SheetColumn[Any]:
        return replace(column, value=lambda row: column.value(row[0]))

    entries = SheetColumn[Any](
        "mirrors",
        lambda row: row[1],
        drawn=False,
        flat=json.dumps,
        sort_key=json.dumps,
        meaning="what each mirror answered: `signed`, `key`, and the state of the `archive`",
    )
    rows = list(zip(specs, mirrors, strict=True))
    return Sheet(
        "", [*map(of_pair, columns), entries], rows, hash=lambda row: row[0].hash, limit=None
    )
