"""Counts by one or two axes are those of the records, one by one."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product
from typing import Any

import pytest

from spackscope.model.analysis.frequency import COUNTABLE, Axis, Frequency, find_axis, frequency
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.columns import FIELDS
from spackscope.model.core.errors import Cancelled, Unanswerable
from spackscope.model.core.records import Spec
from spackscope.model.core.variants import split_variant
from spackscope.model.query.ast import Term
from spackscope.model.query.parser import parse
from tests.builders import all_records
from tests.evaluator import satisfies

QUERIES = ["", "os=linux", "zlib +shared", "libs=static | os=centos7", "/2", "os=nosuch"]
NOT_ON_PAGES = ("flags", "fits", "reusable")
NAMES = [name for name in COUNTABLE if name not in NOT_ON_PAGES]
NAMES += ["shared", "libs", "mpi", "build_type"]


def axis_of(catalog: Catalog, name: str) -> Axis:
    axis = find_axis(catalog, name)
    assert axis is not None
    return axis


def count(catalog: Catalog, text: str, *names: str) -> Frequency:
    return frequency(catalog, parse(text), [axis_of(catalog, name) for name in names])


def values(spec: Spec, name: str) -> set[str]:
    """All that a record has of a column or a variant, read from the record itself."""
    if name == "arch":
        return {f"{spec.platform}-{spec.os}-{spec.target}"}
    if name == "namespace":
        return {spec.namespace or "builtin"}
    if name in FIELDS:
        value: Any = FIELDS[name].value(spec)
        return set(value) if isinstance(value, tuple) and value else {value or ""}
    texts = set()
    for variant in spec.variants:
        its_name, its_values = split_variant(variant)
        if its_name == name:
            flags = variant[:1] in ("+", "~")
            texts |= {variant} if flags else {f"{name}={value}" for value in its_values}
    return texts or {""}


@pytest.mark.parametrize("text", QUERIES)
def test_one_axis_counts_records(mixed: Catalog, text: str) -> None:
    query = parse(text)
    specs = [spec for spec in all_records(mixed) if satisfies(spec, query)]
    for name in NAMES:
        expected = Counter(value for spec in specs for value in values(spec, name))

        counts = count(mixed, text, name)

        assert counts.total == len(specs)
        assert {f.value: f.count for f in counts.facets[0]} == expected, name
        assert [f.count for f in counts.facets[0]] == sorted(expected.values(), reverse=True)


@pytest.mark.parametrize("text", QUERIES)
def test_two_axes_count_records(mixed: Catalog, text: str) -> None:
    query = parse(text)
    specs = [spec for spec in all_records(mixed) if satisfies(spec, query)]
    for first, second in combinations(["compiler", "target", "stack", "libs", "shared"], 2):
        expected = Counter(
            cell for spec in specs for cell in product(values(spec, first), values(spec, second))
        )

        counts = count(mixed, text, first, second)

        assert counts.cells == expected, (first, second)
        assert [n for _, n in counts.ordered_cells()] == sorted(expected.values(), reverse=True)
        shown = {facet.value for facet in counts.facets[1][:1]}
        assert counts.rest(shown) == Counter(
            value
            for spec in specs
            if values(spec, second) - shown
            for value in values(spec, first)
        )


def test_equal_counts_are_in_the_order_of_the_values(mixed: Catalog) -> None:
    (facets,) = count(mixed, "zlib", "version").facets
    ties = [[f.value for f in facets if f.count == n] for n in {f.count for f in facets}]
    order = ["", "1.9", "1.10rc1", "1.10", "develop"]
    assert any(len(tie) > 1 for tie in ties)
    for tie in ties:
        known = [value for value in tie if value in order]
        assert known == sorted(known, key=order.index)


def test_an_axis_of_each_record_is_counted_beside_one_of_look_alikes(mixed: Catalog) -> None:
    every_third = Axis(
        "third",
        "third",
        [id_ % 3 for id_ in range(mixed.total)],
        [("yes",), ("no",), ()],
        lambda value: Term("package", value),
        by_record=True,
    )
    counts = frequency(mixed, parse("os=linux"), [every_third, axis_of(mixed, "target")])
    expected = Counter(
        ({0: "yes", 1: "no"}[number % 3], spec.target)
        for number, spec in enumerate(all_records(mixed))
        if spec.os == "linux" and number % 3 < 2
    )
    assert counts.cells == expected


def test_what_cannot_be_counted_is_refused(mixed: Catalog) -> None:
    axis = axis_of(mixed, "os")
    with pytest.raises(Unanswerable):
        frequency(mixed, parse("^zlib"), [axis])
    with pytest.raises(Cancelled):
        frequency(mixed, parse("os=linux !os=x"), [axis], should_stop=lambda: True)
