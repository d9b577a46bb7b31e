"""Rows are read a window at a time, and drawn as placeholders until they arrive."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from textual.message import Message

from spackscope.model.core.columns import BY_NAME
from spackscope.model.index.catalog import Catalog, Listing
from spackscope.model.index.order import USED_BY, View
from spackscope.model.report.row_notes import RowNote, note_key
from spackscope.model.report.table_columns import UNLIKE_OTHERS, Layout, Placed, TableColumn
from spackscope.tui.widgets.table_head import Heads
from spackscope.tui.widgets.table_rows import (
    MAX_WINDOWS,
    WINDOW,
    NotesNeeded,
    RowsNeeded,
    SpecRows,
    TableRows,
    read_windows,
    window_starts,
)
from tests.builders.catalogs import catalog_of
from tests.builders.pages import record, write_page

COUNT = 2_000


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    top: Path = tmp_path_factory.mktemp("pages")
    return catalog_of(write_page(top, [record(number) for number in range(COUNT)]))


@pytest.fixture
def listing(catalog: Catalog) -> Listing:
    return catalog.listing(View())


HASH = Placed(TableColumn("hash", "hash", 7, 7, BY_NAME["hash"]), 0, 7)


class List(TableRows):
    """A list that remembers what it asked for, and needs no app."""

    def __init__(self, listing: Listing, starts: Sequence[int] = (), *placed: Placed) -> None:
        super().__init__()
        self.messages: list[Message] = []
        rows = SpecRows(listing, read_windows(listing, starts))
        self.show_rows(rows)
        self.place(Heads(Layout(placed or (HASH,)), rows.gutter))

    def post_message(self, message: Message) -> bool:
        self.messages.append(message)
        return True

    @property
    def note_requests(self) -> list[NotesNeeded]:
        return [m for m in self.messages if isinstance(m, NotesNeeded)]

    @property
    def requests(self) -> list[RowsNeeded]:
        return [m for m in self.messages if type(m) is RowsNeeded]

    @property
    def wanted(self) -> list[Sequence[int]]:
        return [request.wanted for request in self.requests]

    def line(self, row: int, width: int = 20) -> str:
        return "".join(text for text, _ in self.pieces(row, width))


def test_a_row_that_is_not_there_yet_is_a_placeholder(catalog: Catalog, listing: Listing) -> None:
    rows = List(listing)
    assert rows.is_waiting
    assert rows.row is None
    assert rows.line(0) == "  …      "
    assert rows.wanted == [(0,)]

    request = rows.requests[0]
    rows.messages.clear()
    rows.take(request, request.read(catalog))
    assert not rows.is_waiting
    row = rows.row
    assert row is not None
    assert rows.line(0) == f"  {row.spec.hash[:7]}"
    assert [type(message).__name__ for message in rows.messages] == ["NotesNeeded", "Highlighted"]


def test_each_window_is_asked_for_once_and_only_in_the_present_listing(
    catalog: Catalog, listing: Listing
) -> None:
    rows = List(listing, [0])
    assert rows.wanted == []
    rows.move_to(COUNT - 1)
    rows.refresh()
    rows.move_to(COUNT - 2)
    assert rows.wanted == [(1_984,)]
    assert rows.is_waiting

    (request,) = rows.requests
    (other,) = List(catalog.listing(View(folded=True))).requests
    rows.take(other, other.read(catalog))
    assert rows.is_waiting, "rows of another listing are not shown"
    rows.take(request, {1_984: ()})
    assert not rows.is_waiting, "rows that cannot be read are not waited for"
    assert rows.row is None


def test_only_the_newest_request_counts(listing: Listing) -> None:
    (older,), (newer,) = List(listing).requests, List(listing).requests
    assert older.can_replace(newer)
    assert not older.can_replace(List(listing, [0]).note_requests[0])
    assert not older.can_replace(List.Highlighted(TableRows(), 0))


def test_notes_are_requested_for_folded_rows_in_view_and_shown(catalog: Catalog) -> None:
    placed = (
        HASH,
        Placed(TableColumn(USED_BY, USED_BY, 4, 4), 8, 4),
        Placed(TableColumn(UNLIKE_OTHERS, UNLIKE_OTHERS, 14, 14), 13, 14),
    )
    listing = catalog.listing(View(folded=True))
    rows = List(listing, [0], *placed)
    request = rows.note_requests[-1]
    assert [row.id for row in request.wanted] == [0]

    key = note_key(request.wanted[0])
    hash_ = request.wanted[0].spec.hash[:7]
    rows.take(request, {key: RowNote(3)})
    assert rows.line(0, 60) == f" ▸2,000 {hash_}    3               "
    rows.take(request, {key: RowNote(3, ("zlib", "mpich"))})
    assert rows.line(0, 60) == f" ▸2,000 {hash_}    3 zlib, mpich   "
    assert dict(rows.pieces(0, 60))[hash_] == "hash"
    rows.take(request, {key: RowNote(3, ("zen4", "+hl", "mpich"), "zen4")})
    assert rows.line(0, 60) == f" ▸2,000 {hash_}    3 zen4, +hl … 1 "
    assert dict(rows.pieces(0, 60))[hash_] == "dim", "it does not run here"
    heads = rows.heads
    os = Placed(TableColumn("os", "os", 9, 9, BY_NAME["os"]), 8, 9)
    rows.place(Heads(Layout((HASH, os, placed[-1])), heads.gutter))
    of_other_columns = rows.note_requests[-1]
    rows.place(heads)
    rows.take(rows.note_requests[-1], {key: RowNote(3, ("zlib", "mpich"))})
    count = len(rows.note_requests)
    for other in (List(listing, [0], *placed).note_requests[-1], of_other_columns):
        rows.take(other, {key: RowNote()})
        assert "mpich" in rows.line(0, 60), "notes on another listing or for other columns"
    assert len(rows.note_requests) == count


def test_values_of_a_column_are_never_cut_to_the_same(tmp_path: Path) -> None:
    targets = ("neoverse_v1", "neoverse_v2", "neoverse_n1", "x86_64_v3")
    write_page(tmp_path, [record(n, target=name) for n, name in enumerate(targets)])
    listing = catalog_of(tmp_path).listing(View())
    target = TableColumn("target", "target", 11, 4, BY_NAME["target"])
    for width in range(4, 12):
        rows = List(listing, [0], Placed(target, 0, width))
        assert len({rows.line(number) for number in range(4)}) == 4, width


def test_the_windows_of_a_range_stay_within_the_list() -> None:
    assert window_starts(-5, 70, COUNT) == [0, 64]
    assert window_starts(63, 64, COUNT) == [0, 64]
    assert window_starts(1_990, 2_100, COUNT) == [1_984]
    assert window_starts(0, 10, 0) == []


def test_windows_hold_the_rows_of_the_listing(listing: Listing) -> None:
    last = COUNT - COUNT % WINDOW
    rows = SpecRows(listing, read_windows(listing, [0, last]))
    for number in (0, WINDOW - 1, last, COUNT - 1):
        row = rows.row(number)
        assert row is not None
        assert row.id == listing.ids[number]
    assert rows.row(WINDOW) is rows.row(COUNT) is None
    assert rows.is_unread(WINDOW)


def test_the_oldest_windows_are_dropped(listing: Listing) -> None:
    rows = SpecRows(listing)
    for number in range(MAX_WINDOWS + 1):
        rows.take({number * WINDOW: ()})
    assert rows.is_unread(0)
    assert not rows.is_unread(WINDOW)


def test_a_number_of_users_is_never_cut(catalog: Catalog) -> None:
    listing = catalog.listing(View(folded=True))
    rows = List(listing, [0], Placed(TableColumn(USED_BY, USED_BY, 4, 4), 0, 4))
    request = rows.note_requests[-1]
    key = note_key(request.wanted[0])
    for users, shown in ((999, "999"), (42_000, "42k"), (425_999, "425k")):
        rows.take(request, {key: RowNote(users)})
        assert rows.line(0, 40).rstrip().endswith(shown)
