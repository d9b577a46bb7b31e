"""Include, exclude or clear values of a facet: write what is chosen into the query."""

from __future__ import annotations

from spackscope.model.catalog.facet_keys import FacetSection, FacetValue
from spackscope.model.core.frozen import replace
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import Condition, Group, Term


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
