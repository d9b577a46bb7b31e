"""The rows of a listing, read and kept a window at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from spackscope.model.index.catalog import Catalog
from spackscope.model.index.rows import Row

if TYPE_CHECKING:
    from spackscope.model.index.listing import Listing

WINDOW = 64
"""Rows that are read at once."""
MAX_WINDOWS = 16
"""Windows that are kept: more than three screens of the tallest terminal."""

Windows = Mapping[int, Sequence[Row]]
"""Rows by the number of the first row of their window, a multiple of `WINDOW`."""


def read_windows(catalog: Catalog, listing: Listing, starts: Iterable[int]) -> Windows:
    """Read windows of rows from the index: for a worker thread.

    >>> table.take_rows(listing, read_windows(catalog, listing, [0, 64]))
    """
    return {start: catalog.rows(*listing.part(slice(start, start + WINDOW))) for start in starts}


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
