"""Lay out counts by one or two columns: with bars, as a matrix, or for scripts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from spackscope.model.analysis.frequency import Frequency
from spackscope.model.core.text import cell_width, clean, counted, pad, shorten
from spackscope.model.report.export import array_lines, csv_writer
from spackscope.model.report.progress import bar, fitting, matrix_columns, more_text, value_text

_GAP = "  "
_EMPTY = "-"
_MAX_BAR, _MIN_BAR = 40, 4
_MAX_HEAD = 18
"""Cells of the head of a column of the matrix."""
_MIN_ROOM = 12
"""Cells that a value keeps at least."""


def bar_lines(counts: Frequency, width: int, *, bold: bool) -> Iterator[str]:
    """Yield a head, and each value with a bar and its count."""
    (facets,) = counts.facets
    yield _head(counts, width, bold=bold)
    texts = [value_text(facet.value) for facet in facets]
    numbers = [f"{facet.count:,}" for facet in facets]
    number_width = max(map(len, numbers))
    room = width - number_width - len(_GAP)
    value_width = min(max(map(cell_width, texts)), max(_MIN_ROOM, room * 2 // 3))
    bar_width = min(_MAX_BAR, room - value_width - len(_GAP))
    for facet, text, number in zip(facets, texts, numbers, strict=True):
        drawn = bar(facet.count, facets[0].count, bar_width)
        middle = [pad(drawn, bar_width)] if bar_width >= _MIN_BAR else []
        cells = [_padded(text, value_width), *middle, number.rjust(number_width)]
        yield _GAP.join(cells)


def matrix_lines(counts: Frequency, width: int, *, bold: bool) -> Iterator[str]:
    """Yield a head, the values of the second axis, and a row for each value of the first.

    Of the second axis the most frequent values have a column, as many as fit; one more column
    counts the specs with any of the others.
    """
    rows = counts.facets[0]
    total, *others = matrix_columns(counts, _MAX_HEAD)
    yield _head(counts, width, bold=bold)
    texts = [value_text(row.value) for row in rows]
    corner = clean(counts.axes[0].label)
    first = max(cell_width(corner), *map(cell_width, texts))
    value_width = min(first, max(_MIN_ROOM, width // 3))
    widths = [len(_GAP) + column.width for column in others]
    room = width - value_width - total.width - len(_GAP)
    shown = fitting(widths, room, lambda number: _GAP + more_text(number))
    names = [column.value or "" for column in others[:shown]]
    rest = counts.rest(names) if shown < len(others) else {}
    more = more_text(len(others) - shown) if rest else ""
    line = [_padded(corner, value_width), total.head.rjust(total.width)]
    line += [_padded(column.head, column.width, right=True) for column in others[:shown]]
    yield _styled(_GAP.join([*line, more] if more else line), bold)
    for row, text in zip(rows, texts, strict=True):
        numbers = [counts.cells.get((row.value, name), 0) for name in names]
        cells = [
            (f"{number:,}" if number else _EMPTY).rjust(column.width)
            for number, column in zip(numbers, others, strict=False)
        ]
        if more:
            number = rest.get(row.value, 0)
            cells.append((f"{number:,}" if number else _EMPTY).rjust(len(more)))
        padded = _padded(text, value_width)
        yield _GAP.join([padded, f"{row.count:,}".rjust(total.width), *cells]).rstrip()


def _head(counts: Frequency, width: int, *, bold: bool) -> str:
    """Return what is counted, and that there are more values than specs where that is so."""
    parts = [
        " by ".join(clean(axis.label) for axis in counts.axes),
        counted(counts.total, "spec"),
        _values_text([len(facets) for facets in counts.facets]),
    ]
    if any(sum(facet.count for facet in facets) > counts.total for facets in counts.facets):
        parts.append("a spec counts at each of its values")
    text = " · ".join(parts)
    return _styled(shorten(text, width, keep="start"), bold)


def _values_text(numbers: Sequence[int]) -> str:
    """Return how many values there are, as `7 values` or `8 × 7 values`."""
    before = [f"{number:,}" for number in numbers[:-1]]
    return " × ".join([*before, counted(numbers[-1], "value")])


def _styled(line: str, bold: bool) -> str:
    return f"\x1b[1m{line}\x1b[0m" if bold else line


def _padded(text: str, width: int, *, right: bool = False) -> str:
    """Shorten and pad a text."""
    return pad(shorten(text, width), width, right=right)


def tab_lines(counts: Frequency) -> Iterator[str]:
    """Yield a header, and values and counts separated by tabs; by two axes the whole matrix."""
    if len(counts.axes) == 1:
        yield f"{clean(counts.axes[0].label)}\tcount"
        for facet in counts.facets[0]:
            yield f"{value_text(facet.value)}\t{facet.count}"
        return
    rows, columns = counts.facets
    yield "\t".join(
        [clean(counts.axes[0].label), "total", *(value_text(c.value) for c in columns)]
    )
    for row in rows:
        numbers = [counts.cells.get((row.value, column.value), 0) for column in columns]
        yield "\t".join([value_text(row.value), str(row.count), *map(str, numbers)])


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
