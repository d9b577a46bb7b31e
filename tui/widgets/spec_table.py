"""The table of specs: heads, filters and rows in one set of columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget

from spackscope.model.catalog.listing import Listing, Sort
from spackscope.model.catalog.rows import Row
from spackscope.model.core.column import Column
from spackscope.model.core.columns import BY_NAME, COLUMNS
from spackscope.model.presentation.column_layout import lay_out
from spackscope.model.query.ast import Query
from spackscope.tui.keymap import SPECS, bindings
from spackscope.tui.widgets.column_header import ColumnHeader
from spackscope.tui.widgets.filter_bar import FilterBar
from spackscope.tui.widgets.filter_input import FilterInput
from spackscope.tui.widgets.row_windows import Windows
from spackscope.tui.widgets.spec_rows import SpecRows

_LEAST_FILTER = 6
"""Cells that a column keeps so that its filter can be typed in."""


class SpecTable(Vertical):
    """Show a listing; the screen hands it down, the table says what the user does with it."""

    BINDINGS = bindings(SPECS)

    @dataclass
    class Highlighted(Message):
        """Tell which row the cursor is on; None where there is none."""

        row: Row | None

    @dataclass
    class Chosen(Message):
        """Tell which row Enter took."""

        row: Row

    @dataclass
    class Marked(Message):
        """Tell which row is to be marked, or to lose its mark."""

        row: Row

    @dataclass
    class Unmarked(Message):
        """Tell that all marks are to go."""

    @dataclass
    class Placed(Message):
        """Tell that other columns are on the screen than before."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._columns: Sequence[Column] = [
            column for column in COLUMNS if column.shown == "always"
        ]
        self._natural: dict[str, int] = {column.name: 7 for column in COLUMNS}
        self._telling: Collection[str] = ()
        self._scope: object = ()
        self._listing: Listing | None = None
        self._column = "hash"

    def compose(self) -> ComposeResult:
        """Put the heads above the filters above the rows."""
        yield ColumnHeader(id="spec-head")
        yield FilterBar(id="spec-filters")
        yield SpecRows(id="spec-rows")

    @property
    def rows(self) -> SpecRows:
        """The list of rows."""
        return self.query_one(SpecRows)

    @property
    def column(self) -> str:
        """Name the current column: that of the filter in use, else that of the arrows."""
        return self.query_one(FilterBar).focused_column or self._column

    @property
    def placed_names(self) -> set[str]:
        """Name the columns that are on the screen."""
        return {placed.column.name for placed in self.rows.placed}

    @property
    def highlighted(self) -> Row | None:
        """The row under the cursor; None if there is none, or it has not been read yet."""
        return self.rows.row(self.rows.cursor)

    def show_listing(
        self,
        listing: Listing,
        columns: Sequence[Column],
        telling: Collection[str],
        windows: Windows,
        cursor: int,
        empty: str,
    ) -> None:
        """Show other rows, with the cursor on one of them.

        `windows` are rows that were read with the listing: those around the cursor, or none.
        Columns keep their width while a filter is typed, and may grow.
        """
        scope = listing.view.query.package_term
        if scope != self._scope:
            self._scope, self._natural = scope, {}
        for name, width in listing.widths.items():
            floor = max(len(BY_NAME[name].label), _LEAST_FILTER)
            self._natural[name] = max(width, floor, self._natural.get(name, 0))
        self._listing, self._columns, self._telling = listing, columns, telling
        if self._column not in {column.name for column in columns}:
            self._column = columns[0].name
        self.rows.show_listing(listing, windows, cursor, empty)
        self._place()
        self.reflect(listing.view.query, self.screen.focused)
        self._tell_highlighted()

    def take_rows(self, listing: Listing, windows: Windows) -> None:
        """Show rows that were asked for with SpecRows.RowsNeeded."""
        self.rows.take_rows(listing, windows)

    def reflect(self, query: Query, typed_in: Widget | None) -> None:
        """Show a query in the filters, but for the one that is being typed in."""
        self.query_one(FilterBar).reflect(query, typed_in)

    def show_marks(self, marks: Collection[str]) -> None:
        """Show which hashes are marked."""
        self.rows.marks = marks
        self.rows.refresh()

    def _place(self) -> None:
        rows = self.rows
        if self._listing is None or self.size.width < 4:
            return
        width = self.size.width - rows.gutter_width
        names = [column.name for column in self._columns]
        placed, before, behind = lay_out(
            self._columns,
            self._natural,
            width,
            constant={column.name for column in self._columns} - set(self._telling),
            current=names.index(self._column),
        )
        if {column.column for column in placed} != {column.column for column in rows.placed}:
            self.post_message(self.Placed())
        rows.placed = placed
        rows.refresh()
        self.query_one(FilterBar).place(placed, rows.gutter_width)
        self.query_one(ColumnHeader).show(
            placed, rows.gutter_width, self._column, self._listing.view.sort, (before, behind)
        )

    def on_resize(self) -> None:
        """Give the columns the new width."""
        self._place()

    def focus_filter(self) -> None:
        """Let the user type in the filter of the current column."""
        self.query_one(FilterBar).focus_on(self._column)

    def action_choose(self) -> None:
        """Take the row under the cursor."""
        self.rows.action_choose()

    def action_mark(self) -> None:
        """Mark the row under the cursor, and go on to the next."""
        if (row := self.highlighted) is not None:
            self.post_message(self.Marked(row))
            self.rows.action_move(1)

    def action_unmark(self) -> None:
        """Take all marks away."""
        self.post_message(self.Unmarked())

    def action_column(self, step: int) -> None:
        """Go to the column beside the current one."""
        self.next_column(step)

    def next_column(self, step: int) -> bool:
        """Make the column beside the current one; False at the edge."""
        names = [column.name for column in self._columns]
        at = names.index(self._column) + step
        if not 0 <= at < len(names):
            return False
        self._column = names[at]
        self._place()
        return True

    def next_filter(self, step: int) -> bool:
        """Go to the filter beside the one in use; False where none is in use, or at the edge."""
        focused = self.query_one(FilterBar).focused_column
        if focused is None:
            return False
        self._column = focused
        if not self.next_column(step):
            return False
        self.focus_filter()
        return True

    def next_sort(self) -> Sort | None:
        """Give the order that comes after the present one for the current column."""
        sort = self._listing.view.sort if self._listing else None
        if sort is None or sort.column != self.column:
            return Sort(self.column)
        return None if sort.descending else Sort(self.column, descending=True)

    @on(ColumnHeader.Clicked)
    def _head_clicked(self, event: ColumnHeader.Clicked) -> None:
        self._column = event.column
        self._place()

    @on(FilterInput.Done)
    def _filter_done(self, event: FilterInput.Done) -> None:
        event.stop()
        self._column = event.input.name or self._column
        self.rows.focus()
        self._place()

    @on(SpecRows.Highlighted)
    def _row_highlighted(self, event: SpecRows.Highlighted) -> None:
        event.stop()
        self._tell_highlighted()

    def _tell_highlighted(self) -> None:
        """Tell which row is under the cursor; what is on its way is told when it is there."""
        if not self.rows.is_waiting:
            self.post_message(self.Highlighted(self.highlighted))

    @on(SpecRows.Chosen)
    def _row_chosen(self, event: SpecRows.Chosen) -> None:
        event.stop()
        if (row := self.highlighted) is not None:
            self.post_message(self.Chosen(row))
