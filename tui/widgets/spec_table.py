"""The table of specs: heads, filters and rows in one set of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget

from spackscope.model.catalog.listing import Listing, Sort
from spackscope.model.catalog.opened_rows import RowRole
from spackscope.model.catalog.rows import Row
from spackscope.model.presentation.table_columns import ColumnChoices
from spackscope.model.query.ast import Query
from spackscope.tui.keymap import SPECS, bindings
from spackscope.tui.widgets.column_header import ColumnHeader, Heads
from spackscope.tui.widgets.column_state import ColumnState
from spackscope.tui.widgets.filter_bar import FilterBar
from spackscope.tui.widgets.filter_input import FilterInput
from spackscope.tui.widgets.head_line import HeadLine
from spackscope.tui.widgets.relaxation_list import Choice, RelaxationList
from spackscope.tui.widgets.row_marks import RowMarks
from spackscope.tui.widgets.row_windows import Windows
from spackscope.tui.widgets.spec_rows import SpecRows
from spackscope.tui.widgets.virtual_list import VirtualList

_RESIZED_BY = 2
"""Cells by which a column is made wider or narrower."""
_MAX_WIDTH = 200


class SpecTable(Vertical):
    """The rows of a listing under heads and filters; posts what the user does with them."""

    BINDINGS = bindings(SPECS)

    pause = 0.4
    """Seconds of typing nothing after which the columns are chosen anew."""

    rows = getters.query_one(SpecRows)
    _relaxations = getters.query_one(RelaxationList)
    _filters = getters.query_one(FilterBar)

    @dataclass
    class Highlighted(Message):
        """Posted when the cursor comes to a row; None if there are no rows."""

        row: Row | None

    @dataclass
    class Chosen(Message):
        """Posted when a row is chosen with Enter or a double click."""

        row: Row

    @dataclass
    class Marked(Message):
        """Posted to mark or unmark a row."""

        row: Row

    @dataclass
    class Closed(Message):
        """Posted to close the opened group of a row."""

        row: Row

    @dataclass
    class ColumnHidden(Message):
        """Posted to hide a column."""

        column: str

    @dataclass
    class ColumnResized(Message):
        """Posted to give a column another width."""

        column: str
        width: int

    class ColumnsRequested(Message):
        """Posted to list all columns."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.columns = ColumnState()
        self._shared: Sequence[tuple[str, str]] = ()
        self._before = ""
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Lay out what all rows share above the heads, and these above the rows."""
        yield HeadLine(id="spec-shared")
        yield ColumnHeader(id="spec-head")
        yield FilterBar(id="spec-filters")
        yield SpecRows(id="spec-rows")
        yield RelaxationList(id="relaxations")

    @property
    def column(self) -> str:
        """The current column: that of the filter with the focus, else that of the arrow keys."""
        return self._filters.focused_column or self.columns.current

    @property
    def shown_list(self) -> VirtualList:
        """The list on the screen: the rows, or what would match instead."""
        return self._relaxations.rows if self._relaxations.display else self.rows

    @property
    def placed_names(self) -> set[str]:
        """The columns that are on the screen."""
        return {placed.column.name for placed in self.rows.placed}

    @property
    def shared(self) -> str:
        """What the head line says that all rows share."""
        return "".join(piece.text for piece in self.query_one(HeadLine).pieces)

    def filter_text(self, column: str) -> str:
        """Return the filter of a column."""
        return self._filters.text(column)

    @property
    def highlighted(self) -> Row | None:
        """The row under the cursor; None if there is none, or it has not been read yet."""
        return self.rows.row(self.rows.cursor)

    def show_listing(
        self,
        listing: Listing,
        shared: Sequence[tuple[str, str]],
        windows: Windows,
        cursor: int,
        empty: str,
        relaxations: Sequence[Choice] = (),
        *,
        before: str = "",
        is_typing: bool = False,
    ) -> None:
        """Show other rows, with the cursor on one of them.

        `windows` are rows that were read with the listing: those around the cursor, or none.
        Without rows `empty` says why, and `relaxations` are offered. `shared` are the values of
        all rows, and `before` comes before them. While a query is typed the columns stay until
        there is a pause.
        """
        self._shared, self._before = shared, before
        self.rows.show_listing(listing, windows, cursor, empty)
        self._show_relaxations(empty, relaxations)
        self._stop_timer()
        if is_typing and self.columns.columns.all:
            self._timer = self.set_timer(self.pause, self.settle)
            self._place()
        else:
            self.settle()
        self._tell_highlighted()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer = None

    def settle(self) -> None:
        """Choose the columns for the rows that are shown."""
        self._stop_timer()
        if (listing := self.rows.listing) is not None:
            self.columns.choose(listing, self._shared, self._filters.is_filtered)
            self._place()

    def show_choices(self, choices: ColumnChoices) -> None:
        """Hide and resize columns as the user chose."""
        self.columns.choices = choices
        self.settle()

    def show_ways_out(self, reason: str, choices: Sequence[Choice]) -> None:
        """Show why there are no rows, and what to do about it if there is something."""
        self.rows.show(0, empty=reason)
        self._show_relaxations(reason, choices)

    def _show_relaxations(self, reason: str, relaxations: Sequence[Choice]) -> None:
        """Show relaxations in the place of the rows if there are any; the focus goes along."""
        before = self.shown_list
        self._relaxations.show(reason, relaxations)
        self._relaxations.display = bool(relaxations)
        self.rows.display = not relaxations
        if before.has_focus and self.shown_list is not before:
            self.shown_list.focus()

    def reflect(self, query: Query, typed_in: Widget | None) -> None:
        """Show a query in all filters except the one that is typed in."""
        self._filters.reflect(query, typed_in)

    def show_marks(self, marks: RowMarks) -> None:
        """Show which rows are marked."""
        self.rows.marks = marks
        self.rows.refresh()

    def _place(self) -> None:
        """Fit the columns into the width, and show them in all lines."""
        rows, columns, gutter = self.rows, self.columns, self.rows.gutter_width
        if rows.listing is None or self.size.width < 4:
            return
        sort, width = rows.listing.view.sort, self.size.width - gutter
        filters = self._filters.texts(columns.columns.names)
        layout = columns.lay_out(width, filters, sort)
        rows.placed, rows.column = layout.placed, columns.current
        rows.refresh()
        heads = Heads(layout, gutter, self.column, sort, filters)
        self.query_one(ColumnHeader).show(heads)
        head = columns.constant_head(rows.listing)
        self.query_one(HeadLine).show(head, self.column, self._before, layout.after)
        if (focused := self._filters.focused_column) is not None:
            self._put_filter(focused)

    def _put_filter(self, column: str) -> None:
        """Put the filter that is typed in over the head of its column, or below it."""
        placed = next((each for each in self.rows.placed if each.column.name == column), None)
        if placed is not None:
            header = self.query_one(ColumnHeader)
            y = header.virtual_region.bottom - 1
            room = self.size.width
            self._filters.place(self.rows.gutter_width + placed.at, placed.width, room, y)

    def on_resize(self) -> None:
        """Fit the columns into the new width."""
        self._place()

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

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _show_focus(self) -> None:
        """Tint the current column while the table has the focus."""
        self.query_one(ColumnHeader).refresh()
        self.query_one(HeadLine).refresh()

    @on(events.DescendantBlur)
    def _close_filter(self) -> None:
        """Remove a filter from the screen once it is left, but not if another window comes up."""
        if self.app.app_focus:
            self.call_after_refresh(self._leave_filter)

    def _leave_filter(self) -> None:
        if self._filters.close():
            self.settle()

    def action_choose(self) -> None:
        """Choose the row under the cursor."""
        self.rows.action_choose()

    def action_mark(self) -> None:
        """Mark the row under the cursor, and go on to the next."""
        if (row := self.highlighted) is not None:
            self.post_message(self.Marked(row))
            self.rows.action_move(1)

    def action_column(self, step: int) -> None:
        """Make the next or previous column the current one; before the first, close the group."""
        row, columns = self.highlighted, self.columns
        is_first = columns.current == columns.columns.names[0]
        if step < 0 and is_first and row is not None and row.role is not RowRole.SPEC:
            self.post_message(self.Closed(row))
        elif columns.move(step):
            self._place()

    def action_hide_column(self) -> None:
        """Hide the current column."""
        if not self.columns.is_in_head:
            self.post_message(self.ColumnHidden(self.column))

    def action_resize_column(self, step: int) -> None:
        """Make the current column wider or narrower."""
        placed = next((p for p in self.rows.placed if p.column.name == self.column), None)
        if placed is not None:
            width = max(1, min(placed.width + step * _RESIZED_BY, _MAX_WIDTH))
            self.post_message(self.ColumnResized(self.column, width))

    def action_list_columns(self) -> None:
        """Show all columns, to bring one back or to go to it."""
        self.post_message(self.ColumnsRequested())

    def go_to_column(self, column: str) -> None:
        """Make a column the current one."""
        self.columns.current = column
        self.settle()

    def next_filter(self, step: int) -> bool:
        """Open the next or previous filter; return False at the edge, or if none is open."""
        focused = self._filters.focused_column
        if focused is None:
            return False
        self.columns.current = focused
        return self.columns.next_filter(step) and self.open_filter()

    def next_sort(self) -> Sort | None:
        """Return the next sort for the current column: ascending, descending, none."""
        sort = self.rows.listing.view.sort if self.rows.listing else None
        if sort is None or sort.column != self.column:
            return Sort(self.column)
        return None if sort.descending else Sort(self.column, descending=True)

    @on(ColumnHeader.Clicked)
    def _head_clicked(self, event: ColumnHeader.Clicked) -> None:
        self.columns.current = event.column
        self._place()

    @on(HeadLine.Clicked)
    def _value_clicked(self, event: HeadLine.Clicked) -> None:
        self.columns.current = event.column
        self._place()

    @on(FilterInput.Done)
    def _filter_done(self, event: FilterInput.Done) -> None:
        event.stop()
        self.columns.current = event.input.name or self.columns.current
        self.shown_list.focus()

    @on(SpecRows.Highlighted)
    def _row_highlighted(self, event: SpecRows.Highlighted) -> None:
        event.stop()
        self._tell_highlighted()

    def _tell_highlighted(self) -> None:
        """Post the row under the cursor, once it has been read."""
        if not self.rows.is_waiting:
            self.post_message(self.Highlighted(self.highlighted))

    @on(SpecRows.Chosen)
    def _row_chosen(self, event: SpecRows.Chosen) -> None:
        event.stop()
        if (row := self.highlighted) is not None:
            self.post_message(self.Chosen(row))
