"""The facets of a view: columns and variants, their values counted under the other filters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.facet_keys import VARIANTS, FacetKey, FacetSection, marked_values
from spackscope.model.catalog.variant_counts import variant_counts, variant_ranks
from spackscope.model.core.column import Value
from spackscope.model.core.columns import BY_NAME, FIELDS
from spackscope.model.core.progress import ShouldStop, never
from spackscope.model.core.variants import is_variant, split_variant
from spackscope.model.index.damage import reads_index
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import Term

MAX_VARIANTS = 100
"""Variants that are counted: one package has a fifth of it, all packages have hundreds."""

_FIRST = ("version", "compiler", "os", "target")
_AFTER_VARIANTS = ("state", "stack", "tag", "source", "platform")
_LAST = ("fits", "reusable", "package")
"""What takes longest, and what the list of packages shows already."""


@reads_index
def facet_sections(
    catalog: Catalog,
    query: Query,
    *,
    wanted: FacetKey | None = None,
    should_stop: ShouldStop = never,
) -> Iterator[FacetSection]:
    """Yield the sections of a query in their order: those with several values, or with filters.

    The one that is `wanted` is among them in any case. Raises Cancelled and Unanswerable.
    """

    def column_sections(names: Sequence[str]) -> Iterator[FacetSection]:
        for name in names:
            key = FacetKey(name)
            if BY_NAME[name].is_by_host and not catalog.by_host.is_connected:
                continue
            section = _column_section(catalog, query, key, should_stop)
            if _is_shown(section, query, wanted):
                yield section

    yield from column_sections(_FIRST)
    for section in _variant_sections(catalog, query, wanted, should_stop):
        if _is_shown(section, query, wanted):
            yield section
    named = {*_FIRST, *_AFTER_VARIANTS, *_LAST, VARIANTS}
    others = [c.name for c in BY_NAME.values() if c.has_dictionary and c.name not in named]
    yield from column_sections([*_AFTER_VARIANTS, *others, *_LAST])


def _is_shown(section: FacetSection, query: Query, wanted: FacetKey | None) -> bool:
    if section.key == wanted:
        return True
    if section.key.column == "package" and query.package_term is not None:
        return False
    return section.varies or bool(section.key.groups(query))


def _column_section(
    catalog: Catalog, query: Query, key: FacetKey, should_stop: ShouldStop
) -> FacetSection:
    rest, column = key.without(query), FIELDS[key.column]
    counts: Counter[Value] = Counter()
    if column.is_by_host:
        counts = catalog.execution.count_by_host(rest, key.column, should_stop)
    else:
        values = catalog.dictionaries.values(key.column)
        codes = catalog.execution.count_codes(rest, column.storage, should_stop)
        for code, count in codes.items():
            counts[values[code]] += count
    texts: Counter[str] = Counter()
    for value, count in counts.items():
        for text in (set(value) or {""}) if isinstance(value, tuple) else (str(value),):
            texts[text] += count
    conditions = list(dict.fromkeys(c for group in key.groups(query) for c in group))
    offered = _host_targets(catalog) if key.column == "target" else None
    if offered is not None:
        conditions = [offered, *(c for c in conditions if c != offered)]
    ordered = sorted(texts, key=lambda text: (text == "", -texts[text], text))
    if key.column == "version" and query.package_term is not None:
        ordered.sort(key=column.sort_key, reverse=True)
    by_text = {text: texts[text] for text in ordered}
    values_of_rows = sum(count > 0 for count in counts.values())
    return FacetSection(
        key, marked_values(key, query, by_text, conditions, offered), varies=values_of_rows > 1
    )


def _host_targets(catalog: Catalog) -> Term | None:
    """Return the condition on what the host can run, if its target is known."""
    if not catalog.by_host.is_connected or not (part := catalog.by_host.answers.part("target")):
        return None
    return Term("target", f":{part}")


def _variant_sections(
    catalog: Catalog, query: Query, wanted: FacetKey | None, should_stop: ShouldStop
) -> list[FacetSection]:
    """Return the sections of variants: of a package those first that split it most evenly.

    Their order does not depend on filters, so that it stays while values are chosen.
    """
    shared = variant_counts(catalog, query, should_stop)
    total = catalog.count(query, should_stop=should_stop)
    own = {
        split_variant(condition.pattern)[0]: None
        for group in query.of_column(VARIANTS)
        for condition in group
        if isinstance(condition, Term) and is_variant(condition.pattern)
    }
    if wanted is not None and wanted.variant:
        own[wanted.variant] = None
    is_package = query.package_term is not None
    rank = variant_ranks(catalog, query, should_stop)
    sections: list[tuple[tuple[int, str], FacetSection]] = []
    for name in {**shared, **own}:
        key, counts, of = FacetKey(VARIANTS, name), shared.get(name, Counter()), total
        if name in own and (rest := key.without(query)) != query:
            counts = variant_counts(catalog, rest, should_stop).get(name, Counter())
            of = catalog.count(rest, should_stop=should_stop)
        texts = {t: counts[t] for t in sorted(counts, key=lambda t: (-counts[t], t)) if t}
        if is_package and is_variant(f"+{name}") and (missing := of - counts[""]) > 0:
            texts[""] = missing
        conditions = list(dict.fromkeys(c for group in key.groups(query) for c in group))
        varies = len(texts) > 1 and any(count < of for count in texts.values())
        if varies or name in own:
            marked = marked_values(key, query, texts, conditions)
            order = rank.get(name, total), name
            sections.append((order, FacetSection(key, marked, varies)))
    sections.sort(key=lambda pair: pair[0])
    kept = [section for _, section in sections[:MAX_VARIANTS]]
    return kept + [s for _, s in sections[MAX_VARIANTS:] if s.key.variant in own]
