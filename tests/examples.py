"""How many examples and cases a test tries."""

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings


def examples(count: int) -> settings:
    """Try `count` examples in a search, and as much fewer in other runs as other tests do."""
    return settings(max_examples=count * settings().max_examples // 100)


def cases(
    names: str | tuple[str, ...], some: Iterable[Any], more: Iterable[Any]
) -> pytest.MarkDecorator:
    """Give a test some values of parameters, and more of them only where all cases are asked for.

    Values of several parameters are tuples.
    """
    others = (
        pytest.param(*(each if isinstance(names, tuple) else [each]), marks=pytest.mark.exhaustive)
        for each in more
    )
    return pytest.mark.parametrize(names, [*some, *others])


def some_and_all(step: int) -> pytest.MarkDecorator:
    """Give a test the `step` by which it goes through many cases: all only where it is asked."""
    all_of_them = pytest.param(1, marks=pytest.mark.exhaustive, id="all")
    return pytest.mark.parametrize("step", [pytest.param(step, id="some"), all_of_them])
