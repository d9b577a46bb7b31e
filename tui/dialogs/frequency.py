"""Show how often the values of a column occur among the rows, with bars or as a matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from textual import getters
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Static

from spackscope.model.analysis.axes import Axis
from spackscope.model.analysis.frequency import Frequency
from spackscope.model.catalog.facets import Facet
from spackscope.model.core.text import cell_width, clean
from spackscope.tui.dialogs.filtered import MAX_WIDTH, FilteredDialog, ItemRows
from spackscope.tui.dialogs.frequency_rows import FrequencyRows, value_text
from spackscope.tui.keymap import FREQUENCY, bindings
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.highlight import highlight


@dataclass(frozen=True, slots=True)
class Chosen:
    """A value of an axis to filter by."""

    axis: Axis
    value: str


CountBy = Callable[["FrequencyDialog", tuple[str, ...]], None]
"""Requests counts by the columns and variants of some names, to be shown in a dialog."""


class FrequencyDialog(FilteredDialog[tuple[Chosen, ...], Facet]):
    """A dialog that is filled once the rows are counted, and returns the values to filter by.

    `by` are the names to count by also. `count` is called for counts by two of them, and by one
    again; `show_counts` shows what was counted.
    """

    BINDINGS = bindings(FREQUENCY)

    _head = getters.query_one(".frequency-head", Static)

    def __init__(
        self, name: str, label: str, by: Sequence[str], count: CountBy, start: str | None = None
    ) -> None:
        self._bars = FrequencyRows()
        super().__init__(self._bars, clean(label), "value")
        self._axis_name, self._label, self._by = name, clean(label), by
        self._start = start
        self._count_by = count

    @property
    def counts(self) -> Frequency | None:
        """What is shown; None while it is counted."""
        return self._bars.counts

    def above_rows(self) -> Sequence[Widget]:
        """Return the heads of the matrix."""
        return [Static(classes="frequency-head")]

    def show_counts(self, counts: Frequency) -> None:
        """Show counts by one axis or by two."""
        self._bars.show_counts(counts)
        axes = [clean(axis.label) for axis in counts.axes]
        self._heading = " by ".join(axes)
        self.show_items(counts.facets[0], "no spec matches")

    @property
    def height_above(self) -> int:
        """The rows of the heads."""
        return int(self._is_matrix)

    def first(self) -> Facet | None:
        """Return the value that the cursor begins on: that of the row, or that of before."""
        value = self._bars.item.value if self._bars.item is not None else self._start
        return next((facet for facet in self._items or () if facet.value == value), None)

    def width(self) -> int:
        """Return the cells of the widest row; the style sheet keeps the box in the screen."""
        return min(self._bars.natural_width, MAX_WIDTH) if self._bars.counts else 0

    def text(self, item: Facet) -> str:
        """Return a value as it is shown."""
        return value_text(item.value)

    def hints(self) -> list[str]:
        """Return the keys of the bars, or of the matrix."""
        if self._is_matrix:
            return ["⏎ filter by both", "← → column", "x by another", "/ filter", "esc bars"]
        return ["⏎ filter", "x by another column", "/ filter"]

    @property
    def _is_matrix(self) -> bool:
        return self.counts is not None and len(self.counts.axes) > 1

    def show_hints(self) -> None:
        """Show the keys, and the heads of the matrix as far as there is room."""
        super().show_hints()
        self.call_after_refresh(self._show_head)

    def _show_head(self) -> None:
        pieces = self._bars.head(self._bars.size.width)
        self._head.display = self._is_matrix
        self._head.update(
            Content.assemble(*((text, _STYLES.get(style, "")) for text, style in pieces))
        )

    def take(self) -> None:
        """Return the value of the row, and in a matrix that of the column."""
        item, counts = self._bars.item, self.counts
        if item is None or counts is None:
            return
        values = (item.value, *self._bars.column_values)
        if len(values) > 1 and values not in counts.cells:
            self.query_one(".dialog").border_subtitle = Content("No spec has both")
            return
        pairs = zip(counts.axes, values, strict=False)
        self.dismiss(tuple(Chosen(axis, value) for axis, value in pairs))

    def action_column(self, step: int) -> None:
        """Go to the next or previous column of the matrix."""
        if self._is_matrix:
            self._bars.move_column(step)
            self._show_head()

    def action_by(self) -> None:
        """Choose a second column or variant to count by."""
        if self.counts is not None:
            names = [name for name in self._by if name != self._axis_name]
            self.app.push_screen(NamesDialog(f"{self._label} by", names), self._count)

    def _count(self, second: str | None) -> None:
        if second is not None:
            self.show_counting()
            self._count_by(self, (self._axis_name, second))

    def action_close(self) -> None:
        """Close the filter; go from the matrix to the bars; close the dialog."""
        is_filtered = self._filter.value or self._filter.has_focus
        if self._is_matrix and not is_filtered and self._items is not None:
            self.show_counting()
            self._count_by(self, (self._axis_name,))
        else:
            super().action_close()


_STYLES = {"dim": "dim", "match": "bold underline", "strong": "bold"}


class NamesDialog(FilteredDialog[str, str]):
    """A list of columns and variants, of which one is chosen."""

    BINDINGS = bindings(FREQUENCY)

    def __init__(self, heading: str, names: Sequence[str]) -> None:
        super().__init__(NameRows(), heading, "name")
        self.show_items(names, "all specs are the same in the others")

    def text(self, item: str) -> str:
        """Return a name as it is shown."""
        return clean(item)

    def width(self) -> int:
        """Return the cells of the longest name."""
        return min(MAX_WIDTH, max((cell_width(clean(n)) for n in self._items or ()), default=0))

    def hints(self) -> list[str]:
        """Return the keys of the names."""
        return ["⏎ count by it too", "/ filter", "esc back"]

    def take(self) -> None:
        """Return the name under the cursor."""
        if self._rows.item is not None:
            self.dismiss(self._rows.item)

    def action_by(self) -> None:
        """Do nothing: the name is being chosen."""

    def action_column(self, step: int) -> None:
        """Do nothing: there is one column."""


class NameRows(ItemRows[str]):
    """A list of names."""

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the cursor and the name."""
        mark = "▸ " if row == self.cursor else "  "
        return [(mark, "accent"), *highlight(clean(self.items[row]), self.needles)]
