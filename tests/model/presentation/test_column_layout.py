"""Columns share a width so that what is shown can be read."""

from __future__ import annotations

from spackscope.model.core.columns import BY_NAME
from spackscope.model.presentation.column_layout import lay_out

NATURAL = {"hash": 7, "version": 7, "os": 8, "target": 9, "variants": 40}
COLUMNS = [BY_NAME[name] for name in NATURAL]


def widths(width: int, constant: set[str]) -> dict[str, int]:
    placed, _, _ = lay_out(COLUMNS, NATURAL, width, constant=constant)
    return {position.column.name: position.width for position in placed}


def test_every_column_has_its_width_where_there_is_room() -> None:
    assert widths(100, set()) == NATURAL


def test_a_short_value_that_all_rows_share_is_whole_or_left_out() -> None:
    for width in range(30, 80):
        result = widths(width, {"os", "target"})
        assert all(result.get(name, NATURAL[name]) == NATURAL[name] for name in ("os", "target"))
    assert "os" not in widths(35, {"os", "target"})
