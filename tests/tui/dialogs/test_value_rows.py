"""How a value is drawn: its mark, the part that matches, its count."""

from __future__ import annotations

from functools import partial

import pytest

from spackscope.model.catalog.facets import Facet
from spackscope.tui.dialogs.filtered import ItemRows
from spackscope.tui.dialogs.values import value_pieces

WIDTH = 40


def drawn(rows: ItemRows[Facet]) -> list[str]:
    return ["".join(text for text, _ in rows.pieces(row, WIDTH)) for row in range(rows.length)]


def rows_of(*facets: Facet) -> ItemRows[Facet]:
    marks = {"included": True, "excluded": False}
    rows: ItemRows[Facet] = ItemRows(partial(value_pieces, "os", marks))
    rows.items = facets
    rows.show(len(facets))
    return rows


def test_marks_are_signs_and_no_colours() -> None:
    facets = [Facet("included", 1_201), Facet("excluded", 12), Facet("other", 0)]
    rows = rows_of(*facets)
    assert [line[:11] for line in drawn(rows)] == ["▸+ included", " ! excluded", "   other   "]
    assert [line.split()[-1] for line in drawn(rows)] == ["1,201", "12", "0"]
    assert {len(line) for line in drawn(rows)} == {WIDTH}


@pytest.mark.parametrize("needle", ["24", ""])
def test_the_match_of_the_filter_is_marked(needle: str) -> None:
    rows = rows_of(Facet("ubuntu24.04", 5))
    rows.needles = [needle] if needle else []
    marked = [text for text, style in rows.pieces(0, WIDTH) if style == "match"]
    assert marked == ([needle] if needle else [])


def test_long_values_keep_both_ends() -> None:
    (line,) = drawn(rows_of(Facet("begin-" + "x" * 300 + "-end", 1)))
    assert line.startswith("▸  begin-")
    assert line.endswith("-end  1 ")
