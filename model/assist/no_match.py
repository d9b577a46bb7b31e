"""Say why a query has no match."""

from __future__ import annotations

from spackscope.model.assist.diagnostics import advise
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import Term

_MIN_PREFIX = 4


def explain_no_match(catalog: Catalog, query: Query) -> str:
    """Return a sentence on the condition because of which a query has no match.

    Example: "No match. Without os=x: 8,980 · without cached: 1,238".
    """
    if not query:
        return "There are no specs"
    prefix = _hash_prefix(catalog, query)
    if prefix:
        return f"No match for {query}, but /{prefix} is a hash"
    if (advice := advise(catalog, query)) is not None:
        return advice.sentence
    parts = query.parts()
    if len(parts) > 1:
        counts = [(catalog.count(query.minus(part)), part) for part in parts]
        if ways := [f"{part}: {count:,}" for count, part in counts if count]:
            return f"No match. Without {' · without '.join(ways)}"
    before = Query()
    for number, part in enumerate(parts):
        if not catalog.count(part):
            return f"No match for {part}"
        if not catalog.count(before.plus(part)):
            pairs = (other for other in parts[:number] if not catalog.count(other.plus(part)))
            return f"No match for {part} together with {next(pairs, before)}"
        before = before.plus(part)
    return "No match"


def _hash_prefix(catalog: Catalog, query: Query) -> str:
    """Return the word that was read as a package and begins a hash, or an empty text."""
    (condition, *others) = query.conditions
    if others or not isinstance(condition, Term) or condition.column != "package":
        return ""
    pattern = condition.pattern
    is_prefix = len(pattern) >= _MIN_PREFIX and catalog.dictionaries.has_hash(pattern)
    return pattern if is_prefix else ""
