"""Specs are cut into their look-alikes as one by one, whichever of them are given."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.catalog.arrays import IdRanges, sorted_by
from spackscope.model.catalog.catalog import Catalog
from tests.builders import catalog_of, record, write_page
from tests.examples import examples


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Return 40 specs, some of which look alike."""
    root: Path = tmp_path_factory.mktemp("pages")
    versions = [n * n % 23 % 9 for n in range(40)]
    write_page(root, [record(n, versions=[f"1.{v}"]) for n, v in enumerate(versions)])
    return catalog_of(root)


specs = st.sets(st.integers(0, 39)).map(sorted)


@given(specs)
@examples(200)
def test_look_alikes_of_specs(catalog: Catalog, given_specs: list[int]) -> None:
    arrays = catalog
    ranges = IdRanges.of(given_specs)
    expected = Counter(map(arrays.look_alike, given_specs))

    spans = list(arrays.spans(ranges))

    assert {n for span in spans for n in range(*span)} >= set(expected)
    assert sum(stop - start for start, stop in spans) == len(expected)
    assert list(arrays.group_sizes(ranges)) == [expected[n] for n in sorted(expected)]
    assert {number: list(ids) for number, ids in arrays.partial(ranges).items()} == {
        number: [id_ for id_ in given_specs if arrays.look_alike(id_) == number]
        for number, count in expected.items()
        if count < len(range(*arrays.span(number)))
    }


@given(st.lists(st.integers(0, 5)), st.booleans())
def test_numbers_are_sorted_by_their_keys_as_sorted_does(keys: list[int], reverse: bool) -> None:
    numbers = range(len(keys))

    in_order = sorted_by(keys, numbers, descending=reverse)

    assert list(in_order) == sorted(numbers, key=keys.__getitem__, reverse=reverse)
