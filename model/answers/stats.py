"""Count the values of one or two columns or variants among the records that match."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, product, repeat
from typing import Any, NamedTuple, cast

from spackscope.model.answers import Asked
from spackscope.model.assist.completion import COUNTABLE, axis_names
from spackscope.model.core.columns import ALIASES, FIELDS, Column, Value
from spackscope.model.core.commands import FIT, SHEET, SOURCES, Command, values
from spackscope.model.core.errors import Unanswerable, WrongQuestion
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.suggestions import did_you_mean
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.core.text import clean, counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.value_counts import NO_VARIANT, SectionKey, variant_texts
from spackscope.model.query.ast import Query, Term, exact_term
from spackscope.model.report.progress import bar, value_text
from spackscope.model.report.sheet import Sheet, SheetColumn
from spackscope.model.report.titles import query_remarks

COMMAND = Command(
    "stats",
    "count matching specs by a column or variant, or by two",
    (
        "COLUMN|VARIANT [-f SOURCE]... [OUTPUT] [QUERY...]",
        "--by FIRST [--by SECOND] ...",
    ),
    """\
Count matching specs by a column or a variant, with bars on a terminal. With
two columns or variants, count each pair that occurs.""",
    (
        values(
            "by",
            "a column (package, version, compiler, os, target, stack, tag, state, source, "
            "platform, arch, namespace, flags, variants) or the name of a variant, "
            "such as mpi; a spec with several values counts for each; none: no value.\n"
            "Without --by it is the first word.",
            "NAME",
            "axis",
            "by",
        ),
        *SHEET,
        *FIT,
        *SOURCES,
    ),
    words="query",
    first_word="by",
    examples="""\
spackscope stats target
spackscope stats --by compiler --by target hdf5
spackscope stats --by cuda_arch +cuda""",
)


_MAX_BAR = 30
"""Cells of the bar of the most frequent value."""

_Counted = tuple[Sequence[str], int]
"""The values of a row, one for each axis, and its count."""


def answer(asked: Asked) -> Sheet[_Counted]:
    """Return each value, or each pair that occurs, with its number of records."""
    names = asked.options["by"]
    if not 1 <= len(names) <= 2:
        raise WrongQuestion("stats needs a column or a variant to count by, or two with --by")
    query = asked.query(asked.words)
    (catalog,) = asked.load(asked.sources)
    for column in filter(None, map(_column_of, names)):
        asked.rests_on_configuration |= column.rests_on_configuration
    axes = [find_axis(catalog, name) for name in names]
    counts = frequency(catalog, query, axes)
    numbers = [len({cell[place] for cell in counts.cells}) for place in range(len(axes))]
    parts = [
        " by ".join(clean(axis.label) for axis in axes),
        counted(counts.total, "spec"),
        " × ".join([*(f"{n:,}" for n in numbers[:-1]), counted(numbers[-1], "value")]),
    ]
    if counts.has_lists:
        parts.append("a spec counts once for each of its values")
    rows = list(counts.cells.items())
    most = max(counts.cells.values(), default=0)
    keys = list[str]()
    for axis in axes:
        # Each column has a key of its own; that of a variant is then as in a filter.
        keys.append(f"+{axis.name}" if axis.name in ("count", "share", *keys) else axis.name)
    columns: list[SheetColumn[_Counted]] = [
        *map(_column, range(len(axes)), axes, keys),
        SheetColumn("count", lambda row: row[1], meaning="how many specs have it"),
        SheetColumn(
            "share",
            lambda row: round(row[1] / counts.total, 4),
            "",
            text=lambda share: bar(round(share * counts.total), most, _MAX_BAR),
            style="bar",
            meaning="their share of all specs, from 0 to 1",
        ),
    ]
    return Sheet(
        " · ".join(parts) if rows else "",
        columns,
        rows,
        row="a value, or values of several columns, that specs have",
        query=lambda row: _with_values(
            query,
            [axis.term(value) for axis, value in zip(axes, row[0], strict=True)],
        ),
        remarks=query_remarks(catalog, query),
        ending=None if counts.total else asked.no_match(catalog, query),
    )


def _with_values(query: Query, terms: Iterable[Term]) -> Query:
    """Return a query with conditions on values that its records have.

    The new conditions replace others on the same column, unless its values are lists.
    """
    for term in terms:
        query = query if FIELDS[term.column].is_list else query.without_column(term.column)
        query = query.also(term)
    return query


def _column(number: int, axis: Axis, key: str) -> SheetColumn[_Counted]:
    """Return the column of the values of an axis, which are null where a record has none."""
    field = FIELDS.get(axis.name)
    empty = field.empty if field is not None else ""

    def text(value: str | None) -> str:
        if field is None:
            return clean(value or "") or NO_VARIANT
        return field.cell(value) if value == field.absent else value_text(value or empty)

    return SheetColumn(
        key,
        lambda row: row[0][number] or None,
        text=text,
        flat=lambda value: value_text(value or empty),
        sort_key=axis.sort_key,
        meaning="the value of the column or variant: a column each",
    )


class Axis(Frozen):
    """A column or variant by which records are counted.

    `codes` has a code for each look-alike, or for each record if `by_record`; `values` has the
    values of each code: several for a list, and an empty text for none. `term` returns the query
    term of a value. `sort_key` orders values with the same count.

    Example: `find_axis(catalog, "mpi").values` has `("+mpi",)`, `("~mpi",)` and `("",)`.
    """

    name: str
    label: str
    codes: Sequence[int]
    values: Sequence[tuple[str, ...]]
    term: Callable[[str], Term]
    sort_key: Callable[[str], Any] = str
    by_record: bool = False

    def is_absent(self, value: str) -> bool:
        """Check whether a record with this value has none, as for a variant that it lacks."""
        return FIELDS[self.name].is_absent(value) if self.name in FIELDS else not value


def _column_of(name: str) -> Column | None:
    return FIELDS.get(ALIASES.get(name, name))


def find_axis(catalog: Catalog, name: str) -> Axis:
    """Return the axis of a name: a column by one of its keys, else a variant of any record.

    Raises WrongQuestion for an unknown name, and for a column whose values cannot be counted,
    Unanswerable for flags that no document lists, and Cancelled.
    """
    column = _column_of(name)
    if column is None:
        axis = _variant_axis(catalog, name.lstrip("+~"))
        if axis is None:
            guess = did_you_mean(name, axis_names(catalog))
            raise WrongQuestion(f"Unknown column or variant {clean(name)}{guess}")
        return axis
    if column.name not in COUNTABLE:
        raise WrongQuestion(f"Each spec has its own {name}: count by another column")
    if column.name == "flags" and not catalog.lists_dependencies:
        reason = "stats by flags needs compiler flags, and pages list none"
        raise Unanswerable(reason, Term("flags", "*"))
    if column.is_by_host:
        codes, values = catalog.by_host.values(column.name)
    else:
        codes, values = catalog.column(column.storage), catalog.values(column.name)
    is_arch = column.name == "arch"
    # Pages name no namespace; their specs come from Spack's own recipes.
    unset = ("builtin" if column.name == "namespace" else "",)

    def texts(value: Value) -> tuple[str, ...]:
        if not isinstance(value, tuple):
            return (str(value),) if value else unset
        return ("-".join(value),) if is_arch else tuple(dict.fromkeys(value)) or unset

    return Axis(
        column.name,
        column.label,
        codes,
        list(map(texts, values)),
        partial(Term if is_arch else exact_term, column.name),
        str if column.is_list or column.derive is not None else column.sort_key,
        column.is_by_host,
    )


def _variant_axis(catalog: Catalog, name: str) -> Axis | None:
    """Return the axis of a variant: `+x` or `~x`, or `x=value` for each value, of each record."""
    values = []
    for variants in cast(Sequence[tuple[str, ...]], catalog.values("variants")):
        # Splitting takes longer than looking for the name.
        split = (variant_texts(variant) for variant in variants if name in variant)
        texts = dict.fromkeys(text for its, texts in split if its == name for text in texts)
        values.append(tuple(texts) or ("",))
    if not name or set(values) == {("",)}:
        return None

    codes = catalog.column(FIELDS["variants"].storage)
    return Axis(name, name, codes, values, SectionKey("variants", name).term)


_STEP = 4096
"""Look-alikes that are counted between two checks for cancellation."""


class Frequency(NamedTuple):
    """The counts of values among `total` records, along some axes.

    `cells` has the number of records by the values of all axes, the most frequent first, then in
    the order of the values, and last those of records without a value. A record counts at each
    value of a list; `has_lists` is True if some records have several values.
    """

    total: int
    cells: Mapping[tuple[str, ...], int]
    has_lists: bool


def frequency(catalog: Catalog, query: Query, axes: Sequence[Axis]) -> Frequency:
    """Count the matching records by some axes; records are not read.

    Raises Cancelled and Unanswerable.

    Example: `frequency(catalog, parse("hdf5"), [find_axis(catalog, "mpi")]).cells` has the counts
    of `("+mpi",)` and `("~mpi",)`.
    """
    specs = catalog.match(query)
    has_records = any(axis.by_record for axis in axes)

    def codes_of(axis: Axis) -> Iterable[int]:
        """Return the codes of all records, or without `has_records` of their look-alikes."""
        if axis.by_record:
            return map(axis.codes.__getitem__, specs.ids())
        codes = specs.codes(axis.codes)
        return chain.from_iterable(map(repeat, codes, specs.sizes)) if has_records else codes

    counts: Counter[tuple[int, ...]] = Counter()
    all_codes = zip(*map(codes_of, axes), strict=True)
    # Without strict, since `repeat` never ends.
    counted = zip(all_codes, repeat(1) if has_records else specs.sizes, strict=False)
    for number, (codes, count) in enumerate(counted):
        if number % _STEP == 0:
            check_cancelled()
        counts[codes] += count
    cells: Counter[tuple[str, ...]] = Counter()
    has_lists = False
    for codes, count in counts.items():
        values = [axis.values[code] for axis, code in zip(axes, codes, strict=True)]
        cells.update(dict.fromkeys(product(*values), count))
        has_lists |= any(len(of_axis) > 1 for of_axis in values)

    def order(cell: tuple[str, ...]) -> tuple[object, ...]:
        values = [*zip(axes, cell, strict=True)]
        keys = (axis.sort_key(value) for axis, value in values)
        return any(axis.is_absent(value) for axis, value in values), -cells[cell], *keys

    ordered = {cell: cells[cell] for cell in sorted(cells, key=order)}
    return Frequency(len(specs), ordered, has_lists)
