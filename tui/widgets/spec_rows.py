"""The rows of the spec table, which are read a window at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from textual.message import Message

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.listing import Listing
from spackscope.model.catalog.opened_rows import RowRole
from spackscope.model.catalog.rows import Row
from spackscope.model.core.column import Column
from spackscope.model.core.progress import ShouldStop
from spackscope.model.core.text import cell_width, pad, shorten
from spackscope.model.presentation.column_layout import GAP, Placed
from spackscope.model.presentation.detail import variants_cell
from spackscope.model.presentation.kinds import ALL_RUN_THE_SAME, BUILD_TOOLS_ONLY, NOT_TOLD
from spackscope.model.presentation.row_notes import NoteKey, RowNote, note_key, row_notes
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import Term
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.highlight import highlight
from spackscope.tui.widgets.note_columns import NoteColumns
from spackscope.tui.widgets.row_windows import RowWindows, Windows, read_windows, window_starts
from spackscope.tui.widgets.virtual_list import VirtualList

_PLACEHOLDER = "…"
"""Fills the cells of a row that has not been read yet."""

_SIGNS = {RowRole.GROUP: "▾ ", RowRole.OPEN_KIND: "├▾"}

Notes = Mapping[NoteKey, RowNote]
"""Notes on rows, by what they belong to."""


class SpecRows(VirtualList):
    """The rows of a listing in placed columns.

    Rows that come into view are requested with RowsNeeded, and are drawn as placeholders until
    `take_rows` hands them over.
    """

    @dataclass
    class RowsNeeded(Message):
        """Posted when windows of rows are to be read; a newer message replaces all older ones."""

        listing: Listing
        starts: tuple[int, ...]

        def can_replace(self, message: Message) -> bool:
            """Replace an older request that was not handled yet."""
            return isinstance(message, SpecRows.RowsNeeded)

        def read(self, catalog: Catalog) -> Windows:
            """Read the windows: for a worker thread."""
            return read_windows(catalog, self.listing, self.starts)

    @dataclass
    class NotesNeeded(Message):
        """Posted when rows without notes are in view; a newer message replaces all older ones."""

        listing: Listing
        rows: tuple[Row, ...]

        def can_replace(self, message: Message) -> bool:
            """Replace an older request that was not handled yet."""
            return isinstance(message, SpecRows.NotesNeeded)

        def read(
            self, catalog: Catalog, should_stop: ShouldStop, show: Callable[[Notes], object]
        ) -> Notes:
            """Compute the notes, and show them before those that take longer.

            For a worker thread. Raises Cancelled and IndexDamaged.
            """
            listing, rows, reading = self.listing, self.rows, row_notes(catalog)
            notes = reading.of(listing, rows, should_stop=should_stop)
            show(notes)
            return reading.whole(listing, rows, notes, should_stop=should_stop)

        @property
        def unknown(self) -> Notes:
            """Empty notes, for when the index is damaged."""
            return dict.fromkeys(map(note_key, self.rows), RowNote())

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.placed: Sequence[Placed] = ()
        self.note_columns = NoteColumns()
        self.gutter_width = 2
        self.marks: Collection[str] = ()
        self.listing: Listing | None = None
        self._needles: Mapping[str, Sequence[str]] = {}
        self._windows = RowWindows()
        self._requested: tuple[int, ...] = ()
        self._notes: dict[NoteKey, RowNote] = {}
        self._noted: tuple[Row, ...] = ()

    def show_listing(self, listing: Listing, windows: Windows, cursor: int, empty: str) -> None:
        """Show the rows of another listing, of which some windows may have been read already."""
        self.listing, self._windows, self._requested = listing, RowWindows(windows), ()
        self._notes, self._noted = {}, ()
        counts = listing.counts
        self.gutter_width = 2 if counts is None else 4 + len(f"{max(counts, default=1):,}")
        self.gutter_width += 2 if listing.roles is not None else 0
        self._needles = _needles(listing.view.query)
        self.show(len(listing), cursor, empty=empty)
        self._request_rows()
        self._request_notes()

    def take_rows(self, listing: Listing, windows: Windows) -> None:
        """Show rows that were requested; an empty window is one that cannot be read."""
        if listing is not self.listing:
            return
        waited = self.is_waiting
        self._windows.add(windows)
        self._requested = ()
        self._request_rows()
        self._request_notes()
        self.refresh()
        if waited and not self.is_waiting:
            self.post_message(self.Highlighted(self, self.cursor))

    def take_notes(self, listing: Listing, notes: Notes, *, is_last: bool = True) -> None:
        """Show notes on rows that were requested."""
        if listing is not self.listing:
            return
        self._notes.update(notes)
        self.refresh()
        if is_last:
            self._noted = ()
            self._request_notes()

    def _request_notes(self) -> None:
        """Request the notes on rows in view that were read, if look-alikes are folded."""
        if self.listing is None or self.listing.counts is None:
            return
        numbers = range(self.top, min(self.top + max(1, self.size.height), self.length))
        rows = (row for row in map(self.row, numbers) if row is not None)
        missing = tuple(row for row in rows if not self._is_noted(row))
        if missing and missing != self._noted:
            self._noted = missing
            self.post_message(self.NotesNeeded(self.listing, missing))

    def _is_noted(self, row: Row) -> bool:
        note = self._notes.get(note_key(row))
        return note is not None and note.is_whole

    @property
    def is_waiting(self) -> bool:
        """Whether the row under the cursor was requested and has not arrived yet."""
        return self.length > 0 and self.listing is not None and not self._windows.has(self.cursor)

    def row(self, number: int) -> Row | None:
        """Return a row, or None if it has not been read."""
        return self._windows.row(number) if 0 <= number < self.length else None

    def on_resize(self) -> None:
        """Request the rows that came into view."""
        self._request_rows()
        self._request_notes()

    def _put_at_top(self, top: int) -> bool:
        moved = super()._put_at_top(top)
        if moved:
            self._request_rows()
            self._request_notes()
        return moved

    def _request_rows(self) -> None:
        """Request the rows in view, and those a page before and after them."""
        if self.listing is None:
            return
        height = max(1, self.size.height)
        starts = window_starts(self.top - height, self.top + 2 * height, self.length)
        missing = tuple(start for start in starts if not self._windows.has(start))
        if missing and missing != self._requested:
            self._requested = missing
            self.post_message(self.RowsNeeded(self.listing, missing))

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the gutter with cursor, mark and count, and then a piece or more a column."""
        data = self.row(row)
        pieces: list[Piece] = [("▸" if row == self.cursor else " ", "accent")]
        mark = data is not None and data.spec.hash in self.marks
        pieces.append(("*" if mark else " ", "strong"))
        if self.gutter_width > 2:
            sign = self._sign(row) if self.listing is not None and self.listing.roles else ""
            count = f"×{data.count:,}" if data is not None and data.count > 1 else ""
            room = self.gutter_width - 3 - len(sign)
            pieces.append((sign + pad(count, room, right=True) + " ", "accent"))
        shown, columns = self.placed, self.note_columns
        if data is not None and data.role >= RowRole.KIND and shown[0].column.name == "hash":
            # The other cells are those of the head, which leaves their room to the note.
            shown = shown[:1]
            columns = columns.widened(self.placed[-1].at + self.placed[-1].width - shown[0].width)
        for number, placed in enumerate(shown):
            if number:
                pieces.append((" " * GAP, ""))
            if data is None:
                pieces.append((pad(_PLACEHOLDER, placed.width), "dim"))
            else:
                pieces += self._cell(placed.column, placed.width, data)
        if data is not None and columns.differs:
            pieces += self._note_pieces(row, data, columns)
        return pieces

    def _sign(self, number: int) -> str:
        """Return the sign of a row in an opened group."""
        row, below = self.row(number), self.row(number + 1)
        if row is None or row.role is RowRole.SPEC or self.listing is None:
            return "  "
        if row.role in _SIGNS:
            return _SIGNS[row.role]
        if row.role is RowRole.MEMBER and self.listing.opened_kind(row.id, row.look_alike):
            return "│ "
        is_last = below is None or below.role in (RowRole.SPEC, RowRole.GROUP)
        return "└ " if is_last else "├ "

    def _is_untold_above(self, number: int) -> bool:
        """Check whether a row in view above another one says already that nothing is told."""
        rows = filter(None, map(self.row, range(self.top, number)))
        notes = (self._notes.get(note_key(row)) for row in rows)
        return any(note is not None and note.differs == NOT_TOLD for note in notes)

    def _note_pieces(self, number: int, row: Row, columns: NoteColumns) -> list[Piece]:
        """Return how many use the specs of a row, and what they differ in."""
        note = self._notes.get(note_key(row), RowNote())
        pieces: list[Piece] = []
        if columns.users:
            users = "" if note.users is None else f"{note.users:,}" if note.users else "-"
            pieces += [(" " * GAP, ""), (pad(users, columns.users, right=True), "")]
        is_repeated = note.differs == NOT_TOLD and self._is_untold_above(number)
        text = "" if is_repeated else note.differs
        is_constant = text in (NOT_TOLD, BUILD_TOOLS_ONLY, ALL_RUN_THE_SAME)
        text = pad(shorten(text, columns.differs, keep="start"), columns.differs)
        return [*pieces, (" " * GAP, ""), (text, "dim" if is_constant else "")]

    def _cell(self, column: Column, width: int, row: Row) -> list[Piece]:
        assert self.listing is not None
        if row.role >= RowRole.KIND and column.has_dictionary:
            # It is that of the head.
            return [(" " * width, "")]
        if column.name == "variants":
            return self._variants(row, width)
        if column.name == "hash" and (kinds := self._notes.get(note_key(row), RowNote()).kinds):
            return [(pad(shorten(kinds, width, keep="start"), width), "strong")]
        text = shorten(column.cell(column.value(row.spec)), width)
        style = "dim" if column.name in self.listing.constants and len(self.listing) > 1 else ""
        if column.align_right:
            return [(pad(text, width, right=True), style)]
        return highlight(pad(text, width), self._needles.get(column.name, ()), style)

    def _variants(self, row: Row, width: int) -> list[Piece]:
        """Return the variants, differing ones first; the others are cut at the end."""
        assert self.listing is not None
        differing, rest = variants_cell(row.spec.variants, self.listing.varying_variants)
        differing = shorten(differing, width, keep="start")
        needles = self._needles.get("variants", ())
        pieces = highlight(differing, needles)
        room = width - cell_width(differing)
        between = " " if differing and room > 1 else ""
        rest = shorten(rest, room - len(between), keep="start") if room > 1 else ""
        return [*pieces, *highlight(pad(between + rest, room), needles, "dim")]


def _needles(query: Query) -> dict[str, list[str]]:
    """Return by column the texts to highlight: those that the query asks for."""
    needles: dict[str, list[str]] = {}
    for term in query.conditions:
        if not isinstance(term, Term):
            continue
        needle = term.pattern.strip("*").removeprefix("/").lower()
        if term.negated or not needle or "*" in needle or "?" in needle:
            continue
        for column in term.columns:
            needles.setdefault(column.name, []).append(needle)
    return needles
