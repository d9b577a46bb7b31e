"""The rows of an answer in the place of the specs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from spackscope.model.core.columns import spec_name
from spackscope.model.core.text import cell_width, clean
from spackscope.model.index.catalog import Row
from spackscope.model.index.view import Sort
from spackscope.model.report.report import Piece, filter_needles, highlight
from spackscope.model.report.sheet import ANY_COLUMN, Sheet, table_columns
from spackscope.model.report.table_columns import HeadText, Layout, TableColumns
from spackscope.tui.widgets.table_head import Heads
from spackscope.tui.widgets.table_rows import (
    GUTTER,
    MARKED,
    ColumnState,
    HeadLine,
    RowMarks,
    RowsNeeded,
    ShownRows,
)

if TYPE_CHECKING:
    from spackscope.model.index.catalog import Catalog

_MAX_MEASURED = 1_000
"""Rows whose cells are measured for the widths of columns; further rows are not."""


class SheetRows(ShownRows):
    """The rows of a sheet, below the headings of their groups.

    Columns are chosen for the rows without filters, so that they stay while a filter is typed.
    """

    between, blank = " · ", 1
    columns_stay = False

    def __init__(
        self,
        whole: Sheet[Any],
        sheet: Sheet[Any],
        sort: Sort | None,
        columns: ColumnState,
        empty: str,
    ) -> None:
        super().__init__(empty, columns=columns)
        self._whole, self._sheet, self.sort = whole, sheet, sort
        self.gaps, self.title = " · ".join(map(clean, sheet.gaps)), clean(sheet.title)
        self.notes = " · ".join(map(clean, [*sheet.remarks, *sheet.notes, *sheet.more]))
        self.switches, self.is_prose = sheet.switches, whole.is_prose
        # Headings or other columns have the values of the columns in `redundant`.
        redundant = sheet.redundant if sort is None else ()
        shown = [each for each in sheet.columns if each.drawn and each.name not in redundant]
        self._columns = {each.name: each for each in shown}
        self.column_of_specs = next((each.name for each in shown if each.hash), "")
        # The numbers of rows, and headings.
        self._lines: list[int | str] = []

        def group(number: int) -> str:
            return sheet.group(sheet.rows[number]) if sort is None else ""

        for heading, numbers in groupby(range(len(sheet.rows)), group):
            if heading or self._lines:
                self._lines.append(clean(heading))
            self._lines += numbers
        # The row of the index for the row under the cursor, by its hash.
        self._known: Mapping[str, Row | None] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def after(self, specs: ShownRows) -> ShownRows:
        """Return these rows again; the rows of the index may be of another catalog."""
        self._known = {}
        return self

    def choose_columns(
        self, kept: Collection[str], hidden: Collection[str], *, spreads_variants: bool
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
        pieces: list[Piece] = [(sign.ljust(heads.gutter), "mark")]
        filters = self.columns.filters
        for placed in heads.layout.placed:
            name = placed.column.name
            column = self._columns[name]
            value = column.value(item)
            text = column.cut(column.text(value), placed.width - 1)
            is_right = column.is_right
            if is_right is None:
                is_right = isinstance(value, int) and text.strip() != ""
            filler = " " * (placed.width - 1 - cell_width(text))
            needles = filter_needles(filters.text(name)) + filter_needles(filters.text(ANY_COLUMN))
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
            f"{clean(column.label)} {text}".lstrip()
            for name, column in self._columns.items()
            # Of specs side by side the one with the cursor is in view; a bar has its number.
            if item is not None and not column.hash and name in columns.names
            if column.style != "bar"
            if cell_width(text := column.text(column.value(item))) > placed.get(name, 0)
        ]
