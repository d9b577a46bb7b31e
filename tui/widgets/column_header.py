"""The line of column heads above the filters and the rows."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from spackscope.model.catalog.listing import Sort
from spackscope.model.core.text import pad, shorten
from spackscope.model.presentation.column_layout import GAP, Layout
from spackscope.tui.widgets.drawing import ROW_STYLES, draw
from spackscope.tui.widgets.note_columns import NoteColumns

ASCENDING, DESCENDING = "↑", "↓"


class ColumnHeader(Widget):
    """The heads of the columns: which is current, which sorts, how many are out of view."""

    COMPONENT_CLASSES = ROW_STYLES

    @dataclass
    class Clicked(Message):
        """Posted when the head of a column was clicked."""

        column: str

    _layout_shown = Layout([], 0, 0)
    _gutter = 2
    _current = ""
    _sort: Sort | None = None
    _notes = NoteColumns()

    def show(
        self, layout: Layout, gutter: int, current: str, sort: Sort | None, notes: NoteColumns
    ) -> None:
        """Show the heads of other columns, after a gutter of some cells and before notes."""
        self._layout_shown, self._gutter, self._notes = layout, gutter, notes
        self._current, self._sort = current, sort
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the heads."""
        if y:
            return Strip.blank(self.size.width)
        placed_columns, before, after = self._layout_shown
        pieces = [(pad("‹" if before else "", self._gutter), "dim")]
        for number, placed in enumerate(placed_columns):
            column = placed.column
            label = column.label
            if self._sort is not None and self._sort.column == column.name:
                label += DESCENDING if self._sort.descending else ASCENDING
            text = shorten(label, placed.width)
            pieces.append((" " * GAP if number else "", "dim"))
            pieces.append((text, "current" if column.name == self._current else "dim"))
            pieces.append((pad("", placed.width - len(text)), "dim"))
        if self._notes.users:
            label = "used by" if self._notes.users >= len("used by") else "used"
            pieces.append((" " * GAP + pad(label, self._notes.users, right=True), "dim"))
        if self._notes.differs:
            pieces.append((" " * GAP + "differs in", "dim"))
        more = f"{after}›" if after else ""
        strip = draw(self, pieces, self.size.width - len(more), "row")
        return Strip.join([strip, draw(self, [(more, "dim")], len(more), "row")])

    def on_click(self, event: events.Click) -> None:
        """Post the column that was clicked."""
        for placed in self._layout_shown.placed:
            if 0 <= event.x - self._gutter - placed.at < placed.width:
                self.post_message(self.Clicked(placed.column.name))
