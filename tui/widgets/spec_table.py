"""The table of specs: rows under heads and filters, or what to do where there are none."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from spackscope.model.assist.answers import Relaxation
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.text import cell_width, clean, pad, wrap_cut
from spackscope.model.index.rows import Row
from spackscope.model.index.view import RowRole, Sort
from spackscope.model.report.report import Piece
from spackscope.model.report.sheet import Sheet, table_columns
from spackscope.model.report.table_columns import MIN_WITH_SLOTS
from spackscope.tui.keymap import RELAXATIONS, SPECS, bindings, written_key
from spackscope.tui.process.textual_internals import Fitted
from spackscope.tui.widgets.query_line import FilterInput
from spackscope.tui.widgets.sheet_rows import GUTTER, SheetFilters, SheetRows
from spackscope.tui.widgets.spec_rows import RowMarks, SpecRows, Windows
from spackscope.tui.widgets.table_head import ColumnHeader, ColumnState, FilterBar, HeadLine, Heads
from spackscope.tui.widgets.virtual_list import Browse, VirtualList

if TYPE_CHECKING:
    from spackscope.model.index.listing import Listing


_MAX_NOTES, _LEAST_FOR_GAPS = 4, 2
"""Lines of the title and the notes of a sheet, and on low screens of what it could not know."""
_MAX_MEASURED = 1_000
"""Rows of a sheet whose cells are measured: of more the columns are as wide as for these."""


class KeyChoice(Frozen):
    """A key that can be pressed instead, as Textual names it and as it is shown."""

    label: str
    key: str
    shown: str
    count: int | None = None


Choice = Relaxation | KeyChoice


class RelaxationRows(VirtualList):
    """Relaxations with their counts, or keys that help; the owner sets them."""

    BINDINGS = bindings(RELAXATIONS)

    relaxations: Sequence[Choice] = ()

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the cursor, what to do, the count of what that gives, and its key."""
        counts = [f"{each.count:,}" if each.count is not None else "" for each in self.relaxations]
        keys = [written_key(e.shown) if isinstance(e, KeyChoice) else "" for e in self.relaxations]
        count_width, key_width = max(map(len, counts)), max(map(cell_width, keys))
        widest = max(cell_width(each.label) for each in self.relaxations)
        room = width - count_width - key_width - 7
        label = pad(self.relaxations[row].label, max(0, min(widest, room)))
        return [
            ("▸ " if row == self.cursor else "  ", "accent"),
            (label, ""),
            (f"  {counts[row]:>{count_width}} ", "dim"),
            (f" {pad(keys[row], key_width)} " if key_width else "", "accent"),
        ]


class RelaxationList(Vertical):
    """Why there are no rows, above what to do about it."""

    rows = getters.query_one(RelaxationRows)

    def compose(self) -> ComposeResult:
        """Lay out the reason above the rows."""
        yield Static(classes="relaxation-reason")
        yield RelaxationRows(id="relaxation-rows")

    def show(self, reason: str, choices: Sequence[Choice]) -> None:
        """Show other choices, with the cursor on the best."""
        first, *others = map(clean, reason.split("\n"))
        lines = [Content(first), *(Content.styled(line, "dim") for line in others)]
        self.query_one(Static).update(Content("\n").join(lines))
        self.rows.relaxations = choices
        self.rows.show(len(choices))

    @on(VirtualList.Chosen)
    def _take(self, event: VirtualList.Chosen) -> None:
        event.stop()
        choice = self.rows.relaxations[event.row]
        if isinstance(choice, KeyChoice):
            self.app.simulate_key(choice.key)
        else:
            self.post_message(Browse("relax", choice))


class SpecTable(Vertical, Fitted):
    """The rows of a listing or of a sheet under heads and filters.

    It posts what the user does with them.
    """

    BINDINGS = bindings(SPECS)

    _relaxations = getters.query_one(RelaxationList)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.line = HeadLine(id="spec-shared")
        self.header = ColumnHeader(id="spec-head")
        self.filters = FilterBar(id="spec-filters")
        self.rows = SpecRows(id="spec-rows")
        self._columns = ColumnState()
        self.shows_sheet = False
        self.notes, self.reading = Static(classes="sheet-notes"), Static(classes="sheet-reading")
        self.sheet_filters = SheetFilters(id="sheet-filters")
        self.sheet_rows = SheetRows(id="sheet-rows")
        self.sheet_row: Row | None = None
        """The row of the index that the row of a sheet is about, once it is read."""
        self.awaits_sheet_row = False
        self._gaps = self._title = self._notes = ""
        self._sheet_columns, self._sheet_sort = ColumnState(), cast("Sort | None", None)
        # The values that all rows share, and what precedes them.
        self._shared: Sequence[tuple[str, str]] = ()
        self._before = ""
        self._has_slots = self._has_relaxations = False

    def compose(self) -> ComposeResult:
        """Lay out what all rows share above the heads, and these above the rows."""
        yield self.line
        yield self.header
        yield self.filters
        yield self.rows
        yield RelaxationList(id="relaxations")

    @property
    def columns(self) -> ColumnState:
        """The columns of the rows on the screen."""
        return self._sheet_columns if self.shows_sheet else self._columns

    @property
    def bar(self) -> FilterBar:
        """The filters of these columns."""
        return self.sheet_filters if self.shows_sheet else self.filters

    @property
    def column(self) -> str:
        """The current column: that of the filter with the focus, else that of the arrow keys."""
        return self.bar.focused_column or self.columns.current

    @property
    def sort(self) -> Sort | None:
        """The order of the rows."""
        if self.shows_sheet:
            return self._sheet_sort
        return self.rows.listing.view.sort if self.rows.listing else None

    @property
    def shown_list(self) -> VirtualList:
        """The list on the screen: the rows, the rows of a sheet, or queries that would match."""
        if self.shows_sheet:
            return self.sheet_rows
        return self._relaxations.rows if self._has_relaxations else self.rows

    @property
    def highlighted(self) -> Row | None:
        """The row under the cursor; None if there is none, or it has not been read yet."""
        return self.sheet_row if self.shows_sheet else self.rows.row(self.rows.cursor)

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
        all rows, and `before` comes before them. While a query is typed the columns stay.
        """
        self._shared, self._before = shared, before
        self.rows.show_listing(listing, windows, cursor, empty)
        self._show_relaxations(empty, relaxations)
        if is_typing and self._columns.columns.all:
            self.place(keeps_gutter=True)
        else:
            self.settle()
        self.tell_highlighted()

    def show_sheet(
        self,
        whole: Sheet[Any] | None,
        sheet: Sheet[Any] | None,
        empty: str,
        *,
        filters: Mapping[str, str],
        sort: Sort | None,
        hidden: Collection[str],
        cursor: int,
        column: str = "",
    ) -> None:
        """Show the rows of a sheet, with the cursor on one; without a sheet why there is none.

        The cursor stays in its column, unless one is named. Columns are as wide as the `whole`
        sheet needs, so that they stay while a filter is typed.
        """
        self._switch_to(is_sheet=True)
        self.sheet_filters.patterns = self.sheet_rows.filters = filters
        self._sheet_sort = sort
        if sheet is not None and sort is not None:
            sheet = replace(sheet, group=lambda item: "")
        columns = sheet.columns if sheet is not None else ()
        # What the headings say needs no column.
        left_out = {*hidden, *(sheet.told if sheet is not None and sort is None else ())}
        shown = [each for each in columns if each.drawn and each.name not in left_out]
        self.sheet_rows.columns = {each.name: each for each in shown}
        measured = whole.rows[:_MAX_MEASURED] if whole is not None else ()
        cells = ([each.text(each.value(item)) for each in shown] for item in measured)
        of_specs = next((each.name for each in shown if each.hash), "")
        self.columns.show(table_columns(shown, cells), column or self.columns.current, of_specs)
        notes = [*sheet.remarks, *sheet.notes] if sheet is not None else []
        self._gaps = " · ".join(map(clean, sheet.gaps)) if sheet is not None else ""
        self._title = clean(sheet.title) if sheet is not None else ""
        self._notes = " · ".join(map(clean, notes))
        self.sheet_rows.show_sheet(sheet, cursor, empty)
        self.place()
        self.tell_highlighted()

    def show_rows_again(self) -> None:
        """Show the rows of the listing in the place of a sheet."""
        self._switch_to(is_sheet=False)
        self.tell_highlighted()

    def _switch_to(self, *, is_sheet: bool) -> None:
        """Show a sheet, or the rows; the focus goes along."""
        if is_sheet and not self.sheet_rows.is_attached:
            # What an answer says stands above its rows, what their cells do not show below them.
            self.mount(self.notes, before=self.line)
            self.mount(self.sheet_filters, before=self.rows)
            self.mount(self.sheet_rows, self.reading)
        before, self.shows_sheet = self.shown_list, is_sheet
        self.set_class(is_sheet, "-sheet")
        self._show_list(before)
        if not is_sheet:
            self.place()

    def settle(self) -> None:
        """Choose the columns for the rows shown; while a filter has the focus they stay."""
        is_column = self._columns.current in self._columns.columns.names
        if self.shows_sheet:
            self.place()
        elif is_column and self.filters.focused_column is not None:
            self.place(keeps_gutter=True)
        elif (listing := self.rows.listing) is not None:
            self._has_slots = self.app.size.width >= MIN_WITH_SLOTS
            self._columns.choose(
                listing, self._shared, self.filters.is_filtered, has_slots=self._has_slots
            )
            self.place()

    def place(self, *, keeps_gutter: bool = False) -> None:
        """Fit the columns into the width, and show them in all lines.

        With `keeps_gutter` they do not come nearer to the edge where counts are shorter.
        """
        rows, columns, width = self.rows, self.columns, self.size.width
        gutter = GUTTER
        if not self.shows_sheet:
            gutter = rows.fit_gutter(at_least=rows.gutter_width if keeps_gutter else 0)
        if width < 4 or not (columns.columns.all or self.shows_sheet):
            return
        # The last column of a sheet needs no blank after it.
        layout = columns.lay_out(width - gutter + self.shows_sheet, self.sort)
        filters = self.bar.texts(columns.columns.names)
        heads = Heads(layout, gutter, self.column, self.sort, filters)
        has_line = not {"-low", "-flat", "-tiny"} & self.screen.classes
        self.header.heads = replace(heads, filters={}) if has_line else heads
        self.bar.show(heads)
        if self.shows_sheet:
            self.sheet_rows.place(layout, columns.current)
            self._show_reading()
            self._show_notes(width)
        elif rows.listing is not None:
            rows.place(layout, columns.current)
            head = columns.constant_head(rows.listing)
            self.line.show(head, self.column, self._before, layout.after)

    def _show_notes(self, width: int) -> None:
        """Show what a sheet could not know, its title and its notes, cut where there is no room.

        The first is the last to be cut: a title alone would say more than is known.
        """
        classes, room = self.screen.classes, width - 2 * GUTTER
        most = 1 if "-low" in classes else 2 if "-short" in classes else _MAX_NOTES
        gaps = wrap_cut(self._gaps, room, max(most, _LEAST_FOR_GAPS))
        title = wrap_cut(self._title, room, max(most - len(gaps), int(most > 1)))
        notes = wrap_cut(self._notes, room, most - len(gaps) - len(title))
        lines = [*map(Content, gaps), *(Content.styled(line, "bold") for line in title)]
        lines += [Content.styled(line, "dim") for line in notes]
        self.notes.update(Content("\n").join(lines))
        self.notes.set_class(not lines, "-empty")

    def _show_reading(self) -> None:
        """Show what the cells of the row of a sheet do not, unless the detail does."""
        is_below = self.texts_for_detail and "-zoomed" not in self.screen.classes
        texts = [] if is_below else self.sheet_rows.hidden_texts()
        most = 1 if "-short" in self.screen.classes else 2
        lines = wrap_cut("  ".join(texts), self.size.width - 2 * GUTTER, most)
        self.reading.update(Content.styled("\n".join(lines), "dim"))

    @property
    def texts_for_detail(self) -> list[str]:
        """What the cells of a row do not show, if it is about no spec for the detail."""
        has_spec = bool(self.sheet_rows.hash_in(self.columns.current))
        return self.sheet_rows.hidden_texts() if self.shows_sheet and not has_spec else []

    def open_filter(self) -> None:
        """Show the filter of the current column, which becomes a column if it is none."""
        name = self.columns.current
        if not name:
            # A sheet without rows has no columns.
            return
        column = self.columns.column(name)
        takes_text = column is None or column.takes_filter
        if takes_text and not self.shows_sheet:
            self.columns.kept.add(name)
        self.bar.open(name, takes_text=takes_text)
        self.add_class("-filtering")
        self.settle()

    def enter_filter(self) -> None:
        """Go to the filter that was opened."""
        self.bar.enter(self.columns.current)

    def next_filter(self, step: int) -> bool:
        """Open the next or previous filter; return False at the edge, or if none is open."""
        focused = self.bar.focused_column
        if focused is None:
            return False
        self.columns.current = focused
        has_next = self.columns.next_filter(step)
        if has_next:
            self.open_filter()
        return has_next

    def next_sort(self) -> Sort | None:
        """Return the next sort for the current column: ascending, descending, none."""
        if self.sort is None or self.sort.column != self.column:
            return Sort(self.column)
        return None if self.sort.descending else Sort(self.column, descending=True)

    def hide_columns(self, names: Collection[str]) -> None:
        """Hide these columns, and no others."""
        self._columns.hidden = names
        self.settle()

    def show_empty(self, reason: str, choices: Sequence[Choice]) -> None:
        """Show why there are no rows, and what to do about it if there is something."""
        self.rows.show(0, empty=reason)
        self._show_relaxations(reason, choices)

    def _show_relaxations(self, reason: str, relaxations: Sequence[Choice]) -> None:
        """Show relaxations in the place of the rows if there are any; the focus goes along."""
        before = self.shown_list
        self._relaxations.show(reason, relaxations)
        self._has_relaxations = bool(relaxations)
        self._show_list(before)

    def _show_list(self, before: VirtualList) -> None:
        """Show one of the lists; it gets the focus of the one before."""
        self._relaxations.display = self._has_relaxations and not self.shows_sheet
        self.rows.display = not (self._has_relaxations or self.shows_sheet)
        if before.has_focus and self.shown_list is not before:
            self.shown_list.focus()

    def show_marks(self, marks: RowMarks) -> None:
        """Show which rows are marked."""
        self.rows.marks = marks
        self.sheet_rows.marks = marks.hashes
        self.rows.refresh()
        self.sheet_rows.refresh()

    def fit(self) -> None:
        """Fit the columns into the new width."""
        if (self.app.size.width >= MIN_WITH_SLOTS) is self._has_slots:
            self.place()
        else:
            self.settle()

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _show_focus(self) -> None:
        """Tint the current column while the table has the focus, also that of a filter."""
        self.place(keeps_gutter=True)
        self.header.refresh()
        self.line.refresh()

    @on(events.DescendantBlur)
    def _close_filter(self) -> None:
        """Remove a filter from the screen once it is left, but not if another window comes up."""
        if self.app.app_focus:
            self.call_after_refresh(self._leave_filter)

    def _leave_filter(self) -> None:
        if self.bar.close():
            self.remove_class("-filtering")
            self.settle()

    def action_choose(self) -> None:
        """Choose the row under the cursor."""
        self.shown_list.action_choose()

    def action_column(self, step: int) -> None:
        """Make the next or previous column the current one; before the first, close the group."""
        row, columns = self.highlighted, self.columns
        if not columns.columns.names:
            # No source could be read.
            return
        is_first = columns.current == columns.columns.names[0] and not self.shows_sheet
        if step < 0 and is_first and row is not None and row.role is not RowRole.SPEC:
            self.post_message(Browse("close_group", row))
        elif columns.move(step):
            self._show_column()

    def make_current(self, column: str) -> None:
        """Make a column of those on the screen the current one."""
        self.columns.current = column
        self._show_column()

    def go_to_column(self, column: str) -> None:
        """Make a column the current one, which comes to the screen with that."""
        self.columns.current = column
        self.settle()

    def _show_column(self) -> None:
        """Show which column is the current one; that of a spec is about this one."""
        self.place()
        if self.shows_sheet:
            self.tell_highlighted()

    @on(FilterInput.Done)
    def _filter_done(self, event: FilterInput.Done) -> None:
        event.stop()
        self.columns.current = event.input.name or self.columns.current
        self.shown_list.focus()

    @on(VirtualList.Highlighted)
    def _row_highlighted(self, event: VirtualList.Highlighted) -> None:
        if not self.shows_sheet:
            event.stop()
        self.tell_highlighted()

    def tell_highlighted(self) -> None:
        """Post the row under the cursor, once it has been read, or the spec of that of a sheet."""
        if self.shows_sheet:
            self._show_reading()
            self.sheet_row, hash_ = None, self.sheet_rows.hash_in(self.columns.current)
            self.awaits_sheet_row = bool(hash_)
            self.post_message(Browse("highlight_hash", hash_))
        elif not self.rows.is_waiting:
            self.post_message(Browse("highlight", self.highlighted))

    @on(VirtualList.Chosen)
    def _row_chosen(self, event: VirtualList.Chosen) -> None:
        event.stop()
        if self.shows_sheet:
            self.post_message(Browse("choose_item", self.sheet_rows.item))
        elif (row := self.highlighted) is not None:
            self.post_message(Browse("choose", row))
