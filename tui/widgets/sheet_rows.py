"""The rows of an answer in the place of the listing, arranged by the user."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

from spackscope.model.core.columns import spec_name
from spackscope.model.core.frozen import Frozen, field
from spackscope.model.core.text import cell_width, clean
from spackscope.model.index.rows import Row
from spackscope.model.index.view import Sort
from spackscope.model.report.report import Piece, filter_needles, highlight
from spackscope.model.report.sheet import Sheet, table_columns
from spackscope.model.report.table_columns import HeadText, Layout, TableColumns
from spackscope.tui.widgets.table_head import HeadLine, Heads
from spackscope.tui.widgets.table_rows import GUTTER, MARKED, RowMarks, RowsNeeded, ShownRows

if TYPE_CHECKING:
    from spackscope.model.index.catalog import Catalog

_MAX_MEASURED = 1_000
"""Rows whose cells are measured for the widths of columns; further rows are not."""


_OPTIONS = {"hosts": "host"}
"""The options of the shell with another name than their values have."""
NO_SHEET = Sheet[Any]("", (), ())


class OpenSheet(Frozen):
    """An answer in the place of the table, and the sort, filters and hidden columns of the user.

    The command with `name`, `words` and `options` prints the answer; without a name no answer is
    open. `sheet` has no rows until the answer is read, or if it cannot be read: `text` is the
    progress, or the reason. `filters` are patterns by column name. `cursor` and `column` put the
    cursor on a row and a column. `choose` handles a chosen row, by default by showing its specs,
    and `choose_hint` is the hint of its key. An answer `names_sources` if its words name all of
    its sources, and `is_part` while further rows are read. `label` says in words what it is.
    """

    name: str = ""
    words: tuple[str, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    catalog: Catalog | None = None
    sheet: Sheet[Any] = NO_SHEET
    text: str = ""
    sort: Sort | None = None
    filters: Mapping[str, str] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    cursor: int = 0
    column: str = ""
    choose: Callable[[Any], object] | None = None
    choose_hint: str = "go to it"
    names_sources: bool = False
    is_part: bool = False
    label: str = ""

    @property
    def command(self) -> tuple[str, ...]:
        """The words of the command that prints the answer, without its sources."""
        words = [self.name] * self.is_open
        for name, value in self.options.items():
            values = value if isinstance(value, tuple) else (value,)
            option = f"--{_OPTIONS.get(name, name)}"
            for each in filter(None, values):
                words += [option] if each is True else [option, each]
        return (*words, *self.words)

    @property
    def is_open(self) -> bool:
        """Whether an answer is shown in the place of the table."""
        return bool(self.name)

    @property
    def is_read(self) -> bool:
        """Whether the answer was read."""
        return self.sheet is not NO_SHEET

    def is_same(self, other: OpenSheet) -> bool:
        """Check whether another answer has the same command, perhaps with other options."""
        return (self.name, self.words) == (other.name, other.words)

    @cached_property
    def shown(self) -> Sheet[Any]:
        """The sheet with the rows that match the filters, sorted.

        Filters and a sort on columns that the sheet no longer draws have no effect.
        """
        sheet = self.sheet
        names = {column.name for column in sheet.columns if column.drawn}
        for name, pattern in self.filters.items():
            if name in names:
                sheet = sheet.filtered(name, pattern)
        if self.sort is not None and self.sort.column in names:
            sheet = sheet.sorted("-" * self.sort.descending + self.sort.column)
        return sheet


class SheetRows(ShownRows):
    """The rows of a sheet, below the headings of their groups.

    Columns are chosen for the rows without filters, so that they stay while a filter is typed.
    """

    between, blank = " · ", 1

    def __init__(self, opened: OpenSheet) -> None:
        super().__init__(opened.text or ("No row matches" if opened.filters else "No rows"))
        self.name = opened.name
        self._whole, self._sheet = opened.sheet, opened.shown
        self._patterns, self.sort = opened.filters, opened.sort
        sheet = self._sheet
        self.gaps, self.title = " · ".join(map(clean, sheet.gaps)), clean(sheet.title)
        self.notes = " · ".join(map(clean, [*sheet.remarks, *sheet.notes]))
        # Headings or other columns have the values of the columns in `told`.
        told = sheet.told if opened.sort is None else ()
        shown = [each for each in sheet.columns if each.drawn and each.name not in told]
        self._columns = {each.name: each for each in shown}
        self.column_of_specs = next((each.name for each in shown if each.hash), "")
        # The numbers of rows, and headings.
        self._lines: list[int | str] = []

        def group(number: int) -> str:
            return sheet.group(sheet.rows[number]) if opened.sort is None else ""

        for heading, numbers in groupby(range(len(sheet.rows)), group):
            if heading or self._lines:
                self._lines.append(clean(heading))
            self._lines += numbers
        # The row of the index for the row under the cursor, by its hash.
        self._known: Mapping[str, Row | None] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def choose_columns(
        self, kept: Collection[str], hidden: Collection[str], *, has_slots: bool
    ) -> TableColumns:
        """Return the columns in which the rows differ, and the `kept` columns."""
        shown = [each for each in self._columns.values() if each.name not in hidden]
        texts = self._whole.constants
        same = {each.name: each for each in shown if each.name in texts and each.name not in kept}
        differing = [each for each in shown if each.name not in same] or shown[:1]
        measured = self._whole.rows[:_MAX_MEASURED]
        cells = ([each.text(each.value(item)) for each in differing] for item in measured)
        head = []
        if same.pop("package", None):
            has_version = same.pop("version", None) is not None
            name = spec_name(texts["package"], texts["version"] if has_version else "")
            head.append(HeadText("version" if has_version else "package", name))
        head += [HeadText(name, f"{clean(c.label)} {texts[name]}") for name, c in same.items()]
        return table_columns(differing, cells)._replace(head=tuple(head))

    def is_constant(self, column: str) -> bool:
        """Check whether all rows have the same value in a column."""
        return column in self._whole.constants

    def line(self, row: int) -> int:
        """Return the line of a row, or the line of the first row."""
        if row in self._lines:
            return self._lines.index(row)
        return int(len(self._lines) > 1 and self.is_heading(0))

    def position(self, line: int) -> tuple[int, int]:
        """Return the number of the row in a line, and the number of rows."""
        number = self._lines[line] if self._lines else 0
        return number if isinstance(number, int) else 0, len(self._sheet.rows)

    def is_heading(self, line: int) -> bool:
        """Check whether a line is a heading."""
        return isinstance(self._lines[line], str)

    def item(self, line: int) -> Any:
        """Return the item of the sheet in a line; None if the sheet has no rows."""
        return self._sheet.rows[self.position(line)[0]] if self._lines else None

    def hash_in(self, line: int) -> str:
        """Return the hash of the spec that a row is about in the current column."""
        item = self.item(line)
        return self._sheet.hash_in(item, self.columns.current) if item is not None else ""

    def row(self, line: int) -> Row | None:
        """Return the row of the index that a line is about; None if it is missing or unread."""
        return self._known.get(self.hash_in(line))

    def is_unread(self, line: int) -> bool:
        """Check whether the row of the index for a line is still to be read."""
        hash_ = self.hash_in(line)
        return bool(hash_) and hash_ not in self._known

    def requests(self, top: int, height: int, cursor: int, layout: Layout) -> Iterator[RowsNeeded]:
        """Yield the request for the row of the index under the cursor."""
        if self.is_unread(cursor):
            yield RowsNeeded(self, (self.hash_in(cursor),))

    def read(self, wanted: Sequence[Any], catalog: Catalog) -> Mapping[str, Row | None]:
        """Read the rows of the index with some hashes: for a worker thread."""
        return {hash_: next(iter(catalog.by_hash(hash_)), None) for hash_ in wanted}

    def take(self, read: Mapping[str, Row | None]) -> None:
        """Take the rows of the index by hash, in place of the rows taken before."""
        self._known = read

    def pieces(self, line: int, heads: Heads, current: str, marks: RowMarks) -> list[Piece]:
        """Return the mark and the cells of the columns, or a heading."""
        number = self._lines[line]
        if isinstance(number, str):
            return [(" " * GUTTER, ""), (number, "strong")]
        item, at = self._sheet.rows[number], 0
        sign = MARKED if self._sheet.hash(item) in marks.hashes else ""
        pieces: list[Piece] = [(sign.ljust(GUTTER), "mark")]
        for placed in heads.layout.placed:
            name = placed.column.name
            column = self._columns[name]
            value = column.value(item)
            text = column.cut(column.text(value), placed.width - 1)
            is_right = column.is_right
            if is_right is None:
                is_right = isinstance(value, int) and text.strip() != ""
            filler = " " * (placed.width - 1 - cell_width(text))
            needles = filter_needles(self._patterns.get(name, ""))
            drawn = [
                (part, f"{shown} current".strip() if name == current else shown)
                for piece, style in column.line(text, item)
                for part, shown in highlight(piece, needles, style)
            ]
            cell = [(filler, ""), *drawn] if is_right else [*drawn, (filler, "")]
            pieces += [(" " * (placed.at - at), ""), *cell]
            at = placed.end - 1
        return pieces

    def hidden_texts(self, line: int, layout: Layout, head: HeadLine) -> list[str]:
        """Return the values of a row that are not whole in its cells and in the head line."""
        item, columns, drawn = self.item(line), self.columns.columns, set(head.pieces)
        placed = {each.column.name: each.width - 1 for each in layout.placed}
        return [text.text for text in columns.head if text not in drawn] + [
            f"{clean(column.label)} {text}"
            for name, column in self._columns.items()
            # Of specs side by side the one with the cursor is in view.
            if item is not None and not column.hash and name in columns.names
            if cell_width(text := column.text(column.value(item))) > placed.get(name, 0)
        ]
