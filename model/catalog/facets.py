"""Count the values of a column under the other conditions of a query, and choose among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import groupby

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.column import Value
from spackscope.model.core.columns import FIELDS
from spackscope.model.core.progress import ShouldStop, never
from spackscope.model.core.variants import is_variant, split_variant
from spackscope.model.index.damage import reads_index
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import Group, Term, exact_term


@dataclass(frozen=True, slots=True)
class Facet:
    """Hold one value of a column, and how many records have it under the other conditions."""

    value: str
    count: int


@reads_index
def facets(
    catalog: Catalog,
    query: Query,
    column: str,
    *,
    should_stop: ShouldStop = never,
) -> list[Facet]:
    """Give the values of a column, the most frequent first, then by name.

    Conditions on the column itself do not count; among variants, those on the same variant. Of
    variants and stacks each is a value of its own. Raises Cancelled and Unanswerable.
    """

    def counted(asked: Query) -> Counter[str]:
        storage = FIELDS[column].storage
        codes = catalog.count_codes(asked, storage, should_stop=should_stop)
        values = catalog.dictionaries.values(column)
        counts: Counter[str] = Counter()
        for code, count in codes.items():
            for value in set(_texts(values[code])):
                counts[value] += count
        return counts

    if column == "variants":
        counts = counted(query)
        for group in query.of_column(column):
            names = {split_variant(c.pattern)[0] for c in group if isinstance(c, Term)}
            for value, count in counted(query.minus(Query((group,)))).items():
                if split_variant(value)[0] in names:
                    counts[value] = count
    else:
        counts = counted(query.without_column(column))
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [Facet(value, count) for value, count in ordered]


def _texts(value: Value) -> tuple[str, ...]:
    return value if isinstance(value, tuple) else (str(value),)


def chosen(query: Query, column: str, values: Iterable[str]) -> tuple[set[str], set[str]]:
    """Tell which of a column's values a query asks for by name, and which it excludes."""
    wanted: set[str] = set()
    excluded: set[str] = set()
    conditions = {c for group in query.of_column(column) for c in group}
    for value in values:
        term = exact_term(column, value)
        if term in conditions:
            wanted.add(value)
        if replace(term, negated=not term.negated) in conditions:
            excluded.add(value)
    return wanted, excluded


def choose(query: Query, column: str, wanted: Iterable[str], excluded: Iterable[str]) -> Query:
    """Ask for some values of a column, and for none of others, instead of what was asked of it.

    Several wanted values are alternatives; of variants only where they are values of the same
    one, and all those variants must hold.
    """
    groups: list[Group] = []
    if column == "variants":
        ordered = sorted(wanted, key=lambda value: split_variant(value)[0])
        for _, alike in groupby(ordered, key=lambda value: split_variant(value)[0]):
            groups.append(tuple(dict.fromkeys(exact_term(column, value) for value in alike)))
        kept = [
            group
            for group in query.of_column(column)
            if not all(isinstance(c, Term) and is_variant(c.pattern) for c in group)
        ]
        groups += kept
    elif terms := dict.fromkeys(exact_term(column, value) for value in sorted(wanted)):
        groups.append(tuple(terms))
    for value in sorted(excluded):
        term = exact_term(column, value)
        groups.append((replace(term, negated=not term.negated),))
    return query.without_column(column).plus(Query(tuple(groups)))
