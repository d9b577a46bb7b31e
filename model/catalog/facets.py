"""Count the values of a column under the other conditions of a query."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.column import Value
from spackscope.model.core.columns import FIELDS
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.progress import ShouldStop, never
from spackscope.model.core.variants import split_variant, variant_key
from spackscope.model.index.damage import reads_index
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import Term


class Facet(Frozen):
    """A value of a column, and how many records have it under the other conditions."""

    value: str
    count: int


@reads_index
def facets(
    catalog: Catalog, query: Query, column: str, *, should_stop: ShouldStop = never
) -> list[Facet]:
    """Return the values of a column, the most frequent first, then by name.

    Conditions on the column itself do not count; of those on variants only the ones on the same
    variant. Each variant and each stack is a value of its own. Raises Cancelled and Unanswerable.
    """

    def count_values(conditions: Query) -> Counter[str]:
        if FIELDS[column].is_by_host:
            return _texts(catalog.execution.count_by_host(conditions, column, should_stop))
        codes = catalog.execution.count_codes(conditions, FIELDS[column].storage, should_stop)
        values = catalog.dictionaries.values(column)
        counts: Counter[Value] = Counter()
        for code, count in codes.items():
            counts[values[code]] += count
        return _texts(counts)

    if column == "variants":
        counts = count_values(query)
        for group in query.of_column(column):
            names = {split_variant(c.pattern)[0] for c in group if isinstance(c, Term)}
            for value, count in count_values(query.minus(Query((group,)))).items():
                if split_variant(value)[0] in names:
                    counts[value] = count
        counts = _merged(counts)
    else:
        counts = count_values(query.without_column(column))
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [Facet(value, count) for value, count in ordered]


def _texts(counts: Mapping[Value, int]) -> Counter[str]:
    """Return the counts of single texts; lists have several."""
    by_text: Counter[str] = Counter()
    for value, count in counts.items():
        for text in set(value) if isinstance(value, tuple) else (str(value),):
            by_text[text] += count
    return by_text


def _merged(counts: Mapping[str, int]) -> Counter[str]:
    """Return the counts of variants with one text for each value, exact where any is: `:=`."""
    texts: dict[str, str] = {}
    merged: Counter[str] = Counter()
    for text in sorted(counts):
        # In this order `x:=1` comes before `x=1`.
        merged[texts.setdefault(variant_key(text), text)] += counts[text]
    return merged
