"""Bars are as long as their counts."""

from __future__ import annotations

import pytest

from spackscope.model.core.text import cell_width
from spackscope.model.presentation.progress import bar


@pytest.mark.parametrize(
    ("count", "most", "cells", "drawn"),
    [
        (8, 8, 4, "████"),
        (5, 8, 4, "██▌"),
        (1, 10_000, 4, "▏"),
        (0, 8, 4, ""),
        (0, 0, 4, ""),
        (3, 8, 0, ""),
    ],
)
def test_a_bar_is_drawn(count: int, most: int, cells: int, drawn: str) -> None:
    assert bar(count, most, cells) == drawn


def test_a_longer_count_has_no_shorter_bar() -> None:
    drawn = [cell_width(bar(count, 300, 10)) for count in range(301)]
    assert drawn == sorted(drawn)
    assert (drawn[0], drawn[1], drawn[-1]) == (0, 1, 10)
