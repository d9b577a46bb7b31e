"""Check what a query must not be: too long, or asking twice for what a spec has once."""

from __future__ import annotations

from collections.abc import Iterable

from spackscope.model.core.columns import REGISTRY
from spackscope.model.core.errors import QueryError
from spackscope.model.core.variants import is_variant, split_variant
from spackscope.model.query.conditions import Condition, Term
from spackscope.model.query.matchers import ARCHITECTURE, architecture, is_glob

MAX_QUERY_LENGTH = 50_000
"""Characters of a query; scripts pass hundreds of whole hashes."""

MAX_TERMS = 1_000
"""Terms of a query."""

Key = tuple[str, str]
"""A column, and the name of a variant or the column again."""

_ONCE = frozenset(column.name for column in REGISTRY if column.once)
_ARCHITECTURE = frozenset((column, column) for column in ARCHITECTURE)


def check_once(conditions: Iterable[tuple[Condition, int]]) -> None:
    """Refuse what Spack refuses: one spec with two versions, or with one variant twice.

    Each condition comes with its offset, in the order in which they are written; all of them must
    hold, and none is negated. The rules are those of `SpecNodeParser`, and of
    `Spec._set_architecture`, which takes no `arch=` after a part of it. Raises QueryError at the
    second one.
    """
    seen: dict[Key, Condition] = {}
    for condition, offset in conditions:
        keys = _keys(condition)
        excluded = _ARCHITECTURE if condition.column == "arch" else keys
        if seen.keys() >= _ARCHITECTURE and _ARCHITECTURE & keys:
            excluded = _ARCHITECTURE
        for key in sorted(excluded & seen.keys()):
            first = seen[key]
            if first == condition and condition.column == "namespace":
                continue
            hint = f". For either, write {first} | {condition}." if first != condition else ""
            raise QueryError(f"{key[1]} is given twice{hint}", offset)
        seen.update(dict.fromkeys(keys, condition))


def _keys(condition: Condition) -> frozenset[Key]:
    """Return what a condition asks for that a spec has only once."""
    if not isinstance(condition, Term):
        return frozenset()
    column, pattern = condition.column, condition.pattern
    if column == "arch":
        return frozenset((column, column) for column, _ in architecture(pattern))
    if column == "variants":
        return frozenset({(column, split_variant(pattern)[0])} if is_variant(pattern) else ())
    is_once = column in _ONCE and (not is_glob(pattern) or pattern == "*")
    return frozenset({(column, column)} if is_once else ())
