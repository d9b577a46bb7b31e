"""The rows of the spec table, which are read a window at a time."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from textual.message import Message

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.listing import Listing
from spackscope.model.catalog.rows import Row
from spackscope.model.core.column import Column
from spackscope.model.core.text import cell_width, pad, shorten
from spackscope.model.presentation.column_layout import GAP, Placed
from spackscope.model.presentation.detail import variants_cell
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import Term
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.highlight import highlight
from spackscope.tui.widgets.virtual_list import VirtualList

_PLACEHOLDER = "…"
"""Fills the cells of a row that has not been read yet."""

WINDOW = 64
"""Rows that are read at once."""
MAX_WINDOWS = 16
"""Windows that are kept: more than three screens of the tallest terminal."""

Windows = Mapping[int, Sequence[Row]]
"""Rows by the number of the first row of their window, a multiple of `WINDOW`."""


def read_windows(catalog: Catalog, listing: Listing, starts: Iterable[int]) -> Windows:
    """Read windows of rows from the index: for a worker thread.

    Raises IndexDamaged.

    >>> table.take_rows(listing, read_windows(catalog, listing, [0, 64]))
    """
    counts = listing.counts
    return {
        start: catalog.rows(
            listing.ids[start : start + WINDOW],
            None if counts is None else counts[start : start + WINDOW],
        )
        for start in starts
    }


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

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.placed: Sequence[Placed] = ()
        self.gutter_width = 2
        self.marks: Collection[str] = ()
        self.listing: Listing | None = None
        self._needles: Mapping[str, Sequence[str]] = {}
        self._windows = RowWindows()
        self._requested: tuple[int, ...] = ()

    def show_listing(self, listing: Listing, windows: Windows, cursor: int, empty: str) -> None:
        """Show the rows of another listing, of which some windows may have been read already."""
        self.listing, self._windows, self._requested = listing, RowWindows(windows), ()
        counts = listing.counts
        self.gutter_width = 2 if counts is None else 4 + len(f"{max(counts, default=1):,}")
        self._needles = _needles(listing.view.query)
        self.show(len(listing), cursor, empty=empty)
        self._request_rows()

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

    def _put_at_top(self, top: int) -> bool:
        moved = super()._put_at_top(top)
        if moved:
            self._request_rows()
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
            count = f"×{data.count:,}" if data is not None and data.count > 1 else ""
            pieces.append((pad(count, self.gutter_width - 3, right=True) + " ", "accent"))
        for number, placed in enumerate(self.placed):
            if number:
                pieces.append((" " * GAP, ""))
            if data is None:
                pieces.append((pad(_PLACEHOLDER, placed.width), "dim"))
            else:
                pieces += self._cell(placed.column, placed.width, data)
        return pieces

    def _cell(self, column: Column, width: int, row: Row) -> list[Piece]:
        assert self.listing is not None
        if column.name == "variants":
            return self._variants(row, width)
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
