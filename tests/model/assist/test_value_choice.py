"""The values of a column are counted, and a choice among them is described."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import pytest

from spackscope.model.assist.value_choice import Choice, count_values, describe_choice
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.progress import never
from spackscope.model.query.ast import Query
from spackscope.model.query.parser import parse
from tests.browsing import SAMPLE
from tests.builders import Record

FIELDS: dict[str, Callable[[Record], list[str]]] = {
    "package": lambda r: [r["package"]],
    "version": lambda r: r["versions"],
    "compiler": lambda r: [r["compiler"].replace("@=", "@")],
    "os": lambda r: [r["os"]],
    "target": lambda r: [r["target"]],
    "variants": lambda r: r["variants"],
    "stack": lambda r: r["stacks"],
}
"""The values that a record of a page has in each column."""


@pytest.mark.parametrize("column", FIELDS)
def test_every_value_of_the_pages_is_counted(column: str, sample: Catalog) -> None:
    counted = count_values(sample, Query(), column, never).facets
    assert {facet.value: facet.count for facet in counted} == Counter(
        value for r in SAMPLE for value in set(FIELDS[column](r))
    )
    numbers = [facet.count for facet in counted]
    assert numbers == sorted(numbers, reverse=True)


def test_a_choice_is_described_in_one_sentence() -> None:
    before = parse("os=a ^zlib")
    cases: Mapping[str, Choice] = {
        "Added os=b": Choice("os", frozenset({"b"})),
        "Added os=b | os=c": Choice("os", frozenset({"b", "c"})),
        "Removed the filter on os": Choice("os"),
        "The filter on os is unchanged": Choice("os", frozenset({"a"})),
    }
    for sentence, choice in cases.items():
        assert describe_choice(choice, before, choice.applied(before)) == sentence
    only = Choice("stack", frozenset({"e4s"}))
    assert describe_choice(only, Query(), only.applied(Query())) == "Added stack=e4s (⌫ removes)"
