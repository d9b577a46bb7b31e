"""Say why a query has no match."""

from __future__ import annotations

from spackscope.model.assist.advice import advice
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.query.ast import Query, Term


def why_none(catalog: Catalog, query: Query) -> str:
    """Say in one sentence which condition of a query without a match is to blame."""
    if not query:
        return "there is no spec at all"
    if (said := advice(catalog, query)) is not None and not _hash_beginning(catalog, query):
        return said.sentence
    parts = query.parts()
    alone = len(parts) == 1
    left = [(0 if alone else catalog.count(query.minus(part)), part) for part in parts]
    ways = [f"{count:,} without {part}" for count, part in left if count]
    if ways:
        verb = "is" if ways[0].startswith("1 ") else "are"
        return f"no spec matches; there {verb} {', '.join(ways)}"
    if alone and (prefix := _hash_beginning(catalog, query)):
        return f"no spec matches {query}, but /{prefix} is a hash"
    before = Query()
    for number, part in enumerate(parts):
        if not catalog.count(part):
            return f"no spec matches {part}"
        if not catalog.count(before.plus(part)):
            pairs = (one for one in parts[:number] if not catalog.count(one.plus(part)))
            return f"no spec matches {part} together with {next(pairs, before)}"
        before = before.plus(part)
    return "no spec matches"


def _hash_beginning(catalog: Catalog, query: Query) -> str:
    """Give the word that was taken for a package and is the beginning of a hash."""
    (condition, *others) = query.conditions
    if others or not isinstance(condition, Term) or condition.column != "package":
        return ""
    pattern = condition.pattern
    return pattern if len(pattern) >= 4 and catalog.dictionaries.has_hash(pattern) else ""
