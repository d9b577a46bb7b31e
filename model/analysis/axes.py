"""What records can be counted by: the columns with a dictionary, and each variant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.columns import ALIASES, FIELDS, REGISTRY, Column, Value
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.variants import split_variant
from spackscope.model.index.damage import reads_index
from spackscope.model.query import lexer
from spackscope.model.query.conditions import Term, exact_term


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

    __eq__ = object.__eq__
    __hash__ = object.__hash__


COUNTABLE = tuple(c.name for c in REGISTRY if c.has_dictionary or c.is_by_host)
"""The columns that records can be counted by; each record has a hash and a size of its own."""


@reads_index
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
    if column.name == "flags" and not catalog.dictionaries.lists_dependencies:
        reason = "stats by flags asks for compiler flags, and pages list none"
        raise Unanswerable(reason, Term("flags", "*"))
    if column.is_by_host:
        codes, values = catalog.by_host.values(column.name, should_stop)
    else:
        codes = catalog.column_arrays.column(column.storage)
        values = catalog.dictionaries.values(column.name)
    return Axis(
        column.name,
        column.label,
        codes,
        [_texts(column, value) for value in values],
        partial(_column_term, column.name),
        str if column.is_list or column.derive is not None else column.sort_key,
        column.is_by_host,
    )


@reads_index
def axis_names(catalog: Catalog) -> list[str]:
    """Return the names of all columns and variants to count by: columns first."""
    sets = cast(Sequence[tuple[str, ...]], catalog.dictionaries.values("variants"))
    variants = {split_variant(text)[0] for set_ in sets for text in set_}
    return [*COUNTABLE, *sorted(variants - {""})]


def _texts(column: Column, value: Value) -> tuple[str, ...]:
    if column.name == "arch" and isinstance(value, tuple):
        return ("-".join(value),)
    if column.name == "namespace":
        # Pages name no namespace; their specs come from Spack's own recipes.
        return (str(value) or "builtin",)
    if isinstance(value, tuple):
        return tuple(dict.fromkeys(value)) or ("",)
    return (str(value),)


def _column_term(column: str, value: str) -> Term:
    return Term(column, value) if column == "arch" else exact_term(column, value)


def _variant_axis(catalog: Catalog, name: str) -> Axis | None:
    sets = cast(Sequence[tuple[str, ...]], catalog.dictionaries.values("variants"))
    values = [_variant_values(name, set_) for set_ in sets]
    if not any(values):
        return None
    codes = catalog.column_arrays.column(FIELDS["variants"].storage)
    with_none = [texts or ("",) for texts in values]
    return Axis(name, name, codes, with_none, partial(_variant_term, name))


def _variant_values(name: str, variants: Sequence[str]) -> tuple[str, ...]:
    """Return `+x` or `~x`, or `x=value` for each value; empty without the variant."""
    texts: dict[str, None] = {}
    for variant in variants:
        if name not in variant:
            continue
        its_name, values = split_variant(variant)
        if its_name != name:
            continue
        if values in (("+",), ("~",)) or not values:
            texts[variant] = None
        else:
            texts.update(dict.fromkeys(f"{name}={_quoted(value)}" for value in values))
    return tuple(texts)


def _quoted(value: str) -> str:
    return lexer.in_quotes(value) if "," in value else value


def _variant_term(name: str, value: str) -> Term:
    if not value:
        return Term("variants", f"{name}=*", negated=True)
    return exact_term("variants", value)
