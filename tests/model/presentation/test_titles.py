"""Title lines have how many rows are shown, and what all of them share."""

from __future__ import annotations

import pytest

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.view import View
from spackscope.model.core.text import counted
from spackscope.model.presentation.frame import (
    position,
    query_counts,
    shared_texts,
    source_chips,
    tags_title,
)
from spackscope.model.query.parser import parse


def test_sources_are_named_with_their_size(sample: Catalog) -> None:
    (chip,) = source_chips(sample)

    assert (chip.name, chip.specs, chip.is_cache) == ("sample_data", 346, True)
    assert tags_title(sample) == "develop"


def test_values_that_all_rows_share_are_in_the_title(sample: Catalog) -> None:
    listing = sample.listing(View(parse("py-build os=ubuntu24.04 target=aarch64")))

    shared = dict(shared_texts(listing))
    expected = {"package": "py-build", "os": "ubuntu24.04", "target": "aarch64"}
    assert expected.items() <= shared.items()
    assert not {"hash", "variants", "tag", "source", "state"} & shared.keys()


def test_folded_rows_are_counted(sample: Catalog) -> None:
    listing = sample.listing(View(folded=True))

    groups = sum(count > 1 for count in listing.part()[1])
    assert query_counts(listing, sample.total, None) == (
        f"346 specs · {groups} look-alike groups",
        f"346 specs · {groups} groups",
        "346 specs",
        "346",
    )


def test_matches_are_counted_among_the_specs_of_their_package(sample: Catalog) -> None:
    listing = sample.listing(View(parse("package=py-build os=ubuntu24.04")))

    assert query_counts(listing, 24, "py-build")[0] == f"{listing.shown} of 24 py-build"


@pytest.mark.parametrize(("count", "text"), [(1, "1 spec"), (2_052, "2,052 specs")])
def test_things_are_counted(count: int, text: str) -> None:
    assert counted(count, "spec") == text


def test_the_position_counts_from_one() -> None:
    assert position(11, 2_052) == "12/2,052"
    assert position(0, 0) == ""
