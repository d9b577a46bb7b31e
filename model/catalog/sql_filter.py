"""Turn a query into SQL over codes: text is compared with the dictionaries, never with rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import and_, or_

from spackscope.model.catalog.dictionaries import Dictionaries, hash_range
from spackscope.model.core.column import Column
from spackscope.model.core.compilers import compiler_name, is_compiler
from spackscope.model.core.errors import (
    Unanswerable,
)
from spackscope.model.core.variants import is_propagated
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import Condition, Depends, Group, Term
from spackscope.model.query.dependency_rules import compiler_fits
from spackscope.model.query.matchers import ANY, is_glob, size_range


@dataclass(frozen=True, slots=True)
class Clause:
    """Hold an SQL condition over the tables look_alike and spec, with its parameters.

    `on_specs` says that it looks at hashes or sizes, so that spec has to be joined;
    `by_hash` that the join best begins at the hashes.
    """

    sql: str
    parameters: tuple[str | float | bytes, ...] = ()
    on_specs: bool = False
    by_hash: bool = False
    is_compound: bool = False

    @property
    def _closed(self) -> str:
        return f"({self.sql})" if self.is_compound else self.sql

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
            is_compound=True,
        )

    def __or__(self, other: Clause) -> Clause:
        """Join two conditions of which one must hold."""
        if TRUE in (self, other):
            return TRUE
        if FALSE in (self, other):
            return other if self == FALSE else self
        return Clause(
            f"{self._closed} OR {other._closed}",
            self.parameters + other.parameters,
            self.on_specs or other.on_specs,
            is_compound=True,
        )

    def __invert__(self) -> Clause:
        """Turn the condition round."""
        if self in (TRUE, FALSE):
            return FALSE if self == TRUE else TRUE
        return Clause(f"NOT {self._closed}", self.parameters, self.on_specs)


TRUE, FALSE = Clause("1"), Clause("0")


def condition(query: Query, dictionaries: Dictionaries, *, hashes: bool = True) -> Clause:
    """Compile a query against the values of one index.

    Without `hashes` no hash begins as asked. Raises Unanswerable where the query asks for what
    the index does not hold.
    """

    def all_groups(groups: tuple[Group, ...]) -> Clause:
        clauses: list[Clause] = []
        for group in groups:
            # Hundreds of pasted words would each be looked for in every column, to no end.
            if clauses and clauses[-1] == FALSE and all(c.column == ANY for c in group):
                continue
            clauses.append(_joined(or_, list(map(one, group)), FALSE))
        return _joined(and_, clauses, TRUE)

    def one(asked: Condition) -> Clause:
        if isinstance(asked, Depends):
            found = _depends(asked, dictionaries)
        elif asked.column == "variants" and is_propagated(asked.pattern):
            found = _propagated(asked, dictionaries)
        else:
            columns = [c for c in asked.columns if hashes or not _beginning(asked, c)]
            found = _joined(or_, [_column(asked, c, dictionaries) for c in columns], FALSE)
        return ~found if asked.negated else found

    made = all_groups(query.groups)
    if query.specs:
        made &= _joined(or_, list(map(all_groups, query.specs)), FALSE)
    return made


def _joined(
    join: Callable[[Clause, Clause], Clause], clauses: list[Clause], none: Clause
) -> Clause:
    """Join clauses two by two: SQLite takes expressions a thousand deep, and not deeper."""
    while len(clauses) > 1:
        pairs = zip(clauses[::2], clauses[1::2], strict=False)
        clauses = [*(join(*pair) for pair in pairs), *clauses[len(clauses) // 2 * 2 :]]
    return clauses[0] if clauses else none


def hash_ranges(query: Query, dictionaries: Dictionaries) -> list[tuple[str, str]]:
    """Give the ranges of all hashes that begin as a query asks, as far as there are any."""
    terms = [term for term in query.conditions if isinstance(term, Term)]
    prefixes = {_beginning(term, column) for term in terms for column in term.columns} - {""}
    return [hash_range(prefix) for prefix in sorted(prefixes) if dictionaries.has_hash(prefix)]


def _beginning(term: Term, column: Column) -> str:
    """Give the beginning of a hash that a term asks for in a column, or an empty text."""
    if column.name != "hash" or is_glob(term.pattern):
        return ""
    return term.pattern.lower() if term.column == ANY else term.pattern.removeprefix("/")


def _depends(asked: Depends, dictionaries: Dictionaries) -> Clause:
    """Look for dependencies, or a compiler: an index of pages knows nothing else of them."""
    if dictionaries.lists_dependencies:
        return _marked(dictionaries.dependents(asked))
    if asked.direct:
        compiler_fits(asked, "")
    if not asked.direct:
        raise Unanswerable(f"{asked} asks for dependencies, and pages list none", asked)
    compilers = dictionaries.values("compiler")
    name = compiler_name(asked.name)
    named = {""} | {value.partition("@")[0] for value in compilers if isinstance(value, str)}
    if name not in named and not is_compiler(asked.name):
        raise Unanswerable(
            f"{asked} asks for a direct dependency, and of those pages list the compiler only",
            asked,
        )
    fits = [isinstance(value, str) and compiler_fits(asked, value) for value in compilers]
    return _codes("arch", [code for code, fit in enumerate(fits) if fit], len(compilers))


def _propagated(term: Term, dictionaries: Dictionaries) -> Clause:
    if not dictionaries.lists_dependencies:
        raise Unanswerable(f"{term} asks for variants of dependencies, and pages list none", term)
    return _marked(dictionaries.propagated(term))


def _marked(mask: bytes) -> Clause:
    if not any(mask):
        return FALSE
    return Clause("substr(?, spec.id + 1, 1) = x'01'", (mask,), on_specs=True)


def _column(term: Term, column: Column, dictionaries: Dictionaries) -> Clause:
    if column.name == "hash":
        return _hash(term, column, dictionaries)
    if column.name == "size":
        return _size(term)
    if column.name == "flags" and not dictionaries.lists_dependencies:
        raise Unanswerable(f"{term} asks for {column.label}, and pages list none", term)
    count = len(dictionaries.values(column.name))
    return _codes(column.storage, dictionaries.matching_codes(column.name, term), count)


def _codes(place: str, codes: Sequence[int], count: int) -> Clause:
    if len(codes) in (0, count):
        return TRUE if codes else FALSE
    # Numbers stand in the text because the number of parameters has a limit.
    if len(codes) > count // 2:
        rest = sorted(set(range(count)).difference(codes))
        return Clause(f"look_alike.{place} NOT IN ({','.join(map(str, rest))})")
    return Clause(f"look_alike.{place} IN ({','.join(map(str, codes))})")


def _hash(term: Term, column: Column, dictionaries: Dictionaries) -> Clause:
    if is_glob(term.pattern):
        if term.column == ANY:
            return FALSE
        pattern = term.pattern.removeprefix("/").lower()
        return Clause("spec.hash GLOB ?", (pattern,), on_specs=True)
    prefix = _beginning(term, column)
    if not dictionaries.has_hash(prefix):
        return FALSE
    by_hash = term.column != ANY
    return Clause(hash_between(*hash_range(prefix)), on_specs=True, by_hash=by_hash)


def hash_between(first: str, last: str) -> str:
    """Return SQL for the hashes in a range, whose bounds have the letters of a hash only.

    They are part of the text since older SQLite takes no more than 999 parameters.
    """
    return f"spec.hash BETWEEN '{first}' AND '{last}'"


def _size(term: Term) -> Clause:
    if term.column == ANY:
        return FALSE
    bounds = size_range(term.pattern)
    return Clause("coalesce(spec.size BETWEEN ? AND ?, 0)", bounds, on_specs=True)
