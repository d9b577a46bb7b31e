"""Represent a query as one frozen value, however it was typed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from spackscope.model.core.column import Column, Value
from spackscope.model.core.columns import ALIASES, COLUMNS, FIELDS, FLAGS
from spackscope.model.core.compilers import compiler_name
from spackscope.model.core.text import is_clean
from spackscope.model.query import lexer
from spackscope.model.query.matchers import ANY, is_glob, is_propagated, test_of

COLUMN_KEYS = frozenset({*FIELDS, *ALIASES, *FLAGS})
"""Keys that are not variants."""


@dataclass(frozen=True, slots=True)
class Term:
    """A condition on a column: the pattern that its value must match, or must not if `negated`.

    A pattern with `*` or `?` is a glob and ignores case. Others are read as Spack reads them:
    a version or a target as a constraint, a compiler as `name@constraint`, a hash as a prefix.
    """

    column: str
    pattern: str
    negated: bool = False

    def __post_init__(self) -> None:
        parts = lexer.PAIR_PARTS.fullmatch(self.pattern) if self.column == "variants" else None
        if parts is not None:
            key, operator, value = parts.groups()
            pattern = lexer.variant_pattern(key, operator, lexer.unquoted(value))
            object.__setattr__(self, "pattern", pattern)

    def __str__(self) -> str:
        return _text_of(self)

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns whose values are compared."""
        return COLUMNS if self.column == ANY else (FIELDS[self.column],)

    def fits(self, column: str, value: Value) -> bool:
        """Check a value of one of these columns against the pattern, ignoring negation.

        A bare word must begin a hash, and may be anywhere in other texts.
        """
        if self.column == ANY and column == "hash":
            return isinstance(value, str) and value.startswith(self.pattern.lower())
        return test_of(self.column, self.pattern)(value)


@dataclass(frozen=True, slots=True)
class Depends:
    """A condition on a dependency: `^zlib@1.3`, or `%cmake` where it must be direct.

    `terms` are the conditions on the dependency itself, `virtuals` and `deptypes` those on the
    edge to it. A direct one also applies to the compiler.
    """

    direct: bool
    terms: tuple[Condition, ...]
    virtuals: tuple[str, ...] = ()
    deptypes: tuple[str, ...] = ()
    negated: bool = False

    def __str__(self) -> str:
        return _text_of(self)

    @property
    def name_term(self) -> Condition | None:
        """The condition on the name of the dependency, if there is one."""
        return next((t for t in self.terms if t.column == "package" and not t.negated), None)

    @property
    def name(self) -> str:
        """The name of the dependency, or an empty text for any."""
        return self.name_term.pattern if isinstance(self.name_term, Term) else ""

    @property
    def compiler(self) -> str | None:
        """The pattern of a compiler that this condition is in a record that names only that.

        None where it asks for more than the name, version and hash of a compiler.
        """
        pattern, has_more = self.stated_compiler
        is_plain = all(term.column in _STATED for term in self.terms)
        return pattern if self.direct and self.name and is_plain and not has_more else None

    @property
    def stated_compiler(self) -> tuple[str, bool]:
        """The pattern of the compiler, and whether the condition asks for more than that.

        Of a compiler that a record states Spack keeps only name and version, and ignores
        propagated variants and a namespace. The name is that of a package: `%oneapi` means
        intel-oneapi-compilers, as in Spack.
        """
        terms = [term for term in self.terms if isinstance(term, Term)]
        stated = {t.column: t.pattern for t in terms if t.column in _STATED and not t.negated}
        if "package" in stated:
            stated["package"] = compiler_name(stated["package"])
        ignored = [
            term
            for term in terms
            if term.column == "namespace"
            or (term.column == "variants" and is_propagated(term.pattern))
        ]
        pattern = "".join(
            sign + stated[column] for column, sign in _STATED.items() if column in stated
        )
        return pattern, len(stated) + len(ignored) < len(self.terms)

    @property
    def column(self) -> str:
        """The column whose filter shows this condition, or an empty text."""
        is_one_word = not self.deptypes and (self.is_assigned or not self.virtuals)
        return "compiler" if self.compiler is not None and is_one_word else ""

    @property
    def is_assigned(self) -> bool:
        """Check whether its virtuals can be written as in `%c,cxx=gcc`."""
        return lexer.IDENTIFIERS.fullmatch(",".join(self.virtuals)) is not None


_STATED = {"package": "", "version": "@", "hash": "/"}
"""What a record can state of a compiler, with the signs of its pattern."""

Condition = Term | Depends
Group = tuple[Condition, ...]
"""Alternatives, of which one must hold."""


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """Groups that must all hold, and several specs of which one must.

    A group holds where one of its conditions does. `groups` has what all specs share; `specs` is
    empty where there is only one. Two queries are equal whatever the order of their groups.

    The groups are in the order in which they can be written: the name comes first, then the hash,
    since either may begin another spec, and conditions on dependencies come last, since in a text
    whatever follows them belongs to the dependency. Among alternatives they come first: what
    follows `|` belongs to the spec again.

    Example: `Query(((Term("package", "hdf5"),), (Term("os", "a"), Term("os", "b"))))` is
    `hdf5 os=a | os=b`.
    """

    groups: tuple[Group, ...] = ()
    specs: tuple[tuple[Group, ...], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", _in_order(self.groups))
        object.__setattr__(self, "specs", tuple(map(_in_order, self.specs)))

    def _unordered(self) -> tuple[frozenset[Group], frozenset[frozenset[Group]]]:
        return frozenset(self.groups), frozenset(map(frozenset, self.specs))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and self._unordered() == other._unordered()

    def __hash__(self) -> int:
        return hash(self._unordered())

    def __str__(self) -> str:
        return _text_of(self)

    def __bool__(self) -> bool:
        return bool(self.groups or self.specs)

    @property
    def conditions(self) -> Iterator[Condition]:
        """Every condition."""
        for groups in (self.groups, *self.specs):
            for group in groups:
                yield from group

    @property
    def columns(self) -> frozenset[str]:
        """The names of the columns with a condition."""
        return frozenset(condition.column for condition in self.conditions)

    @property
    def package_term(self) -> Term | None:
        """The condition that names a single package, or None.

        As `exact_term` spells it: the name of an odd package may hold `?`.
        """
        terms = [term for group in self.groups if (term := _package_named(group)) is not None]
        return terms[0] if len(terms) == 1 else None

    @property
    def package(self) -> str | None:
        """The name of the single package that is asked for, or None."""
        term = self.package_term
        return None if term is None or is_glob(term.pattern) else term.pattern

    def with_package(self, name: str | None) -> Query:
        """Return the query with another package in place of its own; with None for all."""
        rest = replace(self, groups=tuple(g for g in self.groups if _package_named(g) is None))
        return rest if name is None else rest.also(exact_term("package", name))

    def parts(self) -> list[Query]:
        """Return the parts that must all hold."""
        parts = [Query((group,)) for group in self.groups]
        return [*parts, Query((), self.specs)] if self.specs else parts

    def minus(self, part: Query) -> Query:
        """Return the query without a part."""
        groups = tuple(group for group in self.groups if group not in part.groups)
        return Query(groups, () if part.specs else self.specs)

    def plus(self, part: Query) -> Query:
        """Return the query with the conditions of another; only one may have several specs."""
        new = tuple(group for group in part.groups if group not in self.groups)
        return Query(self.groups + new, self.specs or part.specs) if new or part.specs else self

    def also(self, condition: Condition) -> Query:
        """Return the query with one more condition."""
        return self.plus(Query(((condition,),)))

    def without_last(self) -> Query:
        """Return the query without its last group, or without specs where there is no group."""
        return replace(self, groups=self.groups[:-1]) if self.groups else Query()

    def of_column(self, column: str) -> tuple[Group, ...]:
        """Return the groups whose conditions are all on one column."""
        return tuple(g for g in self.groups if all(c.column == column for c in g))

    def without_column(self, column: str) -> Query:
        """Return the query without the groups whose conditions are all on one column."""
        gone = self.of_column(column)
        return replace(self, groups=tuple(group for group in self.groups if group not in gone))


def query_of(*conditions: Condition) -> Query:
    """Build the query whose conditions must all hold."""
    return Query(tuple((condition,) for condition in dict.fromkeys(conditions)))


def query_of_specs(specs: Iterable[Iterable[Group]]) -> Query:
    """Build the query of several specs, of which one must hold."""
    all_groups = [_in_order(dict.fromkeys(groups)) for groups in specs]
    shared = tuple(g for g in all_groups[0] if all(g in groups for groups in all_groups[1:]))
    rest = tuple(tuple(g for g in groups if g not in shared) for groups in all_groups)
    if all(
        len(groups) == 1 and len(groups[0]) == 1 and is_package_name(groups[0]) for groups in rest
    ):
        # Names alone are alternatives like any others.
        return Query((*shared, tuple(dict.fromkeys(groups[0][0] for groups in rest))))
    return Query(shared, rest if all(rest) else ())


def exact_term(column: str, value: str) -> Term:
    """Build the term that only a value shown on the screen fits.

    What Spack does not accept as a version is matched as a text, with `?` for its odd signs, and
    so is what must not be shown unchanged.
    """
    if not value:
        return Term(column, "?*", negated=True)
    exact = {"compiler": value.replace("@", "@=", 1), "version": f"={value}"}.get(column, value)
    if column == "target" and set(value) & set(",:"):
        exact = ""
    try:
        is_plain = is_clean(value) and not is_glob(value)
        if is_plain and test_of(column, exact)((value,) if column == "variants" else value):
            return Term(column, exact)
    except ValueError:
        pass
    pattern = re.sub(r"[^\w.-]", "?", value, flags=re.ASCII)
    return Term(column, pattern if is_glob(pattern) else f"{pattern[:-1]}?")


_UNNAMED = Term("package", "?*", negated=True)


def _package_named(group: Group) -> Term | None:
    """Return the term that names a single package and has no alternatives."""
    term = group[0]
    if len(group) > 1 or not isinstance(term, Term) or term.column != "package":
        return None
    is_exact = term == _UNNAMED or not (term.negated or "*" in term.pattern)
    return term if is_exact else None


def is_package_name(group: Group) -> bool:
    """Check whether a group begins with what can be written as the bare name of a package."""
    first = group[0]
    if not isinstance(first, Term) or first.negated or first.column != "package":
        return False
    pattern = first.pattern
    return (
        # As a name `*` is no condition.
        pattern != "*"
        and pattern.isascii()
        and lexer.is_token(lexer.NAME, pattern)
        and ("." not in pattern or is_glob(pattern))
    )


def order_of(group: Group) -> tuple[int, int]:
    """Return the key that sorts the groups of a spec into the order of a text."""
    first = group[0]
    if not isinstance(first, Term):
        return _depth(first), 2
    if first.negated or first.column not in ("package", "hash"):
        return 0, 2
    if first.column == "package":
        return 0, 0
    return 0, 1 if lexer.is_token(lexer.HASH, f"/{first.pattern}") else 2


def _in_order(groups: Iterable[Group]) -> tuple[Group, ...]:
    ordered = (tuple(sorted(group, key=_depth, reverse=True)) for group in groups)
    return tuple(sorted(ordered, key=order_of))


def _depth(condition: Condition) -> int:
    return 0 if isinstance(condition, Term) else 1 if condition.direct else 2


def _text_of(value: Condition | Query) -> str:
    # The module imports this one.
    from spackscope.model.query import format

    return (
        format.format_query(value) if isinstance(value, Query) else format.format_condition(value)
    )
