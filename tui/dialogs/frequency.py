"""Show how often the values of a column occur among the rows, with bars or as a matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual.content import Content
from textual.widgets import Static

from spackscope.model.analysis.frequency import Axis, Frequency
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import cell_width, clean, pad
from spackscope.model.index.facets import Facet
from spackscope.model.report.progress import (
    GAP,
    MatrixColumn,
    bar,
    count_width,
    fitting,
    matrix_columns,
    more_text,
    value_text,
    value_width,
)
from spackscope.tui.dialogs.filtered import FilteredBox, ItemRows, Listed
from spackscope.tui.dialogs.report import NamesDialog, ReportDialog
from spackscope.tui.keymap import FREQUENCY, Hint, bindings, hint, hints
from spackscope.tui.widgets.drawing import Piece, highlight

_MAX_VALUE, _MIN_VALUE = 40, 10
"""Cells of the values of the first axis."""
_MAX_BAR = 30
_MAX_HEAD = 16
"""Cells of a head of the matrix."""


class Bars:
    """The values of an axis, each with a bar and its count."""

    def __init__(self, facets: Sequence[Facet]) -> None:
        self._most = facets[0].count if facets else 0
        self._value_width = value_width(facets, _MAX_VALUE)
        self._count_width = count_width(facets)

    @property
    def width(self) -> int:
        """The cells that a row takes where there is room."""
        return 7 + self._value_width + _MAX_BAR + self._count_width

    def pieces(self, rows: ItemRows[Facet], row: int, width: int) -> list[Piece]:
        """Return the cursor, the value, its bar and its count."""
        facet = rows.items[row]
        bar_width = max(0, min(_MAX_BAR, width - 7 - _MIN_VALUE - self._count_width))
        room = width - 7 - bar_width - self._count_width
        text = pad(value_text(facet.value), max(0, min(self._value_width, room)))
        return [
            ("▸ " if row == rows.cursor else "  ", "accent"),
            *highlight(text, rows.needles),
            (f"  {pad(bar(facet.count, self._most, bar_width), bar_width)}", "bar"),
            (f"  {facet.count:>{self._count_width},} ", "dim"),
        ]


class Matrix:
    """The values of an axis, each with its counts by the values of another.

    There are as many columns in view as fit; `move` goes to another, and brings it into view.
    """

    def __init__(self, counts: Frequency) -> None:
        self._cells = counts.cells
        self._value_width = value_width(counts.facets[0], _MAX_VALUE)
        self._columns = matrix_columns(counts, _MAX_HEAD)
        self._current, self._left = 0, 1

    @property
    def width(self) -> int:
        """The cells that a row takes where there is room."""
        return 4 + self._value_width + sum(GAP + column.width for column in self._columns)

    @property
    def value(self) -> str | None:
        """The value of the current column; None in that of the totals."""
        return self._columns[self._current].value

    def move(self, step: int, width: int) -> None:
        """Make the next or previous column the current one, in rows of a width."""
        self._current = max(0, min(self._current + step, len(self._columns) - 1))
        if self._current:
            self._left = min(self._left, self._current)
            while self._current >= self._left + self._fitting(width):
                self._left += 1

    def _text_width(self, width: int) -> int:
        """Return the cells of the values: at most a third where the counts need more."""
        return min(self._value_width, max(_MIN_VALUE, width // 3))

    def _fitting(self, width: int) -> int:
        """Return how many columns are in view beside the total; at least one."""
        room = width - 3 - self._text_width(width) - GAP - self._columns[0].width
        if self._left > 1:
            # The number out of view on the left is shown even where all to the right fit.
            room -= GAP + cell_width(more_text(len(self._columns)))
        widths = [GAP + column.width for column in self._columns[self._left :]]
        return max(1, fitting(widths, room, lambda number: " " * GAP + more_text(number)))

    def _in_view(self, width: int) -> list[tuple[int, MatrixColumn]]:
        """Return the columns in view with their numbers: the total, and then the others."""
        numbers = [0, *range(self._left, self._left + self._fitting(width))]
        return [(n, self._columns[n]) for n in numbers if n < len(self._columns)]

    def head(self, width: int) -> list[Piece]:
        """Return the heads; the current one stands out."""
        pieces: list[Piece] = [(" " * (3 + self._text_width(width)), "")]
        shown = self._in_view(width)
        for number, column in shown:
            pieces.append((" " * (GAP + column.width - cell_width(column.head)), ""))
            pieces.append((column.head, "match" if number == self._current else "dim"))
        more = " " * GAP + more_text(len(self._columns) - len(shown))
        used = sum(cell_width(text) for text, _ in pieces)
        return [*pieces, (more, "dim")] if used + cell_width(more) <= width else pieces

    def pieces(self, rows: ItemRows[Facet], row: int, width: int) -> list[Piece]:
        """Return the cursor, the value, and its counts; the current one has a sign."""
        facet = rows.items[row]
        is_cursor = row == rows.cursor
        pieces = [
            ("▸ " if is_cursor else "  ", "accent"),
            *highlight(pad(value_text(facet.value), self._text_width(width)), rows.needles),
            (" ", ""),
        ]
        for number, column in self._in_view(width):
            count = facet.count
            if column.value is not None:
                count = self._cells.get((facet.value, column.value), 0)
            is_current = is_cursor and number == self._current
            cell = f"{'›' if is_current else ' '}{count or '-':{',' if count else ''}}"
            style = "strong" if is_current else "dim" if not (count and number) else ""
            pieces.append((f"{cell:>{GAP + column.width}}", style))
        return pieces


class Chosen(Frozen):
    """A value of an axis to filter by."""

    axis: Axis
    value: str


CountBy = Callable[["FrequencyDialog"], None]
"""Requests counts by the columns and variants that a dialog names, to be shown in it."""


class FrequencyDialog(ReportDialog[Facet, tuple[Chosen, ...]]):
    """A dialog that is filled once the rows are counted, and returns the values to filter by.

    `names` are what is counted by, and `by` returns the names to count by also. `count` is called
    for counts by two of them, and by one again; `show_counts` shows what was counted.
    """

    PANE = FREQUENCY
    BINDINGS = bindings(FREQUENCY)

    def __init__(
        self,
        name: str,
        label: str,
        by: Callable[[], Sequence[str]],
        count: CountBy,
        start: str | None = None,
    ) -> None:
        self._head = Static(classes="frequency-head")
        self._head.display = False
        listed = Listed("value", lambda facet: value_text(facet.value), self._draw, self._hints)
        super().__init__(FilteredBox(clean(label), listed, self._head))
        self.names: tuple[str, ...] = (name,)
        self._label, self._by = clean(label), by
        self._count_by, self._start = count, start
        self.counts: Frequency | None = None
        self.matrix: Matrix | None = None
        self._bars = Bars(())

    def show_counts(self, counts: Frequency) -> None:
        """Show counts by one axis with bars, or those by two as a matrix."""
        facets = counts.facets[0]
        item = self.box.rows.item
        value = item.value if item is not None else self._start
        self.counts, self._bars = counts, Bars(facets)
        self.matrix = Matrix(counts) if len(counts.axes) > 1 else None
        self._head.display = self.matrix is not None
        self.box.rename(" by ".join(clean(axis.label) for axis in counts.axes))
        self.box.show_items(
            facets,
            next((facet for facet in facets if facet.value == value), None),
            no_items="no spec matches",
            width=(self.matrix or self._bars).width,
        )
        self.call_after_refresh(self._show_head)

    def show_failure(self, sentence: str) -> None:
        """Show why there are no counts."""
        self.box.show_items((), no_items=sentence)

    def _draw(self, rows: ItemRows[Facet], row: int, width: int) -> list[Piece]:
        return (self.matrix or self._bars).pieces(rows, row, width)

    def _hints(self) -> list[Hint]:
        if self.matrix is not None:
            return [each for name, word in _MATRIX_WORDS.items() for each in hint(name, word)]
        return list(hints(FREQUENCY))

    def _show_head(self) -> None:
        width = self.box.rows.size.width
        if self.matrix is not None and width:
            pieces = ((text, _STYLES.get(style, "")) for text, style in self.matrix.head(width))
            self._head.update(Content.assemble(*pieces))

    def on_resize(self) -> None:
        """Show as many heads as now fit."""
        self.call_after_refresh(self._show_head)

    def result(self, item: Facet) -> tuple[Chosen, ...] | None:
        """Return the value of the row, and in a matrix that of the column, if a spec has both."""
        counts, matrix = self.counts, self.matrix
        if counts is None:
            return None
        values: tuple[str, ...] = (item.value,)
        if matrix is not None and matrix.value is not None:
            values = (item.value, matrix.value)
            if values not in counts.cells:
                self.say("No spec has both")
                return None
        return tuple(map(Chosen, counts.axes, values))

    def action_column(self, step: int) -> None:
        """Go to the next or previous column of the matrix."""
        if self.matrix is not None:
            self.matrix.move(step, self.box.rows.size.width)
            self.box.rows.refresh()
            self.box.show_hints()
            self._show_head()

    def action_by(self) -> None:
        """Choose a second column or variant to count by."""
        if self.counts is not None:
            dialog = NamesDialog(f"{self._label} by")
            dialog.show_names([name for name in self._by() if name != self.names[0]])
            self.app.push_screen(dialog, self._count_also)

    def _count_also(self, name: str | None) -> None:
        if name is not None:
            self._count(self.names[0], name)

    def _count(self, *names: str) -> None:
        self.names = names
        self.box.show_counting()
        self._count_by(self)

    def go_back(self) -> None:
        """Go from the matrix to the bars; close the dialog."""
        if self.matrix is None:
            super().go_back()
        else:
            self.matrix = None
            self._count(self.names[0])


_STYLES = {"dim": "dim", "match": "bold underline"}
_MATRIX_WORDS = {
    "frequency-choose": "filter by both",
    "frequency-right": "next column",
    "frequency-by": "by another",
    "frequency-filter": "filter",
    "dialogs-close": "bars",
}
