"""Write sentences on specs that a filter by the host hides, and on the virtuals in a query."""

from __future__ import annotations

from collections import Counter

from spackscope.model.core.columns import COLUMNS, HOST_COLUMNS, Value
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.records import NO
from spackscope.model.core.text import cut_list
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query, format_group

_MAX_REASONS = 4
"""Reasons that a sentence about many specs names."""


def hidden_by_host(catalog: Catalog, query: Query) -> str:
    """Return how many specs the conditions on the host hide, and why; empty without any.

    Example: "fits hides 41 of 63: target too new 30 · glibc 2.39 > 2.28: 8 · unknown 3". A spec
    may have several reasons. Raises Cancelled.
    """
    sentences = []
    for column in (column.name for column in COLUMNS if column.is_by_host):
        specs = (query.groups, *query.specs)
        groups = dict.fromkeys(
            group for spec in specs for group in spec if all(c.column == column for c in group)
        )
        first, *others = (tuple(g for g in spec if g not in groups) for spec in specs)
        if not groups:
            continue
        try:
            counts = catalog.counts(Query(first, tuple(others)), column)
            shown = catalog.counts(query, column)
        except Unanswerable:
            continue
        if hidden := counts - shown:
            text = " ".join(map(format_group, groups))
            total = f"{hidden.total():,} of {counts.total():,}"
            sentences.append(f"{text} hides {total}: {_counted(hidden)}")
    return "; ".join(sentences)


def query_remarks(catalog: Catalog, query: Query) -> list[str]:
    """Return sentences on the virtuals in a query, and on specs that its host conditions hide."""
    sentences = [catalog.virtuals.sentence(query)]
    if query.columns & HOST_COLUMNS:
        sentences.append(hidden_by_host(catalog, query))
    return [sentence for sentence in sentences if sentence]


def _counted(hidden: Counter[Value]) -> str:
    labels: Counter[str] = Counter()
    for value, count in hidden.items():
        answer, *reasons = value if isinstance(value, tuple) and value else ("",)
        # A refused spec has a reason, which says more than the answer.
        for label in reasons if answer == NO else (answer,):
            labels[label] += count
    texts = [
        f"{label}{': ' if label[-1:].isdigit() else ' '}{count:,}"
        for label, count in labels.most_common()
    ]
    return " · ".join(cut_list(texts, _MAX_REASONS))
