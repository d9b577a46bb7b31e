"""The table of specs: heads, filters and rows in one set of columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from spackscope.model.assist.relaxations import Relaxation
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
from spackscope.tui.widgets.note_columns import NoteColumns, note_columns
from spackscope.tui.widgets.relaxation_list import RelaxationList
from spackscope.tui.widgets.row_marks import RowMarks
from spackscope.tui.widgets.row_windows import Windows
from spackscope.tui.widgets.spec_rows import SpecRows
from spackscope.tui.widgets.virtual_list import VirtualList

_MAX_KINDS = len("99 kinds")

_MIN_FILTER_WIDTH = 6
"""Cells that a column keeps so that its filter can be typed in."""


class SpecTable(Vertical):
    """The rows of a listing under heads and filters; posts what the user does with them."""

    BINDINGS = bindings(SPECS)

    rows = getters.query_one(SpecRows)
    _relaxations = getters.query_one(RelaxationList)

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
    class Placed(Message):
        """Posted when other columns came on the screen."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._columns: Sequence[Column] = [c for c in COLUMNS if c.shown == "always"]
        self._natural: dict[str, int] = {}
        self._varying: Collection[str] = ()
        self._scope: object = ()
        self._arrangement: object = None
        self._column = "hash"
        self.shared = ""

    def compose(self) -> ComposeResult:
        """Lay out the heads above the filters, and these above the rows."""
        yield Static(id="spec-shared")
        yield ColumnHeader(id="spec-head")
        yield FilterBar(id="spec-filters")
        yield SpecRows(id="spec-rows")
        yield RelaxationList(id="relaxations")

    @property
    def column(self) -> str:
        """The current column: that of the filter with the focus, else that of the arrow keys."""
        return self.query_one(FilterBar).focused_column or self._column

    @property
    def shown_list(self) -> VirtualList:
        """The list on the screen: the rows, or what would match instead."""
        return self._relaxations.rows if self._relaxations.display else self.rows

    @property
    def placed_names(self) -> set[str]:
        """The columns that are on the screen."""
        return {placed.column.name for placed in self.rows.placed}

    @property
    def highlighted(self) -> Row | None:
        """The row under the cursor; None if there is none, or it has not been read yet."""
        return self.rows.row(self.rows.cursor)

    def show_listing(
        self,
        listing: Listing,
        columns: Sequence[Column],
        varying: Collection[str],
        windows: Windows,
        cursor: int,
        empty: str,
        relaxations: Sequence[Relaxation] = (),
    ) -> None:
        """Show other rows, with the cursor on one of them.

        `windows` are rows that were read with the listing: those around the cursor, or none.
        Without rows `empty` says why, and `relaxations` are offered.
        Columns keep their width while a filter is typed, and may grow.
        """
        scope = listing.view.query.package_term
        if scope != self._scope:
            self._scope, self._natural = scope, {}
        sort = listing.view.sort
        for name, width in listing.widths.items():
            has_arrow = sort is not None and sort.column == name
            floor = max(len(BY_NAME[name].label) + has_arrow, _MIN_FILTER_WIDTH)
            self._natural[name] = max(width, floor, self._natural.get(name, 0))
        if listing.counts is not None and listing.lists_dependencies:
            # Instead of the hash of folded rows there is the number of their kinds.
            kinds = len(f"{max(listing.counts, default=0)} kinds")
            self._natural["hash"] = max(self._natural["hash"], min(kinds, _MAX_KINDS))
        self._columns, self._varying = columns, varying
        if self._column not in {column.name for column in columns}:
            self._column = columns[0].name
        self.rows.show_listing(listing, windows, cursor, empty)
        self._show_relaxations(empty, relaxations)
        self._place()
        self._tell_highlighted()

    def _show_relaxations(self, reason: str, relaxations: Sequence[Relaxation]) -> None:
        """Show relaxations in the place of the rows if there are any; the focus goes along."""
        before = self.shown_list
        self._relaxations.show(reason, relaxations)
        self._relaxations.display = bool(relaxations)
        self.rows.display = not relaxations
        if before.has_focus and self.shown_list is not before:
            self.shown_list.focus()

    def show_shared(self, text: str) -> None:
        """Show what all rows have in common, above the heads."""
        if text != self.shared:
            self.shared = text
            self.query_one("#spec-shared", Static).update(Content(text), layout=False)

    def reflect(self, query: Query, typed_in: Widget | None) -> None:
        """Show a query in all filters except the one that is typed in."""
        self.query_one(FilterBar).reflect(query, typed_in)

    def show_marks(self, marks: RowMarks) -> None:
        """Show which rows are marked."""
        self.rows.marks = marks
        self.rows.refresh()

    def _place(self) -> None:
        """Fit the columns into the width, unless nothing changed that matters for it."""
        rows, gutter = self.rows, self.rows.gutter_width
        if rows.listing is None or self.size.width < 4:
            return
        sort, width = rows.listing.view.sort, self.size.width - gutter
        natural = dict(self._natural)
        is_folded = rows.listing.counts is not None
        arrangement = (
            *(self._columns, natural, self._varying, self._column, sort, gutter, width),
            is_folded,
        )
        if arrangement == self._arrangement:
            return
        self._arrangement = arrangement
        names = [column.name for column in self._columns]
        constant = set(names) - set(self._varying)
        current = names.index(self._column)
        is_told, is_opened = rows.listing.lists_dependencies, rows.listing.roles is not None
        widths = note_columns(width, is_told=is_told, is_opened=is_opened)
        for notes in widths if is_folded else [NoteColumns()]:
            room = width - notes.total
            layout = lay_out(self._columns, natural, room, constant=constant, current=current)
            if not layout.before and not layout.after:
                break
        old_names, rows.placed = self.placed_names, layout.placed
        rows.note_columns = notes.widened(room - layout.width) if is_told else notes
        if self.placed_names != old_names:
            self.post_message(self.Placed())
        rows.refresh()
        self.query_one(FilterBar).place(layout.placed, gutter)
        header = self.query_one(ColumnHeader)
        header.show(layout, gutter, self._column, sort, rows.note_columns)

    def on_resize(self) -> None:
        """Fit the columns into the new width."""
        self._place()

    def focus_filter(self) -> None:
        """Go to the filter of the current column."""
        self.query_one(FilterBar).focus_on(self._column)

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
        row = self.highlighted
        if not self._move_column(step) and step < 0 and row is not None:
            self.post_message(self.Closed(row))

    def _move_column(self, step: int) -> bool:
        """Make the next or previous column the current one; return False at the edge."""
        names = [column.name for column in self._columns]
        index = names.index(self._column) + step
        if not 0 <= index < len(names):
            return False
        self._column = names[index]
        self._place()
        return True

    def next_filter(self, step: int) -> bool:
        """Go to the next or previous filter; return False at the edge, or if no filter is open."""
        focused = self.query_one(FilterBar).focused_column
        if focused is None:
            return False
        self._column = focused
        if not self._move_column(step):
            return False
        self.focus_filter()
        return True

    def next_sort(self) -> Sort | None:
        """Return the next sort for the current column: ascending, descending, none."""
        sort = self.rows.listing.view.sort if self.rows.listing else None
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
        self.shown_list.focus()
        self._place()

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
