"""Tests of columns and conditions whose answers depend on the host."""

from itertools import groupby

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.analysis.fit import HostFit
from spackscope.model.analysis.host import parse_host
from spackscope.model.core.errors import Unanswerable
from spackscope.model.index.catalog import Catalog, Row
from spackscope.model.index.order import Sort, View
from spackscope.model.index.value_counts import SectionKey, mark_of, value_counts
from spackscope.model.query.ast import Query, exact_term, query_of
from spackscope.model.query.parser import parse
from tests.builders.catalogs import catalog_of, on_host
from tests.builders.spack import INDEX_OF_1_2
from tests.examples import examples

HOST = "target=x86_64_v3 glibc=2.28 os=rocky8"


@pytest.fixture(scope="module")
def catalog(whole_catalogs: dict[str, Catalog]) -> Catalog:
    return on_host(whole_catalogs["spack1"], HOST)


def expected(catalog: Catalog, column: str) -> dict[str, set[int]]:
    """Return the ids of each value of a column, one spec after the other."""
    answers = catalog.by_host.answers
    ids: dict[str, set[int]] = {}
    for id_ in range(catalog.total):
        fit = answers.of(id_)
        values = fit.fits_values if column == "fits" else fit.reusable_values
        for value in values:
            ids.setdefault(value, set()).add(id_)
    return ids


@pytest.mark.parametrize("column", ["fits", "reusable"])
def test_each_value_is_counted_and_found(catalog: Catalog, column: str) -> None:
    ids = expected(catalog, column)
    counted = {each.value: each.count for each in value_counts(catalog, Query(), column)}
    assert counted == {value: len(of_value) for value, of_value in ids.items()}
    assert {"yes", "no", "target too new", "glibc 2.39 > 2.28"} <= counted.keys()
    for value, of_value in ids.items():
        term = exact_term(column, value)
        assert set(catalog.match(query_of(term))) == of_value
        groups = query_of(term).groups
        assert [v for v in counted if mark_of(SectionKey(column), groups, v)] == [value]
        assert parse(str(term)) == query_of(term)


@given(st.data())
@examples(10)
def test_each_window_is_a_part_of_the_whole_order(catalog: Catalog, data: st.DataObject) -> None:
    """Within a version the look-alikes that run on the host come first."""
    query, folded = parse(data.draw(st.sampled_from(["", "+shared", "zlib-ng"]))), st.booleans()
    is_folded, brief = data.draw(folded), catalog.by_host.answers.brief
    view, without_host = View(query, best_first=True, folded=is_folded), Catalog(catalog.columns)
    preferred = without_host.rows(without_host.listing(view).ids)

    def rank(row: Row) -> int:
        fits = [brief(id_).fits for id_ in range(*catalog.span(row.look_alike))]
        return 0 if True in fits else 1 if None in fits else 2

    versions = groupby(preferred, lambda row: (row.spec.package, row.spec.version))
    expected = [row.id for _, rows in versions for row in sorted(rows, key=rank)]
    listing = catalog.listing(view)
    rows = st.integers(0, len(expected) - 1)
    for first in data.draw(st.lists(rows, max_size=4)):
        assert listing.ids[first] == expected[first]
        assert list(listing.ids[first : first + 20]) == expected[first : first + 20]
    for id_ in data.draw(st.lists(st.sampled_from(expected), max_size=4)):
        assert listing.ids.index(id_) == expected.index(id_)
    assert list(listing.ids) == expected
    assert expected[0] in listing.ids


def test_rows_have_it_and_are_sorted_by_it(catalog: Catalog) -> None:
    view = View(parse("zlib-ng fits=*"), sort=Sort("fits"))
    fits = [spec.fit for spec in catalog.records(catalog.listing(view).ids)]
    answers = [bool(fit.fits) for fit in fits if fit is not None]
    assert answers == sorted(answers, reverse=True)
    assert {True, False} == set(answers)
    assert "fits" in catalog.listing(view).values.varying_columns
    assert "fits" not in catalog.listing(View(parse("zlib-ng"))).values.varying_columns
    assert catalog.listing(View(parse("zlib-ng fits"))).values.constants["fits"] == ("yes",)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("target=host:,aarch64", "target=x86_64_v3:,aarch64"),
        ("!target=:host", "!target=:x86_64_v3"),
        ("os=host", "os=rocky8"),
        ("hdf5 ^zlib-ng target=:host", "hdf5 ^zlib-ng target=:x86_64_v3"),
        ("zlib target=:host platform=host hdf5", "zlib target=:x86_64_v3 platform=linux hdf5"),
    ],
)
def test_host_stands_for_its_parts(catalog: Catalog, text: str, same: str) -> None:
    assert list(catalog.match(parse(text))) == list(catalog.match(parse(same)))


def test_what_is_not_known_of_the_host_cannot_be_answered() -> None:
    catalog = catalog_of(INDEX_OF_1_2)
    for text in ("fits", "reusable=no", "target=:host", "os=host"):
        with pytest.raises(Unanswerable, match="host, which is unknown"):
            catalog.match(parse(text))
    catalog.by_host.connect(lambda: HostFit(catalog, parse_host("target=zen3")))
    with pytest.raises(Unanswerable, match="os of the host"):
        catalog.match(parse("os=host"))


def test_a_bare_word_does_not_match_it(catalog: Catalog) -> None:
    assert not catalog.count(parse("'target too new'", packages=()))


def test_rows_are_summarised_anew_for_a_condition_on_the_host_that_all_meet(
    catalog: Catalog,
) -> None:
    fitting = next(row.spec for row in catalog.rows(catalog.match(parse("fits")).ids()[:1]))
    without, with_host = (
        catalog.listing(View(parse(f"/{fitting.hash}{text}"))) for text in ("", " fits")
    )
    assert [*without.ids] == [*with_host.ids]
    assert ("fits" in without.values.constants, "fits" in with_host.values.constants) == (
        False,
        True,
    )


def test_a_package_alone_is_ordered_as_among_all(catalog: Catalog) -> None:
    def rows(text: str = "") -> list[int]:
        return [*catalog.listing(View(parse(text), best_first=True, folded=True)).ids]

    by_package = {
        name: [*ids] for name, ids in groupby(rows(), lambda i: catalog.text("package", i))
    }
    plain = {name: sorted(ids) for name, ids in by_package.items()}
    assert sum(by_package[name] != plain[name] for name in plain) > 10, "the host decides on some"
    assert {name: rows(f"package={name}") for name in by_package} == by_package
