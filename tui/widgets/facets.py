"""The facets of the rows: the values of each column with their counts."""

from __future__ import annotations

from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.virtual_list import VirtualList


class FacetPane(VirtualList):
    """Columns and variants that vary in the rows, each with its values, counts and bars."""

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the pieces of a line."""
        return []
