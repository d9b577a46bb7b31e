"""Count the values of a column for a dialog, and apply what was chosen there."""

from __future__ import annotations

from dataclasses import dataclass

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.facets import Facet, choose_values, chosen_values, facets
from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.progress import ShouldStop
from spackscope.model.query.ast import Query
from spackscope.model.query.format import format_group


@dataclass(frozen=True, slots=True)
class Values:
    """The values of a column, and those that a query includes or excludes by name.

    `has_conditions` is True if choosing none of them would change the query.
    """

    facets: tuple[Facet, ...] = ()
    wanted: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()
    has_conditions: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """The values of a column to include, and those to exclude."""

    column: str
    wanted: frozenset[str] = frozenset()
    excluded: frozenset[str] = frozenset()

    def applied(self, query: Query) -> Query:
        """Return a query with this choice in place of its conditions on the column."""
        return choose_values(query, self.column, self.wanted, self.excluded)


def count_values(catalog: Catalog, query: Query, column: str, should_stop: ShouldStop) -> Values:
    """Count the values of a column under the other conditions of a query.

    A value that the query names is among them even where no record has it, last and with a
    count of 0. Raises Cancelled, Unanswerable and IndexDamaged.
    """
    counted = facets(catalog, query, column, should_stop=should_stop)
    wanted = excluded = frozenset[str]()
    if query.of_column(column):
        known = {facet.value for facet in counted}
        is_by_host = BY_NAME[column].is_by_host
        values = (
            catalog.by_host.values(column, should_stop)[1]
            if is_by_host
            else catalog.dictionaries.values(column)
        )
        for value in values:
            known.update(value if isinstance(value, tuple) else (str(value),))
        wanted, excluded = chosen_values(query, column, known)
        lost = (wanted | excluded) - {facet.value for facet in counted}
        counted += [Facet(value, 0) for value in sorted(lost)]
    cleared = choose_values(query, column, (), ())
    return Values(tuple(counted), wanted, excluded, set(cleared.groups) != set(query.groups))


def describe_choice(choice: Choice, before: Query, after: Query) -> str:
    """Return a sentence on what a choice changed in a query."""
    label = BY_NAME[choice.column].label
    added = [group for group in after.groups if group not in before.groups]
    if added:
        sentence = f"Added {' and '.join(map(format_group, added))}"
        is_last = after.groups[-1] in added
        return f"{sentence} (⌫ removes{' the last' * (len(added) > 1)})" if is_last else sentence
    if set(after.groups) == set(before.groups):
        return f"The filter on {label} is unchanged"
    remaining = " and ".join(map(format_group, after.of_column(choice.column)))
    if not remaining:
        return f"Removed the filter on {label}"
    return f"The filter on {label} is now {remaining}"
