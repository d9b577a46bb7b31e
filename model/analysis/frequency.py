"""Count the records of a query by one or two axes: columns with a dictionary, and variants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain, product, repeat
from typing import Any, NamedTuple, cast

from spackscope.model.core.columns import ALIASES, FIELDS, REGISTRY, Value
from spackscope.model.core.errors import Cancelled, Unanswerable
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.variants import split_variant
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.facets import FacetKey, variant_texts
from spackscope.model.query.ast import Query, Term, exact_term


class Axis(Frozen):
    """What records are counted by.

    `codes` has a code for each look-alike, or for each record if `by_record`; `values` the values
    of each code: several of a list, and an empty text where a record has none. `term` returns the
    query term of a value. `sort_key` orders values with the same count.

    Example: `find_axis(catalog, "mpi").values` has `("+mpi",)`, `("~mpi",)` and `("",)`.
    """

    name: str
    label: str
    codes: Sequence[int]
    values: Sequence[tuple[str, ...]]
    term: Callable[[str], Term]
    sort_key: Callable[[str], Any] = str
    by_record: bool = False


COUNTABLE = tuple(c.name for c in REGISTRY if c.has_dictionary or c.is_by_host)
"""The columns that records can be counted by; each record has a hash and a size of its own."""


def find_axis(catalog: Catalog, name: str, *, should_stop: ShouldStop = never) -> Axis | None:
    """Return what a name stands for: a column by one of its keys, else a variant of any record.

    None for an unknown name, and for a column whose values cannot be counted. Raises Unanswerable
    for what no document lists, and Cancelled.
    """
    column = FIELDS.get(ALIASES.get(name, name))
    if column is None:
        return _variant_axis(catalog, name.lstrip("+~"))
    if column.name not in COUNTABLE:
        return None
    if column.name == "flags" and not catalog.lists_dependencies:
        reason = "stats by flags asks for compiler flags, and pages list none"
        raise Unanswerable(reason, Term("flags", "*"))
    if column.is_by_host:
        codes, values = catalog.by_host.values(column.name, should_stop)
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


def axis_names(catalog: Catalog) -> list[str]:
    """Return the names of all columns and variants to count by: columns first."""
    sets = cast(Sequence[tuple[str, ...]], catalog.values("variants"))
    variants = {split_variant(text)[0] for set_ in sets for text in set_}
    return [*COUNTABLE, *sorted(variants - {""})]


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
    return Axis(name, name, codes, values, FacetKey("variants", name).term)


_STEP = 4096
"""Look-alikes after which a count looks whether it is to stop."""


class Frequency(NamedTuple):
    """How many of `total` records have which values of some axes.

    `cells` has the number of records with one value of each axis, the most frequent first, then in
    the order of the values. A record counts at each value of a list; it `has_lists` if some have
    several.
    """

    total: int
    cells: Mapping[tuple[str, ...], int]
    has_lists: bool


def frequency(
    catalog: Catalog, query: Query, axes: Sequence[Axis], *, should_stop: ShouldStop = never
) -> Frequency:
    """Count the matching records by some axes; records are not read.

    Raises Cancelled and Unanswerable.

    Example: `frequency(catalog, parse("hdf5"), [find_axis(catalog, "mpi")]).cells` has the counts
    of `("+mpi",)` and `("~mpi",)`.
    """
    specs = catalog.match(query, should_stop=should_stop)
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
        if number % _STEP == 0 and should_stop():
            raise Cancelled
        counts[codes] += count
    cells: Counter[tuple[str, ...]] = Counter()
    has_lists = False
    for codes, count in counts.items():
        values = [axis.values[code] for axis, code in zip(axes, codes, strict=True)]
        cells.update(dict.fromkeys(product(*values), count))
        has_lists |= any(len(of_axis) > 1 for of_axis in values)

    def order(cell: tuple[str, ...]) -> tuple[object, ...]:
        keys = (axis.sort_key(value) for axis, value in zip(axes, cell, strict=True))
        return -cells[cell], *keys

    ordered = {cell: cells[cell] for cell in sorted(cells, key=order)}
    return Frequency(len(specs), ordered, has_lists)
