"""Decide which columns fit into a width, and how wide each one is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from spackscope.model.core.columns import Column

GAP = 1
"""Blank cells between two columns."""

_LEAST = {
    "package": 12,
    "version": 8,
    "compiler": 11,
    "os": 11,
    "target": 9,
    "variants": 16,
    "stack": 12,
    "tag": 10,
    "source": 16,
}
"""Cells below which a column would say nothing; it is left out rather."""
_LEAST_CONSTANT = 10
"""Cells below which a short value is not cut: left out, it is said in the title of the table."""
_FLEXIBLE = ("variants", "stack", "source", "package", "tag")


@dataclass(frozen=True, slots=True)
class Placed:
    """Hold a column with its offset and its width in cells."""

    column: Column
    at: int
    width: int


def place(
    columns: Sequence[Column],
    natural: Mapping[str, int],
    width: int,
    *,
    constant: Collection[str] = (),
    current: int = 0,
) -> tuple[list[Placed], int, int]:
    """Place columns side by side, giving the widths of their content where there is room.

    Where there is not, long texts shrink first, those with one value for all rows before the
    others, then all columns with one value, then all. Where they cannot shrink further, columns
    with one value are left out, then those behind the `current` one, then those before it; the
    first one stays as long as there is room for two. A short value of all rows that would be cut
    to what says nothing is left out too. Gives the placed columns and the numbers of those left
    out before and behind.
    """
    # A value may be as long as a page, and cells are given one by one where columns are alike.
    natural = {name: min(cells, max(width, 1)) for name, cells in natural.items()}
    least = [
        min(natural[c.name], len(c.label) if c.name in constant else _LEAST.get(c.name, 99))
        for c in columns
    ]
    widths = [natural[column.name] for column in columns]

    def over(kept: Sequence[int]) -> int:
        return sum(widths[index] for index in kept) + GAP * (len(kept) - 1) - width

    stages = (
        [i for i, c in enumerate(columns) if c.name in _FLEXIBLE and c.name in constant],
        [i for i, c in enumerate(columns) if c.name in _FLEXIBLE],
        [i for i, c in enumerate(columns) if c.name in constant],
        list(range(len(columns))),
    )
    for stage in stages:
        _shrink(widths, least, stage, width)
    kept = list(range(len(columns)))
    for index in reversed(range(len(columns))):
        if columns[index].name in constant and index != current and over(kept) > 0:
            kept.remove(index)
    before = behind = 0
    while over(kept) > 0 and len(kept) > 1:
        if kept[-1] != current:
            kept.pop()
            behind += 1
        else:
            kept.pop(1 if len(kept) > 2 else 0)
            before += 1
    for index in sorted(kept, key=lambda index: columns[index].name in _FLEXIBLE):
        more = min(-over(kept), natural[columns[index].name] - widths[index])
        widths[index] += max(0, more)
    placed, at = [], 0
    for index in kept:
        placed.append(Placed(columns[index], at, min(widths[index], width)))
        at += widths[index] + GAP
    for index in reversed(kept):
        column, cells = columns[index], min(widths[index], width)
        legible = min(natural[column.name], 0 if column.name in _FLEXIBLE else _LEAST_CONSTANT)
        if column.name in constant and index != current and cells < legible:
            others = [*columns[:index], *columns[index + 1 :]]
            current -= index < current
            return place(others, natural, width, constant=constant, current=current)
    return placed, before, behind


def _shrink(widths: list[int], least: Sequence[int], stage: Sequence[int], width: int) -> None:
    """Take cells from the widest of some columns until all columns fit, or none can give."""
    while (over := sum(widths) + GAP * (len(widths) - 1) - width) > 0:
        giving = [index for index in stage if widths[index] > least[index]]
        if not giving:
            return
        widest = max(giving, key=lambda index: widths[index])
        second = max((widths[i] for i in giving if i != widest), default=0)
        give = max(1, min(over, widths[widest] - max(second, least[widest])))
        widths[widest] -= give
