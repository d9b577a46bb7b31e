"""Print matching specs as a table, folded or flat, and candidates as rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any

from spackscope.model.core.columns import BY_NAME, COLUMNS, HOST_COLUMNS, Column, Value, spec_name
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Spec
from spackscope.model.core.text import counted, pad, shorten, times
from spackscope.model.index.catalog import Catalog, Listing
from spackscope.model.index.order import View
from spackscope.model.report.export import spec_sheet
from spackscope.model.report.report import Line, Style, flow, restyled, styled, text_of
from spackscope.model.report.row_cells import RowCells
from spackscope.model.report.row_notes import row_notes
from spackscope.model.report.sheet import SheetColumn
from spackscope.model.report.table_columns import (
    MIN_FOR_VARIANTS,
    choose_columns,
    lay_out,
    variants_cell,
    variants_line,
)
from spackscope.model.report.titles import shared_texts
from spackscope.model.report.writers import table_lines

_MAX_SHARED_LINES = 4
_WINDOW = 100
"""Rows of a table that are read and get their notes at once, before they are printed."""

# Lists are last, since they are cut first where the terminal is narrow.
_ORDER = sorted((c for c in COLUMNS if c.in_find), key=lambda column: column.cut_at_end)


def spec_rows(specs: Iterable[Spec]) -> list[Sequence[str]]:
    """Return a row for each spec, its hash first."""

    def row(spec: Spec) -> Sequence[str]:
        others = (BY_NAME[name].cell(getattr(spec, name)) for name in ("compiler", "os", "target"))
        name = spec_name(spec.package, spec.version)
        return spec.hash, name, *others

    return list(map(row, specs))


def spec_lines(
    catalog: Catalog,
    view: View,
    width: int,
    named: Collection[str] = frozenset(),
    *,
    is_flat: bool = False,
) -> Iterator[Line]:
    """Yield the values that all specs of a view share, and a table of the others.

    The table has a row for each row of the view, or if it `is_flat` for each spec.

    Columns that depend on the host are shown if they are `named`. A single spec keeps its columns,
    or its table would consist of a hash only.
    """
    listing = catalog.listing(view, partition=row_notes(catalog).partition)
    values, is_single = listing.values, listing.shown == 1

    def is_shown(column: Column) -> bool:
        if column.is_by_host:
            return column.name in named
        if column.name == "size":
            return "size" in values.varying_columns
        if column.name not in values.constants:
            return True
        return is_single and (column.shown != "if_varied" or column.name == "package")

    def text_of_column(column: Column) -> Callable[[Any], str]:
        def text(value: Value) -> str:
            if column.name == "variants" and isinstance(value, tuple) and not is_single:
                return variants_cell(value, values.varying_variants)[0] or "-"
            return column.cell(value) or "-"

        return lru_cache(None)(text) if column.has_dictionary else text

    styles: dict[str, Style | Callable[[str], Line]] = {
        "hash": "hash",
        "variants": partial(variants_line, are_values_marked=not is_single),
        "source": "dim",
    }
    shown = [column for column in _ORDER if is_shown(column)]
    groups = 0 if is_flat else listing.group_count
    shared = (styled(shorten(text, width)) for text in _shared(listing, shown, groups))
    yield from flow(shared, " · ", width)
    if not is_single:
        first = next(iter(catalog.records(listing.ids)))
        same = variants_cell(first.variants, values.varying_variants)[1].split()
        texts = (styled(shorten(text, width)) for text in ("same in all:", *same) if same)
        lines = [text_of(line) for line in flow(texts, " ", width)]
        if lines[_MAX_SHARED_LINES:]:
            last = " ".join(lines[_MAX_SHARED_LINES - 1 :])
            lines[_MAX_SHARED_LINES - 1 :] = [shorten(last, width, keep="start")]
        yield from (styled(line, "dim") for line in lines)
    if not (is_flat or is_single):
        yield from _folded_lines(catalog, listing, width, named)
        return
    columns = [
        SheetColumn(
            column.name,
            column.value,
            column.label,
            text=text_of_column(column),
            style=styles.get(column.name, ""),
            is_list=column.cut_at_end,
            is_right=column.align_right,
        )
        for column in shown
    ]
    tells_fit = bool(HOST_COLUMNS.intersection(named))
    sheet = spec_sheet(catalog, listing.unfolded_ids(), tells_fit=tells_fit)
    yield from table_lines(replace(sheet, columns=columns), width, None)


def _shared(listing: Listing, columns: Collection[Column], groups: int) -> list[str]:
    """Return the numbers of specs and groups, and the values of all specs without a column."""
    constants = listing.values.constants
    texts = {
        column.name: f"{'' if column.is_absent(value) else column.find_prefix}{column.cell(value)}"
        for column in COLUMNS
        if (value := constants.get(column.name))
        and column not in columns
        and column.find_prefix is not None
    }
    spec = texts.pop("package", "")
    if spec and "version" in texts:
        spec += f"@{BY_NAME['version'].cell(constants['version'])}"
        del texts["version"]
    counts = [counted(listing.shown, "spec")]
    if groups:
        counts.append(counted(groups, "look-alike group"))
    return [*counts, *([spec] if spec else []), *texts.values()]


def _folded_lines(
    catalog: Catalog, listing: Listing, width: int, named: Collection[str]
) -> Iterator[Line]:
    """Yield a table with the rows and notes of the screen, some rows at a time."""
    of_host = [column.name for column in COLUMNS if column.is_by_host and column.name in named]
    spreads_variants = width >= MIN_FOR_VARIANTS
    columns = choose_columns(
        listing, shared_texts(listing), of_host, spreads_variants=spreads_variants
    )
    lead = len(f"×{listing.max_count:,} ") if listing.max_count > 1 else 0
    layout = lay_out(columns, width - lead)
    heads = " " * lead
    for placed in layout.placed:
        heads = pad(heads, lead + placed.at) + placed.column.head(placed.width)
    yield styled(heads[:width], "strong")
    cells, notes = RowCells(listing), row_notes(catalog)
    for start in range(0, len(listing), _WINDOW):
        rows = catalog.rows(*listing.part(slice(start, start + _WINDOW)))
        cells.notes = notes.of(listing, rows, layout.widths)
        for row in rows:
            line = [(times(row.count).ljust(lead), "")]
            line += cells.pieces(row, layout.placed)
            text = shorten(text_of(tuple(line)).rstrip(), width, keep="start")
            yield restyled(tuple(line), text)
    if left_out := layout.after:
        text = f"{counted(left_out, 'column')} more with --flat"
        yield styled(shorten(text, width), "dim")
