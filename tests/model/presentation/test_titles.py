"""Title lines have how many rows are shown, and what all of them share."""

from __future__ import annotations

import pytest

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.listing import View
from spackscope.model.presentation.titles import (
    catalog_title,
    counted,
    position,
    shared_texts,
    specs_title,
)
from spackscope.model.query.parser import parse


def test_the_catalog_is_named_by_source_and_tag_with_its_size(sample: Catalog) -> None:
    assert catalog_title(sample) == ("sample_data · develop", "346 specs · 4 packages")


def test_values_that_all_rows_share_are_in_the_title(sample: Catalog) -> None:
    listing = sample.listing(View(parse("py-build os=ubuntu24.04 target=aarch64")))

    shared = dict(shared_texts(listing))
    expected = {"package": "py-build", "os": "ubuntu24.04", "target": "aarch64"}
    assert expected.items() <= shared.items()
    assert not {"hash", "variants", "tag", "source", "state"} & shared.keys()
    title = specs_title(listing, sample.total, list(shared.values()), 2).split(" · ")
    assert title == [f"specs {listing.shown} of 346", *shared.values(), "2 marked"]


def test_folded_rows_are_counted(sample: Catalog) -> None:
    listing = sample.listing(View(folded=True))

    assert specs_title(listing, sample.total, [], 0) == "specs 346 · 38 rows"


@pytest.mark.parametrize(("count", "text"), [(1, "1 spec"), (2_052, "2,052 specs")])
def test_things_are_counted(count: int, text: str) -> None:
    assert counted(count, "spec") == text


def test_the_position_counts_from_one() -> None:
    assert position(11, 2_052) == "12/2,052"
    assert position(0, 0) == ""
