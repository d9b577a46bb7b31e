"""Decide which columns fit into a width, and how wide each one is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spackscope.model.core.column import Column

GAP = 1
"""Blank cells between two columns."""

_MIN_CONSTANT_WIDTH = 10
"""Cells below which a short value is left out, not cut: the title of the table has it then."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A column with its offset and its width in cells."""

    column: Column
    at: int
    width: int


class Layout(NamedTuple):
    """The columns that fit, and the numbers of those left out before and after them."""

    placed: list[Placed]
    before: int
    after: int

    @property
    def width(self) -> int:
        """The cells from the first column to the end of the last."""
        return self.placed[-1].at + self.placed[-1].width if self.placed else 0


def lay_out(
    columns: Sequence[Column],
    natural: Mapping[str, int],
    width: int,
    *,
    constant: Collection[str] = (),
    current: int = 0,
) -> Layout:
    """Place columns side by side in `width` cells, each as wide as its content if possible.

    `natural` has the widths of the contents, `constant` the names of the columns with one value
    for all rows, `current` is the number of the column that stays.

    If they do not fit, long texts shrink first, constant ones before others, then all constant
    columns, then all. If they cannot shrink further, constant columns are left out, then those
    after the current one, then those before it; the first one stays as long as there is room for
    two. A short constant value is never cut to what is illegible, but left out.
    """
    # A value may be as long as a page, and cells are given away one by one.
    natural = {name: min(cells, max(width, 1)) for name, cells in natural.items()}
    widths = _shrunk_widths(columns, natural, width, constant)
    kept, before, after = _columns_that_fit(columns, widths, width, constant, current)
    room = width - _total(widths, kept)
    for index in sorted(kept, key=lambda index: columns[index].shrinks):
        more = max(0, min(room, natural[columns[index].name] - widths[index]))
        widths[index] += more
        room -= more
    for index in reversed(kept):
        column, cells = columns[index], min(widths[index], width)
        legible = 0 if column.shrinks else min(natural[column.name], _MIN_CONSTANT_WIDTH)
        if column.name in constant and index != current and cells < legible:
            others = [*columns[:index], *columns[index + 1 :]]
            current -= index < current
            return lay_out(others, natural, width, constant=constant, current=current)
    placed, at = [], 0
    for index in kept:
        placed.append(Placed(columns[index], at, min(widths[index], width)))
        at += widths[index] + GAP
    return Layout(placed, before, after)


def _total(widths: Sequence[int], kept: Collection[int]) -> int:
    return sum(widths[index] for index in kept) + GAP * (len(kept) - 1)


def _shrunk_widths(
    columns: Sequence[Column], natural: Mapping[str, int], width: int, constant: Collection[str]
) -> list[int]:
    """Return widths that fit, or the smallest ones if none fit."""
    widths = [natural[column.name] for column in columns]
    minimum = [
        min(natural[c.name], len(c.label) if c.name in constant else c.min_width) for c in columns
    ]
    stages = (
        [i for i, c in enumerate(columns) if c.shrinks and c.name in constant],
        [i for i, c in enumerate(columns) if c.shrinks],
        [i for i, c in enumerate(columns) if c.name in constant],
        list(range(len(columns))),
    )
    for stage in stages:
        while (excess := _total(widths, range(len(widths))) - width) > 0:
            shrinkable = [index for index in stage if widths[index] > minimum[index]]
            if not shrinkable:
                break
            widest = max(shrinkable, key=lambda index: widths[index])
            second = max((widths[i] for i in shrinkable if i != widest), default=0)
            widths[widest] -= max(1, min(excess, widths[widest] - max(second, minimum[widest])))
    return widths


def _columns_that_fit(
    columns: Sequence[Column],
    widths: Sequence[int],
    width: int,
    constant: Collection[str],
    current: int,
) -> tuple[list[int], int, int]:
    """Return the numbers of the columns that fit, and how many are left out on each side."""
    kept = list(range(len(columns)))
    for index in reversed(range(len(columns))):
        is_dropped = columns[index].name in constant and index != current
        if is_dropped and _total(widths, kept) > width:
            kept.remove(index)
    before = after = 0
    while _total(widths, kept) > width and len(kept) > 1:
        if kept[-1] != current:
            kept.pop()
            after += 1
        else:
            kept.pop(1 if len(kept) > 2 else 0)
            before += 1
    return kept, before, after
