"""A list of lines that were drawn before."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.tui.keymap import PATH, bindings
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.virtual_list import VirtualList


class Lines(VirtualList):
    """A list of lines that are made of pieces, with a mark at the cursor."""

    BINDINGS = bindings(PATH)

    def __init__(self, lines: Sequence[Sequence[Piece]]) -> None:
        super().__init__()
        self._lines = lines

    def on_mount(self) -> None:
        """Show all lines."""
        self.show(len(self._lines))

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the pieces of a line."""
        return [("▸ " if row == self.cursor else "  ", "accent"), *self._lines[row]]
