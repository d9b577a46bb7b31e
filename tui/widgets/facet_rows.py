"""The lines of facets: heads, and values with their marks, bars and counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import events
from textual.message import Message

from spackscope.model.core.text import cell_width, shorten
from spackscope.model.report.frame import FacetLine
from spackscope.model.report.progress import bar
from spackscope.tui.widgets.drawing import Piece, highlight
from spackscope.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from spackscope.model.index.facets import FacetKey, FacetValue

_SIGNS = {None: (" ", ""), True: ("✓", "good"), False: ("✗", "error")}
_STYLES = {None: "", True: "strong", False: "dim"}
_MAX_BAR, _MIN_BAR, _MAX_TEXT = 9, 3, 12


class FacetRows(VirtualList):
    """The lines of all sections."""

    lines: Sequence[FacetLine] = ()
    needles: Sequence[str] = ()
    _count_width = _text_width = 0

    class Clicked(Message):
        """Posted when the line under the cursor was clicked."""

    def show_lines(
        self, lines: Sequence[FacetLine], cursor: int, needles: Sequence[str], empty: str
    ) -> None:
        """Show other lines, with the cursor on one."""
        self.lines, self.needles = lines, needles
        values = [line.value for line in lines if line.value is not None]
        self._count_width = max((len(f"{value.count:,}") for value in values), default=1)
        self._text_width = max((cell_width(value.text) for value in values), default=0)
        self.show(len(lines), cursor, empty=empty)
        self._show_head()

    @property
    def position(self) -> tuple[int, int]:
        """The place of the value under or above the cursor, and how many values are shown."""
        values = [n for n, line in enumerate(self.lines) if line.value is not None]
        return max(0, sum(n <= self.cursor for n in values) - 1), len(values)

    def _show_head(self) -> None:
        """Scroll to the head of the section with the cursor if it is just out of view."""
        heads = [n for n in range(min(self.cursor + 1, self.length)) if self.lines[n].is_head]
        if heads and heads[-1] < self.top and self.cursor - heads[-1] < self.size.height:
            self._put_at_top(heads[-1])
            self.refresh()

    def show_cursor(self) -> None:
        """Scroll back to the cursor, and to the head of its section.

        Lines that are shown before there is room for any begin at the cursor.
        """
        super().show_cursor()
        self._show_head()

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the head of a section, or the mark, text, bar and count of a value."""
        line = self.lines[row]
        if line.value is not None:
            return self._value_pieces(line, line.value, width)
        if line.is_head:
            return [(" ", ""), *highlight(line.text, self.needles, "strong")]
        return [("   ", ""), (line.text, "dim")]

    def _value_pieces(self, line: FacetLine, value: FacetValue, width: int) -> list[Piece]:
        sign, sign_style = _SIGNS[value.mark]
        room = max(0, width - 6 - self._count_width)
        bar_width = room - max(8, min(self._text_width, max(_MAX_TEXT, room // 2)))
        bar_width = max(min(_MIN_BAR, room // 3), min(bar_width, max(_MAX_BAR, width // 4)))
        room = max(0, room - bar_width)
        text = shorten(value.text, room)
        drawn = bar(value.count, max(line.most, value.count), bar_width)
        blanks = " " * (room - cell_width(text) + 1)
        return [
            (" ", ""),
            (sign, sign_style),
            (" ", ""),
            *highlight(text, self.needles, _STYLES[value.mark]),
            (blanks, ""),
            (drawn.ljust(bar_width), "bar"),
            (f" {value.count:>{self._count_width},}", "" if value.count else "dim"),
            (" ", ""),
        ]

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked line, and include its value."""
        # Else the base class would choose the value at a double click.
        event.prevent_default()
        row = self.top + event.y
        if row < self.length:
            self.move_to(row)
            if event.chain == 1:
                self.post_message(self.Clicked())


def nearest_line(lines: Sequence[FacetLine], current: FacetLine, row: int) -> int:
    """Return the line that is the same as the current one, or as near to it as there is."""

    def place(line: FacetLine) -> tuple[FacetKey, str | None, bool]:
        value = line.value.value if line.value is not None else None
        return line.section.key, value, line.is_switch

    same = (n for n, line in enumerate(lines) if place(line) == place(current))
    heads = (
        n
        for n, line in enumerate(lines)
        if line.is_head and line.section.key == current.section.key
    )
    return next(same, next(heads, min(row, max(0, len(lines) - 1))))
