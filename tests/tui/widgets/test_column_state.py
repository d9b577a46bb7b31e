"""The current column goes through the columns, and before them through the head line."""

from pathlib import Path

import pytest

from spackscope.model.index.catalog import Catalog, Listing
from spackscope.model.index.order import Sort, View
from spackscope.model.query.parser import parse
from spackscope.model.report.table_columns import UNLIKE_OTHERS
from spackscope.model.report.titles import shared_texts
from spackscope.tui.widgets.table_rows import ColumnState, SpecRows
from tests.builders.catalogs import catalog_of
from tests.builders.pages import record, write_page


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    variants = ("+a +hl +x", "~a +hl +x", "+a ~hl +x", "~a ~hl +x")
    records = [
        record(number, variants=texts.split(), os=f"os{number % 2}", stacks=["s"])
        for number, texts in enumerate(variants)
    ]
    return catalog_of(write_page(tmp_path, records, title="hdf5"))


def listing_of(catalog: Catalog, text: str = "") -> Listing:
    listing = catalog.listing(View(parse(text), folded=True))
    listing.precompute()
    return listing


def rows_of(listing: Listing) -> SpecRows:
    return SpecRows(listing, shared=shared_texts(listing))


def state_of(listing: Listing, *kept: str) -> ColumnState:
    state = ColumnState()
    state.kept.update(kept)
    state.choose(rows_of(listing), lambda name: True)
    return state


def test_before_the_first_column_is_the_head_line(catalog: Catalog) -> None:
    state = state_of(listing_of(catalog))
    assert state.columns.names == ["os", "+a", "+hl", "hash", UNLIKE_OTHERS]
    assert state.current == "os"

    assert state.move(-1)
    assert state.current == state.head[0] == "version"
    assert not state.move(-1), "there is nothing before it"
    for column in [*state.head[1:], "os"]:
        assert state.move(1)
        assert state.current == column
    for _ in range(4):
        assert state.move(1)
    assert state.current == UNLIKE_OTHERS
    assert not state.move(1)


def test_a_column_of_the_head_line_with_a_filter_becomes_a_column_and_stays(
    catalog: Catalog,
) -> None:
    state = state_of(listing_of(catalog))
    state.current = "+x"
    state.kept.update(["+x"])
    narrowed = listing_of(catalog, "+x os=os0")
    state.choose(rows_of(narrowed), lambda name: name == "+x")
    assert "+x" in state.columns.names
    assert "os" in state.head, "it was filtered elsewhere, and has one value"

    state.choose(rows_of(narrowed), lambda name: False)
    assert "+x" in state.head, "its filter was removed"


def test_columns_stay_while_there_are_no_rows(catalog: Catalog) -> None:
    state = state_of(listing_of(catalog))
    names = state.columns.names
    state.choose(rows_of(listing_of(catalog, "os=none")), lambda name: False)

    assert state.columns.names == names
    state.hidden = {"os"}
    state.choose(rows_of(listing_of(catalog, "os=none")), lambda name: False)
    assert state.columns.names == names[1:], "but those that are hidden"


def test_a_column_that_is_gone_gives_way_to_the_first_until_it_is_back(catalog: Catalog) -> None:
    state = state_of(listing_of(catalog))
    state.current = "+hl"
    shown = list[str]()
    for text in ("+hl", ""):
        state.choose(rows_of(listing_of(catalog, text)), lambda name: False)
        shown.append(state.current)

    assert shown == ["os", "+hl"]


def test_the_head_line_says_nothing_that_is_not_so_for_newer_rows(catalog: Catalog) -> None:
    state = state_of(listing_of(catalog, "+hl"))
    texts = {text.column for text in state.constant_head(rows_of(listing_of(catalog)))}

    assert "+hl" in state.head
    assert "+hl" not in texts
    assert "+x" in texts


def test_the_arrow_of_a_sort_has_room(catalog: Catalog) -> None:
    state = state_of(listing_of(catalog))
    layout = state.lay_out(60, Sort("+hl"))
    widths = {placed.column.name: placed.width for placed in layout.placed}

    assert widths["+hl"] == len("hl↑")


def test_the_next_filter_is_never_that_of_a_note(catalog: Catalog) -> None:
    state = state_of(listing_of(catalog))
    state.current = "+hl"
    assert state.next_filter(1)
    assert state.current == "hash"
    assert not state.next_filter(1)
