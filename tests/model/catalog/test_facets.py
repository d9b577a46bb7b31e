"""The values of a column are counted under the other conditions."""

from __future__ import annotations

from collections import Counter

import pytest

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.facets import facets
from spackscope.model.core.columns import BY_NAME, FACETED
from spackscope.model.core.errors import Cancelled, Unanswerable
from spackscope.model.core.records import Spec
from spackscope.model.query.ast import Query
from spackscope.model.query.parser import parse
from tests.builders import all_records
from tests.evaluator import satisfies

QUERIES = [
    "", "os=linux", "zlib", "+shared", "+shared os=linux", "libs=shared %gcc", "/2",
    "os=linux | os=centos7", "!+mpi stack=e4s", "zlib@1.9: hdf5",
]  # fmt: skip


def values(spec: Spec, column: str) -> set[str]:
    value = BY_NAME[column].value(spec)
    return set(value) if isinstance(value, tuple) else {str(value)}


@pytest.mark.parametrize("column", [name for name in FACETED if name != "variants"])
@pytest.mark.parametrize("text", QUERIES)
def test_values_are_counted_under_the_other_conditions(
    mixed: Catalog, text: str, column: str
) -> None:
    query = parse(text)
    others = query.without_column(column)
    expected = Counter(
        value
        for spec in all_records(mixed)
        if satisfies(spec, others)
        for value in values(spec, column)
    )

    counted = facets(mixed, query, column)

    assert {facet.value: facet.count for facet in counted} == expected
    assert [facet.count for facet in counted] == sorted(expected.values(), reverse=True)


def test_a_variant_is_counted_without_what_is_asked_of_itself(mixed: Catalog) -> None:
    specs = all_records(mixed)
    counts = {f.value: f.count for f in facets(mixed, parse("+shared os=linux"), "variants")}

    assert counts["~shared"] == sum(s.os == "linux" and "~shared" in s.variants for s in specs)
    assert counts["os=linux"] == sum(
        s.os == "linux" and {"+shared", "os=linux"} <= set(s.variants) for s in specs
    )


def test_values_are_counted_within_a_package(mixed: Catalog) -> None:
    within = facets(mixed, Query().with_package("zlib"), "os")
    counts = Counter(spec.os for spec in all_records(mixed) if spec.package == "zlib")

    assert {facet.value: facet.count for facet in within} == counts


def test_what_cannot_be_counted_is_refused(mixed: Catalog) -> None:
    with pytest.raises(Unanswerable):
        facets(mixed, parse("^zlib"), "os")
    with pytest.raises(Cancelled):
        facets(mixed, parse("os=linux !os=x"), "stack", should_stop=lambda: True)
