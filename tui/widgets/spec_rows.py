"""The rows of the spec table, which are read and kept a window at a time, and their marks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import filterfalse
from typing import TYPE_CHECKING

from textual.message import Message

from spackscope.model.core.text import cell_width, pad
from spackscope.model.index.rows import Row
from spackscope.model.report.report import Piece
from spackscope.model.report.table_columns import GAP, Layout, Placed, ShownWidths
from spackscope.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from spackscope.model.index.listing import Listing, MarkedSpec
    from spackscope.model.report.kinds import NoteKey, RowNote
    from spackscope.model.report.row_cells import RowCells

Notes = Mapping["NoteKey", "RowNote"]
"""Notes on rows, by what they belong to."""

WINDOW = 64
"""Rows that are read at once."""
MAX_WINDOWS = 16
"""Windows that are kept: more than three screens of the tallest terminal."""

Windows = Mapping[int, Sequence[Row]]
"""Rows by the number of the first row of their window, a multiple of `WINDOW`."""


def read_windows(listing: Listing, starts: Iterable[int]) -> Windows:
    """Read windows of rows from the index: for a worker thread.

    >>> table.take_rows(listing, read_windows(listing, [0, 64]))
    """
    windows = {s: listing.catalog.rows(*listing.part(slice(s, s + WINDOW))) for s in starts}
    for look_alike in {row.look_alike for rows in windows.values() for row in rows}:
        # The cells of flowing variants ask for these.
        listing.values.variants_of(look_alike)
    return windows


def window_starts(first: int, last: int, length: int) -> list[int]:
    """Return the windows with the rows from one to another, of a list of some length."""
    first, last = max(0, first), min(last, length - 1)
    return list(range(first - first % WINDOW, last + 1, WINDOW))


class RowWindows:
    """A bounded cache of windows; the oldest ones are dropped."""

    def __init__(self, windows: Windows | None = None) -> None:
        self._windows: dict[int, Sequence[Row]] = {}
        self.add(windows or {})

    def add(self, windows: Windows) -> None:
        """Cache some windows, and drop the oldest if there are too many."""
        self._windows.update(windows)
        while len(self._windows) > MAX_WINDOWS:
            del self._windows[next(iter(self._windows))]

    def has(self, number: int) -> bool:
        """Check whether the window of a row has been read."""
        return number - number % WINDOW in self._windows

    def row(self, number: int) -> Row | None:
        """Return a row, or None if it has not been read or could not be."""
        offset = number % WINDOW
        window = self._windows.get(number - offset, ())
        return window[offset] if offset < len(window) else None


MARKED, PARTLY_MARKED = "◆", "◇"


class RowMarks:
    """The marks by hash, and by look-alike for folded rows."""

    def __init__(self, marks: Sequence[str] = (), marked: Sequence[MarkedSpec] = ()) -> None:
        self.hashes = frozenset(marks)
        self._ids: dict[int, set[int]] = defaultdict(set)
        for spec in marked:
            for look_alike in spec.look_alikes:
                self._ids[look_alike].update(spec.ids)

    def sign(self, row: Row | None, listing: Listing | None) -> str:
        """Return the sign of a row: that all its specs are marked, some, or none."""
        if row is None or listing is None:
            return ""
        if row.count == 1:
            return MARKED if row.spec.hash in self.hashes else ""
        marked = self._ids.get(row.look_alike)
        if not marked:
            return ""
        ids = listing.ids_of(row)
        count = sum(id_ in ids for id_ in marked)
        return MARKED if count == len(ids) else PARTLY_MARKED if count else ""


_PLACEHOLDER = "…"
"""Fills the cells of a row that has not been read yet."""


class SpecRows(VirtualList):
    """The rows of a listing in placed columns.

    Rows that come into view are requested with RowsNeeded, and are drawn as placeholders until
    `take_rows` hands them over.
    """

    class RowsNeeded(Message):
        """Posted when windows of rows are to be read; a newer message replaces all older ones."""

        def __init__(self, listing: Listing, starts: tuple[int, ...]) -> None:
            super().__init__()
            self.listing = listing
            self.starts = starts

        def can_replace(self, message: Message) -> bool:
            """Replace an older request that was not handled yet."""
            return isinstance(message, SpecRows.RowsNeeded)

        def read(self) -> Windows:
            """Read the windows: for a worker thread."""
            return read_windows(self.listing, self.starts)

    class NotesNeeded(Message):
        """Posted when rows without notes are in view; a newer message replaces all older ones."""

        def __init__(
            self, listing: Listing, rows: tuple[Row, ...], shown_widths: ShownWidths
        ) -> None:
            super().__init__()
            self.listing = listing
            self.rows = rows
            self.shown_widths = shown_widths

        def can_replace(self, message: Message) -> bool:
            """Replace an older request that was not handled yet."""
            return isinstance(message, SpecRows.NotesNeeded)

        def read(self, show: Callable[[Notes], object]) -> Notes:
            """Compute the notes, and show them before those that take longer.

            For a worker thread. Raises Cancelled.
            """
            from spackscope.model.report.kinds import row_notes

            listing, rows = self.listing, self.rows
            reading = row_notes(listing.catalog)
            notes = reading.of(listing, rows, self.shown_widths)
            show(notes)
            return reading.whole(listing, rows, notes)

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.placed: Sequence[Placed] = ()
        self._shown_widths = ShownWidths()
        self.column = ""
        self.gutter_width = 2
        self.marks = RowMarks()
        self.listing: Listing | None = None
        self._cells: RowCells | None = None
        self._windows = RowWindows()
        self._requested: tuple[int, ...] = ()
        self._noted: tuple[Row, ...] = ()

    def show_listing(self, listing: Listing, windows: Windows, cursor: int, empty: str) -> None:
        """Show the rows of another listing, of which some windows may have been read already."""
        # Imported here, after the first frame.
        from spackscope.model.report.row_cells import RowCells

        self.listing, self._windows, self._requested = listing, RowWindows(windows), ()
        self._cells, self._noted = RowCells(listing), ()
        self.show(len(listing), cursor, empty=empty)
        self._request_rows()

    def place(self, layout: Layout, column: str) -> None:
        """Draw the rows in other columns, and note what these do not tell."""
        self.placed, self.column = layout.placed, column
        if layout.shown_widths != self._shown_widths:
            self._shown_widths, self._noted = layout.shown_widths, ()
            if self._cells is not None:
                self._cells.whole.clear()
                self._request_notes()
        self.refresh()

    def fit_gutter(self, *, at_least: int = 0) -> int:
        """Make room for marks and counts before the columns; return its cells."""
        most = self.listing.max_count if self.listing is not None else 0
        count = len("▸ ") + len(f"×{most:,}") if most > 1 else 0
        self.gutter_width = max(at_least, 2 + count)
        return self.gutter_width

    def take_rows(self, listing: Listing, windows: Windows) -> None:
        """Show rows that were requested; an empty window is one that cannot be read."""
        if listing is not self.listing:
            return
        waited = self.is_waiting
        self._windows.add(windows)
        self._requested = ()
        self._request_rows()
        self.refresh()
        if waited and not self.is_waiting:
            self.post_message(self.Highlighted(self, self.cursor))

    def take_notes(self, request: NotesNeeded, notes: Notes, *, is_last: bool = True) -> None:
        """Show notes that were requested; those for columns of before are dropped."""
        is_old = request.listing is not self.listing or request.shown_widths != self._shown_widths
        if is_old or self._cells is None:
            return
        self._cells.take_notes(notes)
        self.refresh()
        if is_last:
            self._noted = ()
            self._request_notes()

    def _request_notes(self) -> None:
        """Request the notes on rows in view that were read, if any column shows them."""
        if self.listing is None or self._cells is None:
            return
        last = min(self.top + max(1, self.size.height), self.length)
        in_view = filter(None, map(self.row, range(self.top, last)))
        missing = tuple(filterfalse(self._cells.is_noted, in_view))
        if missing and missing != self._noted:
            self._noted = missing
            self._ask(self.NotesNeeded(self.listing, missing, self._shown_widths))

    @property
    def is_waiting(self) -> bool:
        """Whether the row under the cursor was requested and has not arrived yet."""
        return self.length > 0 and self.listing is not None and not self._windows.has(self.cursor)

    def row(self, number: int) -> Row | None:
        """Return a row, or None if it has not been read."""
        return self._windows.row(number) if 0 <= number < self.length else None

    def fit(self) -> None:
        """Request the rows that came into view."""
        super().fit()
        self._request_rows()

    def _put_at_top(self, top: int) -> bool:
        moved = super()._put_at_top(top)
        if moved:
            self._request_rows()
        return moved

    def _request_rows(self) -> None:
        """Request the row under the cursor, the rows in view and a page before and after them.

        Of those that were read the notes are requested.
        """
        if self.listing is None:
            return
        height = max(1, self.size.height)
        starts = window_starts(self.top - height, self.top + 2 * height, self.length)
        # The wheel may have moved the view far away from it.
        starts += window_starts(self.cursor, self.cursor, self.length)
        missing = tuple(s for s in dict.fromkeys(starts) if not self._windows.has(s))
        if missing and missing != self._requested:
            self._requested = missing
            self._ask(self.RowsNeeded(self.listing, missing))
        self._request_notes()

    def _ask(self, request: Message) -> None:
        """Post a request as the list's own: Textual stops what a parent has its child post."""
        self.post_message(request.set_sender(self))

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the gutter with mark and count, and then a piece or more a column."""
        data, cells = self.row(row), self._cells
        sign = self.marks.sign(data, self.listing)
        pieces: list[Piece] = [(sign or " ", "differs" if sign else "")]
        room = self.gutter_width - 1
        if data is None or cells is None:
            cut = (pad(_PLACEHOLDER, placed.width) for placed in self.placed)
            return [*pieces, (pad("", room) + (" " * GAP).join(cut), "dim")]
        lead = cells.lead(data, self.row(row + 1))
        # The sign of a kind takes some of the cells that it leaves empty.
        excess = max(0, cell_width(lead) - room)
        pieces.append((lead + " " * (room - cell_width(lead)), "accent"))
        current = self.column if self.has_focus else ""
        return [*pieces, *cells.pieces(data, self.placed, current, excess)]
