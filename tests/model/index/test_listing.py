"""A listing orders, folds, opens and describes the rows of a view."""

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.columns import BY_NAME, COLUMNS
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Spec
from spackscope.model.core.text import cell_width
from spackscope.model.core.versions import version_key
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.order import USED_BY, RowRole, Sort, View
from spackscope.model.query.ast import Query
from spackscope.model.query.parser import parse
from tests.builders.catalogs import all_records, catalog_of
from tests.builders.nodes import edge, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import write_index
from tests.evaluator import satisfies
from tests.examples import examples
from tests.tui.browser.look_alike_index import write_look_alikes

QUERIES = ["", "zlib", "os=linux", "!+shared", "size=1:", "/2", "!/2 os=*u*", "zlib HDF5 size=:"]
SPEC, GROUP, KIND, OPEN_KIND, MEMBER = RowRole


def by_compiler(spec: Spec) -> Any:
    name, _, version = spec.compiler.partition("@")
    return name, version_key(version), spec.compiler


ORDERS: dict[str, Callable[[Spec], Any]] = {
    "compiler": by_compiler,
    "version": lambda spec: (version_key(spec.version), spec.version),
    "variants": lambda spec: [(text.lstrip("+~"), text) for text in spec.variants],
    "size": lambda spec: -1 if spec.size is None else spec.size,
}
SORTS = st.none() | st.builds(Sort, st.sampled_from(sorted(BY_NAME)), st.booleans())


def order(column: str) -> Callable[[Spec], Any]:
    return ORDERS.get(column, BY_NAME[column].value)


def look_alikes(catalog: Catalog, query: Query) -> Counter[int]:
    """Count the matching specs of each look-alike without the code under test."""
    rows = catalog.rows(range(catalog.total))
    return Counter(row.look_alike for row in rows if satisfies(row.spec, query))


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
        assert {*listing.part()[1]} <= {1}
    assert wrong == []

    plain = mixed.listing(View(parse(text)))
    assert list(plain.ids) == sorted(plain.ids)
    assert len(plain) == plain.shown == len(specs)


def test_versions_are_sorted_as_spack_sorts_them(tmp_path: Path) -> None:
    versions = ["develop", "main", "1.10", "1.10rc1", "1.9"]
    write_page(tmp_path, [record(n, versions=[versions[n % 5]]) for n in range(3, 13)])
    catalog = catalog_of(tmp_path)

    for view in (View(sort=Sort("version", descending=True)), View(best_first=True)):
        found = [spec.version for spec in catalog.records(catalog.listing(view).ids)]
        assert list(dict.fromkeys(found)) == versions


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


def test_rows_are_sorted_by_their_users(tmp_path: Path) -> None:
    catalog = catalog_of(write_look_alikes(tmp_path / "index.json"))
    for folded, descending in product((False, True), repeat=2):
        listing = catalog.listing(View(sort=Sort(USED_BY, descending), folded=folded))
        users = [
            sum(len(catalog.edges.dependents(id_)) for id_ in listing.ids_of(row))
            for row in catalog.rows(*listing.part())
        ]
        assert users == sorted(users, reverse=descending)
        assert min(users) == 0 < max(users)


def test_of_a_version_what_most_specs_depend_on_comes_first(tmp_path: Path) -> None:
    builds = [node(hash_of(n), parameters={"x": str(n)}, dependencies=[]) for n in range(4)]
    edges = [edge("zlib", hash_of(2), ["link"])]
    users = [node(hash_of(n), name="hdf5", dependencies=edges) for n in (8, 9)]
    users[0]["dependencies"] = [*edges, edge("zlib", hash_of(3), ["build"])]
    catalog = catalog_of(write_index(tmp_path, *builds, *users))
    listing = catalog.listing(View(parse("zlib"), best_first=True))
    assert [spec.variants for spec in catalog.records(listing.ids)] == [
        (f"x={n}",) for n in (2, 3, 0, 1)
    ]


def whole(ids: Sequence[int]) -> Sequence[Sequence[int]]:
    return [ids]


def halves(ids: Sequence[int]) -> Sequence[Sequence[int]]:
    """Partition look-alikes into two kinds, the later ones first."""
    middle = len(ids) // 2
    return [list(ids[middle:][::-1]), list(ids[:middle])]


def single(ids: Sequence[int]) -> Sequence[Sequence[int]]:
    return ()


@given(st.data())
@examples(150)
def test_each_spec_is_in_one_row_whatever_is_folded_and_opened(
    mixed: Catalog, data: st.DataObject
) -> None:
    query = parse(data.draw(st.sampled_from(QUERIES)))
    expected = look_alikes(mixed, query)
    opened = frozenset(data.draw(st.lists(st.sampled_from(sorted(expected)))))
    sort, partition = data.draw(SORTS), data.draw(st.sampled_from([single, whole, halves]))
    ids = st.sampled_from(list(mixed.match(query)))
    view = View(
        *(query, sort, data.draw(st.booleans()), data.draw(st.booleans()), opened),
        opened_kinds=frozenset(data.draw(st.lists(ids, max_size=4))),
    )

    listing = mixed.listing(view, partition=partition)
    listing.precompute()
    rows = mixed.rows(*listing.part())

    leaves = [row for row in rows if row.role not in (GROUP, OPEN_KIND)]
    shown = Counter(id_ for row in leaves for id_ in listing.ids_of(row))
    assert shown == Counter(mixed.match(query)), "each spec is once below no other row"
    assert listing.shown == sum(row.count for row in leaves) == sum(expected.values())
    assert listing.max_count == max(row.count for row in rows)
    groups = {number for number, count in expected.items() if count > 1}
    assert listing.group_count == (len(groups) if view.folded else 0)
    heads = [row for row in rows if row.role in (SPEC, GROUP)]
    folded = mixed.listing(view.closed())
    if not view.folded or partition is not single:
        assert [row.id for row in heads] == list(folded.ids), "a group stays where it was"
    if view.folded and partition is not single:
        assert {row.look_alike: row.count for row in heads} == expected
    for number, row in enumerate(rows):
        assert row.count == len(listing.ids_of(row))
        assert row.role in (SPEC, GROUP) or row.look_alike in opened & groups
        assert satisfies(row.spec, query)
        assert listing.row_of(row) == number
        kinds = partition(list(listing.look_alike_ids(row.look_alike)))
        is_open = row.look_alike in opened & groups and view.folded
        opened_kinds = [k for k in kinds if is_open and len(k) > 1 and view.opened_kinds & {*k}]
        expected_kind = next((k for k in opened_kinds if row.id in k), ())
        found = listing.opened_kind(row.id, row.look_alike)
        assert list(found) == list(expected_kind) or (partition is whole and not found)
    for row in mixed.rows(range(mixed.total)):
        at = listing.row_of(row)
        assert listing.shows(row.id) == satisfies(row.spec, query)
        assert len(listing.look_alike_ids(row.look_alike)) == expected[row.look_alike]
        if listing.shows(row.id):
            assert at is not None
            assert row.id in listing.ids_of(rows[at])
        elif at is not None:
            assert rows[at].look_alike == row.look_alike


def test_a_group_is_opened_kind_by_kind_and_a_kind_by_any_of_its_specs(tmp_path: Path) -> None:
    catalog = catalog_of(write_page(tmp_path, [record(n) for n in range(4)]))

    def shown(partition: Any, *opened: int) -> list[tuple[int, RowRole, int]]:
        view = View(folded=True, opened=frozenset({0}), opened_kinds=frozenset(opened))
        ids, counts, roles = catalog.listing(view, partition=partition).part()
        return list(zip(ids, roles, counts, strict=True))

    folded = [(0, GROUP, 4), (2, KIND, 2), (0, KIND, 2)]
    later = [(2, OPEN_KIND, 2), (3, MEMBER, 1), (2, MEMBER, 1)]
    members = [(id_, MEMBER, 1) for id_ in range(4)]
    assert shown(halves) == folded
    assert shown(halves, 2) == shown(halves, 3, 2) == [folded[0], *later, folded[2]]
    assert shown(whole) == [(0, GROUP, 4), *members]
    assert shown(single) == [(id_, SPEC, 1) for id_ in range(4)]
    assert shown(lambda ids: [[id_] for id_ in ids], 1) == [
        (0, GROUP, 4),
        *((id_, KIND, 1) for id_ in range(4)),
    ]
    view = View(folded=True, opened=frozenset({0}), opened_kinds=frozenset({2}))
    listing, (row,) = catalog.listing(view, partition=halves), catalog.rows([0])
    for id_, role, number in (
        *((2, GROUP, 0), (0, GROUP, 0), (3, OPEN_KIND, 1), (2, OPEN_KIND, 1), (2, SPEC, 3)),
        *((0, KIND, 4), (1, KIND, 4), (1, SPEC, 4), (9, SPEC, 0)),
    ):
        assert listing.row_of(replace(row, id=id_, role=role)) == number


@pytest.mark.parametrize("descending", [False, True])
def test_folded_rows_are_sorted_by_the_hash_that_they_show(
    descending: bool, small_catalogs: dict[str, Catalog]
) -> None:
    catalog = small_catalogs["spack1"]
    listing = catalog.listing(View(folded=True, sort=Sort("hash", descending)))
    hashes = [row.spec.hash for row in catalog.rows(*listing.part())]
    assert hashes == sorted(hashes, reverse=descending)
    first = catalog.hashes.of(listing.ids)
    assert hashes != first, "some rows show another build than their first"


@pytest.mark.parametrize("text", QUERIES)
def test_columns_with_one_value_are_named_with_it(text: str, mixed: Catalog) -> None:
    query = parse(text)
    specs = [spec for spec in all_records(mixed) if satisfies(spec, query)]
    stored = [column for column in COLUMNS if column.has_dictionary]
    expected = {
        column.name: column.value(specs[0])
        for column in stored
        if len({column.value(spec) for spec in specs}) == 1
    }
    values = mixed.listing(View(query)).values

    assert values.constants == expected
    assert values.varying_columns.isdisjoint(expected)
    for column in stored:
        cells = (column.cell(column.value(spec)) for spec in specs)
        assert values.widths[column.name] == max(map(cell_width, cells))


@pytest.mark.parametrize(
    ("sets", "ranks"),
    [
        (
            ["+a ~rare b=1 c=x", "+a ~rare b=2 c=x", "+a ~rare b=3 c=y", "+a +rare b=4 c=y"],
            {"b": 0, "c": 1, "rare": 2},
        ),
        (["+a +b", "+a"], {"b": 0}),
        (["+a +a", "~a"], {"a": 0}),
        (["+a b=1"], {}),
        (["cuda_arch:=80,90 +mpi", "cuda_arch=90,80 ~mpi"], {"mpi": 0}),
        (["patches=a +x", "patches=b +x", "patches=c ~x"], {"x": 0, "patches": 1}),
    ],
    ids=["evenly", "lacking", "twice", "one", "printed otherwise", "patches"],
)
def test_varying_variants_are_ranked_by_how_evenly_they_split_the_rows(
    tmp_path: Path, sets: list[str], ranks: dict[str, int]
) -> None:
    write_page(tmp_path, [record(n, variants=text.split()) for n, text in enumerate(sets)])
    catalog = catalog_of(tmp_path)
    assert catalog.listing(View()).values.varying_variants == ranks
    assert catalog.listing(View(parse("nothing"))).values.varying_variants == {}


def test_what_varies_is_asked_of_the_shown_rows_only(mixed: Catalog) -> None:
    assert mixed.listing(View(parse("+mpi"))).values.varying_variants == {}
    values = mixed.listing(View()).values
    assert "shared" in values.varying_variants
    for name in ("HDF5", "zlib"):
        of_package = mixed.listing(View(Query().with_package(name))).values
        look_alike = next(
            r.look_alike for r in mixed.rows(range(mixed.total)) if r.spec.package == name
        )
        assert values.of_package(look_alike).varying_variants == of_package.varying_variants
