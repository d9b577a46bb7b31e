"""The heads of the columns, and under them, or in their place, what each is filtered by."""

from __future__ import annotations

from collections.abc import Mapping

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from spackscope.model.core.frozen import Frozen, field
from spackscope.model.core.text import cell_width, cut_words, pad, shorten
from spackscope.model.index.view import USED_BY, Sort
from spackscope.model.report.table_columns import Layout, Placed
from spackscope.tui.widgets.drawing import CURRENT_STYLES, Piece, draw

ASCENDING, DESCENDING = "↑", "↓"
NO_FILTER = "…"
"""Stands where a filter can be typed."""


class Heads(Frozen):
    """What the heads show: the columns after a gutter, the current one, the order, the filters."""

    layout: Layout = field(default_factory=Layout)
    gutter: int = 2
    current: str = ""
    sort: Sort | None = None
    filters: Mapping[str, str] = field(default_factory=dict)

    def sign(self, column: str) -> str:
        """Return the arrow of the column that orders the rows."""
        if self.sort is None or self.sort.column != column:
            return ""
        return DESCENDING if self.sort.descending else ASCENDING


class ColumnHeader(Widget):
    """The heads; which is current, which sorts, how many are out of view.

    Of one line, the head of a filtered column shows its filter. Of two, filters are below.
    """

    COMPONENT_CLASSES = CURRENT_STYLES

    class Clicked(Message):
        """Posted when the head of a column was clicked; `on_filter` if what is under it."""

        def __init__(self, column: str, on_filter: bool = False) -> None:
            super().__init__()
            self.column = column
            self.on_filter = on_filter

    _heads = Heads()

    def show(self, heads: Heads) -> None:
        """Show other heads."""
        if heads != self._heads:
            self._heads = heads
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the heads, or the filters."""
        heads, width = self._heads, self.size.width
        if y > 1 or not heads.layout.placed:
            return Strip.blank(width, self.rich_style)
        pieces: list[Piece] = [
            (pad("" if y or not heads.layout.before else "‹", heads.gutter), "dim")
        ]
        at = 0
        for placed in heads.layout.placed:
            pieces.append((" " * (placed.at - at), ""))
            pieces += self._filter(placed) if y else self._head(placed)
            at = placed.end
        return draw(self, pieces, width, "row")

    def _head(self, placed: Placed) -> list[Piece]:
        column, heads = placed.column, self._heads
        sign, text, style = heads.sign(column.name), column.label, "dim"
        filter_ = heads.filters.get(column.name, "") if self.size.height == 1 else ""
        if filter_:
            text, style = filter_, "match"
        elif column.name == USED_BY and placed.width < len(text):
            text = "used"
        room = placed.width - len(sign)
        text = (
            cut_words(text, room)
            if filter_
            else text
            if cell_width(text) <= room
            else _cut(text, room)
        )
        text += sign
        if column.name == heads.current:
            style = "current match" if filter_ else "current"
        return [(pad(text, placed.width, right=column.aligns_right), style)]

    def _filter(self, placed: Placed) -> list[Piece]:
        text = self._heads.filters.get(placed.column.name, "")
        if placed.column.is_note:
            return [(" " * placed.width, "")]
        style = "match" if text else "dim"
        return [(pad(cut_words(text or NO_FILTER, placed.width), placed.width), style)]

    def on_click(self, event: events.Click) -> None:
        """Post the column that was clicked."""
        placed = self._heads.layout.at(event.x - self._heads.gutter)
        if placed is not None:
            self.post_message(self.Clicked(placed.column.name, event.y > 0))


def _cut(label: str, room: int) -> str:
    """Return the beginning of a label: its letters tell more than an ellipsis."""
    return label[:room] if label.isascii() else shorten(label, room, keep="start")
