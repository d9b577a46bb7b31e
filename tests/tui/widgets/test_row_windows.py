"""Windows of rows are read from the index, and the oldest ones are dropped."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.index.catalog import Catalog
from spackscope.model.index.listing import Listing
from spackscope.model.index.view import View
from spackscope.tui.widgets.spec_rows import (
    MAX_WINDOWS,
    WINDOW,
    RowWindows,
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
