"""Columns share a width so that what is shown can be read."""

from __future__ import annotations

import itertools

import pytest

from spackscope.model.catalog.view import USED_BY
from spackscope.model.core.columns import BY_NAME
from spackscope.model.presentation.table_columns import (
    DIFFERS_IN,
    Layout,
    TableColumn,
    TableColumns,
    lay_out,
)


def field(name: str, width: int, least: int) -> TableColumn:
    return TableColumn(name, name, width, least, BY_NAME[name])


PACKAGE = field("package", 20, 12)
FIELDS = (field("compiler", 14, 11), field("os", 11, 11))
SLOTS = tuple(
    TableColumn(f"+{name}", name, len(name), min(len(name), 4))
    for name in ("hl", "fortran", "mpi", "subfiling", "threadsafe")
)
LAST = (
    field("hash", 8, 8),
    TableColumn(USED_BY, USED_BY, 7, 4),
    TableColumn(DIFFERS_IN, DIFFERS_IN, 56, 12),
)
ONE_PACKAGE = TableColumns((), FIELDS + SLOTS, LAST)
SEVERAL = TableColumns((PACKAGE,), FIELDS + SLOTS, LAST)


def widths(layout: Layout) -> dict[str, int]:
    return {placed.column.name: placed.width for placed in layout.placed}


def test_every_column_has_its_width_where_there_is_room() -> None:
    layout = lay_out(ONE_PACKAGE, 140)

    assert (layout.before, layout.after) == (0, 0)
    assert all(widths(layout)[c.name] == c.width for c in (*FIELDS, *SLOTS, *LAST[:2]))
    assert layout.placed[-1].end == 140, "what rows differ in takes the rest"


def test_what_rows_differ_in_has_room_before_variants_at_80_columns() -> None:
    layout = lay_out(ONE_PACKAGE, 73)

    assert widths(layout)[DIFFERS_IN] >= 18
    assert [name for name in widths(layout) if name[0] == "+"] == ["+hl", "+fortran", "+mpi"]
    assert layout.after == 2


@pytest.mark.parametrize("columns", [ONE_PACKAGE, SEVERAL])
@pytest.mark.parametrize("current", [*ONE_PACKAGE.names, ""])
def test_columns_fit_any_width_with_the_hash_and_the_current_one(
    columns: TableColumns, current: str
) -> None:
    for width in range(20, 150):
        layout = lay_out(columns, width, current=current)
        assert layout.placed[-1].end <= width
        assert {"hash"} | {column.name for column in columns.frozen} <= set(widths(layout))
        if width >= 50 and (current in columns.names and current != USED_BY):
            assert current in widths(layout)
        ends = [(placed.at, placed.end) for placed in layout.placed]
        assert all(end < at for (_, end), (at, _) in itertools.pairwise(ends))


def test_scrolling_keeps_the_package_in_view() -> None:
    layout = lay_out(SEVERAL, 70, current="+threadsafe")

    assert next(iter(widths(layout))) == "package"
    assert layout.before > 0
    assert layout.after == 0
    back = lay_out(SEVERAL, 70, current="+threadsafe", first=layout.before)
    assert back == layout, "what is in view is not scrolled"


def test_scrolling_ends_where_all_columns_fit() -> None:
    assert lay_out(ONE_PACKAGE, 140, first=3).before == 0


def test_a_filter_has_room_for_its_text() -> None:
    assert widths(lay_out(ONE_PACKAGE, 80, floors={"+hl": 9}))["+hl"] == 9


def test_no_column_is_cut_beside_blank_cells() -> None:
    without_notes = TableColumns((), FIELDS + SLOTS, LAST[:1])
    for width in range(60, 120):
        layout = lay_out(without_notes, width)
        cut = [p for p in layout.placed if p.width < p.column.width]
        assert not cut or layout.placed[-1].end == width


def test_a_column_is_found_by_its_cell() -> None:
    layout = lay_out(ONE_PACKAGE, 100)
    second = layout.placed[1]

    assert layout.at(second.at) is second
    assert layout.at(second.at - 1) is None
    assert second.column.name == "os"
    assert "target" not in widths(layout)
