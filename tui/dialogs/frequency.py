"""Show how often the values of a column occur among the rows, with bars or as a matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from spackscope.model.analysis.frequency import Axis, Frequency
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import cell_width, clean
from spackscope.model.index.facets import Facet
from spackscope.model.report.progress import value_text
from spackscope.tui.dialogs.base import Dialog
from spackscope.tui.dialogs.filtered import FilteredBox, ItemRows, Listed
from spackscope.tui.dialogs.frequency_rows import Bars, Matrix
from spackscope.tui.keymap import FREQUENCY, Hint, bindings, hint, hints
from spackscope.tui.widgets.drawing import Piece, highlight
from spackscope.tui.widgets.query_line import FilterInput
from spackscope.tui.widgets.virtual_list import VirtualList


class Chosen(Frozen):
    """A value of an axis to filter by."""

    axis: Axis
    value: str


CountBy = Callable[["FrequencyDialog"], None]
"""Requests counts by the columns and variants that a dialog names, to be shown in it."""


class FrequencyDialog(Dialog[tuple[Chosen, ...]]):
    """A dialog that is filled once the rows are counted, and returns the values to filter by.

    `names` are what is counted by, and `by` returns the names to count by also. `count` is called
    for counts by two of them, and by one again; `show_counts` shows what was counted.
    """

    AUTO_FOCUS = "ItemRows"
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
        super().__init__()
        self.names: tuple[str, ...] = (name,)
        self._label, self._by = clean(label), by
        self._count_by, self._start = count, start
        self._head = Static(classes="frequency-head")
        self._head.display = False
        listed = Listed("value", lambda facet: value_text(facet.value), self._draw, self._hints)
        self.box: FilteredBox[Facet] = FilteredBox(self._label, listed, self._head)
        self.counts: Frequency | None = None
        self.matrix: Matrix | None = None
        self._bars = Bars(())

    def compose(self) -> ComposeResult:
        """Lay out the box."""
        yield self.box

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Check whether what is typed next must wait until the rows are counted."""
        return self.box.is_behind(event)

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

    @on(VirtualList.Chosen)
    def action_take(self) -> None:
        """Return the value of the row, and in a matrix that of the column."""
        item, counts, matrix = self.box.rows.item, self.counts, self.matrix
        if item is None or counts is None:
            return
        values: tuple[str, ...] = (item.value,)
        if matrix is not None and matrix.value is not None:
            values = (item.value, matrix.value)
            if values not in counts.cells:
                self.say("No spec has both")
                return
        pairs = zip(counts.axes, values, strict=False)
        self.dismiss(tuple(Chosen(axis, value) for axis, value in pairs))

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

    def action_focus_filter(self) -> None:
        """Go to the filter."""
        self.box.focus_filter()

    @on(FilterInput.GivenUp)
    def action_close(self) -> None:
        """Close the filter; go from the matrix to the bars; close the dialog."""
        if self.box.close_filter():
            return
        if self.matrix is None:
            super().action_close()
        else:
            self.matrix = None
            self._count(self.names[0])


_STYLES = {"dim": "dim", "match": "bold underline"}


class NamesDialog(Dialog[str]):
    """A list of columns and variants, of which one is chosen."""

    AUTO_FOCUS = "ItemRows"
    BINDINGS = bindings(FREQUENCY)

    def __init__(self, heading: str) -> None:
        super().__init__()
        listed = Listed("name", clean, _name_pieces, _name_hints)
        self._box: FilteredBox[str] = FilteredBox(heading, listed)

    def show_names(self, names: Sequence[str]) -> None:
        """Show names; the cursor stays on its own."""
        width = max((cell_width(clean(name)) for name in names), default=0)
        no_items = "all specs are the same in the others"
        self._box.show_items(names, self._box.rows.item, no_items=no_items, width=width)

    def compose(self) -> ComposeResult:
        """Lay out the box."""
        yield self._box

    @on(VirtualList.Chosen)
    def action_take(self) -> None:
        """Return the name under the cursor."""
        if self._box.rows.item is not None:
            self.dismiss(self._box.rows.item)

    def action_by(self) -> None:
        """Do nothing: the name is being chosen."""

    def action_column(self, step: int) -> None:
        """Do nothing: there is one column."""

    def action_focus_filter(self) -> None:
        """Go to the filter."""
        self._box.focus_filter()

    @on(FilterInput.GivenUp)
    def action_close(self) -> None:
        """Close the filter; if none is open, go back to the counts."""
        if not self._box.close_filter():
            super().action_close()


_MATRIX_WORDS = {
    "frequency-choose": "filter by both",
    "frequency-right": "next column",
    "frequency-by": "by another",
    "frequency-filter": "filter",
    "dialogs-close": "bars",
}
_NAME_WORDS = {
    "frequency-choose": "count by it",
    "frequency-filter": "filter",
    "dialogs-close": "back",
}


def _name_hints() -> list[Hint]:
    return [each for name, word in _NAME_WORDS.items() for each in hint(name, word)]


def _name_pieces(rows: ItemRows[str], row: int, width: int) -> list[Piece]:
    mark = "▸ " if row == rows.cursor else "  "
    return [(mark, "accent"), *highlight(clean(rows.items[row]), rows.needles)]
