"""The rows of a listing of specs, which are read and kept a window at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import filterfalse
from typing import TYPE_CHECKING, Any

from spackscope.model.core.text import pad
from spackscope.model.index.catalog import Row
from spackscope.model.report.report import Piece
from spackscope.model.report.row_cells import RowCells
from spackscope.model.report.row_notes import NoteKey, RowNote, row_notes
from spackscope.model.report.table_columns import (
    GAP,
    Layout,
    ShownWidths,
    TableColumns,
    choose_columns,
)
from spackscope.tui.widgets.table_head import Heads
from spackscope.tui.widgets.table_rows import GUTTER, RowMarks, RowsNeeded, ShownRows

if TYPE_CHECKING:
    from spackscope.model.index.catalog import Catalog, Listing
    from spackscope.tui.widgets.table_rows import Choice

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
        listing.values.variants_of(look_alike)
    return windows


def window_starts(first: int, last: int, length: int) -> list[int]:
    """Return the first rows of the windows with the rows `first` to `last` of a list."""
    first, last = max(0, first), min(last, length - 1)
    return list(range(first - first % WINDOW, last + 1, WINDOW))


class NotesNeeded(RowsNeeded):
    """Posted when rows without notes are in view; the notes are for columns of some widths."""

    rows: SpecRows

    def __init__(self, rows: SpecRows, wanted: Sequence[Row], shown_widths: ShownWidths) -> None:
        super().__init__(rows, wanted)
        self.shown_widths = shown_widths

    def read(self, catalog: Catalog) -> Notes:
        """Compute the notes. Raises Cancelled."""
        return row_notes(catalog).of(self.rows.listing, self.wanted, self.shown_widths)

    def take(self, read: Notes) -> None:
        """Pass the notes to the rows."""
        self.rows.take_notes(self, read)


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
        self._shown_widths = ShownWidths()
        self._requested: Sequence[int] = ()
        self._noted: tuple[Row, ...] = ()

    def __len__(self) -> int:
        return len(self.listing) or super().__len__()

    def choose_columns(
        self, kept: Collection[str], hidden: Collection[str], *, spreads_variants: bool
    ) -> TableColumns:
        """Return the columns in which the rows differ, and the `kept` columns."""
        return choose_columns(
            self.listing, self._shared, kept, hidden, spreads_variants=spreads_variants
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
            yield RowsNeeded(self, missing)
        if layout.shown_widths != self._shown_widths:
            self._shown_widths, self._noted = layout.shown_widths, ()
            self._cells.noted.clear()
        in_view = filter(None, map(self.row, range(top, top + height)))
        without = tuple(filterfalse(self._cells.is_noted, in_view))
        # Before the first layout no cells are known, from which notes are to differ.
        if layout.placed and without and without != self._noted:
            self._noted = without
            yield NotesNeeded(self, without, self._shown_widths)

    def read(self, wanted: Sequence[Any], catalog: Catalog) -> Windows:
        """Read windows: for a worker thread."""
        return read_windows(self.listing, wanted)

    def take(self, read: Windows) -> None:
        """Take windows, empty if their rows could not be read, and drop the oldest windows."""
        self._windows |= read
        for start in list(self._windows)[:-MAX_WINDOWS]:
            del self._windows[start]
        self._requested = ()

    def take_notes(self, request: NotesNeeded, notes: Notes) -> None:
        """Take requested notes, unless the widths of the columns have changed since."""
        if request.shown_widths == self._shown_widths:
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
