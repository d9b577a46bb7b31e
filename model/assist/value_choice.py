"""What the dialog of values shows and gives back, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.facets import Facet, choose, chosen, facets
from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.progress import ShouldStop
from spackscope.model.query.ast import Query
from spackscope.model.query.format import format_group


@dataclass(frozen=True, slots=True)
class Values:
    """Hold the values of a column, and what a query says of them.

    `wanted` and `excluded` are the values that it names. `has_conditions` tells whether choosing
    none of them would take anything off the query.
    """

    facets: tuple[Facet, ...] = ()
    wanted: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    has_conditions: bool = False


Count = Callable[[ShouldStop], Values]
"""Counts the values; raises Cancelled, Unanswerable and IndexDamaged."""


@dataclass(frozen=True, slots=True)
class Choice:
    """Hold which values of a column are to be asked for, and which are to be excluded."""

    column: str
    wanted: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()

    def applied(self, query: Query) -> Query:
        """Give a query with this choice in place of what it asked of the column."""
        return choose(query, self.column, self.wanted, self.excluded)


def count_values(catalog: Catalog, query: Query, column: str, should_stop: ShouldStop) -> Values:
    """Count the values of a column under the other conditions of a query.

    A value that the query names stands among them even where no record has it, last and with a
    count of 0. Raises Cancelled, Unanswerable and IndexDamaged.
    """
    counted = facets(catalog, query, column, should_stop=should_stop)
    wanted: set[str] = set()
    excluded: set[str] = set()
    if query.of_column(column):
        known = {facet.value for facet in counted}
        for value in catalog.dictionaries.values(column):
            known.update(value if isinstance(value, tuple) else (str(value),))
        wanted, excluded = chosen(query, column, known)
        lost = (wanted | excluded) - {facet.value for facet in counted}
        counted += [Facet(value, 0) for value in sorted(lost)]
    cleared = choose(query, column, (), ())
    return Values(
        tuple(counted),
        frozenset(wanted),
        frozenset(excluded),
        set(cleared.groups) != set(query.groups),
    )


def value_text(column: str, value: str) -> str:
    """Spell a value as the table does: clean, and never empty."""
    return BY_NAME[column].cell(value)


def said_of(choice: Choice, before: Query, after: Query) -> str:
    """Say in one sentence what a choice made of a query."""
    label = BY_NAME[choice.column].label
    new = [group for group in after.groups if group not in before.groups]
    if not new:
        if set(after.groups) == set(before.groups):
            return f"what is asked of {label} stays as it was"
        left = " and ".join(map(format_group, after.of_column(choice.column)))
        return (
            f"of {label} only {left} is asked now" if left else f"nothing is asked of {label} now"
        )
    said = (
        f"{' and '.join(map(format_group, new))} {'is' if len(new) == 1 else 'are'} asked for now"
    )
    if after.groups[-1] not in new:
        return said
    return f"{said}; ⌫ takes {'it' if len(new) == 1 else 'the last'} off"
