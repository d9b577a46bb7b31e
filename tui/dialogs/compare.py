"""Show specs side by side, over the whole screen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events

from spackscope.model.analysis.varying import ComparedRow
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import clean
from spackscope.model.report.comparison import (
    BUILD,
    USED_BY,
    ComparedTable,
    cell_sentence,
    grouped,
    path_in,
    row_key,
    rows_in_sight,
    table_section,
    users_sentence,
)
from spackscope.model.report.detail import DIFFERS
from spackscope.model.report.report import Report, Row, Section
from spackscope.tui.dialogs.report import ReportDialog
from spackscope.tui.keymap import COMPARE, bindings
from spackscope.tui.process.stdio import supports_unicode

_ASCII_DIFFERS = "!"


class Destination(Frozen):
    """Where to go: the hash of a column's spec, and the packages from it down to another one."""

    hash: str
    path: tuple[str, ...] = ()


class CompareScreen(ReportDialog[Destination]):
    """A screen that is filled while specs are compared, and returns where to go.

    Columns that are alike in all rows in sight are one, unless there is to be one for each hash.
    `copy` is called with a hash, `regroup` when the user switches between the two.
    """

    PANE = COMPARE
    BINDINGS = bindings(COMPARE)
    HAS_SEARCH = False
    is_grouped = True

    def __init__(self, copy: Callable[[str], object], regroup: Callable[[bool], object]) -> None:
        super().__init__()
        self._copy, self._regroup = copy, regroup
        self.table: ComparedTable | None = None
        self._shown: ComparedTable | None = None
        self._shows_equal = False
        self._shows_build: bool | None = None
        self._cursor_on: int | None = None

    @property
    def column_hash(self) -> str:
        """The hash of the column with the cursor."""
        return self._shown.specs[self.list.column].hash if self._shown is not None else ""

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Check whether what is typed next must wait for the table, or for its rows."""
        if self.table is None or self.table.rows is not None:
            return super().is_behind(event)
        return not (self._failure or self.goes_back(event))

    def show_table(self, table: ComparedTable, cursor_on: int | None = None) -> None:
        """Show specs side by side; where they are others, with the cursor on the column of one."""
        before = self.table.specs if self.table is not None else ()
        if [spec.hash for spec in table.specs] != [spec.hash for spec in before]:
            self._cursor_on = cursor_on
        self.table, self.heading = table, clean(table.title)
        self.show_report(Report(table.title, ()))

    def sections(self) -> Sequence[Section]:
        """Return the table, its columns grouped by the rows in sight."""
        if (table := self.table) is None or self.report is None:
            return ()
        if self._cursor_on is None and self._shown is not None:
            self._cursor_on = self._shown.specs[self.list.column].id
        shows = {"shows_build": self._is_open, "shows_equal": self._shows_equal}
        self._shown = grouped(table, rows_in_sight(table, **shows)) if self.is_grouped else table
        if self._cursor_on is not None:
            self.list.column = self._shown.column_of(self._cursor_on)
            self._cursor_on = None
        sign = (DIFFERS if supports_unicode() else _ASCII_DIFFERS) * self.app.no_color
        return [table_section(self._shown, self.width, **shows, sign=sign)]

    def summary(self) -> str:
        """Return how many hashes there are, and which columns stand for several."""
        return self._shown.summary if self._shown is not None else ""

    def reading(self) -> str:
        """Describe the cell under the cursor."""
        row, table, column = self.list.row, self._shown, self.list.column
        if row is None or table is None:
            return ""
        if row.group == USED_BY:
            return users_sentence(table.specs[column])
        compared = self._compared(row)
        return cell_sentence(table, compared, column) if compared is not None else ""

    def _compared(self, row: Row) -> ComparedRow | None:
        table = self._shown
        rows = (*(table.rows or ()), *(table.build_rows or ())) if table is not None else ()
        return next((each for each in rows if row_key(each) == row.key), None)

    def action_build(self) -> None:
        """Show or hide what only builds the specs."""
        self._shows_build = not self._is_open
        self.refill()

    @property
    def _is_open(self) -> bool:
        """Whether what only builds is shown: at first if nothing else differs."""
        if self._shows_build is None:
            return self.table is not None and self.table.runs_the_same
        return self._shows_build

    def action_equal(self) -> None:
        """Show or hide what is equal in all."""
        self._shows_equal = not self._shows_equal
        self.refill()

    def action_regroup(self) -> None:
        """Show a column for what is alike, or for each hash."""
        self.is_grouped = not self.is_grouped
        self._regroup(self.is_grouped)

    def action_copy(self) -> None:
        """Copy the hash of the column."""
        if self.column_hash:
            self._copy(self.column_hash)

    def result(self, row: Row) -> Destination | None:
        """Return the spec of the column, or what the row is about; open a folded part."""
        if row.group == BUILD:
            self.action_build()
            return None
        compared = self._compared(row)
        path = path_in(compared, self.list.column) if compared is not None else ()
        return Destination(self.column_hash, path)
