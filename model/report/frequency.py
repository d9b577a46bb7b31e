"""Lay out counts by one or two columns: with bars, or as a matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spackscope.model.analysis.frequency import Frequency
from spackscope.model.core.text import cell_width, clean, counted, shorten
from spackscope.model.index.facets import Facet
from spackscope.model.report.progress import bar, fitting, value_text
from spackscope.model.report.report import Column, Report, Row, Section, styled

_GAP = "  "
_EMPTY = "-"
_MAX_BAR, _MIN_BAR = 40, 4
_MAX_HEAD = 18
"""Cells of the head of a column of the matrix."""
_MIN_ROOM = 12
"""Cells that a value keeps at least."""


def frequency_report(counts: Frequency, width: int) -> Report:
    """Return a report of counts by one axis, with bars, or by two, as a matrix.

    The title names the axes and the numbers of specs and values. It says that a spec counts at
    each of its values, if the counts add up to more than the specs.
    """
    numbers = [len(facets) for facets in counts.facets]
    parts = [
        " by ".join(clean(axis.label) for axis in counts.axes),
        counted(counts.total, "spec"),
        " × ".join([*(f"{n:,}" for n in numbers[:-1]), counted(numbers[-1], "value")]),
    ]
    if any(sum(facet.count for facet in facets) > counts.total for facets in counts.facets):
        parts.append("a spec counts at each of its values")
    section = _bars(counts, width) if len(counts.axes) == 1 else _matrix(counts, width)
    return Report(shorten(" · ".join(parts), width, keep="start"), [section])


def frequency_section(counts: Frequency, width: int) -> Section:
    """Return the counts for the screen, where the columns of a matrix are scrolled.

    The key of a row is that of its value, as `value_key` returns it.
    """
    if len(counts.axes) == 1:
        return _bars(counts, width, max_bar=width)
    section = _matrix(counts, width, len(counts.facets[1]))
    return section._replace(scrolled=range(1, len(section.columns)))


def value_key(value: str) -> str:
    """Return the key of the row of a value; it is never empty."""
    return f"={value}"


def _bars(counts: Frequency, width: int, max_bar: int = _MAX_BAR) -> Section:
    (facets,) = counts.facets
    values = [value_text(facet.value) for facet in facets]
    room = width - max((len(f"{facet.count:,}") for facet in facets), default=0) - len(_GAP)
    value_width = min(max(map(cell_width, values), default=0), max(_MIN_ROOM, room * 2 // 3))
    cells = min(max_bar, room - value_width - len(_GAP))
    rows = [
        Row(
            (
                value,
                styled(bar(f.count, facets[0].count, cells if cells >= _MIN_BAR else 0), "bar"),
                f"{f.count:,}",
            ),
            key=value_key(f.value),
        )
        for value, f in zip(values, facets, strict=True)
    ]
    columns = (Column(most=value_width, is_right=False), Column(is_right=False), Column())
    return Section("", rows, columns=columns, indent="")


def _matrix(counts: Frequency, width: int, most: int | None = None) -> Section:
    """Return a row for each value of the first axis, with a column for some of the second.

    Unless it is told how many, they are as many as fit; one more column counts the specs with any
    of the other values.
    """
    label, (rows, facets) = clean(counts.axes[0].label), counts.facets
    texts = (label, *(value_text(row.value) for row in rows))
    value_width = min(max(map(cell_width, texts)), max(_MIN_ROOM, width // 3))
    total_width = max(map(len, ("total", *(f"{row.count:,}" for row in rows))))
    heads = [shorten(value_text(facet.value), _MAX_HEAD) for facet in facets]
    widths = [
        max(cell_width(head), len(f"{facet.count:,}"))
        for head, facet in zip(heads, facets, strict=True)
    ]
    if most is None:
        room = width - value_width - total_width - len(_GAP)
        with_gaps = [len(_GAP) + cells for cells in widths]
        most = fitting(with_gaps, room, lambda number: f"{_GAP}{number:,} more")
    names = [facet.value for facet in facets[:most]]
    rest = counts.rest(names) if len(names) < len(facets) else {}
    rest_head = f"{len(facets) - len(names):,} more"
    rest_width = max(cell_width(rest_head), *(len(f"{count:,}") for count in rest.values()), 0)
    columns = (
        Column(label, width=value_width, is_right=False),
        Column("total", width=total_width, is_right=True),
        *(
            Column(head, width=cells, is_right=True)
            for head, cells in zip(heads[:most], widths[:most], strict=True)
        ),
        *([Column(rest_head, width=rest_width, is_right=True)] if rest else []),
    )
    lines = [Row(_Counts(counts, row, names, rest), key=value_key(row.value)) for row in rows]
    return Section("", lines, columns=columns, indent="")


class _Counts(Sequence[str]):
    """The cells of a row of a matrix, of which only those in view are made.

    A value, its count, that with each of some values, and that with any of the `rest`, if any.
    """

    def __init__(
        self, counts: Frequency, facet: Facet, names: Sequence[str], rest: Mapping[str, int]
    ) -> None:
        self._counts, self._facet, self._names, self._rest = counts, facet, names, rest

    def __len__(self) -> int:
        return 2 + len(self._names) + bool(self._rest)

    def __getitem__(self, number: Any) -> Any:
        value = self._facet.value
        if number < 2:
            return f"{self._facet.count:,}" if number else value_text(value)
        if number - 2 < len(self._names):
            count = self._counts.cells.get((value, self._names[number - 2]), 0)
        elif number < len(self):
            count = self._rest.get(value, 0)
        else:
            raise IndexError(number)
        return f"{count:,}" if count else _EMPTY
