"""Facets: values of columns and variants, counted under the other conditions, and chosen."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import cast

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.source_names import unique_end
from spackscope.model.core.columns import BY_NAME, FIELDS, Value
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.text import clean
from spackscope.model.core.variants import is_variant, split_variant, variant_key
from spackscope.model.index.damage import reads_index
from spackscope.model.query import lexer
from spackscope.model.query.ast import (
    Condition,
    Depends,
    Group,
    Query,
    Term,
    compiler_fits,
    exact_term,
)

VARIANTS, NONE = "variants", "none"


class FacetKey(Frozen):
    """What a section counts: a column, or a variant of the column `variants`."""

    column: str
    variant: str = ""

    @property
    def label(self) -> str:
        """How it is called; the name of a variant is as its source has it."""
        return self.variant or BY_NAME[self.column].label

    def groups(self, query: Query) -> tuple[Group, ...]:
        """Return the groups of a query whose conditions are all on this column or variant."""
        groups = query.of_column(self.column)
        if self.column != VARIANTS:
            return groups
        return tuple(group for group in groups if all(map(self._is_on_variant, group)))

    def _is_on_variant(self, condition: Condition) -> bool:
        if not isinstance(condition, Term) or not is_variant(condition.pattern):
            return False
        return split_variant(condition.pattern)[0] == self.variant

    def without(self, query: Query) -> Query:
        """Return the query without these groups."""
        own = self.groups(query)
        return replace(query, groups=tuple(g for g in query.groups if g not in own))

    def fits(self, condition: Condition, value: str) -> bool:
        """Check a value against a condition of these groups, ignoring negation."""
        if isinstance(condition, Depends):
            try:
                return compiler_fits(condition, value)
            except Unanswerable:
                return False
        is_list = BY_NAME[self.column].is_list
        return condition.fits(self.column, (value,) * bool(value) if is_list else value)

    def text(self, value: str) -> str:
        """Return a value as it is shown: clean, and without the name of its variant."""
        text = value if self.variant else BY_NAME[self.column].cell(value) if value else ""
        return clean(text.removeprefix(f"{self.variant}=")) or NONE

    def term(self, value: str) -> Term:
        """Return the term that only a value fits; that of an empty one is negated."""
        if self.variant and not value:
            return Term(VARIANTS, f"{self.variant}=*", negated=True)
        return exact_term(self.column, value)


class FacetValue(Frozen):
    """A value with its count under the other filters.

    `text` is how it is shown. `mark` is True for a value that the query includes, False for one
    that it excludes. With a `condition` it stands for one that several values fit, or none, such
    as `target=:zen3`.
    """

    value: str
    text: str
    count: int
    mark: bool | None = None
    condition: Condition | None = None


class FacetSection(Frozen):
    """The values of one column or variant; those of a package's versions are the newest first.

    It `varies` if not all records have the same values.
    """

    key: FacetKey
    values: Sequence[FacetValue]
    varies: bool = True

    @property
    def texts(self) -> list[str]:
        """The values alone, without what stands for conditions."""
        return [each.value for each in self.values if each.condition is None]


def marked_values(
    key: FacetKey,
    query: Query,
    counts: Mapping[str, int],
    conditions: Sequence[Condition],
    offered: Condition | None = None,
) -> list[FacetValue]:
    """Return values with their marks, after the conditions that no single value stands for.

    The one that is `offered` is among them in any case.
    """

    def shown(value: str) -> str:
        end = unique_end(value, counts) if key.column == "source" and value else ""
        return clean(end) or key.text(value)

    groups = key.groups(query)
    named = {condition for group in groups for condition in group}
    rows: list[FacetValue] = []
    for condition in conditions:
        fitting = [value for value in counts if key.fits(condition, value)]
        if condition == offered or (len(fitting) != 1 and not _is_for_none(key, condition)):
            mark = not condition.negated if condition in named else None
            count = sum(counts[value] for value in fitting)
            text = _condition_text(condition)
            rows.append(FacetValue(str(condition), text, count, mark, condition))
    rows += (
        FacetValue(value, shown(value), count, mark_of(key, groups, value))
        for value, count in counts.items()
    )
    return rows


def _condition_text(condition: Condition) -> str:
    """Return a condition as it is shown below the name of its column, which it need not repeat."""
    if not isinstance(condition, Term):
        return clean(str(replace(condition, negated=False)))
    return clean(condition.pattern.removeprefix("=")) or NONE


def _is_for_none(key: FacetKey, condition: Condition) -> bool:
    term = key.term("")
    return condition in (term, replace(term, negated=False))


def mark_of(key: FacetKey, groups: Sequence[Group], value: str) -> bool | None:
    """Return whether some groups of a query include a value, or exclude it, or neither."""
    named = {condition for group in groups for condition in group}
    if not value:
        term = key.term(value)
        return True if term in named else False if replace(term, negated=False) in named else None
    if any(c.negated and key.fits(c, value) for group in groups if len(group) == 1 for c in group):
        return False
    positive = [[c for c in group if not c.negated] for group in groups]
    held = [any(key.fits(c, value) for c in group) for group in positive if group]
    return (any(held) if BY_NAME[key.column].is_list else bool(held) and all(held)) or None


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


def include(query: Query, section: FacetSection, chosen: FacetValue) -> Query:
    """Include a value beside the included ones, or remove it if the query names it.

    Where it is only one of several that fit a range, it takes the place of the range.
    """
    key, groups = section.key, section.key.groups(query)
    naming = _naming(section, groups, chosen, is_excluding=False)
    if naming:
        return _replaced(query, section, _dropped(groups, naming))
    groups = _dropped(groups, _naming(section, groups, chosen, is_excluding=True))
    if chosen.value:
        groups = _dropped(groups, {_on_none(section)[1]})
    positive = [g for g in groups if not all(_excludes(section, c) for c in g)]
    negative = [g for g in groups if g not in positive]
    condition = chosen.condition or key.term(chosen.value)
    is_in_range = any(key.fits(c, chosen.value) for g in positive for c in g)
    if chosen.condition is None and len(positive) == 1 and not is_in_range:
        return _replaced(query, section, ((*positive[0], condition), *negative))
    return _replaced(query, section, ((condition,), *negative))


def exclude(query: Query, section: FacetSection, chosen: FacetValue) -> Query:
    """Exclude a value, or remove that if the query excludes it."""
    groups = section.key.groups(query)
    if naming := _naming(section, groups, chosen, is_excluding=True):
        return _replaced(query, section, _dropped(groups, naming))
    kept = _dropped(groups, _naming(section, groups, chosen, is_excluding=False))
    if not chosen.value and kept:
        # What other filters ask for has a value.
        return _replaced(query, section, kept)
    condition = chosen.condition or section.key.term(chosen.value)
    return _replaced(query, section, (*kept, (_negated(condition),)))


def only(query: Query, section: FacetSection, chosen: FacetValue) -> Query:
    """Include a value and nothing else of its column or variant."""
    condition = chosen.condition or section.key.term(chosen.value)
    if chosen.condition is not None and condition.negated:
        condition = _negated(condition)
    return _replaced(query, section, ((condition,),))


def clear(query: Query, section: FacetSection) -> Query:
    """Remove the filters on the column or variant."""
    return section.key.without(query)


def _replaced(query: Query, section: FacetSection, groups: tuple[Group, ...]) -> Query:
    return section.key.without(query).plus(Query(groups))


def _dropped(groups: tuple[Group, ...], conditions: set[Condition]) -> tuple[Group, ...]:
    rest = (tuple(c for c in group if c not in conditions) for group in groups)
    return tuple(group for group in rest if group)


def _excludes(section: FacetSection, condition: Condition) -> bool:
    """Check whether a condition excludes values; "has no value" is written as a negation too."""
    return condition.negated != (condition in _on_none(section))


def _on_none(section: FacetSection) -> tuple[Term, Term]:
    term = section.key.term("")
    return term, _negated(term)


def _naming(
    section: FacetSection, groups: tuple[Group, ...], chosen: FacetValue, *, is_excluding: bool
) -> set[Condition]:
    """Return the conditions that include or exclude this value and no other one."""
    key = section.key
    others = [value for value in section.texts if value and value != chosen.value]
    naming: set[Condition] = set()
    for condition in (c for group in groups for c in group):
        if _excludes(section, condition) is not is_excluding:
            continue
        if chosen.condition is not None:
            is_it = replace(condition, negated=False) == replace(chosen.condition, negated=False)
        elif not chosen.value:
            is_it = condition in _on_none(section)
        else:
            fits_others = any(key.fits(condition, value) for value in others)
            is_it = key.fits(condition, chosen.value) and not fits_others
            is_it &= condition not in _on_none(section)
        if is_it:
            naming.add(condition)
    return naming


def _negated(condition: Condition) -> Term:
    return replace(condition, negated=not condition.negated)  # type: ignore[return-value]
