"""The line of column heads above the filters and the rows."""

from __future__ import annotations

from dataclasses import dataclass

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from spackscope.model.catalog.listing import Sort
from spackscope.model.core.text import pad, shorten
from spackscope.model.presentation.column_layout import GAP, Layout

ASCENDING, DESCENDING = "↑", "↓"


class ColumnHeader(Widget):
    """The heads of the columns: which is current, which sorts, how many are out of view."""

    COMPONENT_CLASSES = {"row--dim", "row--current"}

    @dataclass
    class Clicked(Message):
        """Tell which column was clicked."""

        column: str

    _layout_shown = Layout([], 0, 0)
    _gutter = 2
    _current = ""
    _sort: Sort | None = None

    def show(self, layout: Layout, gutter: int, current: str, sort: Sort | None) -> None:
        """Show the heads of other columns, after a gutter of some cells."""
        self._layout_shown, self._gutter = layout, gutter
        self._current, self._sort = current, sort
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the heads."""
        if y:
            return Strip.blank(self.size.width)
        dim = self.get_component_rich_style("row--dim")
        placed_columns, before, after = self._layout_shown
        segments = [Segment(pad("‹" if before else "", self._gutter), dim)]
        for number, placed in enumerate(placed_columns):
            column = placed.column
            label = column.label
            if self._sort is not None and self._sort.column == column.name:
                label += DESCENDING if self._sort.descending else ASCENDING
            name = "row--current" if column.name == self._current else "row--dim"
            text = shorten(label, placed.width)
            if number:
                segments.append(Segment(" " * GAP, dim))
            segments.append(Segment(text, self.get_component_rich_style(name)))
            segments.append(Segment(pad("", placed.width - len(text)), dim))
        strip = Strip(segments).adjust_cell_length(self.size.width, dim)
        if after:
            more = f"{after}›"
            strip = strip.crop(0, self.size.width - len(more))
            strip = Strip.join([strip, Strip([Segment(more, dim)])])
        return strip

    def on_click(self, event: events.Click) -> None:
        """Tell which column was clicked."""
        for placed in self._layout_shown.placed:
            if 0 <= event.x - self._gutter - placed.at < placed.width:
                self.post_message(self.Clicked(placed.column.name))
