"""Put the conditions of named queries where another query names them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import chain, product
from typing import TypeVar

from spackscope.model.core.errors import QueryError
from spackscope.model.core.frozen import replace
from spackscope.model.query.ast import NamedPart, Query
from spackscope.model.query.conditions import Condition, Group, Term
from spackscope.model.query.validation import MAX_TERMS, check_once

Alternatives = Sequence[tuple[Condition | NamedPart, int]]
"""Conditions and named queries of which one must hold, each with its offset."""

Item = TypeVar("Item")

_TOO_MANY = "A view has too many conditions to be used so"


def insert_queries(
    groups: list[Group],
    single: Sequence[tuple[Condition, int]],
    inserted: Iterable[Alternatives],
    spans: dict[Condition, tuple[int, int]],
) -> list[list[Group]]:
    """Return the groups of a spec with those of named queries, once for each spec that these have.

    `single` are the conditions of the spec that are neither negated nor alternatives, with their
    offsets. `spans` gets where the conditions of the named queries are: at their names. Raises
    QueryError where they are too many, or a spec would have two versions.
    """
    specs = [groups]
    for alternatives in inserted:
        start = alternatives[0][1]
        try:
            parts = _specs(alternatives, spans)
            specs = [[*groups, *more] for groups, more in _product([specs, parts])]
            for groups in specs:
                _check_once(groups, single, start)
            if sum(_size(c) for groups in specs for group in groups for c in group) > MAX_TERMS:
                raise QueryError(_TOO_MANY)
        except QueryError as error:
            raise QueryError(str(error), start) from None
    return specs


def _specs(
    alternatives: Alternatives, spans: dict[Condition, tuple[int, int]]
) -> list[list[Group]]:
    """Return what alternatives with a named query among them mean: the groups of some specs."""
    part, _ = alternatives[0]
    if len(alternatives) == 1 and isinstance(part, NamedPart) and not part.negated:
        query = part.query
        _note(part, chain(query.groups, *query.specs), spans)
        return [[*query.groups, *more] for more in query.specs or ((),)]
    parts: list[Sequence[Group]] = []
    for part, _ in alternatives:
        if isinstance(part, NamedPart):
            groups = normal_form(part.query)
            parts.append(opposite(groups) if part.negated else groups)
            _note(part, parts[-1], spans)
        else:
            parts.append([(part,)])
    return [either(parts)]


def _size(condition: Condition) -> int:
    """Return how many terms a condition is written with."""
    return 1 if isinstance(condition, Term) else 1 + sum(map(_size, condition.terms))


def _note(
    part: NamedPart, groups: Iterable[Group], spans: dict[Condition, tuple[int, int]]
) -> None:
    for condition in chain.from_iterable(groups):
        spans.setdefault(condition, (part.token.start, part.token.end))


def _check_once(
    groups: Sequence[Group], single: Sequence[tuple[Condition, int]], start: int
) -> None:
    """Refuse a named query that gives a spec a second version, which no text could say."""
    named = [group[0] for group in groups if len(group) == 1 and not group[0].negated]
    places = dict(reversed(single))
    try:
        check_once((c, places.get(c, start)) for c in dict.fromkeys((*places, *named)))
    except QueryError as error:
        raise QueryError(f"{str(error).partition('. For')[0]}: here and in a view") from None


def normal_form(query: Query) -> list[Group]:
    """Return a query as groups that must all hold, even if it has several specs.

    Raises QueryError where they are too many.
    """
    return [*query.groups, *(either(query.specs) if query.specs else ())]


def either(parts: Iterable[Sequence[Group]]) -> list[Group]:
    """Return the groups that hold where all groups of one of the parts hold.

    Raises QueryError where they are too many.
    """
    return _shortest(tuple(dict.fromkeys(chain.from_iterable(each))) for each in _product(parts))


def opposite(groups: Sequence[Group]) -> list[Group]:
    """Return the groups that hold where one of some groups does not.

    Raises QueryError where they are too many.
    """
    return _shortest(tuple(dict.fromkeys(map(_negated, choice))) for choice in _product(groups))


def _shortest(groups: Iterable[Group]) -> list[Group]:
    """Return groups without those that hold because another one does, with fewer alternatives."""
    kept: dict[frozenset[Condition], Group] = {}
    for group in sorted(groups, key=len):
        conditions = frozenset(group)
        if not any(fewer <= conditions for fewer in kept):
            kept[conditions] = group
    return [*kept.values()]


def _negated(condition: Condition) -> Condition:
    return replace(condition, negated=not condition.negated)


def _product(parts: Iterable[Sequence[Item]]) -> Iterable[tuple[Item, ...]]:
    """Yield all ways to take one of each part. Raises QueryError where they are too many."""
    parts = list(parts)
    if math.prod(map(len, parts)) > MAX_TERMS:
        raise QueryError(_TOO_MANY)
    return product(*parts)
