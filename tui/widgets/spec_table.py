"""The table of specs: rows under heads and filters, or queries to try if it has no rows."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Static

from spackscope.model.core.frozen import replace
from spackscope.model.core.text import clean, wrap_cut
from spackscope.model.index.catalog import Row
from spackscope.model.index.order import RowRole, Sort
from spackscope.model.report.sheet import ANY_COLUMN
from spackscope.model.report.table_columns import MIN_FOR_VARIANTS, Layout
from spackscope.tui.keymap import SPECS, bindings
from spackscope.tui.process.textual_internals import Fitted
from spackscope.tui.widgets.query_line import FilterInput
from spackscope.tui.widgets.table_head import FILTER, ColumnHeader, FilterBar, Heads
from spackscope.tui.widgets.table_rows import (
    GUTTER,
    ColumnState,
    HeadLine,
    KeyChoice,
    RowMarks,
    ShownRows,
    TableRows,
)
from spackscope.tui.widgets.virtual_list import Browse, VirtualList

_MAX_NOTES, _LEAST_FOR_GAPS = 4, 2
"""Lines of gaps, notes and title of a sheet; and of its gaps alone on a low screen."""
HEADS, _LEAST_ROWS = 3, 4
"""Lines above the rows, and lines that the rows keep where gaps and notes need more than usual."""
_FLAT, LOW, _SHORT = 14, 24, 28
"""Heights below which a sheet has notes where its rows leave room, one line of them, or two. The
style sheet has classes for them, which the screen gets only once the table has its new size."""


class TextLines(Static):
    """Lines beside the rows, which are read whenever they may have changed; hidden without any."""

    def __init__(self, read: Callable[[], Sequence[Content]], classes: str) -> None:
        super().__init__(classes=f"{classes} -empty")
        self._read = read

    def follow(self) -> None:
        """Draw the lines again if they have changed."""
        lines = self._read()
        content = Content("\n").join(lines)
        if self.is_attached and self.content != content:
            self.update(content)
        self.set_class(not lines, "-empty")


class SpecTable(Vertical, Fitted):
    """Heads and filters above the rows of a listing, or of a sheet in place of the listing.

    The table posts the choices of the user.
    """

    BINDINGS = bindings(SPECS)

    class Resized(Message):
        """Posted when the table has another size, in which other texts are cut."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.line = HeadLine(id="spec-shared")
        self.header = ColumnHeader(id="spec-head")
        self.filters = FilterBar(id="spec-filters")
        self.reason = TextLines(self._reason, "table-reason")
        self.rows = TableRows(id="spec-rows")
        self.notes = TextLines(self._notes, "sheet-notes")
        self.reading = TextLines(self._reading, "sheet-reading")
        self.is_pick = False

    def compose(self) -> ComposeResult:
        """Lay out the rule above the heads, and the heads above the filters and rows."""
        yield self.line
        yield self.header
        yield self.filters
        yield self.reason
        yield self.rows

    @property
    def columns(self) -> ColumnState:
        """The columns of the rows on the screen."""
        return self.rows.shown.columns

    @property
    def column(self) -> str:
        """The column of the filter with the focus, else the column chosen with the arrow keys."""
        return self.filters.focused_column or self.columns.current

    def show(self, rows: ShownRows, *, keeps_columns: bool = False) -> None:
        """Show other rows, below the reason for choices in their place, if there are any.

        The last rows keep the place of their cursor. With `keeps_columns` the columns stay.
        """
        self.rows.show_rows(rows)
        self.reason.follow()
        self.set_class(bool(rows.asked), "-sheet")
        if rows.asked and not self.notes.is_attached:
            # The notes of an answer are above its rows, the hidden texts of a row below them.
            self.mount(self.notes, after=self.line)
            self.mount(self.reading, after=self.rows)
        self.reflect(self.screen.focused)
        if keeps_columns and self.columns.columns.all:
            self.place(keeps_gutter=True)
        else:
            self.settle()
        self._tell_highlighted()

    def reflect(self, typed_in: Widget | None) -> None:
        """Show the filters of the rows, except in the input that is typed in."""
        self.filters.reflect(self.columns.filters, typed_in)

    def settle(self) -> None:
        """Choose the columns for the rows shown; while a filter has the focus, they stay."""
        rows, is_filtered = self.rows.shown, self.filters.is_filtered
        stays = rows.columns_stay and self.columns.current in self.columns.columns.names
        if stays and self.filters.focused_column is not None:
            self.place(keeps_gutter=True)
            return
        self.columns.spreads_variants = self.app.size.width >= MIN_FOR_VARIANTS
        self.columns.choose(rows, is_filtered)
        self.place()

    def place(self, *, keeps_gutter: bool = False) -> None:
        """Fit the columns into the width, and update all lines with them.

        With `keeps_gutter` the gutter does not shrink when counts become shorter.
        """
        rows, columns, width = self.rows.shown, self.columns, self.size.width
        has_line = self.app.size.height >= LOW
        if width < 4:
            # Until the table is on the screen, no row is drawn below the heads of other rows.
            self.rows.heads = Heads()
            return

        def lay_out(gutter: int) -> Layout:
            columns.gutter = gutter
            return columns.lay_out(width - gutter + rows.blank, rows.sort)

        word = len(FILTER) if has_line else 0
        before = columns.gutter if keeps_gutter else 0
        layout = lay_out(max(rows.gutter, word, before))
        if rows.listing is None and not layout.is_whole:
            # A sheet needs the cells of the word for its columns.
            layout = lay_out(rows.gutter)
        gutter = columns.gutter
        filters = self.filters.texts(columns.columns.names)
        heads = Heads(layout, gutter, self.column, rows.sort, filters)
        self.header.heads = replace(heads, filters={}) if has_line else heads
        self.filters.heads = heads
        self.rows.place(replace(heads, current=columns.current))
        head = columns.constant_head(rows)
        self.line.show(rows, head, self.column, layout.after)
        if rows.asked:
            self.notes.follow()
            self.reading.follow()

    def _reason(self) -> Sequence[Content]:
        """Return the reason for choices in place of rows."""
        rows = self.rows.shown
        first, *others = map(clean, rows.empty.split("\n"))
        lines = [Content(first), *(Content.styled(line, "dim") for line in others)]
        return lines if rows.choices else ()

    def _notes(self) -> Sequence[Content]:
        """Return the gaps, the title and the notes of a sheet.

        Gaps and notes take the room of rows before they are cut, and the title is cut before
        them: without them it would claim too much.
        """
        height, sheet = self.app.size.height, self.rows.shown.sheet
        room, below = self.size.width - 2 * GUTTER, self.size.height - HEADS
        usual = (0, 1, 2, _MAX_NOTES)[bisect((_FLAT, LOW, _SHORT), height)]
        # Rows may leave room.
        usual = max(usual, min(_MAX_NOTES, below - len(self.rows.shown)))
        most, for_gaps = max(usual, below - _LEAST_ROWS), _LEAST_FOR_GAPS
        if height < _FLAT:
            most, for_gaps = usual, 1
        gaps = wrap_cut(" · ".join(map(clean, sheet.gaps)), room, max(most, for_gaps))
        remarks = " · ".join(map(clean, [*sheet.remarks, *sheet.notes, *sheet.more]))
        notes = wrap_cut(remarks, room, most - len(gaps))
        left = usual - len(gaps) - len(notes)
        title = wrap_cut(clean(sheet.title), room, max(left, int(usual > 1)))
        lines = [*map(Content, gaps), *(Content.styled(line, "bold") for line in title)]
        return [*lines, *(Content.styled(line, "dim") for line in notes)]

    def _reading(self) -> Sequence[Content]:
        """Return the hidden texts of the row under the cursor, unless the detail shows them."""
        is_below = self.texts_for_detail and "-zoomed" not in self.screen.classes
        texts = [] if is_below else self._hidden_texts
        most = 1 if self.app.size.height < _SHORT else 2
        lines = wrap_cut("  ".join(texts), self.size.width - 2 * GUTTER, most)
        return [Content.styled(line, "dim") for line in lines]

    @property
    def _hidden_texts(self) -> list[str]:
        layout = self.rows.heads.layout
        return self.rows.shown.hidden_texts(self.rows.cursor, layout, self.line)

    @property
    def texts_for_detail(self) -> list[str]:
        """The hidden texts of a row, if the detail shows them."""
        return self._hidden_texts if self.rows.shown.sheet.is_prose else []

    def open_filter(self) -> None:
        """Show the filter of the current column; a value of the head line becomes a column."""
        name = self.columns.current
        if not name:
            # A sheet without rows has no columns.
            return
        column = self.columns.column(name)
        takes_text = column is None or column.takes_filter
        if takes_text:
            self.columns.kept.add(name)
        self._show_filter(name, takes_text=takes_text)

    def open_search(self) -> None:
        """Show the filter of all columns of a sheet."""
        self._show_filter(ANY_COLUMN, takes_text=True)

    def _show_filter(self, name: str, *, takes_text: bool) -> None:
        self.filters.open(name, takes_text=takes_text)
        self.add_class("-filtering")
        self.settle()

    def next_filter(self, step: int) -> bool:
        """Open the next or previous filter; return False at the edge, or if none is open."""
        focused = self.filters.focused_column
        if focused in (None, ANY_COLUMN):
            return False
        self.columns.current = focused
        has_next = self.columns.next_filter(step)
        if has_next:
            self.open_filter()
        return has_next

    def next_sort(self) -> Sort | None:
        """Return the next sort for the current column: ascending, descending, none."""
        sort = self.rows.shown.sort
        if sort is None or sort.column != self.column:
            return Sort(self.column)
        return None if sort.descending else Sort(self.column, descending=True)

    def show_marks(self, marks: RowMarks) -> None:
        """Show which rows are marked."""
        self.rows.marks = marks
        self.rows.refresh()

    def fit(self) -> None:
        """Fit the columns into the new width."""
        if (self.app.size.width >= MIN_FOR_VARIANTS) is self.columns.spreads_variants:
            self.place()
        else:
            self.settle()
        self.post_message(self.Resized())

    @on(events.DescendantFocus)
    @on(events.DescendantBlur)
    def _show_focus(self) -> None:
        """Tint the current column while the table or one of its filters has the focus."""
        self.place(keeps_gutter=True)
        self.header.refresh()
        self.filters.refresh()
        self.line.refresh()

    @on(events.DescendantBlur)
    def _close_filter(self) -> None:
        """Hide a filter once it loses the focus, unless the terminal itself lost the focus."""
        if self.app.app_focus:
            self.call_after_refresh(self._leave_filter)

    def _leave_filter(self) -> None:
        if self.filters.close():
            self.remove_class("-filtering")
            self.settle()

    def action_choose(self) -> None:
        """Choose the row under the cursor."""
        self.rows.action_choose()

    def action_column(self, step: int) -> None:
        """Move to the next or previous column; from the first column of a group, close it.

        Where Enter picks a row, the next column of a folded row opens it.
        """
        row, columns = self.rows.row, self.columns
        if not columns.columns.names:
            # No source could be read.
            return
        is_first = columns.current == columns.columns.names[0]
        if step < 0 and is_first and row is not None and row.role is not RowRole.SPEC:
            self.post_message(Browse("close_group", row))
        elif step > 0 and self.is_pick and row is not None and row.is_closed:
            self.post_message(Browse("open_group", row))
        elif columns.move(step):
            self._show_column(row)

    def make_current(self, column: str) -> None:
        """Make a column on the screen the current one."""
        row, self.columns.current = self.rows.row, column
        self._show_column(row)

    def go_to_column(self, column: str) -> None:
        """Make a column the current one, and bring it into view."""
        self.columns.current = column
        self.settle()

    def _show_column(self, row: Row | None) -> None:
        """Show the current column; in a sheet it may lead to another row of the index."""
        self.place()
        if self.rows.row is not row:
            self._tell_highlighted()

    @on(FilterInput.Done)
    def _filter_done(self, event: FilterInput.Done) -> None:
        event.stop()
        self.columns.current = event.input.name or self.columns.current
        self.rows.focus()

    @on(VirtualList.Highlighted)
    def _row_highlighted(self) -> None:
        if self.rows.is_waiting:
            self.rows.request()
        if self.rows.shown.asked:
            self.reading.follow()

    def _tell_highlighted(self) -> None:
        """Post that another row may be under the cursor."""
        self.post_message(VirtualList.Highlighted(self.rows, self.rows.cursor))

    @on(VirtualList.Chosen)
    def _row_chosen(self, event: VirtualList.Chosen) -> None:
        event.stop()
        item = self.rows.item
        if isinstance(item, KeyChoice):
            self.app.simulate_key(item.key)
        elif item is not None:
            self.post_message(Browse("relax" if self.rows.shown.choices else "choose", item))
