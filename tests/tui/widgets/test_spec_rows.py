"""Rows are read a window at a time, and drawn as placeholders until they arrive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from textual.message import Message

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.listing import Listing, View
from spackscope.model.core.columns import BY_NAME
from spackscope.model.presentation.column_layout import Placed
from spackscope.tui.widgets.spec_rows import (
    MAX_WINDOWS,
    WINDOW,
    RowWindows,
    SpecRows,
    read_windows,
    window_starts,
)
from tests.builders import catalog_of, record, write_page

COUNT = 2_000


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    top: Path = tmp_path_factory.mktemp("pages")
    return catalog_of(write_page(top, [record(number) for number in range(COUNT)]))


@pytest.fixture
def listing(catalog: Catalog) -> Listing:
    return catalog.listing(View())


class Rows(SpecRows):
    """Rows that remember what they asked for, and need no app."""

    def __init__(self) -> None:
        super().__init__()
        self.messages: list[Message] = []
        self.placed = [Placed(BY_NAME["hash"], 0, 7)]

    def post_message(self, message: Message) -> bool:
        self.messages.append(message)
        return True

    @property
    def requests(self) -> list[tuple[int, ...]]:
        return [m.starts for m in self.messages if isinstance(m, SpecRows.RowsNeeded)]

    def line(self, row: int) -> str:
        return "".join(text for text, _ in self.pieces(row, 20))


def test_the_windows_of_a_range_stay_within_the_list() -> None:
    assert window_starts(-5, 70, COUNT) == [0, 64]
    assert window_starts(63, 64, COUNT) == [0, 64]
    assert window_starts(1_990, 2_100, COUNT) == [1_984]
    assert window_starts(0, 10, 0) == []


def test_windows_hold_the_rows_of_the_listing(catalog: Catalog, listing: Listing) -> None:
    last = COUNT - COUNT % WINDOW
    windows = RowWindows(read_windows(catalog, listing, [0, last]))
    for number in (0, WINDOW - 1, last, COUNT - 1):
        row = windows.row(number)
        assert row is not None
        assert row.id == listing.ids[number]
    assert windows.row(WINDOW) is windows.row(COUNT) is None
    assert not windows.has(WINDOW)


def test_the_oldest_windows_are_dropped() -> None:
    windows = RowWindows()
    for number in range(MAX_WINDOWS + 1):
        windows.add({number * WINDOW: ()})
    assert not windows.has(0)
    assert windows.has(WINDOW)


def test_a_row_that_is_not_there_yet_is_a_placeholder(catalog: Catalog, listing: Listing) -> None:
    rows = Rows()
    rows.show_listing(listing, {}, 0, "")
    assert rows.is_waiting
    assert rows.row(0) is None
    assert rows.line(0) == "▸ …      "
    assert rows.requests == [(0,)]

    rows.messages.clear()
    rows.take_rows(listing, read_windows(catalog, listing, [0]))
    assert not rows.is_waiting
    row = rows.row(0)
    assert row is not None
    assert rows.line(0) == f"▸ {row.spec.hash[:7]}"
    assert [type(message).__name__ for message in rows.messages] == ["Highlighted"]


def test_each_window_is_asked_for_once_and_only_in_the_present_listing(
    catalog: Catalog, listing: Listing
) -> None:
    rows = Rows()
    rows.show_listing(listing, read_windows(catalog, listing, [0]), 0, "")
    assert rows.requests == []
    rows.move_to(COUNT - 1)
    rows.refresh()
    rows.move_to(COUNT - 2)
    assert rows.requests == [(1_984,)]
    assert rows.is_waiting

    other = catalog.listing(View(folded=True))
    rows.take_rows(other, read_windows(catalog, other, [1_984]))
    assert rows.is_waiting, "rows of another listing are not shown"
    rows.take_rows(listing, {1_984: ()})
    assert not rows.is_waiting, "rows that cannot be read are not waited for"
    assert rows.row(COUNT - 2) is None


def test_only_the_newest_request_counts(listing: Listing) -> None:
    older: Any = SpecRows.RowsNeeded(listing, (0,))
    newer: Any = SpecRows.RowsNeeded(listing, (0, 64))
    assert older.can_replace(newer)
    assert not older.can_replace(SpecRows.Highlighted(SpecRows(), 0))
