"""Show specs side by side, over the whole screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from textual import events, getters, on
from textual.app import ComposeResult
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets import Static

from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import cell_width, clean, pad, shorten
from spackscope.model.report.comparison import (
    ComparedTable,
    Rank,
    TableLine,
    cell_sentence,
    path_in,
    ranks,
    row_label,
    row_path,
    table_lines,
    users_text,
    value_texts,
)
from spackscope.model.report.detail import DIFFERS
from spackscope.model.report.frame import position
from spackscope.tui.dialogs.base import closes
from spackscope.tui.dialogs.full_screen import FullScreen
from spackscope.tui.keymap import COMPARE, bindings, shown
from spackscope.tui.process.stdio import supports_unicode
from spackscope.tui.widgets.drawing import CURRENT_STYLES, Piece, draw
from spackscope.tui.widgets.virtual_list import VirtualList

_ASCII_DIFFERS = "!"
_GAP = 2
_VALUE_WIDTHS = (24, 18, 14, 12, 10)
"""Cells of a column at most: fewer where not all columns would fit."""
_MIN_NAME_WIDTH, _MIN_PATH_WIDTH = 12, 16
_STYLES: dict[Rank, str] = {"common": "dim", "rare": "differs", "missing": "", "unknown": "dim"}


class Placement(NamedTuple):
    """Which columns are on the screen: their numbers, the widths of all, and that of the name.

    `path_width` is what is left for the path, or 0 if that is too little. `before` and `after`
    count the columns that are left out on each side.
    """

    name_width: int = _MIN_NAME_WIDTH
    columns: tuple[int, ...] = ()
    widths: tuple[int, ...] = ()
    path_width: int = 0
    before: int = 0
    after: int = 0

    def column_at(self, x: int) -> int | None:
        """Return the column at a cell of a line; None beside all columns."""
        at = 1 + self.name_width
        for column in self.columns:
            if at <= x < at + _GAP + self.widths[column]:
                return column
            at += _GAP + self.widths[column]
        return None


def place(name_width: int, widths: Sequence[int], width: int, current: int) -> Placement:
    """Fit columns into a width around the current one; the name keeps up to a third."""
    name_width = max(_MIN_NAME_WIDTH, min(name_width, width // 3))
    room = width - name_width
    for limit in _VALUE_WIDTHS:
        widths = [min(limit, natural) for natural in widths]
        if sum(widths) + _GAP * len(widths) <= room:
            break
    first = last = current
    used = widths[current] + _GAP
    # Columns before the current one come first, so that nothing moves before it must.
    while first > 0 and used + widths[first - 1] + _GAP <= room:
        first -= 1
        used += widths[first] + _GAP
    while last + 1 < len(widths) and used + widths[last + 1] + _GAP <= room:
        last += 1
        used += widths[last] + _GAP
    after = len(widths) - last - 1
    path_width = 0 if after else max(0, room - used - _GAP)
    return Placement(
        name_width,
        tuple(range(first, last + 1)),
        tuple(widths),
        path_width if path_width >= _MIN_PATH_WIDTH else 0,
        first,
        after,
    )


class ComparisonHead(Widget):
    """The title, the hashes over their columns, and the summary where there is room for it."""

    COMPONENT_CLASSES = CURRENT_STYLES

    class Clicked(Message):
        """Posted when the head of a column is clicked."""

        def __init__(self, column: int) -> None:
            super().__init__()
            self.column = column

    _table: ComparedTable | None = None
    _placement = Placement()
    _current = 0

    def show(self, table: ComparedTable, placement: Placement, current: int) -> None:
        """Show the heads of some columns; the one under the cursor is marked."""
        self._table, self._placement, self._current = table, placement, current
        self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Use a second line for the summary if there is no room for it beside the heads."""
        return 1 if self._table is None or self._has_room else 2

    @property
    def _has_room(self) -> bool:
        return self._table is None or cell_width(self._summary) <= self._placement.path_width

    @property
    def _summary(self) -> str:
        placement = self._placement
        beside = [
            f"‹ {placement.before:,}" if placement.before else "",
            f"{placement.after:,} ›" if placement.after else "",
            self._table.summary if self._table is not None else "",
        ]
        return " · ".join(filter(None, beside))

    def on_click(self, event: events.Click) -> None:
        """Post the number of the head that was clicked."""
        column = self._placement.column_at(event.x)
        if column is not None and event.y == self.size.height - 1:
            self.post_message(self.Clicked(column))

    def render_line(self, y: int) -> Strip:
        """Draw the summary of its own line, or the heads."""
        table, placement = self._table, self._placement
        if table is None:
            return draw(self, [], self.size.width, "row")
        if y == 0 and not self._has_room:
            title = shorten(clean(table.title), self.size.width - 2)
            room = self.size.width - cell_width(title) - 4
            summary = shorten(self._summary, max(0, room), keep="start")
            pieces = [(" ", ""), (title, "strong"), (f"   {summary}", "dim")]
            return draw(self, pieces, self.size.width, "row")
        title = clean(table.title) if self._has_room else ""
        pieces = [(" " + pad(title, placement.name_width), "strong")]
        for column in placement.columns:
            style = "current" if column == self._current else "hash"
            hash_ = table.specs[column].hash[:SHORT_HASH]
            blanks = placement.widths[column] - len(hash_)
            pieces += [(" " * _GAP, ""), (hash_, style)]
            pieces.append((" " * blanks, "current" if column == self._current else ""))
        if self._has_room:
            pieces += [(" " * _GAP, ""), (self._summary, "dim")]
        return draw(self, pieces, self.size.width, "row")


class ComparisonRows(VirtualList):
    """The rows of a table, one line each, with a cursor on a row and on a column.

    The `sign` comes before what differs, where there are no colours.
    """

    class Moved(Message):
        """Posted when other columns came on the screen, or the cursor went to another one."""

        def __init__(self, placement: Placement, column: int) -> None:
            super().__init__()
            self.placement = placement
            self.column = column

    def __init__(self, *, sign: str = "") -> None:
        super().__init__()
        self.column = 0
        self.table: ComparedTable | None = None
        self.lines: Sequence[TableLine] = ()
        self._placement = Placement()
        self._sign = sign

    @property
    def line(self) -> TableLine | None:
        """The line under the cursor."""
        return self.lines[self.cursor] if self.lines else None

    def show_table(self, table: ComparedTable, lines: Sequence[TableLine]) -> None:
        """Show a table; the cursor stays on its line, or goes to the first row."""
        old, is_first = self.line, not any(line.kind == "row" for line in self.lines)
        self.table, self.lines = table, lines
        self.column = min(self.column, len(table.specs) - 1)
        # The same row may have other values in another catalog.
        same = [n for n, line in enumerate(lines) if line == old]
        same += [n for n, line in enumerate(lines) if old is not None and _is_about(line, old)]
        cursor = next(iter(same), self.cursor)
        if is_first:
            # One that was not moved stays at the beginning, where other lines may have come.
            kept = cursor if self.cursor else 0
            cursor = next((n for n, line in enumerate(lines) if line.kind == "row"), kept)
        self._place()
        self.show(len(lines), cursor)

    def show_column(self, column: int) -> None:
        """Move the cursor to a column, or to the nearest one there is."""
        count = len(self.table.specs) if self.table is not None else 0
        column = max(0, min(column, count - 1))
        if column != self.column:
            self.column = column
            self._place()
            self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked column; the list moves it to the row."""
        if (column := self._placement.column_at(event.x)) is not None:
            self.show_column(column)

    def on_resize(self) -> None:
        """Fit the columns into the new width, and keep the cursor in view."""
        super().on_resize()
        self._place()
        self.refresh()

    def _place(self) -> None:
        table = self.table
        if table is None or not table.specs:
            return
        names = [_label(line) for line in self.lines]
        widths = [SHORT_HASH] * len(table.specs)
        for line in self.lines:
            for column, text in enumerate(self._texts(line)):
                widths[column] = max(widths[column], cell_width(text))
        name_width = max(map(cell_width, [*names, clean(table.title)]), default=0)
        self._placement = place(name_width, widths, self.size.width - 1, self.column)
        self.post_message(self.Moved(self._placement, self.column))

    def _texts(self, line: TableLine) -> list[str]:
        """Return the text of each column of a line."""
        if line.kind == "users" and self.table is not None:
            counts = (spec.users for spec in self.table.specs)
            return ["…" if count is None else f"{count:,}" if count else "-" for count in counts]
        if (row := line.row) is None:
            return []
        return [
            (self._sign if rank == "rare" else "") + text
            for rank, text in zip(ranks(row.values), value_texts(row), strict=True)
        ]

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the pieces of a line: the name, a value for each column, and the path."""
        line, placement = self.lines[row], self._placement
        mark = "▸" if row == self.cursor else " "
        if line.kind in ("head", "fold"):
            return [(mark, "accent"), (line.text, "strong" if line.kind == "head" else "")]
        if line.kind == "note":
            return [(mark, "accent"), (f"  {line.text}", "dim")]
        pieces: list[Piece] = [(mark, "accent"), (pad(_label(line), placement.name_width), "")]
        styles = self._styles(line)
        for column, text in enumerate(self._texts(line)):
            if column in placement.columns:
                value = shorten(text, placement.widths[column])
                blanks = " " * (placement.widths[column] - cell_width(value))
                style = styles[column]
                if column == self.column:
                    # The tint of a whole column would drown what differs.
                    style = f"{style.replace('dim', '')} {'match' * (row == self.cursor)}".strip()
                pieces += [(" " * _GAP, ""), (value, style), (blanks, "")]
        if placement.path_width:
            after = self._after(line, placement.path_width)
            pieces += [(" " * _GAP, ""), (after, "dim")]
        return pieces

    def _styles(self, line: TableLine) -> list[str]:
        """Return the style of each column of a line; what is used most stands out."""
        if line.row is not None:
            return [_STYLES[rank] for rank in ranks(line.row.values)]
        users = [spec.users or 0 for spec in self.table.specs] if self.table is not None else []
        return ["strong" if count and count == max(users) else "dim" for count in users]

    def _after(self, line: TableLine, width: int) -> str:
        """Return what is shown after the columns: the path, or who uses the current one."""
        if line.row is not None:
            return row_path(line.row, width)
        users = users_text(self.table.specs[self.column]) if self.table is not None else ""
        return shorten(users, width, keep="start")


def _is_about(line: TableLine, other: TableLine) -> bool:
    return line.kind == other.kind and _label(line) == _label(other)


def _label(line: TableLine) -> str:
    if line.row is not None:
        return f"  {row_label(line.row)}"
    return line.text if line.kind == "users" else ""


class Destination(Frozen):
    """Where to go: the hash of a column's spec, and the packages from it down to another one."""

    hash: str
    path: tuple[str, ...] = ()


class CompareScreen(FullScreen[Destination, ComparedTable]):
    """A screen that is filled while specs are compared, and returns where to go.

    `copy` is called with a hash, `regroup` when the user switches between a column for each
    run-time kind and one for each hash.
    """

    PANE = COMPARE
    BINDINGS = bindings(COMPARE)
    AUTO_FOCUS = "ComparisonRows"

    _head = getters.query_one(ComparisonHead)
    _rows = getters.query_one(ComparisonRows)

    def __init__(self, copy: Callable[[str], object], regroup: Callable[[bool], object]) -> None:
        super().__init__()
        self._copy, self._regroup = copy, regroup
        self._shows_equal = False
        self._shows_build: bool | None = None
        self._cursor_on: int | None = None

    def compose(self) -> ComposeResult:
        """Lay out the heads above the rows, the sentence on a cell and the hints below them."""
        yield ComparisonHead()
        sign = DIFFERS if supports_unicode() else _ASCII_DIFFERS
        yield ComparisonRows(sign=sign if self.app.no_color else "")
        yield Static(id="compare-cell")

    @property
    def column_hash(self) -> str:
        """The hash of the column with the cursor."""
        if self.report is None or not self._is_composed:
            return ""
        return self.report.specs[self._rows.column].hash

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Check whether what is typed next must wait for the table, or for its rows."""
        if self.report is None or self.report.rows is not None:
            return super().is_behind(event)
        return not (self._failure or closes(event))

    def show_table(self, table: ComparedTable, cursor_on: int | None = None) -> None:
        """Show specs side by side; where they are others, with the cursor on the column of one."""
        before = self.report.specs if self.report is not None else ()
        if [spec.hash for spec in table.specs] != [spec.hash for spec in before]:
            self._cursor_on = cursor_on
        self.report, self._failure = table, ""
        self.refill()

    def fill(self) -> None:
        """Show the table, or that it is being made."""
        table = self.report
        if table is None or self._failure:
            self._rows.show(
                0, empty=self._failure or f"comparing…\n{shown('compare-close')} stops it"
            )
            return
        lines = table_lines(table, shows_build=self._is_open, shows_equal=self._shows_equal)
        self._rows.show_table(table, lines)
        if self._cursor_on is not None:
            self._rows.show_column(table.column_of(self._cursor_on))
            self._cursor_on = None
        self._show_cell()

    @on(ComparisonRows.Moved)
    def _show_heads(self, event: ComparisonRows.Moved) -> None:
        if self.report is not None and event.column < len(self.report.specs):
            self._head.show(self.report, event.placement, event.column)
            self._show_cell()

    @on(ComparisonHead.Clicked)
    def _go_to_column(self, event: ComparisonHead.Clicked) -> None:
        self._rows.show_column(event.column)

    @on(VirtualList.Highlighted)
    def _show_cell(self) -> None:
        table, line = self.report, self._rows.line
        text = cell_sentence(table, line, self._rows.column) if table and line else ""
        self.query_one("#compare-cell", Static).update(Content(f" {text}"))
        self.status.show_position(position(self._rows.cursor, self._rows.length))

    def action_column(self, step: int) -> None:
        """Go some columns to the right, or to the left."""
        self._rows.show_column(self._rows.column + step)

    def action_build(self) -> None:
        """Show or hide what only builds the specs."""
        self._shows_build = not self._is_open
        self.fill()

    @property
    def _is_open(self) -> bool:
        """Whether what only builds is shown: at first if nothing else differs."""
        if self._shows_build is None:
            return self.report is not None and self.report.runs_the_same
        return self._shows_build

    def action_equal(self) -> None:
        """Show or hide what is equal in all."""
        self._shows_equal = not self._shows_equal
        self.fill()

    def action_regroup(self) -> None:
        """Show a column for each run-time kind, or for each hash."""
        if self.report is not None:
            self._regroup(not self.report.is_by_kind)

    def action_copy(self) -> None:
        """Copy the hash of the column."""
        if self.report is not None:
            self._copy(self.report.specs[self._rows.column].hash)

    @on(VirtualList.Chosen)
    def action_take(self) -> None:
        """Go to the spec of the column, or to what the row is about; open a folded part."""
        line = self._rows.line
        if self.report is None or line is None:
            return
        if line.kind == "fold":
            self.action_build()
        else:
            column = self._rows.column
            path = path_in(line.row, column) if line.row is not None else ()
            self.dismiss(Destination(self.report.specs[column].hash, path))
