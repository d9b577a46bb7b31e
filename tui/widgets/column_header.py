"""The line of column heads above the filters and the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from spackscope.model.catalog.listing import Sort
from spackscope.model.core.text import pad, shorten
from spackscope.model.presentation.column_layout import GAP, Placed

ASCENDING, DESCENDING = "↑", "↓"


class ColumnHeader(Widget):
    """Draw the heads: which column is current, which one sorts, and what stands beside."""

    COMPONENT_CLASSES = {"row--dim", "row--current"}

    @dataclass
    class Clicked(Message):
        """Tell on which column's head the mouse clicked."""

        column: str

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._placed: Sequence[Placed] = ()
        self._gutter = 2
        self._current = ""
        self._sort: Sort | None = None
        self._left_out = (0, 0)

    def show(
        self,
        placed: Sequence[Placed],
        gutter: int,
        current: str,
        sort: Sort | None,
        left_out: tuple[int, int],
    ) -> None:
        """Show other columns; `left_out` counts those before and behind the placed ones."""
        self._placed, self._gutter, self._current = placed, gutter, current
        self._sort, self._left_out = sort, left_out
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the heads."""
        if y:
            return Strip.blank(self.size.width)
        dim = self.get_component_rich_style("row--dim")
        before, behind = self._left_out
        segments = [Segment(pad("‹" if before else "", self._gutter), dim)]
        for number, placed in enumerate(self._placed):
            column = placed.column
            label = column.label
            if self._sort is not None and self._sort.column == column.name:
                label += DESCENDING if self._sort.descending else ASCENDING
            name = "row--current" if column.name == self._current else "row--dim"
            style = self.get_component_rich_style(name)
            text = shorten(label, placed.width)
            if number:
                segments.append(Segment(" " * GAP, dim))
            segments.append(Segment(text, style))
            segments.append(Segment(pad("", placed.width - len(text)), dim))
        strip = Strip(segments).adjust_cell_length(self.size.width, dim)
        if behind:
            more = f"{behind}›"
            strip = strip.crop(0, self.size.width - len(more))
            strip = Strip.join([strip, Strip([Segment(more, dim)])])
        return strip

    def on_click(self, event: events.Click) -> None:
        """Say which column was meant."""
        for placed in self._placed:
            if 0 <= event.x - self._gutter - placed.at < placed.width:
                self.post_message(self.Clicked(placed.column.name))
