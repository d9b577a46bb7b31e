"""An answer in the place of the table: its rows under heads and filters, below what it says."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from spackscope.model.core.frozen import replace
from spackscope.model.core.text import cell_width, clean
from spackscope.model.index.rows import Row
from spackscope.model.index.view import Sort
from spackscope.model.report.highlight import DrawnPiece, filter_needles, highlight
from spackscope.model.report.report import Style
from spackscope.model.report.sheet import Sheet, SheetColumn, table_columns
from spackscope.model.report.table_columns import Layout, TableColumns, lay_out
from spackscope.tui.keymap import COMPARE, bindings
from spackscope.tui.widgets.query_line import FilterInput
from spackscope.tui.widgets.spec_rows import MARKED
from spackscope.tui.widgets.table_head import ColumnHeader, FilterBar, Heads
from spackscope.tui.widgets.virtual_list import Browse, VirtualList

_GUTTER = 2
_MAX_MEASURED = 1_000
"""Rows whose cells are measured: of longer ones the columns are as wide as for these."""
_NAMES: dict[Style, str] = {"bold": "strong", "link": "hash"}
"""The names that widgets have for styles of reports, if they are others."""


class SheetRows(VirtualList):
    """The rows of a sheet in placed columns, below the headings of their groups.

    Rows of marked specs have a sign. The cursor passes over headings.
    """

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.sheet: Sheet[Any] | None = None
        self.columns: Mapping[str, SheetColumn[Any]] = {}
        self.layout_ = Layout()
        self.column = ""
        self.marks: Collection[str] = ()
        self.filters: Mapping[str, str] = {}
        self._lines: Sequence[int | str] = ()
        """The numbers of rows, and headings."""

    def show_sheet(self, sheet: Sheet[Any] | None, cursor: int, empty: str) -> None:
        """Show other rows, with the cursor on the one with a number."""
        self.sheet = sheet
        lines: list[int | str] = []
        group = ""
        for number, item in enumerate(sheet.rows if sheet is not None else ()):
            assert sheet is not None
            if (heading := sheet.group(item)) != group:
                group = heading
                lines.append(clean(heading))
            lines.append(number)
        self._lines = lines
        self.show(len(lines), lines.index(cursor) if cursor in lines else 0, empty=empty)
        self._pass_heading(1)

    @property
    def number(self) -> int:
        """The number of the row under the cursor, from 0."""
        line = self._lines[self.cursor] if self._lines else 0
        return line if isinstance(line, int) else 0

    @property
    def item(self) -> Any:
        """The row under the cursor; None if there is none."""
        return self.sheet.rows[self.number] if self.sheet is not None and self._lines else None

    def move_to(self, row: int) -> None:
        """Move the cursor to a row, or to the nearest one there is."""
        step = 1 if row >= self.cursor else -1
        if 0 <= row < self.length and isinstance(self._lines[row], str):
            row += step if 0 <= row + step < self.length else -step
        super().move_to(row)

    def _pass_heading(self, step: int) -> None:
        if self._lines and isinstance(self._lines[self.cursor], str):
            self.cursor += step

    def pieces(self, row: int, width: int) -> list[DrawnPiece]:
        """Return the mark, and a cell or more for each column; or a heading."""
        line = self._lines[row]
        if isinstance(line, str):
            return [(" " * _GUTTER, ""), (line, "strong")]
        assert self.sheet is not None
        item, at = self.sheet.rows[line], 0
        is_marked = self.sheet.hash(item) in self.marks
        pieces: list[DrawnPiece] = [
            ((MARKED if is_marked else "").ljust(_GUTTER), "differs"),
        ]
        for placed in self.layout_.placed:
            name = placed.column.name
            column = self.columns[name]
            value = column.value(item)
            text = column.cut(column.text(value), placed.width - 1)
            is_right = column.is_right
            if is_right is None:
                is_right = isinstance(value, int) and text.strip() != ""
            filler = " " * (placed.width - 1 - cell_width(text))
            needles = filter_needles(self.filters.get(name, ""))
            drawn = [
                (part, f"{shown} current".strip() if name == self.column else shown)
                for piece, style in column.line(text, item)
                for part, shown in highlight(piece, needles, _NAMES.get(style, style))
            ]
            cell = [(filler, ""), *drawn] if is_right else [*drawn, (filler, "")]
            pieces += [(" " * (placed.at - at), ""), *cell]
            at = placed.end - 1
        return pieces

    def hidden_text(self) -> str:
        """Return what the row under the cursor has that its cells do not show whole."""
        placed = {each.column.name: each.width - 1 for each in self.layout_.placed}
        texts = [
            (column, column.text(column.value(self.item)))
            for column in self.columns.values()
            # Of specs side by side the one with the cursor is in view.
            if self.item is not None and not column.hash
        ]
        return "  ".join(
            f"{clean(column.label)} {text}"
            for column, text in texts
            if cell_width(text) > placed.get(column.name, 0)
        )


class SheetFilters(FilterBar):
    """The filters of a sheet, which are patterns."""

    patterns: Mapping[str, str] = {}

    def text(self, column: str) -> str:
        """Return the pattern of a column."""
        return self._inputs[column].value if column in self._inputs else self.pattern(column)

    def pattern(self, column: str) -> str:
        """Return the pattern that the rows are filtered by."""
        return self.patterns.get(column, "")

    def is_filtered(self, column: str) -> bool:
        """Check whether a column has a pattern, or its filter is open."""
        return bool(self.pattern(column)) or column == self._open


class SheetTable(Vertical):
    """A sheet: its notes, heads, filters and rows, and the whole row where cells are cut.

    It posts what the user does with it, as the table of specs does.
    """

    BINDINGS = bindings(COMPARE)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.notes, self.reading = Static(classes="sheet-notes"), Static(classes="sheet-reading")
        self.header, self.filters = ColumnHeader(id="sheet-head"), SheetFilters(id="sheet-filters")
        self.rows = SheetRows(id="sheet-rows")
        self.column = ""
        self.row: Row | None = None
        """The row of the index that the row under the cursor is about, once it is read."""
        self.is_waiting = False
        """Whether it is still to be read."""
        self._columns = TableColumns()
        self._sort: Sort | None = None
        self._first = 0
        self._before = ""

    def compose(self) -> ComposeResult:
        """Lay out the notes above the heads, and these above the rows."""
        yield self.notes
        yield self.header
        yield self.filters
        yield self.rows
        yield self.reading

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

        The cursor stays in its column, unless one is named.

        Columns are as wide as the `whole` sheet needs, so that they stay while a filter is typed.
        """
        self.filters.patterns = self.rows.filters = filters
        self._sort = sort
        if sheet is not None and sort is not None:
            sheet = replace(sheet, group=lambda item: "")
        columns = sheet.columns if sheet is not None else ()
        # What the headings say needs no column.
        left_out = {*hidden, *(sheet.told if sheet is not None and sort is None else ())}
        shown = [each for each in columns if each.drawn and each.name not in left_out]
        self.rows.columns = {column.name: column for column in shown}
        self.rows.layout_ = Layout()
        measured = whole.rows[:_MAX_MEASURED] if whole is not None else ()
        self._columns = table_columns(
            shown, ([column.text(column.value(item)) for column in shown] for item in measured)
        )
        self.column = column or self.column
        if self.column not in self._columns.names:
            of_specs = [each.name for each in shown if each.hash]
            self.column = next(iter([*of_specs, *self._columns.names]), "")
        title = Content.styled(sheet.title, "bold") if sheet is not None else Content()
        notes = [*sheet.remarks, *sheet.notes] if sheet is not None else []
        lines = [title, Content.styled(" · ".join(map(clean, notes)), "dim")]
        self.notes.update(Content("\n").join(filter(None, lines)))
        self.notes.set_class(not any(lines), "-empty")
        self.row = None
        self.rows.show_sheet(sheet, cursor, empty)
        self.place()
        self.tell_row()

    def show_marks(self, marks: Collection[str]) -> None:
        """Show which specs are marked."""
        self.rows.marks = marks
        self.rows.refresh()

    def place(self) -> None:
        """Fit the columns into the width, with the current one in view."""
        width = self.size.width - _GUTTER
        if width < 2:
            return
        layout = lay_out(self._columns, width + 1, current=self.column, first=self._first)
        self._first = layout.before
        self.rows.layout_, self.rows.column = layout, self.column
        filters = {name: text for name in self._columns.names if (text := self.filters.text(name))}
        heads = Heads(layout, _GUTTER, self.column, self._sort, filters)
        has_line = not {"-low", "-flat", "-tiny"} & self.screen.classes
        self.header.heads = replace(heads, filters={}) if has_line else heads
        self.filters.show(heads)
        self.rows.refresh()
        self.show_reading()

    def show_reading(self) -> None:
        """Show what the cells of the row under the cursor do not."""
        self.reading.update(Content.styled(self.rows.hidden_text(), "dim"))

    def tell_row(self) -> None:
        """Post the row that the cursor is on."""
        self.show_reading()
        item, sheet = self.rows.item, self.rows.sheet
        is_row = sheet is not None and item is not None
        hash_ = sheet.hash_in(item, self.column) if sheet is not None and is_row else ""
        self.is_waiting = bool(hash_)
        self.post_message(Browse("highlight_hash", hash_))

    def on_resize(self) -> None:
        """Fit the columns into the new width."""
        self.place()

    def move_column(self, step: int) -> None:
        """Make the next or previous column the current one."""
        names = self._columns.names
        if self.column in names:
            self.go_to_column(names[max(0, min(names.index(self.column) + step, len(names) - 1))])

    def go_to_column(self, column: str) -> None:
        """Make a column the current one; in another one a row may be about another spec."""
        self.column = column
        self.place()
        self.tell_row()

    def next_sort(self) -> Sort | None:
        """Return the next sort for the current column: ascending, descending, none."""
        if self._sort is None or self._sort.column != self.column:
            return Sort(self.column)
        return None if self._sort.descending else Sort(self.column, descending=True)

    @on(VirtualList.Highlighted)
    def _row_highlighted(self) -> None:
        self.row = None
        self.tell_row()

    @on(VirtualList.Chosen)
    def _row_chosen(self, event: VirtualList.Chosen) -> None:
        event.stop()
        self.post_message(Browse("choose_item", self.rows.item))

    def action_switch(self, option: str) -> None:
        """Post that rows or columns are to be added, or removed again."""
        self.post_message(Browse("switch", option))

    # Filters

    def open_filter(self) -> None:
        """Show the filter of the current column."""
        self._before = self.filters.text(self.column)
        self.filters.open(self.column, takes_text=True)
        self.add_class("-filtering")
        self.place()

    def enter_filter(self) -> None:
        """Go to the filter that was opened."""
        self.filters.enter(self.column)

    def next_filter(self, step: int) -> bool:
        """Open the next or previous filter; return False at the edge, or if none is open."""
        before = self.filters.focused_column
        if before is None:
            return False
        self.column = before
        self.move_column(step)
        if self.column == before:
            return False
        self.open_filter()
        return True

    @on(Input.Changed)
    def _type(self, event: Input.Changed) -> None:
        event.stop()
        if isinstance(event.input, FilterInput):
            self.post_message(Browse("filter_sheet", event.input.name or "", event.value))

    @on(FilterInput.Pressed)
    def _press(self, event: FilterInput.Pressed) -> None:
        event.stop()
        if event.key == "give_up":
            event.input.value = self._before
            event.input.finish(given_up=True)
        elif event.key == "take":
            self.post_message(Browse("next_pane"))

    @on(FilterInput.Done)
    def _filter_done(self, event: FilterInput.Done) -> None:
        event.stop()
        self.column = event.input.name or self.column
        self.rows.focus()

    def on_descendant_blur(self) -> None:
        """Remove a filter from the screen once it is left."""
        if self.app.app_focus:
            self.call_after_refresh(self._leave_filter)

    def _leave_filter(self) -> None:
        if self.filters.close():
            self.remove_class("-filtering")
            self.place()
