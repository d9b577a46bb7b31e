"""The values of a column, each with its mark and its count."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from spackscope.model.assist.value_choice import value_text
from spackscope.model.catalog.facets import Facet
from spackscope.model.core.text import cell_width, shorten
from spackscope.tui.widgets.virtual_list import Piece, VirtualList

WANTED, EXCLUDED = "+", "!"
"""Signs before a value that is asked for, and before one that must not be."""

BESIDE = 6
"""Cells of a row beside value and count: cursor and mark, and the blanks around."""


class ValueRows(VirtualList):
    """Draw values; the dialog sets them and the word that is looked for, and keeps the marks."""

    def __init__(self, column: str, wanted: Collection[str], excluded: Collection[str]) -> None:
        super().__init__()
        self._column, self._wanted, self._excluded = column, wanted, excluded
        self.facets: Sequence[Facet] = ()
        self.needle = ""

    @property
    def value(self) -> str | None:
        """The value under the cursor, or None where there is none."""
        return self.facets[self.cursor].value if self.length else None

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Give the cursor, the mark, the value and its count."""
        facet = self.facets[row]
        sign, style = " ", ""
        if facet.value in self._wanted:
            sign, style = WANTED, "strong"
        elif facet.value in self._excluded:
            sign, style = EXCLUDED, "dim"
        count = f"{facet.count:,}"
        room = max(0, width - BESIDE - len(count))
        text = shorten(value_text(self._column, facet.value), room)
        lower = text.lower()
        at = lower.find(self.needle) if self.needle and len(lower) == len(text) else -1
        if at >= 0:
            end = at + len(self.needle)
            value = [(text[:at], style), (text[at:end], "match"), (text[end:], style)]
        else:
            value = [(text, style)]
        cursor = "▸" if row == self.cursor else " "
        blank = " " * (room - cell_width(text) + 2)
        return [
            (cursor, "accent"),
            (f"{sign} ", "strong"),
            *value,
            (blank, ""),
            (count, "dim"),
            (" ", ""),
        ]
