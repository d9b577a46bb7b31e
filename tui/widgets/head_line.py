"""The line above the heads of the table: what all rows have in common."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from spackscope.model.core.text import cell_width, counted
from spackscope.model.report.table_columns import HeadPiece, HeadText, head_line
from spackscope.tui.widgets.drawing import CURRENT_STYLES, draw

_MARGIN = 1


class HeadLine(Widget):
    """Values that all rows share; each can be the current one, and be clicked."""

    COMPONENT_CLASSES = CURRENT_STYLES

    class Clicked(Message):
        """Posted when a value was clicked."""

        def __init__(self, column: str) -> None:
            super().__init__()
            self.column = column

    _head: Sequence[HeadText] = ()
    _before = _current = _after = ""

    def show(self, head: Sequence[HeadText], current: str, before: str, columns: int) -> None:
        """Show other values, after a text that belongs to none of them.

        `columns` are out of view to the right.
        """
        after = f"  {counted(columns, 'column')} ›" if columns else ""
        shown = head, current, before, after
        if shown != (self._head, self._current, self._before, self._after):
            self._head, self._current, self._before, self._after = shown
            self.refresh()

    @property
    def pieces(self) -> list[HeadPiece]:
        """The parts of the line."""
        room = self.size.width - 2 * _MARGIN - cell_width(self._after)
        return head_line(self._head, room, current=self._current, before=self._before)

    def render_line(self, y: int) -> Strip:
        """Draw the values, the name of the package stronger than the others."""
        if y:
            return Strip.blank(self.size.width, self.rich_style)
        pieces = [(" " * _MARGIN, "")]
        for text, column in self.pieces:
            style = "strong" if column in ("package", "version") else "dim"
            pieces.append((text, "current" if column and column == self._current else style))
        after = self._after + " " * _MARGIN
        line = draw(self, pieces, self.size.width - cell_width(after), "row")
        return Strip.join([line, draw(self, [(after, "dim")], cell_width(after), "row")])

    def on_click(self, event: events.Click) -> None:
        """Post the column of the value that was clicked."""
        at = _MARGIN
        for text, column in self.pieces:
            if column and at <= event.x < at + cell_width(text):
                self.post_message(self.Clicked(column))
            at += cell_width(text)
