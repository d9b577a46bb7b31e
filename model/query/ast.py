"""Represent a query as one frozen value, however it was typed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spackscope.model.core.frozen import Frozen, field, replace
from spackscope.model.core.variants import is_variant, split_variant
from spackscope.model.query import lexer
from spackscope.model.query.conditions import Condition, Group, Term, exact_term
from spackscope.model.query.matchers import ANY, is_glob


class Query(Frozen):
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
    _unordered: tuple[frozenset[Group], frozenset[frozenset[Group]]] = field(
        init=False, repr=False
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "groups", _in_order(self.groups))
        object.__setattr__(self, "specs", tuple(map(_in_order, self.specs)))
        unordered = frozenset(self.groups), frozenset(map(frozenset, self.specs))
        object.__setattr__(self, "_unordered", unordered)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Query) and self._unordered == other._unordered

    def __hash__(self) -> int:
        return hash(self._unordered)

    def __str__(self) -> str:
        # The module imports this one.
        from spackscope.model.query.format import format_query

        return format_query(self)

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
    def words(self) -> frozenset[str]:
        """The texts that must all be found, in any column."""
        words = (group[0] for group in self.groups if len(group) == 1)
        terms = (term for term in words if isinstance(term, Term))
        return frozenset(t.pattern for t in terms if t.column == ANY and not t.negated)

    @property
    def package_term(self) -> Term | None:
        """The condition that names a single package, or None.

        As `exact_term` spells it: the name of an odd package may hold `?`.
        """
        terms = [term for group in self.groups if (term := _package_named(group)) is not None]
        return terms[0] if len(terms) == 1 else None

    @property
    def package(self) -> str | None:
        """The name of the only package in the query, or None."""
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

    def toggled(self, term: Term) -> Query:
        """Return the query with a condition as one more alternative on its column, or without it.

        >>> str(parse("source=a|b").toggled(Term("source", "a")))
        'source=b'
        """
        groups = self.of_column(term.column)
        old = next((g for g in groups if not any(condition.negated for condition in g)), ())
        new = tuple(c for c in old if c != term) if term in old else (*old, term)
        rest = self.minus(Query((old,))) if old else self
        return rest.plus(Query((new,))) if new else rest

    def of_column(self, column: str) -> tuple[Group, ...]:
        """Return the groups whose conditions are all on one column, or on the variant `+x`."""
        return tuple(g for g in self.groups if all(_is_on(c, column) for c in g))

    def without_column(self, column: str) -> Query:
        """Return the query without the groups that `of_column` returns."""
        groups = tuple(g for g in self.groups if not all(_is_on(c, column) for c in g))
        return replace(self, groups=groups)


class NamedPart(Frozen):
    """A named query, negated or not, where it is used."""

    query: Query
    token: lexer.Token
    negated: bool


def query_of(*conditions: Condition) -> Query:
    """Build the query whose conditions must all hold."""
    return Query(tuple((condition,) for condition in dict.fromkeys(conditions)))


def query_of_specs(specs: Iterable[Iterable[Group]]) -> Query:
    """Build the query of several specs, of which one must hold."""
    all_groups = [_in_order(dict.fromkeys(groups)) for groups in specs]
    if len(all_groups) == 1:
        return Query(all_groups[0])
    shared = tuple(g for g in all_groups[0] if all(g in groups for groups in all_groups[1:]))
    rest = tuple(tuple(g for g in groups if g not in shared) for groups in all_groups)
    if all(len(spec) == 1 and len(spec[0]) == 1 and is_package_name(spec[0]) for spec in rest):
        # Names alone are alternatives like any others.
        return Query((*shared, tuple(dict.fromkeys(groups[0][0] for groups in rest))))
    return Query(shared, rest if all(rest) else ())


def _is_on(condition: Condition, column: str) -> bool:
    if column[:1] != "+":
        return condition.column == column
    if not isinstance(condition, Term) or condition.column != "variants":
        return False
    if not is_variant(condition.pattern):
        return False
    return split_variant(condition.pattern)[0] == column[1:]


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
    # As a name `*` is not a condition, and a dot comes after a namespace.
    is_name = pattern != "*" and pattern.isascii() and lexer.is_token(lexer.NAME, pattern)
    return is_name and ("." not in pattern or is_glob(pattern))


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
