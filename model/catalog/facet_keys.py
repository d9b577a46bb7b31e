"""The parts of the facets: what a section counts, its values, and which of them a query has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spackscope.model.catalog.source_names import unique_end
from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.text import clean
from spackscope.model.core.variants import is_variant, split_variant
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import (
    Condition,
    Depends,
    Group,
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
