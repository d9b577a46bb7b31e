"""The rows of the spec table, fetched a window at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from spackscope.model.catalog.listing import Listing
from spackscope.model.catalog.rows import Row
from spackscope.model.core.column import Column
from spackscope.model.core.text import cell_width, pad, shorten
from spackscope.model.presentation.column_layout import GAP, Placed
from spackscope.model.presentation.detail import (
    variants_cell,
)
from spackscope.model.query.ast import Query, Term
from spackscope.tui.widgets.virtual_list import Piece, VirtualList

_WINDOW = 64
_WINDOWS_KEPT = 16

Fetch = Callable[[Sequence[int], Sequence[int] | None], list[Row]]
"""Gives the rows with some ids and counts."""


class SpecRows(VirtualList):
    """Draw the rows of a listing in placed columns."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.placed: Sequence[Placed] = ()
        self.gutter_width = 2
        self.marks: Collection[str] = ()
        self.needles: Mapping[str, Sequence[str]] = {}
        self._listing: Listing | None = None
        self._fetch: Fetch | None = None
        self._windows: dict[int, list[Row]] = {}

    def show_listing(self, listing: Listing, fetch: Fetch, cursor: int, empty: str) -> None:
        """Show the rows of another listing."""
        self._listing, self._fetch = listing, fetch
        self._windows.clear()
        counts = listing.counts
        self.gutter_width = 2 if counts is None else 4 + len(f"{max(counts, default=1):,}")
        self.needles = _needles(listing.view.query)
        self.show(len(listing), cursor, empty=empty)

    def row(self, number: int) -> Row | None:
        """Give a row, or None where there is none."""
        if self._listing is None or self._fetch is None or not 0 <= number < self.length:
            return None
        start = number - number % _WINDOW
        window = self._windows.get(start)
        if window is None:
            listing, stop = self._listing, start + _WINDOW
            counts = None if listing.counts is None else listing.counts[start:stop]
            window = self._fetch(listing.ids[start:stop], counts)
            while len(self._windows) >= _WINDOWS_KEPT:
                del self._windows[next(iter(self._windows))]
            self._windows[start] = window
        return window[number - start] if number - start < len(window) else None

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Give the gutter with cursor, mark and count, and then a piece or more a column."""
        data = self.row(row)
        if data is None or self._listing is None:
            return []
        pieces: list[Piece] = [("▸" if row == self.cursor else " ", "accent")]
        pieces.append(("*" if data.spec.hash in self.marks else " ", "strong"))
        if self.gutter_width > 2:
            count = f"×{data.count:,}" if data.count > 1 else ""
            pieces.append((pad(count, self.gutter_width - 3, right=True) + " ", "accent"))
        for number, placed in enumerate(self.placed):
            if number:
                pieces.append((" " * GAP, ""))
            pieces += self._cell(placed.column, placed.width, data)
        return pieces

    def _cell(self, column: Column, width: int, row: Row) -> list[Piece]:
        assert self._listing is not None
        if column.name == "variants":
            return self._variants(row, width)
        text = shorten(column.cell(column.value(row.spec)), width)
        style = "dim" if column.name in self._listing.constants and len(self._listing) > 1 else ""
        if column.align_right:
            return [(pad(text, width, right=True), style)]
        return _emphasised(pad(text, width), style, self.needles.get(column.name, ()))

    def _variants(self, row: Row, width: int) -> list[Piece]:
        """Give the variants, those that tell rows apart first; the rest gives way at its end."""
        assert self._listing is not None
        telling, rest = variants_cell(row.spec.variants, self._listing.varying_variants)
        telling = shorten(telling, width, keep="start")
        needles = self.needles.get("variants", ())
        pieces = _emphasised(telling, "", needles)
        room = width - cell_width(telling)
        between = " " if telling and room > 1 else ""
        rest = shorten(rest, room - len(between), keep="start") if room > 1 else ""
        return [*pieces, *_emphasised(pad(between + rest, room), "dim", needles)]


def _needles(query: Query) -> dict[str, list[str]]:
    """Give the texts that a match of the query holds, by column, to be emphasised."""
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


def _emphasised(text: str, style: str, needles: Sequence[str]) -> list[Piece]:
    lower = text.lower()
    for needle in needles:
        at = lower.find(needle) if len(lower) == len(text) else -1
        if at >= 0:
            end = at + len(needle)
            return [(text[:at], style), (text[at:end], "match"), (text[end:], style)]
    return [(text, style)]
