"""Show specs side by side, over the whole screen."""

from __future__ import annotations

from collections.abc import Callable

from textual import events, getters, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from spackscope.model.core.frozen import Frozen
from spackscope.model.report.comparison import ComparedTable, cell_sentence, path_in, table_lines
from spackscope.model.report.detail import DIFFERS
from spackscope.model.report.frame import position
from spackscope.tui.dialogs.base import closes
from spackscope.tui.dialogs.full_screen import FullScreen
from spackscope.tui.keymap import COMPARE, bindings, shown
from spackscope.tui.process.stdio import supports_unicode
from spackscope.tui.widgets.comparison_rows import ComparisonHead, ComparisonRows
from spackscope.tui.widgets.virtual_list import VirtualList

_ASCII_DIFFERS = "!"


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
