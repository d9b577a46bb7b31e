"""Count the values of all variants at once: a query for each of hundreds would take too long."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import cast

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.facet_keys import VARIANTS
from spackscope.model.core.columns import FIELDS
from spackscope.model.core.progress import ShouldStop
from spackscope.model.core.variants import split_variant
from spackscope.model.query import lexer
from spackscope.model.query.ast import Query


def variant_ranks(catalog: Catalog, query: Query, should_stop: ShouldStop) -> dict[str, int]:
    """Return ranks of variants, low for those that split the package most evenly.

    Without a package they are low for those that most records have. Filters play no part.
    """
    every = Query().with_package(query.package)
    counts = variant_counts(catalog, every, should_stop)
    if query.package_term is None:
        return {name: -of_name[""] for name, of_name in counts.items()}
    total = catalog.count(every, should_stop=should_stop)
    return {
        name: max(total - of_name[""], *(n for text, n in of_name.items() if text))
        for name, of_name in counts.items()
    }


class _VariantValues:
    """The values of variants in each set of variants of an index, as numbers."""

    def __init__(self, catalog: Catalog) -> None:
        sets = cast(Sequence[tuple[str, ...]], catalog.dictionaries.values(VARIANTS))
        numbers: dict[tuple[str, str], int] = {}
        split: dict[str, tuple[int, ...]] = {}
        for text in dict.fromkeys(chain.from_iterable(sets)):
            name, texts = variant_texts(text)
            pairs = [(name, value) for value in (*texts, "")] if name else []
            split[text] = tuple(numbers.setdefault(pair, len(numbers)) for pair in pairs)
        self.pairs = list(numbers)
        self.of_set = [
            tuple(dict.fromkeys(chain.from_iterable(map(split.__getitem__, texts))))
            for texts in sets
        ]


def variant_counts(
    catalog: Catalog, query: Query, should_stop: ShouldStop
) -> Mapping[str, Counter[str]]:
    """Count the values of all variants; with "" how many records have the variant at all."""
    values = catalog.cached(_VariantValues)
    totals = [0] * len(values.pairs)
    codes = catalog.execution.count_codes(query, FIELDS[VARIANTS].storage, should_stop)
    for code, count in codes.items():
        for number in values.of_set[code]:
            totals[number] += count
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (name, text), total in zip(values.pairs, totals, strict=True):
        if total:
            counts[name][text] = total
    return counts


def variant_texts(variant: str) -> tuple[str, tuple[str, ...]]:
    """Return the name of a variant, and a text for each of its values, as in a query.

    Example: `variant_texts("cuda_arch=80,90")` is `("cuda_arch", ("cuda_arch=80",
    "cuda_arch=90"))`.
    """
    name, values = split_variant(variant)
    if values in (("+",), ("~",)) or not values:
        return name, (variant,)
    quoted = (lexer.in_quotes(value) if "," in value else value for value in values)
    return name, tuple(dict.fromkeys(f"{name}={value}" for value in quoted))
