"""Lay out counts: the columns of a matrix, and how many of them fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from spackscope.model.analysis.frequency import Frequency
from spackscope.model.catalog.facets import Facet
from spackscope.model.core.text import cell_width, shorten
from spackscope.model.presentation.progress import value_text

GAP = 2
"""Blanks between columns."""


class MatrixColumn(NamedTuple):
    """A column of a matrix: its value, None for the total, its head and its width."""

    value: str | None
    head: str
    width: int


def value_width(facets: Sequence[Facet], most: int) -> int:
    """Return the cells of the widest value, at most some."""
    widths = (cell_width(value_text(facet.value)) for facet in facets)
    return min(max(widths, default=0), most)


def count_width(facets: Sequence[Facet]) -> int:
    """Return the cells of the widest count."""
    return max((len(f"{facet.count:,}") for facet in facets), default=1)


def matrix_columns(counts: Frequency, max_head: int) -> list[MatrixColumn]:
    """Return the column of the totals, and one for each value of the second axis."""
    rows, columns = counts.facets
    placed = [MatrixColumn(None, "total", max(len("total"), count_width(rows)))]
    for facet in columns:
        head = shorten(value_text(facet.value), max_head)
        width = max(cell_width(head), len(f"{facet.count:,}"))
        placed.append(MatrixColumn(facet.value, head, width))
    return placed


def fitting(columns: Sequence[MatrixColumn], room: int) -> int:
    """Return how many columns fit; if not all, the number of the others fits too."""
    ends, end = [], 0
    for column in columns:
        end += GAP + column.width
        ends.append(end)
    if not ends or ends[-1] <= room:
        return len(ends)
    room -= GAP + cell_width(more_text(len(columns)))
    return sum(end <= room for end in ends)


def more_text(number: int) -> str:
    """Return the head in place of columns that do not fit; empty if all do."""
    return f"{number:,} more" if number else ""
