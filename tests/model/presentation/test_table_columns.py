"""The columns of the table follow from its rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.listing import Listing
from spackscope.model.catalog.view import USED_BY, View
from spackscope.model.presentation.frame import shared_texts
from spackscope.model.presentation.table_columns import (
    DIFFERS_IN,
    MAX_SLOTS,
    ColumnChoices,
    TableColumns,
    choose_columns,
)
from spackscope.model.query.parser import parse
from tests.builders import Record, all_records, catalog_of, record, write_page
from tests.tui.browser.look_alike_index import write_look_alikes


def listing_of(path: Path, *variants: str, **fields: Any) -> Listing:
    """List records with some variants each, separated by blanks."""
    records: list[Record] = [
        record(number, variants=texts.split(), **fields) for number, texts in enumerate(variants)
    ]
    listing = catalog_of(write_page(path, records, title="hdf5")).listing(View(folded=True))
    listing.precompute()
    return listing


def columns_of(listing: Listing, *filtered: str) -> TableColumns:
    return choose_columns(listing, shared_texts(listing), filtered)


def heads(columns: TableColumns) -> list[str]:
    return [head.text for head in columns.head]


def test_what_all_rows_share_is_in_the_head_line_and_never_a_column(tmp_path: Path) -> None:
    columns = columns_of(listing_of(tmp_path, "api=x +hl ~java +mpi", "api=x ~hl ~java +mpi"))

    assert columns.names == ["+hl", "hash"]
    assert heads(columns) == [
        *("hdf5@1.3.1", "%gcc@13.2.0", "ubuntu24.04", "x86_64_v3", "e4s", "linux"),
        *("+mpi", "~java", "api=x"),
    ]
    assert columns.head[-1].column == "+api"


def test_where_a_spec_is_from_follows_the_variants_unless_it_is_filtered(tmp_path: Path) -> None:
    pages = [
        write_page(tmp_path / tag, [record(n, variants=[text])], title="hdf5", tag=tag)
        for n, (tag, text) in enumerate((("v1", "+hl"), ("v2", "~hl")))
    ]
    listing = catalog_of(*pages).listing(View(folded=True))
    listing.precompute()

    assert columns_of(listing).names[:2] == ["+hl", "tag"]
    assert columns_of(listing, "tag").names[:2] == ["tag", "+hl"]


def test_the_variant_that_splits_the_rows_most_evenly_comes_first(tmp_path: Path) -> None:
    rows = ("+a +b c=1 patches=1", "+a ~b c=2 patches=2", "+a ~b c=3 patches=3", "~a +b c=1")
    columns = columns_of(listing_of(tmp_path, *rows))

    assert columns.names == ["+b", "+c", "+a", "+patches", "hash"]


def test_a_variant_that_few_rows_have_splits_them_unevenly(tmp_path: Path) -> None:
    rows = ("+a +x", "~a +x", "+a +x", "~a ~odd", "+a +odd")

    assert columns_of(listing_of(tmp_path, *rows)).names[0] == "+a"


def test_a_slot_has_the_sign_or_the_value_of_a_variant(tmp_path: Path) -> None:
    listing = listing_of(tmp_path, "+a f=x,y", "~a f=z", "+a")
    specs = all_records(catalog_of(tmp_path / "develop" / "hdf5" / "specs.md"))
    columns = {column.name: column for column in columns_of(listing).all}

    cells = {tuple(columns[name].cell(spec) for name in ("+a", "+f")) for spec in specs}
    assert cells == {("+", "x,y"), ("~", "z"), ("+", "-")}
    assert columns["+f"].width == 3
    assert columns["+a"].min_width == 1


def test_what_was_filtered_under_its_head_stays_a_column(tmp_path: Path) -> None:
    listing = listing_of(tmp_path, "+a +b", "~a +b")
    columns = columns_of(listing, "os", "+b")

    assert columns.names == ["os", "+b", "+a", "hash"]
    assert "ubuntu24.04" not in heads(columns)
    assert "+b" not in heads(columns)


def test_a_column_can_be_hidden_and_made_wider(tmp_path: Path) -> None:
    listing = listing_of(tmp_path, "+a +b", "~a ~b")
    columns = choose_columns(listing, (), choices=ColumnChoices(frozenset({"+a"}), {"+b": 9}))

    assert columns.names == ["+b", "hash"]
    assert (columns.all[0].width, columns.all[0].min_width) == (9, 9)


def test_there_are_not_more_slots_than_can_be_walked_through(tmp_path: Path) -> None:
    many = " ".join(f"+v{number}" for number in range(100))
    columns = columns_of(listing_of(tmp_path, many, many.replace("+", "~")))

    assert len(columns.scrolled) == MAX_SLOTS


def test_notes_come_last_where_the_source_lists_dependencies(tmp_path: Path) -> None:
    path = tmp_path / "index.json"
    write_look_alikes(path)
    catalog = catalog_of(path)

    def names(**view: Any) -> list[str]:
        return columns_of(catalog.listing(View(parse("hdf5"), **view))).names

    assert names(folded=True) == ["version", "hash", USED_BY, DIFFERS_IN]
    assert names()[-1] == USED_BY


@pytest.mark.parametrize(("text", "package"), [("package=py-build", False), ("py-*", True)])
def test_package_and_version_are_frozen_where_they_differ(
    text: str, package: bool, sample: Catalog
) -> None:
    columns = columns_of(sample.listing(View(parse(text, packages=()))))

    assert [column.name for column in columns.frozen] == [*["package"] * package, "version"]
    assert "package" not in [column.name for column in columns.scrolled]


def test_one_spec_has_its_fields_in_columns(tmp_path: Path) -> None:
    columns = columns_of(listing_of(tmp_path, "+a"))

    assert {"version", "compiler", "os", "target", "hash"} <= set(columns.names)
    assert "+a" in heads(columns)


def test_nothing_has_columns_too(tmp_path: Path) -> None:
    listing = catalog_of(write_page(tmp_path, [])).listing(View())

    assert columns_of(listing).names[-1] == "hash"
