"""Say what a query may not be: too long, or asking twice for what a spec has once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from spackscope.model.query.match import is_glob, is_variant, split_variant
from spackscope.model.query.terms import Condition, Group, Term

LONGEST = 10_000
"""Characters of a query; a longer one is a paste that went astray."""

MOST_TERMS = 100
"""Terms of a query; SQLite takes conditions about a thousand deep."""

_ONCE = frozenset(
    {"package", "hash", "version", "platform", "os", "target", "variants", "namespace"}
)


class QueryError(ValueError):
    """Report what is no query, with its place: the offset in characters."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset


def check_once(groups: Iterable[Group], spans: Mapping[Condition, tuple[int, int]]) -> None:
    """Refuse what Spack refuses: one spec with two versions, or a variant with two values.

    Raises QueryError at the second one.
    """
    seen: dict[tuple[str, str], Condition] = {}
    for group in groups:
        (condition, *others) = group
        key = None if others or condition.negated else _once(condition)
        first = seen.setdefault(key, condition) if key is not None else condition
        if key is not None and first != condition:
            at = spans.get(condition, (0, 0))[0]
            hint = f"{first} | {condition}"
            raise QueryError(f"{key[1]} stands twice; for one or the other write {hint}", at)


def _once(condition: Condition) -> tuple[str, str] | None:
    """Name what a condition asks for that a spec can say once only."""
    if not isinstance(condition, Term) or condition.column not in _ONCE:
        return None
    column, pattern = condition.column, condition.pattern
    if column != "variants":
        return None if is_glob(pattern) else (column, column)
    return (column, split_variant(pattern)[0]) if is_variant(pattern) else None
