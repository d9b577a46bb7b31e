"""How often values of one or two columns or variants occur among the records that match."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spackscope.model.analysis.frequency import Axis, axis_names, find_axis, frequency
from spackscope.model.answers.asked import Asked
from spackscope.model.core.columns import ALIASES, FIELDS
from spackscope.model.core.errors import WrongQuestion
from spackscope.model.core.suggestions import did_you_mean
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.core.text import clean, counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query, Term
from spackscope.model.report.fit import query_remarks
from spackscope.model.report.progress import bar, value_text
from spackscope.model.report.sheet import Sheet, SheetColumn

_PER_RECORD = ("hash", "size")

_MAX_BAR = 30
"""Cells of the bar of the most frequent value."""

_Counted = tuple[Sequence[str], int]
"""The values of a row, one for each axis, and its count."""


def answer(asked: Asked) -> Sheet[_Counted]:
    """Return each value, or each pair that occurs, with its number of records."""
    query = asked.query(asked.words)
    (catalog,) = asked.load(asked.sources)
    should_stop = asked.session.should_stop
    axes = [_axis(catalog, name, should_stop) for name in asked.options["by"]]
    counts = frequency(catalog, query, axes, should_stop=should_stop)
    numbers = [len({cell[place] for cell in counts.cells}) for place in range(len(axes))]
    parts = [
        " by ".join(clean(axis.label) for axis in axes),
        counted(counts.total, "spec"),
        " × ".join([*(f"{n:,}" for n in numbers[:-1]), counted(numbers[-1], "value")]),
    ]
    if counts.has_lists:
        parts.append("a spec counts at each of its values")
    rows = list(counts.cells.items())
    most = max(counts.cells.values(), default=0)
    columns: list[SheetColumn[_Counted]] = [
        *map(_column, range(len(axes)), axes),
        SheetColumn("count", lambda row: row[1]),
        SheetColumn(
            "share",
            lambda row: round(row[1] / counts.total, 4),
            "",
            text=lambda share: bar(round(share * counts.total), most, _MAX_BAR),
            style="bar",
        ),
    ]
    return Sheet(
        " · ".join(parts) if rows else "",
        columns,
        rows,
        query=lambda row: _with_values(
            query,
            [axis.term(value) for axis, value in zip(axes, row[0], strict=True)],
        ),
        remarks=query_remarks(catalog, query),
        ending=None if counts.total else asked.no_match(catalog, query),
    )


def _with_values(query: Query, terms: Iterable[Term]) -> Query:
    """Return a query with conditions on values that its records have.

    They take the place of others on the same columns, unless these are lists of values.
    """
    for term in terms:
        query = query if FIELDS[term.column].is_list else query.without_column(term.column)
        query = query.also(term)
    return query


def _column(number: int, axis: Axis) -> SheetColumn[_Counted]:
    """Return the column of the values of an axis, which are null where a record has none."""
    return SheetColumn(
        axis.name,
        lambda row: row[0][number] or None,
        text=lambda value: value_text(value or ""),
        flat=lambda value: value_text(value or ""),
        sort_key=axis.sort_key,
    )


def _axis(catalog: Catalog, name: str, should_stop: ShouldStop) -> Axis:
    """Return the column or variant of a name. Raises WrongQuestion if neither exists."""
    if ALIASES.get(name, name) in _PER_RECORD:
        raise WrongQuestion(f"Each spec has a {name} of its own: count by another column")
    axis = find_axis(catalog, name, should_stop=should_stop)
    if axis is None:
        guess = did_you_mean(name, axis_names(catalog))
        raise WrongQuestion(f"Unknown column or variant {clean(name)}{guess}")
    return axis
