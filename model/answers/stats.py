"""How often values of one or two columns or variants occur among the records that match."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spackscope.model.analysis.frequency import Axis, axis_names, find_axis, frequency
from spackscope.model.answers.asked import Asked
from spackscope.model.core.columns import ALIASES
from spackscope.model.core.errors import WrongQuestion
from spackscope.model.core.suggestions import did_you_mean
from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query
from spackscope.model.report.fit import query_remarks
from spackscope.model.report.frequency import frequency_report
from spackscope.model.report.progress import value_text
from spackscope.model.report.report import Line
from spackscope.model.report.sheet import Sheet, SheetColumn

_PER_RECORD = ("hash", "size")

_Counted = tuple[Sequence[str], int]
"""The values of a row, one for each axis, and its count."""


def answer(asked: Asked) -> Sheet[_Counted]:
    """Return each value, or each pair that occurs, with its number of records."""
    query = asked.query(asked.words)
    (catalog,) = asked.load(asked.sources)
    counts = frequency(catalog, query, [_axis(catalog, name) for name in asked.options["by"]])

    def draw(width: int | None) -> Iterator[Line]:
        return frequency_report(counts, width or 0).lines(width)

    return Sheet(
        "",
        [*map(_column, range(len(counts.axes)), counts.axes), _COUNT],
        list(counts.ordered_cells()),
        query=lambda row: Query(
            tuple((axis.term(value),) for axis, value in zip(counts.axes, row[0], strict=True))
        ),
        remarks=query_remarks(catalog, query),
        draw=draw if counts.total else None,
        ending=None if counts.total else asked.no_match(catalog, query),
    )


def _column(number: int, axis: Axis) -> SheetColumn[_Counted]:
    """Return the column of the values of an axis, which are null where a record has none."""
    return SheetColumn(
        axis.name, lambda row: row[0][number] or None, flat=lambda value: value_text(value or "")
    )


_COUNT: SheetColumn[_Counted] = SheetColumn("count", lambda row: row[1])


def _axis(catalog: Catalog, name: str) -> Axis:
    """Return the column or variant of a name. Raises WrongQuestion if neither exists."""
    if ALIASES.get(name, name) in _PER_RECORD:
        raise WrongQuestion(f"Each spec has a {name} of its own: count by another column")
    axis = find_axis(catalog, name)
    if axis is None:
        guess = did_you_mean(name, axis_names(catalog))
        raise WrongQuestion(f"Unknown column or variant {clean(name)}{guess}")
    return axis
