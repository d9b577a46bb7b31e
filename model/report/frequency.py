"""Lay out counts by one or two columns: with bars, as a matrix, or for scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from spackscope.model.analysis.frequency import Frequency
from spackscope.model.core.text import cell_width, clean, counted, shorten
from spackscope.model.report.export import array_lines, csv_writer
from spackscope.model.report.progress import bar, fitting, matrix_columns, more_text, value_text
from spackscope.model.report.report import Column, Report, Row, Section

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


def _bars(counts: Frequency, width: int) -> Section:
    (facets,) = counts.facets
    values = [value_text(facet.value) for facet in facets]
    room = width - max(len(f"{facet.count:,}") for facet in facets) - len(_GAP)
    value_width = min(max(map(cell_width, values)), max(_MIN_ROOM, room * 2 // 3))
    cells = min(_MAX_BAR, room - value_width - len(_GAP))
    rows = [
        Row(
            (
                value,
                bar(f.count, facets[0].count, cells if cells >= _MIN_BAR else 0),
                f"{f.count:,}",
            )
        )
        for value, f in zip(values, facets, strict=True)
    ]
    columns = (Column(most=value_width, is_right=False), Column(is_right=False), Column())
    return Section("", rows, columns=columns, indent="")


def _matrix(counts: Frequency, width: int) -> Section:
    """Return a row for each value of the first axis.

    Of the second axis the most frequent values have a column, as many as fit; one more column
    counts the specs with any of the others.
    """
    total, *others = matrix_columns(counts, _MAX_HEAD)
    corner = clean(counts.axes[0].label)
    texts = [value_text(row.value) for row in counts.facets[0]]
    first = max(cell_width(corner), *map(cell_width, texts))
    value_width = min(first, max(_MIN_ROOM, width // 3))
    widths = [len(_GAP) + column.width for column in others]
    room = width - value_width - total.width - len(_GAP)
    shown = fitting(widths, room, lambda number: _GAP + more_text(number))
    names = [column.value or "" for column in others[:shown]]
    rest = counts.rest(names) if shown < len(others) else {}
    heads = [total.head, *(column.head for column in others[:shown])]
    heads += [more_text(len(others) - shown)] if rest else []

    def row(value: str, text: str, count: int) -> Row:
        numbers = [counts.cells.get((value, name), 0) for name in names]
        numbers += [rest.get(value, 0)] if rest else []
        return Row((text, f"{count:,}", *(f"{n:,}" if n else _EMPTY for n in numbers)))

    rows = [row(f.value, text, f.count) for f, text in zip(counts.facets[0], texts, strict=True)]
    columns = (
        Column(corner, most=value_width, is_right=False),
        *(Column(head, is_right=True) for head in heads),
    )
    return Section("", rows, columns=columns, indent="")


def tab_lines(counts: Frequency) -> Iterator[str]:
    """Yield a header, and values and counts separated by tabs; by two axes the whole matrix."""
    heads = [clean(counts.axes[0].label), "count"]
    columns: Sequence[str] = ()
    if len(counts.axes) > 1:
        columns = [facet.value for facet in counts.facets[1]]
        heads[1:] = ["total", *map(value_text, columns)]
    yield "\t".join(heads)
    for row in counts.facets[0]:
        numbers = [row.count, *(counts.cells.get((row.value, name), 0) for name in columns)]
        yield "\t".join([value_text(row.value), *map(str, numbers)])


def json_lines(counts: Frequency) -> Iterator[str]:
    """Return the lines of a JSON array of the values with their counts, one object each.

    A value is null where a record has none. Of two axes each object has a list of two `values`,
    and pairs that no record has are left out.
    """

    def objects() -> Iterator[str]:
        for cell, count in counts.ordered_cells():
            values = [value or None for value in cell]
            named = {"value": values[0]} if len(values) == 1 else {"values": values}
            yield json.dumps({**named, "count": count})

    return array_lines(objects())


def csv_lines(counts: Frequency) -> Iterator[str]:
    """Yield CSV with a header: the values and their count."""
    line = csv_writer()
    yield line([*(clean(axis.name) for axis in counts.axes), "count"])
    for cell, count in counts.ordered_cells():
        yield line([*map(value_text, cell), str(count)])
