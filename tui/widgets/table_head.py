"""The lines above the rows of the table, and which columns all of them show."""

from __future__ import annotations

from collections.abc import Sequence

from textual.widget import Widget

from spackscope.model.index.view import Sort
from spackscope.tui.widgets.column_header import ColumnHeader, Heads
from spackscope.tui.widgets.column_state import ColumnState
from spackscope.tui.widgets.filter_bar import FilterBar
from spackscope.tui.widgets.head_line import HeadLine
from spackscope.tui.widgets.spec_rows import SpecRows


class TableHead:
    """Keeps head line, heads, filters and rows of a table in one set of columns.

    `before` precedes the values that all rows share, which are `shared_values`.
    """

    def __init__(
        self,
        table: Widget,
        line: HeadLine,
        header: ColumnHeader,
        filters: FilterBar,
        rows: SpecRows,
    ) -> None:
        self.columns = ColumnState()
        self.shared_values: Sequence[tuple[str, str]] = ()
        self.before = ""
        self._table, self._rows = table, rows
        self._line, self._header, self._filters = line, header, filters

    @property
    def column(self) -> str:
        """The current column: that of the filter with the focus, else that of the arrow keys."""
        return self._filters.focused_column or self.columns.current

    def settle(self) -> None:
        """Choose the columns for the rows that are shown."""
        if (listing := self._rows.listing) is not None:
            self.columns.choose(listing, self.shared_values, self._filters.is_filtered)
            self.place()

    def place(self) -> None:
        """Fit the columns into the width, and show them in all lines."""
        rows, columns, gutter = self._rows, self.columns, self._rows.gutter_width
        if rows.listing is None or self._width < 4:
            return
        sort, width = rows.listing.view.sort, self._width - gutter
        filters = self._filters.texts(columns.columns.names)
        layout = columns.lay_out(width, filters, sort)
        rows.placed, rows.column = layout.placed, columns.current
        rows.refresh()
        heads = Heads(layout, gutter, self.column, sort, filters)
        self._header.show(heads)
        head = columns.constant_head(rows.listing)
        self._line.show(head, self.column, self.before, layout.after)
        if (focused := self._filters.focused_column) is not None:
            self._put_filter(focused)

    def _put_filter(self, column: str) -> None:
        """Put the filter that is typed in over the head of its column, or below it."""
        placed = next((each for each in self._rows.placed if each.column.name == column), None)
        if placed is not None:
            header = self._header
            y = header.virtual_region.bottom - 1
            room = self._width
            self._filters.place(self._rows.gutter_width + placed.at, placed.width, room, y)

    def open_filter(self) -> bool:
        """Show the filter of the current column, which becomes a column if it is none.

        Returns False for a column that cannot be filtered.
        """
        column = self.columns.current
        if self._is_note(column):
            return False
        self.columns.keep([column])
        self._filters.open(column)
        self.settle()
        self._put_filter(column)
        return True

    def enter_filter(self) -> None:
        """Go to the filter that was opened."""
        self._filters.enter(self.columns.current)

    def _is_note(self, name: str) -> bool:
        column = self.columns.column(name)
        return column is not None and column.is_note

    def next_filter(self, step: int) -> bool:
        """Open the next or previous filter; return False at the edge, or if none is open."""
        focused = self._filters.focused_column
        if focused is None:
            return False
        self.columns.current = focused
        return self.columns.next_filter(step) and self.open_filter()

    def next_sort(self) -> Sort | None:
        """Return the next sort for the current column: ascending, descending, none."""
        sort = self._rows.listing.view.sort if self._rows.listing else None
        if sort is None or sort.column != self.column:
            return Sort(self.column)
        return None if sort.descending else Sort(self.column, descending=True)

    def refresh(self) -> None:
        """Draw the current column as it is with or without the focus."""
        self._header.refresh()
        self._line.refresh()

    def leave_filter(self) -> None:
        """Remove the filter from the screen, unless it is typed in."""
        if self._filters.close():
            self.settle()

    @property
    def _width(self) -> int:
        return self._table.size.width
