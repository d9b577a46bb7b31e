"""Which columns the table has, which of them is the current one, and how far it is scrolled."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TYPE_CHECKING

from spackscope.model.index.view import Sort
from spackscope.model.query.ast import Query
from spackscope.model.report.table_columns import (
    ColumnChoices,
    HeadText,
    Layout,
    TableColumn,
    TableColumns,
    choose_columns,
    lay_out,
)

if TYPE_CHECKING:
    from spackscope.model.index.listing import Listing

_MAX_FILTER_WIDTH = 16
"""Cells of a filter for which its column is widened."""


class ColumnState:
    """The columns of the rows that are shown; the current one may be a value of the head line.

    Columns in `kept` have a filter of their own, and stay as long as they have it.
    """

    def __init__(self) -> None:
        self.columns = TableColumns()
        self.current = ""
        self.choices = ColumnChoices()
        self.kept: set[str] = set()
        self._first = 0
        self._query = Query()
        self._is_new = self._was_scrolled = False

    @property
    def head(self) -> list[str]:
        """The columns of the values in the head line."""
        return [text.column for text in self.columns.head]

    @property
    def is_in_head(self) -> bool:
        """Whether the current column is in the head line."""
        return self.current not in self.columns.names

    def column(self, name: str) -> TableColumn | None:
        """Return a column of the table; None for others."""
        return next((column for column in self.columns.all if column.name == name), None)

    def choose(
        self,
        listing: Listing,
        shared: Iterable[tuple[str, str]],
        is_filtered: Callable[[str], bool],
    ) -> None:
        """Choose the columns for the rows of a listing; without rows they stay.

        Of another query the first columns are shown, unless the current one has a filter.
        """
        if listing.view.query != self._query:
            self._query, self._is_new = listing.view.query, True
            self._first, self._was_scrolled = 0, self._first > 0
        self.kept = set(filter(is_filtered, self.kept))
        if listing.shown or not self.columns.all:
            self.columns = choose_columns(listing, shared, self.kept, self.choices)
        else:
            self.columns = self.columns.without(self.choices.hidden)
        if self.current not in (*self.columns.names, *self.head):
            self.current = self.columns.names[0]

    def constant_head(self, listing: Listing) -> list[HeadText]:
        """Return the values in the head line that all rows of a newer listing share too."""
        if not listing.shown:
            return []
        return [
            text
            for text in self.columns.head
            if (
                text.column[1:] not in listing.values.varying_variants
                if text.column[:1] == "+"
                else text.column in listing.values.constants
            )
        ]

    def move(self, step: int) -> bool:
        """Go to the next or previous column; before the first is the head line.

        Returns False at the edge. The first value of the head line is the nearest to the columns
        then, since the last ones may be out of view.
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
        names = [column.name for column in self.columns.all if not column.is_note]
        number = names.index(self.current) + step if self.current in names else -1
        if not 0 <= number < len(names):
            return False
        self.current = names[number]
        return True

    def lay_out(self, width: int, filters: Mapping[str, str], sort: Sort | None) -> Layout:
        """Place the columns; what was in view stays, if the current column is."""
        floors = {name: min(len(text), _MAX_FILTER_WIDTH) for name, text in filters.items()}
        sorting = self.column(sort.column) if sort is not None else None
        if sorting is not None:
            width_with_arrow = max(sorting.min_width, min(len(sorting.label), 4)) + 1
            floors[sorting.name] = max(floors.get(sorting.name, 0), width_with_arrow)

        def laid_out() -> Layout:
            return lay_out(
                self.columns, width, current=self.current, first=self._first, floors=floors
            )

        layout = laid_out()
        is_away = layout.before or (self._was_scrolled and self.is_in_head)
        if self._is_new and is_away and self.current not in self.kept:
            self.current = self.columns.names[0]
            layout = laid_out()
        self._first, self._is_new = layout.before, False
        return layout

    def keep(self, names: Collection[str]) -> None:
        """Keep some columns as long as they have a filter."""
        self.kept |= set(names)
