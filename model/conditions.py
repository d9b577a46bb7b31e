"""Turn a query into SQL over codes: text is compared with the dictionaries, never with rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import and_, or_

from spackscope.model.columns import Column
from spackscope.model.dictionaries import Dictionaries, hash_range
from spackscope.model.query.match import ANY, is_glob, size_range
from spackscope.model.query.terms import Query, Term


@dataclass(frozen=True, slots=True)
class Clause:
    """Hold an SQL condition over the tables look_alike and spec, with its parameters.

    `on_specs` says that it looks at hashes or sizes, so that spec has to be joined;
    `by_hash` that the join best begins at the hashes.
    """

    sql: str
    parameters: tuple[str | float, ...] = ()
    on_specs: bool = False
    by_hash: bool = False
    is_choice: bool = False

    @property
    def _closed(self) -> str:
        """Put the text in brackets where `AND` and `NOT` need them.

        A choice has none of its own: SQLite's parser does not take brackets a hundred deep.
        """
        return f"({self.sql})" if self.is_choice else self.sql

    def __and__(self, other: Clause) -> Clause:
        """Join two conditions that must both hold."""
        if FALSE in (self, other):
            return FALSE
        if TRUE in (self, other):
            return other if self == TRUE else self
        return Clause(
            f"{self._closed} AND {other._closed}",
            self.parameters + other.parameters,
            self.on_specs or other.on_specs,
            self.by_hash or other.by_hash,
        )

    def __or__(self, other: Clause) -> Clause:
        """Join two conditions of which one must hold."""
        if TRUE in (self, other):
            return TRUE
        if FALSE in (self, other):
            return other if self == FALSE else self
        return Clause(
            f"{self.sql} OR {other.sql}",
            self.parameters + other.parameters,
            self.on_specs or other.on_specs,
            is_choice=True,
        )

    def __invert__(self) -> Clause:
        """Turn the condition round."""
        if self in (TRUE, FALSE):
            return FALSE if self == TRUE else TRUE
        return Clause(f"NOT {self._closed}", self.parameters, self.on_specs)


TRUE, FALSE = Clause("1"), Clause("0")


def condition(query: Query, dictionaries: Dictionaries) -> Clause:
    """Compile a query against the values of one index."""
    groups = (
        reduce(or_, (_term(term, dictionaries) for term in group), FALSE)
        for group in query.groups()
    )
    return reduce(and_, groups, TRUE)


def _term(term: Term, dictionaries: Dictionaries) -> Clause:
    found = reduce(or_, (_column(term, column, dictionaries) for column in term.columns), FALSE)
    return ~found if term.negated else found


def _column(term: Term, column: Column, dictionaries: Dictionaries) -> Clause:
    if column.name == "hash":
        return _hash(term, dictionaries)
    if column.name == "size":
        return _size(term)
    values = dictionaries.values(column.name)
    codes = [code for code, value in enumerate(values) if term.fits(column.name, value)]
    if len(codes) in (0, len(values)):
        return TRUE if codes else FALSE
    # Numbers stand in the text because the number of parameters has a limit.
    place = f"look_alike.{column.place}"
    if len(codes) > len(values) // 2:
        rest = sorted(set(range(len(values))).difference(codes))
        return Clause(f"{place} NOT IN ({','.join(map(str, rest))})")
    return Clause(f"{place} IN ({','.join(map(str, codes))})")


def _hash(term: Term, dictionaries: Dictionaries) -> Clause:
    pattern = term.pattern.lower() if term.column == ANY else term.pattern.removeprefix("/")
    if is_glob(pattern):
        if term.column == ANY:
            return FALSE
        return Clause("spec.hash GLOB ?", (pattern,), on_specs=True)
    if not dictionaries.has_hash(pattern):
        return FALSE
    by_hash = term.column != ANY
    return Clause("spec.hash BETWEEN ? AND ?", hash_range(pattern), on_specs=True, by_hash=by_hash)


def _size(term: Term) -> Clause:
    if term.column == ANY:
        return FALSE
    bounds = size_range(term.pattern)
    return Clause("coalesce(spec.size BETWEEN ? AND ?, 0)", bounds, on_specs=True)
