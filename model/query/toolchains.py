"""Put the toolchains of a Spack in place of their names: `%site` for compilers and flags.

As `_apply_toolchain` of lib/spack/spack/spec_parser.py does since Spack 1.0, wherever a spec is
parsed. What a toolchain asks for under a condition is asked of the specs that meet the condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, product
from math import prod

from spackscope.model.core.errors import QueryError
from spackscope.model.core.frozen import replace
from spackscope.model.query.ast import Condition, Depends, Group, Query, negated
from spackscope.model.query.parser import MAX_TERMS, parse_spec

Toolchains = Mapping[str, Sequence[Group]]
"""The groups that the node has to match for which a toolchain is named."""


def parse_toolchain(parts: Iterable[tuple[str, str]]) -> Sequence[Group]:
    """Parse a toolchain: specs, each with the condition under which it is asked for, or "".

    A condition is one of dependencies only. Raises QueryError.

    >>> [" | ".join(map(str, group)) for group in parse_toolchain([("%c=gcc@12", "%c")])]
    ['%c=gcc@12 | !%c']
    """
    groups = list[Group]()
    for spec, when in parts:
        unmet = tuple(map(negated, parse_spec(when).conditions)) if when else ()
        for condition in parse_spec(spec).conditions:
            if not isinstance(condition, Depends):
                groups.append((condition,))
            elif condition.direct:
                groups.append((condition, *unmet))
            else:
                raise QueryError(f"a toolchain cannot ask for {condition}, only for %", 0)
    return groups


def names_of(query: Query) -> set[str]:
    """Return the names in a query that may be toolchains."""
    found = set[str]()
    waiting = [*query.conditions]
    for condition in waiting:
        if isinstance(condition, Depends):
            waiting += condition.terms
            found |= {condition.name} if _is_plain(condition) else set()
    return found


def with_toolchains(query: Query, toolchains: Toolchains) -> Query:
    """Return a query with what the toolchains ask for in place of their names.

    Raises QueryError where that is too much.
    """
    if toolchains.keys().isdisjoint(names_of(query)):
        return query
    return Query(
        tuple(_expand_all(query.groups, toolchains)),
        tuple(tuple(_expand_all(groups, toolchains)) for groups in query.specs),
    )


def _is_plain(condition: Depends) -> bool:
    """Check for `%name` alone, which may be a toolchain."""
    has_more = len(condition.terms) != 1 or condition.virtuals or condition.deptypes
    return condition.direct and bool(condition.name) and not has_more


def _expand_all(groups: Iterable[Group], toolchains: Toolchains) -> Iterator[Group]:
    for group in groups:
        yield from _alternatives([_expand(condition, toolchains) for condition in group])


def _expand(condition: Condition, toolchains: Toolchains) -> Sequence[Group]:
    """Return the groups that mean the same as a condition."""
    if not isinstance(condition, Depends):
        return [(condition,)]
    if _is_plain(condition) and condition.name in toolchains:
        groups = toolchains[condition.name]
    else:
        below = [*_expand_all(((term,) for term in condition.terms), toolchains)]
        _check_count(below)
        # A dependency with one of some properties is one of some dependencies.
        choices = map(tuple, map(dict.fromkeys, product(*below)))
        groups = [tuple(replace(condition, terms=terms, negated=False) for terms in choices)]
    if not condition.negated:
        return groups
    _check_count(groups)
    return [tuple(map(negated, choice)) for choice in product(*groups)]


def _alternatives(several: Sequence[Sequence[Group]]) -> Iterator[Group]:
    """Yield the groups that hold if all groups of one of several hold."""
    _check_count(several)
    for choice in product(*several):
        yield tuple(dict.fromkeys(chain.from_iterable(choice)))


def _check_count(choices: Iterable[Sequence[object]]) -> None:
    if prod(map(len, choices)) > MAX_TERMS:
        raise QueryError("The toolchains of the query ask for too much", 0)
