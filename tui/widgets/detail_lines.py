"""The detail of the selected spec value by value; a value is a filter, or leads to a spec."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from textual import events

from spackscope.model.core.text import wrap_cut
from spackscope.model.report.report import LinePart, Piece, part_at
from spackscope.tui.keymap import DETAIL, bindings, first_key
from spackscope.tui.widgets.virtual_list import Browse, VirtualList

if TYPE_CHECKING:
    from spackscope.model.report.detail import DetailLine
    from spackscope.tui.widgets.detail_layout import LayoutRow

_MARGIN = 1


class DetailLines(VirtualList):
    """The values of one spec in rows; the cursor is on one value of a row."""

    BINDINGS = bindings(DETAIL)
    CURSOR_IS_ROW = False

    stop = 0
    _lines: Sequence[DetailLine] = ()
    _rows: Sequence[LayoutRow] = ()
    _texts: Sequence[str] = ()

    @property
    def row(self) -> LayoutRow:
        """The row under the cursor, if there is one."""
        # While fewer rows are laid out, the cursor may be below the last one.
        return self._rows[self.cursor] if self.cursor < len(self._rows) else ()

    @property
    def _part(self) -> LinePart:
        """The part of that row with the cursor: the last one where there are fewer."""
        stops = _stops(self.row)
        return stops[min(self.stop, len(stops) - 1)] if stops else LinePart(())

    @property
    def value(self) -> DetailLine | None:
        """The value under the cursor."""
        return self._part.target or None

    @property
    def values(self) -> Sequence[Sequence[DetailLine]]:
        """The values of each row."""
        return [[stop.target for stop in _stops(row)] for row in self._rows]

    def show_values(self, values: Sequence[DetailLine], *, is_same: bool) -> None:
        """Show other values; the cursor keeps its place if they are of the same spec."""
        if values == self._lines:
            return
        self._lines = values
        if not is_same:
            self.cursor = self.top = self.stop = 0
        self._lay_out()

    def show_texts(self, texts: Sequence[str]) -> None:
        """Show texts in place of values, each cut so that there is room for a line of the next."""
        self._texts, lines = texts, list[str]()
        for left, text in zip(reversed(range(len(texts))), texts, strict=True):
            lines += wrap_cut(text, self.size.width - 3, self.size.height - len(lines) - left)
        self.show(0, empty="\n".join(lines))

    def go_to(self, cursor: int, top: int) -> None:
        """Put the cursor on a row, and another row on top."""
        self.stop = 0
        self.top = top
        self.show(len(self._rows), cursor)

    def fit(self) -> None:
        """Lay out the values for the new size; the cursor stays on its value."""
        super().fit()
        self._lay_out()
        if not self._lines:
            self.show_texts(self._texts)

    def _lay_out(self) -> None:
        """Lay out the values, and draw only rows that changed: a terminal may be far away."""
        if not (self._lines or self._rows):
            return
        # Imported with the first spec, after the first frame.
        from spackscope.tui.widgets.detail_layout import layout

        before, value, below_top = self._rows, self.value, self.cursor - self.top
        self._rows = layout(self._lines, max(8, self.size.width - 2 * _MARGIN), self.size.height)
        at = self.cursor, self.stop
        if value is not None and self.value != value:
            at = _place_of(value, self._rows) or at
        if len(self._rows) == len(before) and at == (self.cursor, self.stop):
            self.refresh_rows(*(n for n, row in enumerate(self._rows) if row != before[n]))
            return
        row, self.stop = at
        self.top = max(0, row - below_top)
        self.show(len(self._rows), row)

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the pieces of a row; the value under the cursor stands out."""
        here = self._part if row == self.cursor and self.has_focus else None
        pieces = [(" " * _MARGIN, "")]
        for part in self._rows[row]:
            pieces += ((text, "cursor" if part is here else style) for text, style in part.pieces)
        return pieces

    def move_to(self, row: int) -> None:
        """Move the cursor to the value of another row that is nearest to its column."""
        here, before = _starts(self.row)[: self.stop + 1], self.cursor
        super().move_to(row)
        if self.cursor != before:
            x, there = [0, *here][-1], _starts(self.row)
            self.stop = min(range(len(there)), key=lambda n: abs(there[n] - x), default=0)

    def action_step(self, step: int) -> None:
        """Move the cursor to the next value of the row, or before it; before the first: leave."""
        count = len(_stops(self.row))
        stop = min(self.stop, max(0, count - 1)) + step
        if stop < 0:
            self.post_message(Browse("focus_specs"))
        elif stop < count:
            self.stop = stop
            self.refresh_rows(self.cursor)
        elif self.cursor + 1 < self.length:
            self.move_to(self.cursor + 1)
            self.stop = 0
            self.refresh_rows(self.cursor)

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked value, or choose the one that has it; press a hint."""
        row, x = self.top + event.y, event.x - _MARGIN
        if not 0 <= row < self.length or x < 0:
            return
        part = part_at(self._rows[row], x)
        if isinstance(key := part.target, str) and key:
            self.app.simulate_key(key)
            return
        stops = [n for n, stop in enumerate(_stops(self._rows[row])) if stop is part]
        is_there = stops == [self.stop] and row == self.cursor
        self.move_to(row)
        if stops:
            (self.stop,) = stops
            self.refresh_rows(row)
            if is_there or event.chain == 2:
                self.action_choose()

    def action_choose(self) -> None:
        """Choose the filter of the value, the spec that it leads to, or all of which it counts."""
        if (value := self.value) is None:
            return
        if value.hints and not value.label:
            if key := first_key(value.hints[0][0]):
                self.app.simulate_key(key)
        elif value.id is not None:
            self.post_message(Browse("jump", value.id))
        else:
            self.post_message(Browse("add_term", value.term))


def _place_of(value: DetailLine, rows: Sequence[LayoutRow]) -> tuple[int, int] | None:
    """Return the row of a value, which may have been read anew, and its number there."""
    for number, row in enumerate(rows):
        for stop, part in enumerate(_stops(row)):
            if part.target == value:
                return number, stop
    return None


def _stops(row: LayoutRow) -> list[LinePart]:
    """Return the parts of a row that are values; others are blank, labels or keys."""
    return [part for part in row if not isinstance(part.target, str)]


def _starts(row: LayoutRow) -> list[int]:
    """Return the columns at which the values of a row begin."""
    starts = accumulate((part.width for part in row), initial=0)
    return [at for at, part in zip(starts, row, strict=False) if not isinstance(part.target, str)]
