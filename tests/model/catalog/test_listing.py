"""A listing orders, folds and describes the rows of a view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.analysis.dag import dag_of
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.listing import Listing
from spackscope.model.catalog.view import USED_BY, Sort, View
from spackscope.model.core.columns import BY_NAME, COLUMNS
from spackscope.model.core.records import Spec
from spackscope.model.core.versions import version_key
from spackscope.model.query.ast import Query
from spackscope.model.query.parser import parse
from tests.builders import all_records, catalog_of, record, write_page
from tests.evaluator import satisfies
from tests.examples import examples
from tests.tui.browser.look_alike_index import write_look_alikes

QUERIES = ["", "zlib", "os=linux", "!+shared", "size=1:", "/2", "!/2 os=*u*", "zlib HDF5 size=:"]


def by_compiler(spec: Spec) -> Any:
    name, _, version = spec.compiler.partition("@")
    return name, version_key(version), spec.compiler


ORDERS: dict[str, Callable[[Spec], Any]] = {
    "compiler": by_compiler,
    "version": lambda spec: (version_key(spec.version), spec.version),
    "variants": lambda spec: [(text.lstrip("+~"), text) for text in spec.variants],
    "size": lambda spec: -1 if spec.size is None else spec.size,
}


def order(column: str) -> Callable[[Spec], Any]:
    return ORDERS.get(column, BY_NAME[column].value)


def look_alikes(catalog: Catalog, query: Query) -> Counter[int]:
    """Count the matching specs of each look-alike without the code under test."""
    rows = catalog.rows(range(catalog.total))
    return Counter(row.look_alike for row in rows if satisfies(row.spec, query))


# Order


@pytest.mark.parametrize("text", QUERIES)
def test_rows_are_sorted_as_their_values_are(text: str, mixed: Catalog) -> None:
    specs = [spec for spec in all_records(mixed) if satisfies(spec, parse(text))]
    hashes = {id_: spec.hash for id_, spec in enumerate(all_records(mixed))}
    wrong = []
    for column, descending in product(sorted(BY_NAME), (False, True)):
        listing = mixed.listing(View(parse(text), sort=Sort(column, descending)))
        expected = sorted(specs, key=order(column), reverse=descending)
        if [hashes[id_] for id_ in listing.ids] != [spec.hash for spec in expected]:
            wrong.append((column, descending))
        assert listing.counts is None
    assert wrong == []


@pytest.mark.parametrize("text", QUERIES)
def test_without_a_sort_rows_come_in_display_order(text: str, mixed: Catalog) -> None:
    listing = mixed.listing(View(parse(text)))

    assert list(listing.ids) == sorted(listing.ids)
    assert len(listing) == listing.shown


def test_versions_are_sorted_as_spack_sorts_them(tmp_path: Path) -> None:
    versions = ["develop", "1.10", "1.9", "main", "1.10rc1"]
    write_page(tmp_path, [record(n, versions=[v]) for n, v in enumerate(versions)])
    catalog = catalog_of(tmp_path)

    listing = catalog.listing(View(sort=Sort("version", descending=True)))

    assert [spec.version for spec in catalog.specs(listing)] == [
        "develop",
        "main",
        "1.10",
        "1.10rc1",
        "1.9",
    ]


# Folding


@pytest.mark.parametrize("sort", [None, Sort("os"), Sort("hash", descending=True), Sort("size")])
@pytest.mark.parametrize("text", QUERIES)
def test_folding_shows_each_look_alike_once_with_its_count(
    text: str, sort: Sort | None, mixed: Catalog
) -> None:
    query = parse(text)
    expected = look_alikes(mixed, query)

    listing = mixed.listing(View(query, sort=sort, folded=True))
    rows = mixed.rows(listing.ids, listing.counts)

    assert {row.look_alike: row.count for row in rows} == expected
    assert len(rows) == len(expected) == len(listing)
    assert sum(row.count for row in rows) == listing.shown == sum(expected.values())
    assert {id_: listing.count_look_alikes(id_) for id_ in expected} == expected
    assert all(satisfies(row.spec, query) for row in rows)


@given(st.data())
@examples(60)
def test_a_fold_can_be_opened_and_closed(mixed: Catalog, data: st.DataObject) -> None:
    query = parse(data.draw(st.sampled_from(QUERIES)))
    expected = look_alikes(mixed, query)
    opened = frozenset(data.draw(st.lists(st.sampled_from(sorted(expected)))))
    sort = data.draw(st.none() | st.builds(Sort, st.sampled_from(sorted(BY_NAME)), st.booleans()))

    listing = mixed.listing(View(query, sort=sort, folded=True, opened=opened))
    rows = mixed.rows(listing.ids, listing.counts)

    assert listing.shown == sum(row.count for row in rows) == sum(expected.values())
    shown = Counter(row.look_alike for row in rows)
    assert shown == {id_: n if id_ in opened else 1 for id_, n in expected.items()}
    if sort is not None:
        keys = [order(sort.column)(row.spec) for row in rows]
        assert keys == sorted(keys, reverse=sort.descending)


@pytest.mark.parametrize("folded", [False, True])
@pytest.mark.parametrize("sort", [None, Sort("os", descending=True), Sort("hash")])
@pytest.mark.parametrize("text", QUERIES)
def test_every_spec_is_found_in_the_row_that_shows_it(
    text: str, sort: Sort | None, folded: bool, mixed: Catalog
) -> None:
    query = parse(text)
    opened = frozenset(list(look_alikes(mixed, query))[::2])
    listing = mixed.listing(View(query, sort=sort, folded=folded, opened=opened))
    shown = mixed.rows(listing.ids, listing.counts)

    for row in mixed.rows(range(mixed.total)):
        at = listing.row_of(row.id, row.look_alike)
        if not satisfies(row.spec, query):
            assert at is None or shown[at].look_alike == row.look_alike
        elif folded and row.look_alike not in opened:
            assert at is not None
            assert shown[at].look_alike == row.look_alike
        else:
            assert at is not None
            assert shown[at].id == row.id


def test_the_sample_folds_to_38_rows(sample: Catalog) -> None:
    listing = sample.listing(View(folded=True))

    assert (len(listing), listing.shown) == (38, 346)
    rows = sample.rows(listing.ids, listing.counts)
    assert [listing.count_look_alikes(row.look_alike) for row in rows] == [
        row.count for row in rows
    ]


# What is to be said of all rows


@pytest.mark.parametrize("text", QUERIES)
def test_columns_with_one_value_are_named_with_it(text: str, mixed: Catalog) -> None:
    query = parse(text)
    specs = [spec for spec in all_records(mixed) if satisfies(spec, query)]
    expected = {}
    for column in COLUMNS:
        if column.has_dictionary and len({column.value(spec) for spec in specs}) == 1:
            expected[column.name] = column.value(specs[0])

    assert mixed.listing(View(query)).values.constants == expected


def varying(directory: Path, *sets: list[str]) -> dict[str, int]:
    write_page(directory, [record(n, variants=variants) for n, variants in enumerate(sets)])
    listing: Listing = catalog_of(directory).listing(View())
    return listing.values.varying_variants


def test_varying_variants_are_ranked_by_how_evenly_they_split_the_rows(tmp_path: Path) -> None:
    sets = [
        ["+a", "~rare", "b=1", "c=x"],
        ["+a", "~rare", "b=2", "c=x"],
        ["+a", "~rare", "b=3", "c=y"],
        ["+a", "+rare", "b=4", "c=y"],
    ]

    assert varying(tmp_path, *sets) == {"b": 0, "c": 1, "rare": 2}


def test_a_variant_that_a_row_lacks_varies(tmp_path: Path) -> None:
    assert varying(tmp_path, ["+a", "+b"], ["+a"]) == {"b": 0}


def test_a_variant_listed_twice_in_a_row_may_vary(tmp_path: Path) -> None:
    assert varying(tmp_path, ["+a", "+a"], ["~a"]) == {"a": 0}


def test_nothing_varies_in_one_row_or_in_none(tmp_path: Path) -> None:
    assert varying(tmp_path, ["+a", "b=1"]) == {}
    assert catalog_of(tmp_path).listing(View(parse("nothing"))).values.varying_variants == {}


def test_what_varies_is_asked_of_the_shown_rows_only(mixed: Catalog) -> None:
    assert mixed.listing(View(parse("+mpi"))).values.varying_variants == {}
    assert "shared" in mixed.listing(View()).values.varying_variants


def test_a_variant_does_not_vary_because_spack_printed_it_otherwise(tmp_path: Path) -> None:
    variants = [["cuda_arch:=80,90", "+mpi"], ["cuda_arch=90,80", "~mpi"]]
    write_page(tmp_path, [record(n, variants=each) for n, each in enumerate(variants)])

    assert list(catalog_of(tmp_path).listing(View()).values.varying_variants) == ["mpi"]


@pytest.mark.parametrize("folded", [False, True])
def test_rows_are_sorted_by_a_variant_those_without_it_last(tmp_path: Path, folded: bool) -> None:
    variants = ("~a", "+a", "+b", "f=x", "+a +b")
    page = write_page(tmp_path, [record(n, variants=t.split()) for n, t in enumerate(variants)])
    catalog = catalog_of(page)

    def rows(column: str, *, descending: bool = False) -> list[str]:
        view = View(sort=Sort(column, descending), folded=folded)
        specs = (row.spec for row in catalog.rows(catalog.listing(view).ids))
        return [" ".join(spec.variants) for spec in specs]

    assert [text[:2] for text in rows("+a")][:3] == ["+a", "+a", "~a"]
    assert rows("+f")[0] == "f=x"
    assert rows("+f", descending=True)[-1] == "f=x"


@pytest.mark.parametrize("folded", [False, True])
def test_rows_are_sorted_by_their_users(tmp_path: Path, folded: bool) -> None:
    write_look_alikes(tmp_path / "index.json")
    catalog = catalog_of(tmp_path / "index.json")
    listing = catalog.listing(View(sort=Sort(USED_BY, descending=True), folded=folded))

    users = [len(dag_of(catalog).dependents(id_)) for id_ in listing.ids]
    if not folded:
        assert users == sorted(users, reverse=True)
    assert max(users) == users[0] > 0 == users[-1]
