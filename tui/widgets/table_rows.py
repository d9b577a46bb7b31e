"""The rows of the table, of whatever they are: drawn in columns, and read when they are needed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.message import Message

from spackscope.model.index.rows import Row
from spackscope.model.index.view import Sort
from spackscope.model.report.report import Piece
from spackscope.model.report.table_columns import Layout, TableColumns
from spackscope.tui.keymap import DIFF, bindings
from spackscope.tui.widgets.table_head import ColumnState, Heads
from spackscope.tui.widgets.virtual_list import Browse, VirtualList

if TYPE_CHECKING:
    from spackscope.model.index.catalog import Catalog
    from spackscope.model.index.listing import Listing, MarkedSpec

GUTTER = 2
"""Cells before the columns, with the mark of a row."""
MARKED, PARTLY_MARKED = "◆", "◇"


class RowMarks:
    """The marks by hash, and by look-alike for folded rows."""

    def __init__(self, marks: Sequence[str] = (), marked: Sequence[MarkedSpec] = ()) -> None:
        self.hashes = frozenset(marks)
        self._ids: dict[int, set[int]] = defaultdict(set)
        for spec in marked:
            for look_alike in spec.look_alikes:
                self._ids[look_alike].update(spec.ids)

    def sign(self, row: Row, listing: Listing) -> str:
        """Return the sign of a row: that all its specs are marked, some, or none."""
        if row.count == 1:
            return MARKED if row.spec.hash in self.hashes else ""
        marked = self._ids.get(row.look_alike)
        if not marked:
            return ""
        ids = listing.ids_of(row)
        count = sum(id_ in ids for id_ in marked)
        return MARKED if count == len(ids) else PARTLY_MARKED if count else ""


class ShownRows:
    """What the table shows: no rows; those of a listing and of a sheet are subclasses.

    `columns` are those that were chosen for rows of their kind, and `place` is the line with the
    cursor and the one at the top, which are kept while other rows are shown. `empty` says why
    there are none. Between lines with rows there may be headings.
    """

    listing: Listing | None = None
    """The listing of the rows; None for others."""
    query: object = None
    """What the rows are of: of something else the first columns are shown."""
    sort: Sort | None = None
    before = ""
    """A text before the values that all rows share."""
    between = " "
    """What is between these values."""
    gaps = title = notes = ""
    """What could not be known, what the rows answer, and sentences on them, above the heads."""
    gutter = GUTTER
    differ = True
    """Whether columns can be chosen for the rows: else those of before stay."""
    blank = 0
    """The blank cells at the end of a column that the last one does not need."""
    column_of_specs = ""
    """The column that is the first current one, if that is not the first of all."""

    def __init__(self, empty: str = "") -> None:
        self.empty, self.columns, self.place = empty, ColumnState(), (0, 0)

    def __len__(self) -> int:
        return 0

    def choose_columns(
        self, kept: Collection[str], hidden: Collection[str], *, has_slots: bool
    ) -> TableColumns:
        """Return the columns in which the rows differ, and those that are `kept`."""
        return TableColumns()

    def is_constant(self, column: str) -> bool:
        """Check whether all rows have the same value in a column."""
        return False

    def line(self, row: int) -> int:
        """Return the line of a row, or that of the first one."""
        return row

    def position(self, line: int) -> tuple[int, int]:
        """Return the number of the row in a line, and how many rows there are."""
        return line, len(self)

    def is_heading(self, line: int) -> bool:
        """Check whether a line has no row."""
        return False

    def item(self, line: int) -> Any:
        """Return the row in a line, in a sheet of its own kind; None if there is none."""
        return self.row(line)

    def row(self, line: int) -> Row | None:
        """Return the row of the index in a line; None if it has not been read, or is none."""
        return None

    def is_unread(self, line: int) -> bool:
        """Check whether the row of the index in a line is still to be read."""
        return False

    def requests(self, top: int, height: int, cursor: int, layout: Layout) -> Iterator[RowsNeeded]:
        """Yield the requests for what is in view and was not requested yet."""
        return iter(())

    def read(self, wanted: Sequence[Any], catalog: Catalog) -> Mapping[Any, Any]:
        """Read what was requested: for a worker thread."""
        return {}

    def take(self, read: Mapping[Any, Any]) -> None:
        """Take what was read."""

    def pieces(self, line: int, heads: Heads, current: str, marks: RowMarks) -> list[Piece]:
        """Return the gutter with the mark, and a piece or more for each placed column."""
        return []

    def hidden_texts(self, line: int, layout: Layout) -> list[str]:
        """Return what a row has that its cells do not show whole."""
        return []


class RowsNeeded(Message):
    """Posted when rows are to be read; a newer message of its kind replaces all older ones."""

    def __init__(self, rows: ShownRows, wanted: Sequence[Any]) -> None:
        super().__init__()
        self.rows, self.wanted = rows, wanted

    def can_replace(self, message: Message) -> bool:
        """Replace an older request that was not handled yet."""
        return type(message) is type(self)

    def read(
        self, catalog: Catalog, show: Callable[[Mapping[Any, Any]], object]
    ) -> Mapping[Any, Any]:
        """Read what was requested, and show what is known before: for a worker thread."""
        return self.rows.read(self.wanted, catalog)

    def take(self, read: Mapping[Any, Any], *, is_last: bool) -> None:
        """Pass what was read to the rows."""
        self.rows.take(read)


class TableRows(VirtualList):
    """The list of the table, which draws rows of any kind below the same heads.

    What comes into view and has not been read is requested with messages, and drawn as
    placeholders until `take` has it. The cursor passes over headings.
    """

    BINDINGS = bindings(DIFF)

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.shown, self.heads, self.marks = ShownRows(), Heads(), RowMarks()

    def show_rows(self, rows: ShownRows, line: int) -> None:
        """Show other rows, with the cursor on a line."""
        self.shown = rows
        self.show(len(rows), line, empty=rows.empty)
        self.request()

    def place(self, heads: Heads) -> None:
        """Draw the rows below other heads."""
        self.heads = heads
        self.request()
        self.refresh()

    @property
    def row(self) -> Row | None:
        """The row of the index under the cursor; None if there is none, or it was not read yet."""
        return self.shown.row(self.cursor) if self.length else None

    @property
    def item(self) -> Any:
        """The row under the cursor, whatever it is about; None if there is none."""
        return self.shown.item(self.cursor)

    @property
    def is_waiting(self) -> bool:
        """Whether the row of the index under the cursor is still to be read."""
        return self.length > 0 and self.shown.is_unread(self.cursor)

    @property
    def position(self) -> tuple[int, int]:
        """The number of the row under the cursor, and how many there are."""
        return self.shown.position(self.cursor)

    def request(self) -> None:
        """Request the row under the cursor, and what is in view."""
        height = max(1, self.size.height)
        for request in self.shown.requests(self.top, height, self.cursor, self.heads.layout):
            # Textual stops what a parent has its child post.
            self.post_message(request.set_sender(self))

    def take(self, request: RowsNeeded, read: Mapping[Any, Any], *, is_last: bool = True) -> None:
        """Take what was requested, and show it if its rows are; more comes if not `is_last`."""
        waited = self.is_waiting
        request.take(read, is_last=is_last)
        if request.rows is not self.shown:
            return
        self.refresh()
        if is_last:
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

    def move_to(self, row: int) -> None:
        """Move the cursor to a row, or to the nearest one there is."""
        if 0 <= row < self.length and self.shown.is_heading(row):
            step = 1 if row >= self.cursor else -1
            row += step if 0 <= row + step < self.length else -step
        super().move_to(row)

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the gutter, and what is in the columns."""
        current = self.heads.current if self.has_focus else ""
        return self.shown.pieces(row, self.heads, current, self.marks)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave the keys of a comparison to others where a listing is shown."""
        return action != "switch" or self.shown.listing is None

    def action_switch(self, option: str) -> None:
        """Post that rows or columns are to be added, or removed again."""
        self.post_message(Browse("switch", option))
