"""Count the values of columns and variants under the other conditions, and choose values."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Literal, NamedTuple, cast

from spackscope.model.core.columns import BY_NAME, FIELDS, Value
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import is_variant, split_variant, variant_key
from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.evaluate import unique_end
from spackscope.model.query import lexer
from spackscope.model.query.ast import (
    Condition,
    Depends,
    Group,
    Query,
    Term,
    compiler_fits,
    exact_term,
    negated,
    variant_of,
)

VARIANTS, NO_VARIANT = "variants", "no such variant"

MAX_VARIANTS = 100
"""The most variants that are counted: one package has a fifth of this, all have hundreds."""

_FIRST = ("version", "compiler", "os", "target", VARIANTS)
_THEN = ("state", "stack", "tag", "source", "platform")
_LAST = ("fits", "reusable", "package")
"""Columns that take longest, and the one that the list of packages shows already."""

Verb = Literal["include", "exclude", "only", "clear"]
"""The choices for a value of a section."""


class ValueCount(Frozen):
    """A value of a column, and the number of records with it under the other conditions."""

    value: str
    count: int


def value_counts(
    catalog: Catalog, query: Query, column: str, *, of_nodes: bool = False
) -> list[ValueCount]:
    """Return the values of a column, the most frequent first, then by name.

    Conditions on the column itself are ignored; for `variants`, each variant only ignores the
    conditions on itself. Each variant and each stack is a value of its own. With `of_nodes`
    dependency-only records count, too. Raises Cancelled and Unanswerable.
    """

    def texts(conditions: Query) -> Counter[str]:
        return _texts(catalog.counts(conditions, column, of_nodes=of_nodes), of_none=())

    if column != VARIANTS:
        counts = texts(query.without_column(column))
    else:
        counts = texts(query)
        for group in query.of_column(column):
            names = {split_variant(c.pattern)[0] for c in group if isinstance(c, Term)}
            for text, count in texts(query.minus(Query((group,)))).items():
                if split_variant(text)[0] in names:
                    counts[text] = count
        # One text for all spellings of a value; sorted, the exact `x:=1` comes before `x=1`.
        by_text, counts = counts, Counter()
        keys: dict[str, str] = {}
        for text in sorted(by_text):
            counts[keys.setdefault(variant_key(text), text)] += by_text[text]
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [ValueCount(value, count) for value, count in ordered]


def _texts(counts: Mapping[Value, int], *, of_none: Sequence[str]) -> Counter[str]:
    """Return the counts of single texts; an empty list counts for `of_none`."""
    by_text: Counter[str] = Counter()
    for value, count in counts.items():
        texts = (set(value) or of_none) if isinstance(value, tuple) else (str(value),)
        for text in texts:
            by_text[text] += count
    return by_text


# The sections of a query


class SectionKey(NamedTuple):
    """The key of a section: a column, or a variant of the column `variants`."""

    column: str
    variant: str = ""

    @property
    def label(self) -> str:
        """The name to show; a variant is spelled as in its source."""
        return self.variant or BY_NAME[self.column].label

    def groups(self, query: Query) -> tuple[Group, ...]:
        """Return the groups of a query that are only on this column or variant."""
        return query.of_column(f"+{self.variant}" if self.variant else self.column)

    def without(self, query: Query) -> Query:
        """Return the query without its groups on this column or variant."""
        return query.minus(Query(self.groups(query)))

    def fits(self, condition: Condition, value: str) -> bool:
        """Check a value against a condition on this column or variant, ignoring negation."""
        if isinstance(condition, Depends):
            try:
                return compiler_fits(condition, value)
            except Unanswerable:
                return False
        is_list = BY_NAME[self.column].is_list
        values = (value,) if value else ()
        return condition.fits(self.column, values if is_list else value)

    def text(self, value: str) -> str:
        """Return a value as it is shown: clean, and without the name of its variant."""
        if self.variant:
            return clean(value.removeprefix(f"{self.variant}=")) or NO_VARIANT
        column = BY_NAME[self.column]
        return clean(column.cell(value) if value else "") or column.empty

    def term(self, value: str) -> Term:
        """Return the term that only one value fits; a negated term for the empty value."""
        if self.variant and not value:
            return Term(VARIANTS, f"{self.variant}=*", negated=True)
        return exact_term(self.column, value)

    @property
    def on_missing(self) -> tuple[Condition, Condition]:
        """The condition on records without a value, and the condition on all with one."""
        return self.term(""), negated(self.term(""))


class SectionValue(Frozen):
    """A value with its count under the other filters.

    `text` is shown. `mark` is True for a value that the query includes, False for a value that it
    excludes. An entry with a `condition` is not a value, but a condition that several values fit,
    or none, such as `target=:zen3`.
    """

    value: str
    text: str
    count: int
    mark: bool | None = None
    condition: Condition | None = None


class ValueSection(Frozen):
    """The values of one column or variant; the versions of one package are newest first.

    `varies` is true if not all records have the same values.
    """

    key: SectionKey
    values: Sequence[SectionValue]
    varies: bool = True

    @property
    def texts(self) -> list[str]:
        """The values, without the entries for conditions."""
        return [each.value for each in self.values if each.condition is None]


def value_sections(
    catalog: Catalog, query: Query, *, wanted: SectionKey | None = None
) -> Iterator[ValueSection]:
    """Yield the sections of a query in their order, if they have several values, or filters.

    Versions of several packages cannot be compared, and packages have a list of their own: both
    are left out. The `wanted` section is always yielded. Raises Cancelled and Unanswerable.
    """
    others = (c.name for c in BY_NAME.values() if c.has_dictionary)
    for name in dict.fromkeys((*_FIRST, *_THEN, *(o for o in others if o not in _LAST), *_LAST)):
        if name == VARIANTS:
            yield from _variant_sections(catalog, query, wanted)
        elif not BY_NAME[name].is_by_host or catalog.by_host.has_host:
            section = _column_section(catalog, query, SectionKey(name))
            is_of_one = query.package_term is not None
            # A chosen package is no filter of its own list.
            has_filter = bool(section.key.groups(query)) and not (name == "package" and is_of_one)
            is_comparable = name != "package" and (name != "version" or is_of_one)
            if section.key == wanted or has_filter or (section.varies and is_comparable):
                yield section


def _column_section(catalog: Catalog, query: Query, key: SectionKey) -> ValueSection:
    values = catalog.counts(key.without(query), key.column)
    texts = _texts(values, of_none=("",))
    is_absent = BY_NAME[key.column].is_absent
    ordered = sorted(texts, key=lambda text: (is_absent(text), -texts[text], text))
    if key.column == "version" and query.package_term is not None:
        ordered.sort(key=FIELDS[key.column].sort_key, reverse=True)
    offered: tuple[Condition, ...] = ()
    if key.column == "target" and catalog.by_host.has_host:
        # The range of targets that the host can run, if several values are in it.
        part = catalog.by_host.answers.part("target")
        term = Term("target", f":{part}")
        offered = (term,) if part and sum(term.fits("target", text) for text in texts) > 1 else ()
    varies = sum(count > 0 for count in values.values()) > 1
    by_text = {text: texts[text] for text in ordered}
    return ValueSection(key, _marked(key, query, by_text, offered), varies)


def _marked(
    key: SectionKey, query: Query, counts: Mapping[str, int], offered: Sequence[Condition] = ()
) -> list[SectionValue]:
    """Return values with their marks, after the conditions that do not stand for a single value.

    Conditions that are `offered` are always returned.
    """
    groups = key.groups(query)
    named = set(chain.from_iterable(groups))
    rows = []
    for condition in dict.fromkeys((*offered, *chain.from_iterable(groups))):
        fitting = [value for value in counts if key.fits(condition, value)]
        if condition in offered or (len(fitting) != 1 and condition not in key.on_missing):
            # The text is shown below the name of its column, without the name.
            if isinstance(condition, Term):
                text = condition.pattern.removeprefix("=")
            else:
                text = str(replace(condition, negated=False))
            mark = not condition.negated if condition in named else None
            count = sum(counts[value] for value in fitting)
            text = clean(text) or "none"
            rows.append(SectionValue(str(condition), text, count, mark, condition))
    for value, count in counts.items():
        end = unique_end(value, counts) if key.column == "source" and value else ""
        text = clean(end) or key.text(value)
        rows.append(SectionValue(value, text, count, mark_of(key, groups, value)))
    return rows


def mark_of(key: SectionKey, groups: Sequence[Group], value: str) -> bool | None:
    """Return True if groups of a query include a value, False if they exclude it, else None."""
    if not value:
        named = [condition in chain.from_iterable(groups) for condition in key.on_missing]
        return True if named[0] else False if named[1] else None
    if any(c.negated and key.fits(c, value) for group in groups if len(group) == 1 for c in group):
        return False
    positive = [[c for c in group if not c.negated] for group in groups]
    held = [any(key.fits(c, value) for c in group) for group in positive if group]
    return (any(held) if BY_NAME[key.column].is_list else bool(held) and all(held)) or None


# Variants: a query for each of hundreds would take too long


def _variant_sections(
    catalog: Catalog, query: Query, wanted: SectionKey | None
) -> list[ValueSection]:
    """Return the sections of variants, in an order that does not change while values are chosen.

    For one package, variants that split its records most evenly come first; for several packages,
    variants that most records have.
    """

    def counted(conditions: Query) -> tuple[Mapping[str, Counter[str]], int]:
        counts = _variant_counts(catalog, conditions)
        return counts, catalog.count(conditions)

    is_package = query.package_term is not None
    shared, total = counted(query)
    every, number = counted(Query().with_package(query.package))
    rank = {
        name: max(number - of[""], *(n for text, n in of.items() if text))
        if is_package
        else -of[""]
        for name, of in every.items()
    }
    own = dict.fromkeys(
        name for group in query.of_column(VARIANTS) for c in group if (name := variant_of(c))
    )
    if wanted is not None and wanted.variant:
        own[wanted.variant] = None
    sections: list[tuple[tuple[int, str], ValueSection]] = []
    for name in {**shared, **own}:
        key, counts, of = SectionKey(VARIANTS, name), shared.get(name, Counter()), total
        if name in own and (rest := key.without(query)) != query:
            of_rest, of = counted(rest)
            counts = of_rest.get(name, Counter())
        texts = {t: counts[t] for t in sorted(counts, key=lambda t: (-counts[t], t)) if t}
        if is_package and is_variant(f"+{name}") and (missing := of - counts[""]) > 0:
            texts[""] = missing
        varies = len(texts) > 1 and any(count < of for count in texts.values())
        if key == wanted or varies or (name in own and key.groups(query)):
            section = ValueSection(key, _marked(key, query, texts), varies)
            sections.append(((rank.get(name, total), name), section))
    sections.sort(key=lambda pair: pair[0])
    kept = [section for _, section in sections[:MAX_VARIANTS]]
    return kept + [s for _, s in sections[MAX_VARIANTS:] if s.key.variant in own]


def _variant_counts(catalog: Catalog, query: Query) -> Mapping[str, Counter[str]]:
    """Count the values of all variants; "" counts all records with the variant."""
    pairs, of_sets = catalog.cached(_variant_values)
    totals = [0] * len(pairs)
    codes = catalog.count_codes(query, FIELDS[VARIANTS].storage)
    for code, count in codes.items():
        for number in of_sets[code]:
            totals[number] += count
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (name, text), total in zip(pairs, totals, strict=True):
        if total:
            counts[name][text] = total
    return counts


def _variant_values(catalog: Catalog) -> tuple[list[tuple[str, str]], list[tuple[int, ...]]]:
    """Return all (variant, text) pairs, and the numbers of the pairs in each set of variants."""
    sets = cast(Sequence[tuple[str, ...]], catalog.values(VARIANTS))
    numbers: dict[tuple[str, str], int] = {}
    split: dict[str, tuple[int, ...]] = {}
    for text in dict.fromkeys(chain.from_iterable(sets)):
        name, texts = variant_texts(text)
        pairs = [(name, value) for value in (*texts, "")] if name else []
        split[text] = tuple(numbers.setdefault(pair, len(numbers)) for pair in pairs)
    of_sets = [
        tuple(dict.fromkeys(chain.from_iterable(map(split.__getitem__, texts)))) for texts in sets
    ]
    return list(numbers), of_sets


def variant_texts(variant: str) -> tuple[str, tuple[str, ...]]:
    """Return the name of a variant, and a query text for each of its values.

    Example: `variant_texts("cuda_arch=80,90")` is `("cuda_arch", ("cuda_arch=80",
    "cuda_arch=90"))`.
    """
    name, values = split_variant(variant)
    if values in (("+",), ("~",)) or not values:
        return name, (variant,)
    quoted = (lexer.in_quotes(value) if "," in value else value for value in values)
    return name, tuple(dict.fromkeys(f"{name}={value}" for value in quoted))


# Choices


def choose(query: Query, section: ValueSection, chosen: SectionValue | None, verb: Verb) -> Query:
    """Return a query with a value included or excluded, or alone, or its section cleared.

    Including an included value again removes its condition; so does excluding.
    """
    key = section.key
    if verb == "clear" or chosen is None:
        return key.without(query)
    groups = key.groups(query)
    condition = chosen.condition or key.term(chosen.value)
    including, excluding = (_naming(section, groups, chosen, excludes=e) for e in (False, True))
    if verb == "only":
        is_negated = chosen.condition is not None and condition.negated
        groups = ((negated(condition) if is_negated else condition,),)
    elif verb == "include" and including:
        groups = _dropped(groups, including)
    elif verb == "include":
        # A condition that asks for any value is replaced by one value.
        on_any = {key.on_missing[1]} if chosen.value else set[Condition]()
        groups = _dropped(groups, excluding | on_any)
        positive = [g for g in groups if not all(_excludes(key, c) for c in g)]
        is_in_range = any(key.fits(c, chosen.value) for g in positive for c in g)
        # The value joins the included ones, but replaces a range that it is in.
        is_beside = chosen.condition is None and len(positive) == 1 and not is_in_range
        others = positive[0] if is_beside else ()
        groups = ((*others, condition), *(g for g in groups if g not in positive))
    elif excluding:
        groups = _dropped(groups, excluding)
    else:
        groups = _dropped(groups, including)
        # Beside other filters, excluding the empty value changes nothing.
        if chosen.value or not groups:
            groups = (*groups, (negated(condition),))
    return key.without(query).plus(Query(groups))


def _naming(
    section: ValueSection, groups: Sequence[Group], chosen: SectionValue, *, excludes: bool
) -> set[Condition]:
    """Return the conditions that include, or exclude, only the chosen value."""
    key = section.key
    others = [value for value in section.texts if value and value != chosen.value]

    def names_it(condition: Condition) -> bool:
        if chosen.condition is not None:
            return condition in (chosen.condition, negated(chosen.condition))
        if not chosen.value or condition in key.on_missing:
            return not chosen.value and condition in key.on_missing
        fits_others = any(key.fits(condition, value) for value in others)
        return key.fits(condition, chosen.value) and not fits_others

    named = (c for c in chain.from_iterable(groups) if _excludes(key, c) is excludes)
    return set(filter(names_it, named))


def _excludes(key: SectionKey, condition: Condition) -> bool:
    """Check whether a condition excludes values; "no value" is negated, but includes."""
    return condition.negated != (condition in key.on_missing)


def _dropped(groups: tuple[Group, ...], conditions: set[Condition]) -> tuple[Group, ...]:
    rest = (tuple(c for c in group if c not in conditions) for group in groups)
    return tuple(group for group in rest if group)
