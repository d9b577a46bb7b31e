"""The rows of the table, of a listing or a sheet: read as needed, and drawn in columns.

The rows of a listing are read and kept a window at a time; those of a sheet are in memory.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import filterfalse, groupby, takewhile
from typing import TYPE_CHECKING, Any

from textual import events
from textual.message import Message
from textual.reactive import reactive

from spackscope.model.assist.offers import Relaxation
from spackscope.model.core.columns import spec_name
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import cell_width, clean, counted, pad, shorten
from spackscope.model.index.catalog import Row
from spackscope.model.index.order import RowRole, Sort
from spackscope.model.query.ast import Query
from spackscope.model.report.report import LinePart, Piece, filter_needles, highlight
from spackscope.model.report.row_cells import RowCells
from spackscope.model.report.row_notes import NoteKey, RowNote, row_notes
from spackscope.model.report.sheet import ANY_COLUMN, Sheet, table_columns
from spackscope.model.report.table_columns import (
    GAP,
    HeadText,
    Layout,
    TableColumn,
    TableColumns,
    choose_columns,
    head_line,
    lay_out,
)
from spackscope.tui.keymap import DIFF, bindings, written_key
from spackscope.tui.widgets.drawing import RULE_MARGIN, RuleLine
from spackscope.tui.widgets.table_head import Heads, Patterns, QueryFilters
from spackscope.tui.widgets.virtual_list import Browse, VirtualList

if TYPE_CHECKING:
    from spackscope.model.index.catalog import Catalog, Listing

NO_SHEET = Sheet[Any]("", (), ())
"""The sheet of the specs, and of an answer that is not read."""
GUTTER = 2
"""Cells before the columns, with the mark of a row."""
MARKED, PARTLY_MARKED = "◆", "◇"


class KeyChoice(Frozen):
    """A key that can be pressed instead, by its name in Textual and its name on the screen."""

    label: str
    key: str
    shown: str
    count: int | None = None


Choice = Relaxation | KeyChoice


class MarkedSpec(Frozen):
    """A marked spec; it has an id for each record with its hash."""

    hash: str
    title: str
    ids: tuple[int, ...]
    look_alikes: frozenset[int]

    def is_in(self, listing: Listing | None) -> bool:
        """Check whether the spec has a row in a listing, or is in a folded row."""
        return listing is not None and any(map(listing.shows, self.ids))


class RowMarks:
    """The marks of rows: by hash, and by look-alike for folded rows."""

    def __init__(self, marks: Sequence[str] = (), marked: Sequence[MarkedSpec] = ()) -> None:
        self.hashes = frozenset(marks)
        self._ids: dict[int, set[int]] = defaultdict(set)
        for spec in marked:
            for look_alike in spec.look_alikes:
                self._ids[look_alike].update(spec.ids)

    def sign(self, row: Row, listing: Listing) -> str:
        """Return the sign of a row with all or some specs marked; empty without marks."""
        if row.count == 1:
            return MARKED if row.spec.hash in self.hashes else ""
        marked = self._ids.get(row.look_alike)
        if not marked:
            return ""
        ids = listing.ids_of(row)
        count = sum(id_ in ids for id_ in marked)
        return MARKED if count == len(ids) else PARTLY_MARKED if count else ""


class ColumnState:
    """The columns of the rows; the current column may be a value of the head line.

    Columns in `kept` have a filter, and stay as long as they have it. Where the table
    `spreads_variants`, the variants of one package have columns of their own.
    """

    spreads_variants = True

    def __init__(self, current: str = "") -> None:
        self.columns = TableColumns()
        self._current = self._chosen = current
        self.hidden: Collection[str] = ()
        self.kept: set[str] = set()
        self.filters: Patterns = QueryFilters(Query())
        self.gutter = 2
        self._first = 0
        self._query: object = Query()
        self._is_new = False

    @property
    def current(self) -> str:
        """The current column: that which was chosen last, or the first of rows without it."""
        return self._current

    @current.setter
    def current(self, name: str) -> None:
        self._current = self._chosen = name

    @property
    def head(self) -> list[str]:
        """The columns of the values in the head line."""
        return [text.column for text in self.columns.head]

    @property
    def is_in_head(self) -> bool:
        """Whether the current column is in the head line."""
        return self.current not in self.columns.names

    def column(self, name: str) -> TableColumn | None:
        """Return a column of the table; None for a value of the head line or a hidden column."""
        return next((column for column in self.columns.all if column.name == name), None)

    def choose(self, rows: ShownRows, is_filtered: Callable[[str], bool]) -> None:
        """Choose the columns for some rows; for an empty listing the columns stay.

        Rows of another query begin with the first columns, unless the current one has a filter.
        """
        if rows.query != self._query:
            self._query, self._is_new, self._first = rows.query, True, 0
        self.kept = set(filter(is_filtered, self.kept))
        if rows.differ or not self.columns.all:
            self.columns = rows.choose_columns(self)
        else:
            self.columns = self.columns.without(self.hidden)
        names = self.columns.names
        # A column whose value all rows of another query share leads keys to nothing.
        stays = names if self._is_new else [*names, *self.head]
        first = next(filter(names.__contains__, (rows.column_of_specs, *names)), "")
        self._current = self._chosen if self._chosen in stays else first

    def constant_head(self, rows: ShownRows) -> list[HeadText]:
        """Return the values of the head line that newer rows share too."""
        return [text for text in self.columns.head if rows.is_constant(text.column)]

    def move(self, step: int) -> bool:
        """Go to the next or previous column; the head line is before the first column.

        Returns False at the edge. From the first column the cursor goes to the first value of the
        head line, since the last values may be out of view.
        """
        names, head = self.columns.names, self.head
        if self.is_in_head:
            number = head.index(self.current) + step if self.current in head else len(head)
            if number < 0:
                return False
            self.current = head[number] if number < len(head) else names[0]
            return True
        number = names.index(self.current) + step
        if number >= len(names) or (number < 0 and not head):
            return False
        self.current = names[number] if number >= 0 else head[0]
        return True

    def next_filter(self, step: int) -> bool:
        """Go to the next or previous column that can be filtered; return False at the edge."""
        columns = self.columns.all
        number = self.columns.names.index(self.current) if not self.is_in_head else len(columns)
        others = columns[number + 1 :] if step > 0 else columns[:number][::-1]
        following = next((column.name for column in others if column.takes_filter), None)
        if following is not None:
            self.current = following
        return following is not None

    def lay_out(self, width: int, sort: Sort | None) -> Layout:
        """Place the columns; the view does not scroll if the current column is in it."""
        floors: dict[str, int] = {}
        sorting = self.column(sort.column) if sort is not None else None
        if sorting is not None:
            width_with_arrow = max(sorting.min_width, min(len(sorting.label), 4)) + 1
            floors[sorting.name] = width_with_arrow

        def laid_out() -> Layout:
            return lay_out(
                self.columns, width, current=self.current, first=self._first, floors=floors
            )

        layout = laid_out()
        if self._is_new and layout.before and self.current not in self.kept:
            self.current = self.columns.names[0]
            layout = laid_out()
        self._first, self._is_new = layout.before, False
        return layout


class ShownRows:
    """The rows of the table: none here; subclasses have the rows of a listing or a sheet.

    `columns` are the columns chosen for rows of this kind. `cursor` is the line of the cursor, and
    `top` the line at the top, kept while other rows are shown. `empty` is the reason for having no
    rows, and `choices` replace them, if any. Between lines with rows there may be headings.
    """

    top: int | None = None
    asked: tuple[str, ...] = ()
    """The question that the rows answer; empty for a listing."""
    listing: Listing | None = None
    """The listing of the rows; None for the rows of a sheet."""
    query: object = None
    """The query of the rows; when it changes, the table scrolls to the first columns."""
    sort: Sort | None = None
    before = ""
    """The text before the values that all rows share."""
    between = " "
    """The text between the values that all rows share."""
    sheet: Sheet[Any] = NO_SHEET
    """The sheet of the rows, with its texts and options; an empty one for a listing."""
    gutter = GUTTER
    columns_stay = True
    """Whether the columns stay while a filter is typed: rows without filters have others."""
    differ = True
    """Whether columns can be chosen for the rows; else the columns stay."""
    blank = 0
    """Blank cells at the end of each column; the last column needs none."""
    column_of_specs = ""
    """The column that is current at first, if it is not the first column."""

    name = "builds"
    """The title of the table."""

    def __init__(
        self,
        empty: str = "",
        choices: Sequence[Choice] = (),
        columns: ColumnState | None = None,
    ) -> None:
        self.empty, self.choices, self.columns = empty, choices, columns or ColumnState()
        self.cursor = 0

    def __len__(self) -> int:
        return len(self.choices)

    def succeeded_by(self, specs: ShownRows) -> ShownRows:
        """Return the rows to show once newer specs were read: by default these, from their top."""
        specs.top = None
        return specs

    def choose_columns(self, state: ColumnState) -> TableColumns:
        """Return the columns in which the rows differ, and the `kept` columns."""
        return TableColumns()

    def is_constant(self, column: str) -> bool:
        """Check whether all rows have the same value in a column."""
        return False

    def line(self, row: int) -> int:
        """Return the line of a row, or the line of the first row."""
        return row

    def position(self, line: int) -> tuple[int, int]:
        """Return the number of the row in a line, and the number of rows."""
        return line, len(self)

    def is_heading(self, line: int) -> bool:
        """Check whether a line is a heading."""
        return False

    def item(self, line: int) -> Any:
        """Return the row, the choice or the item of a sheet in a line; None if it has none."""
        return self.choices[line] if self.choices else self.row(line)

    def row(self, line: int) -> Row | None:
        """Return the row of the index in a line; None if it is missing or unread."""
        return None

    def is_unread(self, line: int) -> bool:
        """Check whether the row of the index in a line is still to be read."""
        return False

    def is_opened(self, line: int) -> bool:
        """Check whether the specs of an opened row follow a line."""
        return False

    def requests(self, top: int, height: int, cursor: int, layout: Layout) -> Iterator[RowsNeeded]:
        """Yield the requests for rows in view that were not requested yet."""
        return iter(())

    def pieces(self, line: int, heads: Heads, current: str, marks: RowMarks) -> list[Piece]:
        """Return the gutter with the mark, and the pieces of each placed column."""
        return []

    def hidden_texts(self, line: int, layout: Layout, head: HeadLine) -> list[str]:
        """Return the values of a row that are not whole in its cells and in the head line."""
        return []


class RowsNeeded(Message):
    """Posted to have rows read; a newer message of the same class replaces an older one.

    `read` reads them in a worker thread, and `take` passes the result to the rows.
    """

    def __init__(
        self,
        rows: ShownRows,
        wanted: Sequence[Any],
        read: Callable[[Catalog], Any],
        take: Callable[[Any], object],
    ) -> None:
        super().__init__()
        self.rows, self.wanted, self.read, self.take = rows, wanted, read, take

    def can_replace(self, message: Message) -> bool:
        """Replace an older request that was not handled yet."""
        return type(message) is type(self)


Notes = Mapping[NoteKey, RowNote]
"""Notes on rows, by the key that `note_key` returns for a row."""

WINDOW = 64
"""Rows that are read at once."""
MAX_WINDOWS = 16
"""Windows that are kept: more rows than three screens of the tallest terminal."""
_PLACEHOLDER = "…"
"""Fills the cells of a row that has not been read yet."""

Windows = Mapping[int, Sequence[Row]]
"""Rows by the number of the first row of their window, a multiple of `WINDOW`."""


def read_windows(listing: Listing, starts: Iterable[int]) -> Windows:
    """Read windows of rows from the index: for a worker thread."""
    windows = {s: listing.catalog.rows(*listing.part(slice(s, s + WINDOW))) for s in starts}
    for look_alike in {row.look_alike for rows in windows.values() for row in rows}:
        # The cells of flowing variants ask for the variants of a row.
        _ = listing.values.of_package(look_alike).varying_variants
    return windows


def window_starts(first: int, last: int, length: int) -> list[int]:
    """Return the first rows of the windows with the rows `first` to `last` of a list."""
    first, last = max(0, first), min(last, length - 1)
    return list(range(first - first % WINDOW, last + 1, WINDOW))


class NotesNeeded(RowsNeeded):
    """Posted when rows without notes are in view."""


class SpecRows(ShownRows):
    """The rows of a listing; some of their windows may have been read already.

    `shared` are the values that all rows have in common, and `before` is the text before them.
    """

    listing: Listing

    def __init__(
        self,
        listing: Listing,
        windows: Windows | None = None,
        shared: Iterable[tuple[str, str]] = (),
        *,
        empty: str = "",
        choices: Sequence[Choice] = (),
        before: str = "",
    ) -> None:
        super().__init__(empty, choices)
        self.listing, self.before, self._shared = listing, before, shared
        self.query, self.sort = listing.view.query, listing.view.sort
        self.differ = listing.shown > 0
        self._windows, self._cells = dict(windows or {}), RowCells(listing)
        most = listing.max_count
        self.gutter = GUTTER + bool(listing.view.opened_kinds)
        self.gutter += len(f"▸{most:,}") if most > 1 else 0
        self._widths: Mapping[str, int] = {}
        self._requested: Sequence[int] = ()
        self._noted: tuple[Row, ...] = ()

    def __len__(self) -> int:
        return len(self.listing) or super().__len__()

    def choose_columns(self, state: ColumnState) -> TableColumns:
        """Return the columns in which the rows differ, and the `kept` columns."""
        return choose_columns(
            self.listing,
            self._shared,
            state.kept,
            state.hidden,
            spreads_variants=state.spreads_variants,
        )

    def is_constant(self, column: str) -> bool:
        """Check whether all rows have the same value in a column or a variant."""
        values = self.listing.values
        if column[:1] == "+":
            return self.differ and column[1:] not in values.varying_variants
        return column in values.constants

    def row(self, line: int) -> Row | None:
        """Return a row; None if it has not been read, or could not be read."""
        window = self._windows.get(line - line % WINDOW, ())
        return window[line % WINDOW] if line % WINDOW < len(window) else None

    def is_unread(self, line: int) -> bool:
        """Check whether a row is still to be read."""
        return not self.choices and line - line % WINDOW not in self._windows

    def is_opened(self, line: int) -> bool:
        """Check whether a row is opened, or the first of an opened group without a head."""
        row, above = self.row(line), self.row(line - 1) if line else None
        if row is None or row.look_alike not in self.listing.view.opened:
            return False
        is_first = above is None or above.look_alike != row.look_alike
        return row.is_open or (row.role is RowRole.SPEC and is_first)

    def requests(self, top: int, height: int, cursor: int, layout: Layout) -> Iterator[RowsNeeded]:
        """Yield requests for the row under the cursor, and for the rows in view and a page around.

        Rows in view that were read without their notes give a request for these notes.
        """
        length = len(self.listing)
        # The wheel may have moved the view far away from the cursor.
        starts = window_starts(top - height, top + 2 * height, length)
        starts += window_starts(cursor, cursor, length)
        missing = tuple(filter(self.is_unread, dict.fromkeys(starts)))
        if missing and missing != self._requested:
            self._requested = missing
            yield RowsNeeded(
                self, missing, lambda _: read_windows(self.listing, missing), self.take
            )
        if (widths := layout.widths) != self._widths:
            self._widths, self._noted = widths, ()
            self._cells.noted.clear()
        in_view = filter(None, map(self.row, range(top, top + height)))
        without = tuple(filterfalse(self._cells.is_noted, in_view))
        # Before the first layout no cells are known, from which notes are to differ.
        if layout.placed and without and without != self._noted:
            self._noted = without
            yield NotesNeeded(
                self,
                without,
                lambda catalog: row_notes(catalog).of(self.listing, without, widths),
                partial(self._take_notes, widths),
            )

    def take(self, read: Windows) -> None:
        """Add windows, empty if their rows could not be read, and drop the oldest windows."""
        self._windows |= read
        for start in list(self._windows)[:-MAX_WINDOWS]:
            del self._windows[start]
        self._requested = ()

    def _take_notes(self, widths: Mapping[str, int], notes: Notes) -> None:
        """Draw rows with notes for columns of some widths, unless these have changed since."""
        if widths == self._widths:
            self._cells.take_notes(notes)
            self._noted = ()

    def pieces(self, line: int, heads: Heads, current: str, marks: RowMarks) -> list[Piece]:
        """Return the gutter with mark and count, and the pieces of each column."""
        row, placed, room = self.row(line), heads.layout.placed, heads.gutter - 1
        if row is None:
            cut = (pad(_PLACEHOLDER, each.width) for each in placed)
            return [(" ", ""), (pad("", room) + (" " * GAP).join(cut), "dim")]
        sign, lead = marks.sign(row, self.listing), self._cells.lead(row, self.row(line + 1))
        return [
            (sign or " ", "mark" if sign else ""),
            (pad(lead, room), "accent"),
            *self._cells.pieces(row, placed, current),
        ]


_MAX_MEASURED = 1_000
"""Rows whose cells are measured for the widths of columns; further rows are not."""


class SheetRows(ShownRows):
    """The rows of a sheet that are `fitting` its filters, below the headings of their groups.

    Columns are chosen for all rows, so that they stay while a filter is typed.
    """

    between, blank = " · ", 1
    columns_stay = False

    def __init__(
        self,
        sheet: Sheet[Any],
        fitting: Sheet[Any],
        sort: Sort | None,
        columns: ColumnState,
        empty: str,
    ) -> None:
        super().__init__(empty, columns=columns)
        self.sheet, self._fitting, self.sort = sheet, fitting, sort
        # Headings or other columns have the values of the columns in `redundant`.
        redundant = sheet.redundant if sort is None else ()
        shown = [each for each in sheet.columns if each.drawn and each.name not in redundant]
        self._columns = {each.name: each for each in shown}
        self.column_of_specs = next((each.name for each in shown if each.hash), "")
        # The numbers of rows, and headings.
        self._lines: list[int | str] = []

        def group(number: int) -> str:
            return fitting.group(fitting.rows[number]) if sort is None else ""

        for heading, numbers in groupby(range(len(fitting.rows)), group):
            if heading or self._lines:
                self._lines.append(clean(heading))
            self._lines += numbers
        # The row of the index for the row under the cursor, by its hash.
        self._known: Mapping[str, Row | None] = {}

    def __len__(self) -> int:
        return len(self._lines)

    def succeeded_by(self, specs: ShownRows) -> ShownRows:
        """Return these rows again; the rows of the index may be of another catalog."""
        self._known = {}
        return self

    def choose_columns(self, state: ColumnState) -> TableColumns:
        """Return the columns in which the rows differ, and the `kept` columns."""
        shown = [each for each in self._columns.values() if each.name not in state.hidden]
        texts, kept = self.sheet.constants, state.kept
        same = {each.name: each for each in shown if each.name in texts and each.name not in kept}
        differing = [each for each in shown if each.name not in same] or shown[:1]
        measured = self.sheet.rows[:_MAX_MEASURED]
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
        return column in self.sheet.constants

    def line(self, row: int) -> int:
        """Return the line of a row, or the line of the first row."""
        if row in self._lines:
            return self._lines.index(row)
        return int(len(self._lines) > 1 and self.is_heading(0))

    def position(self, line: int) -> tuple[int, int]:
        """Return the number of the row in a line, and the number of rows."""
        number = self._lines[line] if self._lines else 0
        return number if isinstance(number, int) else 0, len(self._fitting.rows)

    def is_heading(self, line: int) -> bool:
        """Check whether a line is a heading."""
        return isinstance(self._lines[line], str)

    def item(self, line: int) -> Any:
        """Return the item of the sheet in a line; None if the sheet has no rows."""
        return self._fitting.rows[self.position(line)[0]] if self._lines else None

    def hash_in(self, line: int) -> str:
        """Return the hash of the spec that a row is about in the current column."""
        item = self.item(line)
        return self._fitting.hash_in(item, self.columns.current) if item is not None else ""

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
            hash_ = self.hash_in(cursor)
            yield RowsNeeded(
                self, (hash_,), lambda catalog: catalog.by_hash(hash_), partial(self._take, hash_)
            )

    def _take(self, hash_: str, rows: Sequence[Row]) -> None:
        """Replace the known row of the index."""
        self._known = {hash_: next(iter(rows), None)}

    def pieces(self, line: int, heads: Heads, current: str, marks: RowMarks) -> list[Piece]:
        """Return the mark and the cells of the columns, or a heading."""
        number = self._lines[line]
        if isinstance(number, str):
            return [(" " * GUTTER, ""), (number, "strong")]
        item, at = self._fitting.rows[number], 0
        sign = MARKED if self._fitting.hash(item) in marks.hashes else ""
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


class TableRows(VirtualList):
    """The list of the table, which draws rows of any kind below the same heads.

    Unread rows that come into view are requested with messages, and drawn as placeholders until
    `take` gets them. The cursor skips headings.
    """

    BINDINGS = bindings(DIFF)
    _has_opened = False

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.shown, self.heads, self.marks = ShownRows(), Heads(), RowMarks()

    def show_rows(self, rows: ShownRows) -> None:
        """Show other rows, with their cursor; the place of the last rows is kept with them.

        What an opened row under the cursor has below it comes into view.
        """
        self.shown.cursor, self.shown.top = self.cursor, self.top
        self.shown, self.top = rows, self.top if rows.top is None else rows.top
        self.show(len(rows), rows.cursor, empty=rows.empty)
        if (head := self.row) is not None and rows.is_opened(self.cursor):
            below = map(rows.row, range(self.cursor + 1, self.cursor + self.size.height))
            self.show_to(self.cursor + sum(1 for _ in takewhile(partial(_is_below, head), below)))
        self.request()

    def place(self, heads: Heads) -> None:
        """Draw the rows below other heads."""
        self.heads = heads
        self.request()
        self.refresh()

    @property
    def row(self) -> Row | None:
        """The row of the index under the cursor; None if it is missing or unread."""
        return self.shown.row(self.cursor) if self.length else None

    @property
    def has_spec(self) -> bool:
        """Whether the row under the cursor is about a spec, as far as it is known."""
        return self.is_waiting or self.row is not None

    @property
    def item(self) -> Any:
        """The row, the choice or the item of a sheet under the cursor; None without rows."""
        return self.shown.item(self.cursor)

    @property
    def is_waiting(self) -> bool:
        """Whether the row of the index under the cursor is still to be read."""
        return self.length > 0 and self.shown.is_unread(self.cursor)

    @property
    def position(self) -> tuple[int, int]:
        """The number of the row under the cursor, and the number of rows."""
        return self.shown.position(self.cursor)

    def request(self) -> None:
        """Request the row under the cursor, and the rows in view."""
        height = max(1, self.size.height)
        for request in self.shown.requests(self.top, height, self.cursor, self.heads.layout):
            # Textual stops a message that a parent has its child post.
            self.post_message(request.set_sender(self))

    def take(self, request: RowsNeeded, read: Any) -> None:
        """Add the rows that were read for a request, and draw them if they are shown."""
        waited = self.is_waiting
        request.take(read)
        if request.rows is not self.shown:
            return
        self.refresh()
        self.request()
        if waited and not self.is_waiting:
            self.post_message(self.Highlighted(self, self.cursor))

    def fit(self) -> None:
        """Request the rows that came into view."""
        super().fit()
        self.request()

    def _put_at_top(self, top: int) -> bool:
        moved = super()._put_at_top(top)
        if moved:
            self.request()
        return moved

    def is_heading(self, row: int) -> bool:
        """Check whether a row is a heading."""
        return self.shown.is_heading(row)

    def on_click(self, event: events.Click) -> None:
        """Choose the row under the cursor, if it stands for several specs; else move the cursor.

        The second click of two that opened a row does not close it again.
        """
        is_here = self.length > 0 and self.top + event.y == self.cursor
        row = self.row if is_here and event.chain == 1 else None
        opens = row is not None and row.count > 1
        if opens or (event.chain == 2 and self._has_opened):
            event.prevent_default()
        if opens:
            self.post_message(self.Chosen(self, self.cursor))
        self._has_opened = opens

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the gutter and the cells of the columns, or a choice."""
        if self.shown.choices:
            return _choice_pieces(self.shown.choices, row, width)
        current = self.heads.current if self.has_focus else ""
        return self.shown.pieces(row, self.heads, current, self.marks)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Check whether a key of a diff adds something to the rows."""
        return action != "switch" or parameters[0] in self.shown.sheet.switches

    def action_switch(self, option: str) -> None:
        """Post a request to add rows or columns, or to remove them again."""
        self.post_message(Browse("switch", option))


def _is_below(head: Row, row: Row | None) -> bool:
    """Check whether a row is one of those that follow an opened row."""
    if row is None or row.look_alike != head.look_alike:
        return False
    return head.role is not RowRole.OPEN_KIND or row.role is RowRole.MEMBER


def _choice_pieces(choices: Sequence[Choice], row: int, width: int) -> list[Piece]:
    """Return the label, count and key of a choice."""
    counts = [f"{each.count:,}" if each.count is not None else "" for each in choices]
    keys = [written_key(each.shown) if isinstance(each, KeyChoice) else "" for each in choices]
    count_width, key_width = max(map(len, counts)), max(map(cell_width, keys))
    widest = max(cell_width(each.label) for each in choices)
    label = pad(choices[row].label, max(0, min(widest, width - count_width - key_width - 7)))
    return [
        ("  ", ""),
        (label, ""),
        (f"  {counts[row]:>{count_width}} ", "dim"),
        (f" {pad(keys[row], key_width)} " if key_width else "", "accent"),
    ]


_BETWEEN = " ─ "
"""The text between the title of the table and the values that all rows share."""


class HeadLine(RuleLine):
    """The rule above the table: its title, the values that all rows share, and columns cut off.

    Each value can be clicked, and be the current column.
    """

    is_stale = reactive(False)
    """Whether the rows belong to an older query: the title then names that query."""
    _rows = ShownRows()
    _head: Sequence[HeadText] = ()
    _current = ""
    _columns_after = 0

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(self._texts, id=id)

    def show(self, rows: ShownRows, head: Sequence[HeadText], current: str, columns: int) -> None:
        """Show other values, with the number of columns out of view to the right."""
        self._rows, self._head, self._current, self._columns_after = rows, head, current, columns
        self.refresh()

    @property
    def title(self) -> str:
        """The title of the table."""
        rows = self._rows
        is_stale = self.is_stale and rows.listing is not None
        return f"rows of: {clean(str(rows.query or 'all builds'))}" if is_stale else rows.name

    @property
    def _after(self) -> str:
        return f"{counted(self._columns_after, 'column')} ›" if self._columns_after else ""

    @property
    def pieces(self) -> list[HeadText]:
        """The values that all rows share, and texts between them."""
        rows, taken = self._rows, cell_width(self.title + _BETWEEN + self._after)
        room = self.size.width - RULE_MARGIN - taken
        return head_line(self._head, room, self._current, rows.before, rows.between)

    def _texts(self, width: int) -> tuple[Sequence[LinePart], Sequence[LinePart]]:
        """Return the title and the values, package and version in bold; and the cut columns."""
        after = self._after
        left = [LinePart([(shorten(self.title, width, keep="start"), "")])]
        for number, (column, text) in enumerate(self.pieces):
            style = "plain strong" if column in ("package", "version") else "plain dim"
            style = "current" if column and column == self._current else style
            if not number:
                left.append(LinePart([(_BETWEEN, "rule")]))
            left.append(LinePart([(text, style)], Browse("filter", column) if column else ""))
        is_room = cell_width(self.title + after) <= width
        return left, [LinePart([(after, "plain dim")])] if after and is_room else []
