"""How many examples and cases a test tries."""

import pytest
from hypothesis import settings


def examples(count: int) -> settings:
    """Try `count` examples in a search, and as much fewer in other runs as other tests do."""
    return settings(max_examples=count * settings().max_examples // 100)


def some_and_all(step: int) -> pytest.MarkDecorator:
    """Give a test the `step` by which it goes through many cases: all only where it is asked."""
    all_of_them = pytest.param(1, marks=pytest.mark.exhaustive, id="all")
    return pytest.mark.parametrize("step", [pytest.param(step, id="some"), all_of_them])
