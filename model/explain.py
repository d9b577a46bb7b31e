"""Say why a query has no match."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.catalog import Catalog
from spackscope.model.query.terms import Query, Term


def why_none(catalog: Catalog, query: Query) -> str:
    """Say in one sentence which condition of a query without a match is to blame."""
    if not query:
        return "there is no spec at all"
    groups = query.groups()
    alone = len(groups) == 1
    left = [(0 if alone else catalog.count(query.without(*group)), group) for group in groups]
    ways = [f"{count:,} without {_spell(group)}" for count, group in left if count]
    if ways:
        verb = "is" if ways[0].startswith("1 ") else "are"
        return f"no spec matches; there {verb} {', '.join(ways)}"
    if alone and _is_hash_beginning(catalog, groups[0]):
        return f"no spec matches {_spell(groups[0])}, but /{groups[0][0].pattern} is a hash"
    before: tuple[Term, ...] = ()
    for number, group in enumerate(groups):
        if not catalog.count(Query(group)):
            return f"no spec matches {_spell(group)}"
        if not catalog.count(Query(before + group)):
            pairs = (one for one in groups[:number] if not catalog.count(Query(one + group)))
            other = next(pairs, before)
            return f"no spec matches {_spell(group)} together with {_spell(other)}"
        before += group
    return "no spec matches"


def _is_hash_beginning(catalog: Catalog, group: Sequence[Term]) -> bool:
    """Tell whether a word that was taken for a package is the beginning of a hash."""
    (term, *others) = group
    long_enough = len(term.pattern) >= 4 and term.column == "package" and not others
    return long_enough and catalog.dictionaries.has_hash(term.pattern)


def _spell(group: Sequence[object]) -> str:
    return " | ".join(map(str, group))
