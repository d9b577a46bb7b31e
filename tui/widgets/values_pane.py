"""The values that the rows have in columns and variants, with bars, counts and marks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from textual import events, on
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Input

from spackscope.model.core.text import cell_width, clean, cut_apart, shorten
from spackscope.model.report.progress import bar
from spackscope.model.report.report import LinePart, Piece, filter_needles, highlight
from spackscope.model.report.titles import ValueLine, value_lines
from spackscope.tui.keymap import VALUES, bindings, shown
from spackscope.tui.widgets.drawing import RULE_MARGIN, RuleLine, ruled
from spackscope.tui.widgets.query_line import FilteredPane, FilterInput
from spackscope.tui.widgets.virtual_list import Browse, VirtualList

if TYPE_CHECKING:
    from spackscope.model.index.value_counts import SectionKey, SectionValue, ValueSection, Verb

    Place = tuple[SectionKey, str | None]
    """A section, and one of its values; None for its first value."""


_SIGNS = {None: (" ", ""), True: ("✓", "good"), False: ("✗", "error")}
_STYLES = {None: "", True: "strong", False: "dim"}
_SHOWN = ((19, 5), (11, 4), (0, 3))
"""Heights of the list, each with the values of a section that are shown before it is opened."""
_MAX_BAR, _MIN_BAR = 6, 3
"""Cells of the bars: as many as the names and counts leave, or none."""


class ValueRows(VirtualList):
    """The lines of all sections."""

    lines: Sequence[ValueLine] = ()
    needles: Sequence[str] = ()
    _count_width = 0

    class Clicked(Message):
        """Posted when the line under the cursor was clicked."""

    def show_lines(
        self, lines: Sequence[ValueLine], cursor: int, needles: Sequence[str], empty: str
    ) -> None:
        """Show other lines, with the cursor on the given line."""
        self.lines, self.needles = lines, needles
        values = [line.value for line in lines if line.value is not None]
        self._count_width = max((len(f"{value.count:,}") for value in values), default=1)
        self.show(len(lines), cursor, empty=empty)

    @property
    def keeps_cursor(self) -> bool:
        """Whether the cursor is shown while the list is not in use: it chooses nothing."""
        return False

    @property
    def position(self) -> tuple[int, int]:
        """The number of the value under or above the cursor, and the number of values."""
        values = [n for n, line in enumerate(self.lines) if line.value is not None]
        return max(0, sum(n <= self.cursor for n in values) - 1), len(values)

    @property
    def heads_in_view(self) -> list[int]:
        """The lines of the list with the heads of sections."""
        rows = range(self.top, min(self.length, self.top + self.size.height))
        return [row - self.top for row in rows if self._is_drawn_head(row)]

    def _is_drawn_head(self, row: int) -> bool:
        """Check whether a line is a head with a value below it on the screen."""
        is_last = self.top <= row == self.top + self.size.height - 1
        return self.lines[row].is_head and not is_last

    def is_heading(self, row: int) -> bool:
        """Check whether a line is the head of a section."""
        return self.lines[row].is_head

    def _put_at_top(self, top: int) -> bool:
        # The name of the section at the top is in the rule above the list.
        return super()._put_at_top(top + (top + 1 < self.length and self.is_heading(top)))

    def head(self) -> LinePart:
        """Return the name of the section at the top."""
        label = self.lines[self.top].section.key.label if self.length else "values"
        return self._head(clean(label), self.size.width)

    def _head(self, label: str, width: int) -> LinePart:
        return LinePart(highlight(shorten(label, width), self.needles))

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the head of a section, or the mark, text, bar and count of a value."""
        line = self.lines[row]
        if line.value is not None:
            return self._value_pieces(line, line.value, width)
        if line.is_head and not self._is_drawn_head(row):
            return []
        if line.is_head:
            parts, _ = ruled([self._head(line.text, width - RULE_MARGIN)], [], width)
            return [piece for part in parts for piece in part.pieces]
        return [("  ", ""), (line.text, "dim")]

    def _value_pieces(self, line: ValueLine, value: SectionValue, width: int) -> list[Piece]:
        sign, sign_style = _SIGNS[value.mark]
        room = max(0, width - 4 - self._count_width)
        text, texts = value.text, tuple(each.text for each in line.section.values)
        bar_at = max(map(cell_width, texts)) + 1
        bar_width = min(room - bar_at, max(_MAX_BAR, width // 4))
        if cell_width(text) > room:
            # Values of a section stay different.
            text = cut_apart(texts, room)[text]
        drawn = ""
        if bar_width >= _MIN_BAR:
            drawn = bar(value.count, max(line.most, value.count), bar_width)
        blanks = " " * (bar_at - cell_width(text) if drawn else 0)
        rest = " " * (room - cell_width(text + blanks + drawn))
        return [
            (sign, sign_style),
            (" ", ""),
            *highlight(text, self.needles, _STYLES[value.mark]),
            (blanks, ""),
            (drawn, "bar"),
            (f"{rest} {value.count:>{self._count_width},}", "" if value.count else "dim"),
            (" ", ""),
        ]

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked line, and include its value."""
        # Else the base class would choose the value at a double click.
        event.prevent_default()
        row = self.top + event.y
        if row < self.length and not self.is_heading(row):
            self.move_to(row)
            if event.chain == 1:
                self.post_message(self.Clicked())


def nearest_line(lines: Sequence[ValueLine], current: ValueLine, row: int) -> int:
    """Return the number of the same line, of the first in its section, or of a line near `row`."""

    def place(line: ValueLine) -> tuple[SectionKey, str | None, bool]:
        value = line.value.value if line.value is not None else None
        return line.section.key, value, line.is_switch

    rows = [n for n, line in enumerate(lines) if not line.is_head]
    same = (n for n in rows if place(lines[n]) == place(current))
    first = (n for n in rows if lines[n].section.key == current.section.key)
    return next(same, next(first, min(rows, key=lambda n: abs(n - row), default=0)))


class ValuesPane(FilteredPane):
    """The sections below a filter; it posts the marks that the user sets on values.

    When the sections change, the cursor stays on the same value.
    """

    BINDINGS = bindings(VALUES)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.rows = ValueRows(id="value-rows")
        self.sections: Sequence[ValueSection] = ()
        self._opened: set[SectionKey] = set()
        self._place: Place | None = None
        self._empty = ""
        self.on_heads: Callable[[], object] = lambda: None
        """Called when the heads of sections may have moved."""

    def compose(self) -> ComposeResult:
        """Lay out the rule and the filter above the rows."""
        yield RuleLine(lambda width: ([self.rows.head()], []))
        yield FilterInput("filter…", name="values")
        yield self.rows

    @on(VirtualList.Scrolled)
    def _show_heads(self) -> None:
        self.show_title()
        self.on_heads()

    @property
    def line(self) -> ValueLine | None:
        """The line under the cursor."""
        return self.rows.lines[self.rows.cursor] if self.rows.length else None

    @property
    def place(self) -> Place | None:
        """The section under the cursor, and the value under the cursor."""
        line = self.line
        if line is None:
            return None
        is_value = line.value is not None and line.value.condition is None
        return line.section.key, line.value.value if line.value is not None and is_value else None

    def expect(self) -> None:
        """Request counts if the pane is on the screen."""
        if self.is_on_screen:
            self.post_message(Browse("count_values"))

    def on_resize(self) -> None:
        """Request counts when the pane is shown, and show as many values as its height allows."""
        self.expect()
        if self.sections and self._lines() != self.rows.lines:
            self._refill()

    def show_sections(
        self,
        sections: Sequence[ValueSection],
        *,
        empty: str,
        place: Place | None = None,
        is_last: bool = True,
    ) -> None:
        """Show other sections; the cursor goes to `place` once its section is read."""
        self.sections, self._empty = sections, empty
        if place is not None:
            self._place = place
            self.filter.reflect("")
        self._refill()
        if is_last:
            self._place = None

    def _lines(self) -> list[ValueLine]:
        """Return the lines, with fewer values of each section in a low pane."""
        most = next(most for least, most in _SHOWN if self.rows.size.height >= least)
        return value_lines(self.sections, self.filter.value, self._opened, most)

    def _refill(self, *, is_typed: bool = False) -> None:
        typed = self.filter.value
        self.fit_filter()
        current = self.line
        lines = self._lines()
        empty = f"no value matches {clean(typed)}\n{shown('back')} removes the filter"
        if not typed.strip():
            empty = self._empty
        cursor = next((n for n, line in enumerate(lines) if line.value is not None), 0)
        if not is_typed and current is not None:
            cursor = nearest_line(lines, current, self.rows.cursor)
        if self._place is not None and (place := _find(self.sections, *self._place)):
            self._place = None
            section, value = place
            if not _has(lines, section, value):
                self._opened.add(section.key)
                lines = self._lines()
            cursor = next(
                n
                for n, line in enumerate(lines)
                if line.section is section and line.value is value and not line.is_switch
            )
        self.rows.show_lines(lines, cursor, filter_needles(typed), empty)
        self._show_heads()

    def action_mark(self, verb: Verb) -> None:
        """Include or exclude the value, or unmark it; or remove the filters of the section."""
        line = self.line
        if line is None:
            return
        if line.value is None and verb != "clear":
            self._switch(line)
        else:
            self.post_message(Browse("choose_value", verb, line.section, line.value))

    def _switch(self, line: ValueLine) -> None:
        """Show all values of a section, or only its first values."""
        self._opened ^= {line.section.key}
        row = self.rows.cursor
        self._refill()
        if line.is_switch and line.section.key in self._opened:
            self.rows.move_to(row)

    def action_leave(self) -> None:
        """Close the filter; if it is closed, go back to the table."""
        if not self._close_filter():
            self.post_message(Browse("leave_values"))

    def action_focus_filter(self) -> None:
        """Go to the filter."""
        self.open_filter().focus()

    def action_only(self) -> None:
        """Include only this value, and go to the table; on other lines switch the section."""
        line = self.line
        self.action_mark("only")
        if line is not None and line.value is not None:
            self.post_message(Browse("leave_values"))

    @on(ValueRows.Clicked)
    def _click(self, event: ValueRows.Clicked) -> None:
        event.stop()
        self.action_mark("include")

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._refill(is_typed=True)

    @on(FilterInput.Pressed)
    def _press(self, event: FilterInput.Pressed) -> None:
        event.stop()
        if event.key == "take":
            self.rows.focus()
        elif event.key == "give_up":
            self._close_filter()

    def _close_filter(self) -> bool:
        """Close the filter; return False if it is closed already."""
        if not (self.filter.value or self.filter.has_focus):
            return False
        self.filter.reflect("")
        self.rows.focus()
        self._refill()
        return True


def _find(
    sections: Sequence[ValueSection], key: SectionKey, value: str | None
) -> tuple[ValueSection, SectionValue] | None:
    """Return a section and its value; for the variants column, the first variant's section."""
    for section in sections:
        values = section.values
        is_it = section.key == key or (not key.variant and section.key.column == key.column)
        if values and is_it:
            found = next((v for v in values if v.value == value and v.condition is None), None)
            marked = next((v for v in values if v.mark is not None), None)
            return section, found or marked or values[0]
    return None


def _has(lines: Sequence[ValueLine], section: ValueSection, value: SectionValue) -> bool:
    return any(line.section is section and line.value is value for line in lines)
