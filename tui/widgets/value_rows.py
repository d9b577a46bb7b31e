"""The values of a column, each with its mark and its count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spackscope.model.catalog.facets import Facet
from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.text import cell_width, shorten
from spackscope.tui.widgets.highlight import highlight
from spackscope.tui.widgets.pieces import Piece
from spackscope.tui.widgets.virtual_list import VirtualList

_SIGNS = {None: (" ", ""), True: ("+", "strong"), False: ("!", "dim")}
"""Sign and style of a value without a mark, of an included one, and of an excluded one."""

MARGIN = 6
"""Cells of a row besides value and count: cursor and mark, and the blanks around."""


class ValueRows(VirtualList):
    """A list of values; the owner sets facets and needles, and changes the marks."""

    def __init__(self, column: str, marks: Mapping[str, bool]) -> None:
        super().__init__()
        self._column, self._marks = column, marks
        self.facets: Sequence[Facet] = ()
        self.needles: Sequence[str] = ()

    @property
    def value(self) -> str | None:
        """The value under the cursor, or None if there is none."""
        return self.facets[self.cursor].value if self.length else None

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the cursor, the mark, the value and its count."""
        facet = self.facets[row]
        sign, style = _SIGNS[self._marks.get(facet.value)]
        count = f"{facet.count:,}"
        room = max(0, width - MARGIN - len(count))
        text = shorten(BY_NAME[self._column].cell(facet.value), room)
        return [
            ("▸" if row == self.cursor else " ", "accent"),
            (f"{sign} ", "strong"),
            *highlight(text, self.needles, style),
            (" " * (room - cell_width(text) + 2), ""),
            (count, "dim"),
            (" ", ""),
        ]
