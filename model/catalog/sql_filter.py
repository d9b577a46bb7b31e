"""Compile a query to SQL over codes: texts are compared with the dictionaries, never with rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import and_, or_

from spackscope.model.catalog.by_host import ByHost
from spackscope.model.catalog.dependency_filter import DependencyFilter
from spackscope.model.catalog.dictionaries import Dictionaries, hash_range
from spackscope.model.catalog.source_names import with_full_name
from spackscope.model.core.columns import Column
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import compiler_name, is_compiler
from spackscope.model.core.variants import is_propagated
from spackscope.model.query.ast import Condition, Depends, Group, Query, Term, compiler_fits
from spackscope.model.query.matchers import ANY, is_glob, size_range


class Clause(Frozen):
    """An SQL condition over the tables look_alike and spec, with its parameters.

    `needs_specs` if it reads hashes or sizes, so that spec has to be joined; `starts_at_hashes`
    if the join is fastest from the hashes.
    """

    sql: str
    parameters: tuple[str | float | bytes, ...] = ()
    needs_specs: bool = False
    starts_at_hashes: bool = False
    is_compound: bool = False

    @property
    def _operand(self) -> str:
        return f"({self.sql})" if self.is_compound else self.sql

    def __and__(self, other: Clause) -> Clause:
        return self._joined("AND", other, identity=TRUE, zero=FALSE)

    def __or__(self, other: Clause) -> Clause:
        return self._joined("OR", other, identity=FALSE, zero=TRUE)

    def _joined(self, operator: str, other: Clause, *, identity: Clause, zero: Clause) -> Clause:
        if zero in (self, other):
            return zero
        if identity in (self, other):
            return other if self == identity else self
        return Clause(
            f"{self._operand} {operator} {other._operand}",
            self.parameters + other.parameters,
            self.needs_specs or other.needs_specs,
            operator == "AND" and (self.starts_at_hashes or other.starts_at_hashes),
            is_compound=True,
        )

    def __invert__(self) -> Clause:
        if self in (TRUE, FALSE):
            return FALSE if self == TRUE else TRUE
        return Clause(f"NOT {self._operand}", self.parameters, self.needs_specs)


TRUE, FALSE = Clause("1"), Clause("0")


class QueryCompiler:
    """Compile queries against the dictionaries of one index.

    Methods raise Unanswerable if a query asks for what the index does not have.
    """

    def __init__(
        self, dictionaries: Dictionaries, dependencies: DependencyFilter, by_host: ByHost
    ) -> None:
        self._dictionaries = dictionaries
        self._dependencies = dependencies
        self._by_host = by_host

    def clause(self, query: Query, *, hashes: bool = True) -> Clause:
        """Return the condition of a query; without `hashes` as if no hash had a given prefix."""
        clause = self._all_groups(query.groups, hashes)
        if query.specs:
            specs = [self._all_groups(groups, hashes) for groups in query.specs]
            clause &= _join(or_, specs, FALSE)
        return clause

    def hash_ranges(self, query: Query) -> list[tuple[str, str]]:
        """Return the ranges of the hashes with the prefixes in a query, if any hash has one."""
        terms = [term for term in query.conditions if isinstance(term, Term)]
        prefixes = {_hash_prefix(term, column) for term in terms for column in term.columns} - {""}
        return [hash_range(p) for p in sorted(prefixes) if self._dictionaries.has_hash(p)]

    def _all_groups(self, groups: tuple[Group, ...], hashes: bool) -> Clause:
        clauses: list[Clause] = []
        for group in groups:
            # Hundreds of pasted words would each be looked for in every column, to no end.
            if clauses and clauses[-1] == FALSE and all(c.column == ANY for c in group):
                continue
            clauses.append(_join(or_, [self._condition(c, hashes) for c in group], FALSE))
        return _join(and_, clauses, TRUE)

    def _condition(self, condition: Condition, hashes: bool) -> Clause:
        if isinstance(condition, Depends):
            clause = self._depends(condition)
        elif condition.column == "variants" and is_propagated(condition.pattern):
            clause = self._propagated(condition)
        else:
            columns = [c for c in condition.columns if hashes or not _hash_prefix(condition, c)]
            clause = _join(or_, [self._column(condition, c) for c in columns], FALSE)
        return ~clause if condition.negated else clause

    def _depends(self, condition: Depends) -> Clause:
        """Compile a condition on dependencies; of a page only those on the compiler."""
        if self._dictionaries.lists_dependencies:
            return _marked(self._dependencies.dependents(condition))
        if not condition.direct:
            raise Unanswerable(
                f"{condition} asks for dependencies, and pages list none", condition
            )
        compiler_fits(condition, "")
        compilers = self._dictionaries.texts("compiler")
        known_names = {"", *(compiler.partition("@")[0] for compiler in compilers)}
        if compiler_name(condition.name) not in known_names and not is_compiler(condition.name):
            raise Unanswerable(
                f"{condition} asks for a direct dependency, and of those pages list the compiler"
                " only",
                condition,
            )
        matching = [n for n, value in enumerate(compilers) if compiler_fits(condition, value)]
        return _codes("arch", matching, len(compilers))

    def _propagated(self, term: Term) -> Clause:
        if not self._dictionaries.lists_dependencies:
            raise Unanswerable(
                f"{term} asks for variants of dependencies, and pages list none", term
            )
        return _marked(self._dependencies.propagated(term))

    def _column(self, term: Term, column: Column) -> Clause:
        if column.name == "hash":
            return self._hash(term, column)
        if column.name == "size":
            if term.column == ANY:
                return FALSE
            bounds = size_range(term.pattern)
            return Clause("coalesce(spec.size BETWEEN ? AND ?, 0)", bounds, needs_specs=True)
        if column.is_by_host:
            return FALSE if term.column == ANY else _marked(self._by_host.mask(term))
        if column.name == "flags" and not self._dictionaries.lists_dependencies:
            raise Unanswerable(f"{term} asks for {column.label}, and pages list none", term)
        if term.column == "source":
            term = with_full_name(term, self._dictionaries.source_names)
        count = len(self._dictionaries.values(column.name))
        return _codes(column.storage, self._dictionaries.matching_codes(column.name, term), count)

    def _hash(self, term: Term, column: Column) -> Clause:
        if is_glob(term.pattern):
            if term.column == ANY:
                return FALSE
            pattern = term.pattern.removeprefix("/").lower()
            return Clause("spec.hash GLOB ?", (pattern,), needs_specs=True)
        prefix = _hash_prefix(term, column)
        if not self._dictionaries.has_hash(prefix):
            return FALSE
        between = hash_between(*hash_range(prefix))
        return Clause(between, needs_specs=True, starts_at_hashes=term.column != ANY)


def _join(
    join: Callable[[Clause, Clause], Clause], clauses: list[Clause], empty: Clause
) -> Clause:
    """Join clauses two by two: SQLite takes expressions a thousand deep, and not deeper."""
    while len(clauses) > 1:
        pairs = zip(clauses[::2], clauses[1::2], strict=False)
        clauses = [*(join(*pair) for pair in pairs), *clauses[len(clauses) // 2 * 2 :]]
    return clauses[0] if clauses else empty


def _hash_prefix(term: Term, column: Column) -> str:
    """Return the prefix of a hash that a term asks for in a column, or an empty text."""
    if column.name != "hash" or is_glob(term.pattern):
        return ""
    return term.pattern.lower() if term.column == ANY else term.pattern.removeprefix("/")


def _marked(mask: bytes) -> Clause:
    if not any(mask):
        return FALSE
    return Clause("substr(?, spec.id + 1, 1) = x'01'", (mask,), needs_specs=True)


def _codes(storage: str, codes: Sequence[int], count: int) -> Clause:
    if len(codes) in (0, count):
        return TRUE if codes else FALSE
    # Numbers are part of the text because the number of parameters has a limit.
    if len(codes) > count // 2:
        others = sorted(set(range(count)).difference(codes))
        return Clause(f"look_alike.{storage} NOT IN ({','.join(map(str, others))})")
    return Clause(f"look_alike.{storage} IN ({','.join(map(str, codes))})")


def hash_between(first: str, last: str) -> str:
    """Return SQL for the hashes in a range, whose bounds have only the letters of a hash.

    They are part of the text since older SQLite takes no more than 999 parameters.
    """
    return f"spec.hash BETWEEN '{first}' AND '{last}'"
