"""Say what a query may not be: too long, or asking twice for what a spec has once."""

from __future__ import annotations

from collections.abc import Iterable

from spackscope.model.core.errors import QueryError
from spackscope.model.query.ast import Condition, Term
from spackscope.model.query.matchers import (
    ARCHITECTURE,
    architecture,
    is_glob,
    is_variant,
    split_variant,
)

LONGEST = 50_000
"""Characters of a query; scripts pass hundreds of whole hashes."""

MOST_TERMS = 1_000
"""Terms of a query."""

_ONCE = frozenset(
    {"package", "hash", "version", "platform", "os", "target", "variants", "namespace"}
)


_ARCHITECTURE = frozenset((column, column) for column in ARCHITECTURE)


def check_once(placed: Iterable[tuple[Condition, int]]) -> None:
    """Refuse what Spack refuses: one spec with two versions, or with one variant twice.

    Each condition comes with its offset, in the order in which they are written; all of them must
    hold, and none is negated. The rules are those of `SpecNodeParser`, and of
    `Spec._set_architecture`, which takes no `arch=` after a part of it. Raises QueryError at the
    second one.
    """
    seen: dict[tuple[str, str], Condition] = {}
    for condition, offset in placed:
        keys = _keys(condition)
        taken = _ARCHITECTURE if condition.column == "arch" else keys
        if seen.keys() >= _ARCHITECTURE and _ARCHITECTURE & keys:
            taken = _ARCHITECTURE
        for key in sorted(taken & seen.keys()):
            first = seen[key]
            if first == condition and condition.column == "namespace":
                continue
            hint = f". For either value write {first} | {condition}" if first != condition else ""
            raise QueryError(f"{key[1]} is given twice{hint}", offset)
        seen.update(dict.fromkeys(keys, condition))


def _keys(condition: Condition) -> frozenset[tuple[str, str]]:
    """Return what a condition says of a spec that can be said only once."""
    if isinstance(condition, Term) and condition.column == "arch":
        return frozenset((column, column) for column, _ in architecture(condition.pattern))
    key = _once(condition)
    return frozenset() if key is None else frozenset({key})


def _once(condition: Condition) -> tuple[str, str] | None:
    """Name what a condition asks for that a spec can say once only."""
    if not isinstance(condition, Term) or condition.column not in _ONCE:
        return None
    column, pattern = condition.column, condition.pattern
    if column != "variants":
        return None if is_glob(pattern) and pattern != "*" else (column, column)
    return (column, split_variant(pattern)[0]) if is_variant(pattern) else None
