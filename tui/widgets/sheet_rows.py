"""The rows of an answer, which replace the rows of the table, and their filters."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from textual import on
from textual.widgets import Input

from spackscope.model.core.text import cell_width, clean
from spackscope.model.report.report import Piece, filter_needles, highlight
from spackscope.model.report.sheet import Sheet, SheetColumn
from spackscope.model.report.table_columns import Layout
from spackscope.tui.keymap import DIFF, bindings
from spackscope.tui.widgets.query_line import FilterInput
from spackscope.tui.widgets.spec_rows import MARKED
from spackscope.tui.widgets.table_head import FilterBar
from spackscope.tui.widgets.virtual_list import Browse, VirtualList

GUTTER = 2
"""Cells before the columns."""


class SheetRows(VirtualList):
    """The rows of a sheet in placed columns, below the headings of their groups.

    Rows of marked specs have a sign. The cursor passes over headings.
    """

    BINDINGS = bindings(DIFF)

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
        self.sheet, self.layout_ = sheet, Layout()
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

    def place(self, layout: Layout, column: str) -> None:
        """Draw the rows in other columns, of which one is the current one."""
        self.layout_, self.column = layout, column
        self.refresh()

    def hash_in(self, column: str) -> str:
        """Return the hash of the spec that the row under the cursor is about in a column."""
        item, sheet = self.item, self.sheet
        return sheet.hash_in(item, column) if sheet is not None and item is not None else ""

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

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the mark, and a cell or more for each column; or a heading."""
        line = self._lines[row]
        if isinstance(line, str):
            return [(" " * GUTTER, ""), (line, "strong")]
        assert self.sheet is not None
        item, at = self.sheet.rows[line], 0
        is_marked = self.sheet.hash(item) in self.marks
        pieces: list[Piece] = [
            ((MARKED if is_marked else "").ljust(GUTTER), "differs"),
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
                for part, shown in highlight(piece, needles, style)
            ]
            cell = [(filler, ""), *drawn] if is_right else [*drawn, (filler, "")]
            pieces += [(" " * (placed.at - at), ""), *cell]
            at = placed.end - 1
        return pieces

    def action_switch(self, option: str) -> None:
        """Post that rows or columns are to be added, or removed again."""
        self.post_message(Browse("switch", option))

    def hidden_texts(self) -> list[str]:
        """Return what the row under the cursor has that its cells do not show whole."""
        placed = {each.column.name: each.width - 1 for each in self.layout_.placed}
        texts = [
            (column, column.text(column.value(self.item)))
            for column in self.columns.values()
            # Of specs side by side the one with the cursor is in view.
            if self.item is not None and not column.hash
        ]
        return [
            f"{clean(column.label)} {text}"
            for column, text in texts
            if cell_width(text) > placed.get(column.name, 0)
        ]


class SheetFilters(FilterBar):
    """The filters of a sheet, which are patterns; typed text filters at once."""

    patterns: Mapping[str, str] = {}
    _before = ""

    def open(self, column: str, *, takes_text: bool) -> None:
        """Show the input of a column, which gets back what it shows if it is given up."""
        self._before = self.text(column)
        super().open(column, takes_text=takes_text)

    def text(self, column: str) -> str:
        """Return the pattern of a column."""
        return self._inputs[column].value if column in self._inputs else self.pattern(column)

    def pattern(self, column: str) -> str:
        """Return the pattern that the rows are filtered by."""
        return self.patterns.get(column, "")

    def is_filtered(self, column: str) -> bool:
        """Check whether a column has a pattern, or its filter is open."""
        return bool(self.pattern(column)) or column == self._open

    @on(Input.Changed)
    def _type(self, event: Input.Changed) -> None:
        event.stop()
        self.post_message(Browse("filter_sheet", event.input.name or "", event.value))

    @on(FilterInput.Pressed)
    def _press(self, event: FilterInput.Pressed) -> None:
        event.stop()
        if event.key == "give_up":
            event.input.value = self._before
            event.input.finish(given_up=True)
        elif event.key == "take":
            self.post_message(Browse("next_pane"))
