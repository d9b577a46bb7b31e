"""Specs are found, counted and cut into their look-alikes as one by one, whichever match."""

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.index.catalog import Catalog
from spackscope.model.index.evaluate import Matches
from spackscope.model.index.index_file import mask_of
from tests.builders.catalogs import catalog_of
from tests.builders.pages import record, write_page
from tests.examples import examples


@pytest.fixture(scope="module")
def catalog(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Return 40 specs of four packages, some of which look alike."""
    root: Path = tmp_path_factory.mktemp("pages")
    versions = [n * n % 23 % 5 for n in range(40)]
    for package in range(4):
        records = [record(n, versions=[f"1.{versions[n]}"]) for n in range(package, 40, 4)]
        write_page(root, records, title=f"p{package}")
    return catalog_of(root)


@given(st.data(), st.sets(st.integers(0, 39)).map(sorted), st.booleans())
@examples(200)
def test_matches_are_what_each_spec_says(
    catalog: Catalog, data: st.DataObject, ids: list[int], are_whole: bool
) -> None:
    if are_whole:
        numbers = {catalog.look_alike(id_) for id_ in ids}
        ids = [id_ for number in sorted(numbers) for id_ in range(*catalog.span(number))]
        matches = Matches(catalog, 0, bytes(mask_of(numbers, len(catalog.first) - 1)))
    else:
        matches = Matches.of_specs_in(catalog, bytes(mask_of(ids, 40)))
    if data.draw(st.booleans()):
        packages = st.sampled_from(catalog.all_packages)
        first, package = sorted([data.draw(packages), data.draw(packages)], key=lambda p: p.span)
        matches = matches.within(first.span[0], 40).within(*package.span)
        ids = [id_ for id_ in ids if id_ in range(*package.span)]
    alike = Counter(map(catalog.look_alike, ids))

    assert list(matches) == list(matches.ids()) == ids
    assert len(matches) == len(ids)
    assert [id_ for span in matches.spans() for id_ in range(*span)] == ids
    assert [id_ for id_ in range(-1, 42) if id_ in matches] == ids
    assert list(matches.numbers) == sorted(alike)
    assert list(matches.sizes) == [alike[number] for number in sorted(alike)]
    numbers_given = data.draw(st.permutations(sorted(alike)))
    shown = [[id_ for id_ in ids if catalog.look_alike(id_) == n] for n in numbers_given]
    assert [list(matches.alike(number)) for number in numbers_given] == shown
    assert list(matches.ids_of(numbers_given, folded=True)) == [each[0] for each in shown]
    assert list(matches.ids_of(numbers_given, folded=False)) == [i for each in shown for i in each]
    assert not any(matches.alike(n) for n in {*range(len(catalog.first) - 1)} - set(alike))
    versions = catalog.column("version")
    assert Counter(matches.counts("version")) == Counter(
        versions[catalog.look_alike(id_)] for id_ in ids
    )
