"""Draw counts by one or two axes as the rows of a list."""

from __future__ import annotations

from typing import NamedTuple

from spackscope.model.analysis.frequency import Frequency
from spackscope.model.catalog.facets import Facet
from spackscope.model.core.text import cell_width, clean, pad, shorten
from spackscope.model.presentation.bars import bar
from spackscope.tui.dialogs.filtered import ItemRows
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.highlight import highlight

_NONE = "none"
_MAX_VALUE, _MIN_VALUE = 40, 10
"""Cells of the values of the first axis."""
_MAX_BAR = 30
_MAX_HEAD = 16
"""Cells of a head of the matrix."""
_GAP = 2


def value_text(value: str) -> str:
    """Return a value in clean text; `none` where a spec has no value."""
    return clean(value) or _NONE


class _Column(NamedTuple):
    """A column of the matrix: its value, None for the total, its head and its width."""

    value: str | None
    head: str
    width: int


class FrequencyRows(ItemRows[Facet]):
    """The values of an axis with bars, or with their counts by each value of another.

    `column` is the number of the current column of the matrix, 0 for the total.
    """

    def __init__(self) -> None:
        super().__init__()
        self.counts: Frequency | None = None
        self.column = 0
        self._columns: list[_Column] = []
        self._left = 1
        self._value_width = self._count_width = 0

    def show_counts(self, counts: Frequency) -> None:
        """Take other counts; the owner shows their items."""
        facets = counts.facets[0]
        self.counts, self.column, self._left = counts, 0, 1
        widest = max((cell_width(value_text(facet.value)) for facet in facets), default=0)
        self._value_width = min(widest, _MAX_VALUE)
        self._count_width = max((len(f"{facet.count:,}") for facet in facets), default=1)
        self._columns = []
        if len(counts.axes) > 1:
            self._columns = [_Column(None, "total", max(5, self._count_width))]
            for facet in counts.facets[1]:
                head = shorten(value_text(facet.value), _MAX_HEAD)
                width = max(cell_width(head), len(f"{facet.count:,}"))
                self._columns.append(_Column(facet.value, head, width))

    @property
    def natural_width(self) -> int:
        """The cells that a row takes where there is room."""
        if self._columns:
            return 4 + self._value_width + sum(_GAP + column.width for column in self._columns)
        return 7 + self._value_width + _MAX_BAR + self._count_width

    @property
    def column_values(self) -> tuple[str, ...]:
        """The value of the current column, if it has one."""
        value = self._columns[self.column].value if self._columns else None
        return () if value is None else (value,)

    def move_column(self, step: int) -> None:
        """Go to the next or previous column, and bring it into view."""
        self.column = max(0, min(self.column + step, len(self._columns) - 1))
        if self.column:
            self._left = min(self._left, self.column)
            while self.column >= self._left + self._fitting(self.size.width):
                self._left += 1
        self.refresh()

    def _row_width(self, width: int) -> int:
        """Return the cells of the values: at most half where the counts need more."""
        return min(self._value_width, max(_MIN_VALUE, width // 3))

    def _fitting(self, width: int) -> int:
        """Return how many columns are in view beside the total; at least one."""
        room = width - 3 - self._row_width(width) - _GAP - self._columns[0].width
        room -= len(self._more(1))
        number = 0
        for column in self._columns[self._left :]:
            room -= _GAP + column.width
            if room < 0:
                break
            number += 1
        return max(1, number)

    def _more(self, number: int) -> str:
        return f"  {number:,} more" if number else ""

    def _in_view(self, width: int) -> list[tuple[int, _Column]]:
        """Return the columns in view with their numbers: the total, and then the others."""
        numbers = [0, *range(self._left, self._left + self._fitting(width))]
        return [(n, self._columns[n]) for n in numbers if n < len(self._columns)]

    def head(self, width: int) -> list[Piece]:
        """Return the heads of the matrix; the current one stands out."""
        if not self._columns or width <= 0:
            return []
        pieces: list[Piece] = [(" " * (3 + self._row_width(width)), "")]
        shown = self._in_view(width)
        for number, column in shown:
            is_current = number == self.column
            pieces.append((" " * (_GAP + column.width - cell_width(column.head)), ""))
            pieces.append((column.head, "match" if is_current else "dim"))
        hidden = len(self._columns) - len(shown)
        return [*pieces, (self._more(hidden), "dim")]

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the cursor, the value, and its bar and count, or its counts by column."""
        facet = self.items[row]
        cursor: Piece = ("▸ " if row == self.cursor else "  ", "accent")
        if self._columns:
            return [cursor, *self._matrix_row(facet, row, width)]
        bar_width = max(0, min(_MAX_BAR, width - 7 - _MIN_VALUE - self._count_width))
        room = width - 7 - bar_width - self._count_width
        text = pad(value_text(facet.value), max(0, min(self._value_width, room)))
        drawn = bar(facet.count, self._most, bar_width)
        number = f"  {facet.count:>{self._count_width},} "
        return [
            cursor,
            *highlight(text, self.needles),
            (f"  {pad(drawn, bar_width)}", "accent"),
            (number, "dim"),
        ]

    @property
    def _most(self) -> int:
        return self.counts.facets[0][0].count if self.counts and self.counts.facets[0] else 0

    def _matrix_row(self, facet: Facet, row: int, width: int) -> list[Piece]:
        assert self.counts is not None
        text = pad(value_text(facet.value), self._row_width(width))
        pieces = [*highlight(text, self.needles), (" ", "")]
        for number, column in self._in_view(width):
            count = facet.count
            if column.value is not None:
                count = self.counts.cells.get((facet.value, column.value), 0)
            is_current = number == self.column and row == self.cursor
            cell = f"{count:,}" if count else "-"
            sign = "›" if is_current else " "
            style = "strong" if is_current else "dim" if not count or number == 0 else ""
            pieces.append((f"{sign + cell:>{_GAP + column.width}}", style))
        return pieces
