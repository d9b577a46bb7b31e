"""The values of a column with their counts, and what is said of a choice among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import pytest

from spackscope.model.assist.value_choice import Choice, count_values, said_of
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


def test_a_choice_is_said_in_one_sentence() -> None:
    before = parse("os=a ^zlib")
    cases: Mapping[str, Choice] = {
        "os=b is asked for now": Choice("os", frozenset({"b"})),
        "os=b | os=c is asked for now": Choice("os", frozenset({"b", "c"})),
        "nothing is asked of os now": Choice("os"),
        "what is asked of os stays as it was": Choice("os", frozenset({"a"})),
    }
    for sentence, choice in cases.items():
        assert said_of(choice, before, choice.applied(before)) == sentence
    only = Choice("stack", frozenset({"e4s"}))
    assert said_of(only, Query(), only.applied(Query())).endswith("; ⌫ takes it off")
