"""Collect the conditions of a query while it is parsed, each where it belongs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from spackscope.model.core.errors import QueryError
from spackscope.model.query import lexer
from spackscope.model.query.ast import NamedPart, Query, is_package_name, query_of_specs
from spackscope.model.query.conditions import Condition, Depends, Group, Term
from spackscope.model.query.lexer import Token
from spackscope.model.query.matchers import ANY, architecture, matcher
from spackscope.model.query.validation import MAX_TERMS, check_once, incomplete

_DEPTYPES = ("build", "link", "run", "test")

Spans = Mapping[Condition, tuple[int, int]]
"""Where in a text each condition begins and ends."""


class DependencyBuilder:
    """The conditions on one dependency so far, each with its offset.

    `is_any` where `*` was written, so that no condition has to follow.
    """

    def __init__(self, sigil: Token, negated: bool) -> None:
        self.sigil, self.negated, self.end = sigil, negated, sigil.end
        self.conditions: list[tuple[Part, int]] = []
        self.is_any = False

    @property
    def is_direct(self) -> bool:
        """Check whether it is written with `%`."""
        return self.sigil.text.startswith("%")

    @property
    def is_begun(self) -> bool:
        """Check whether there is a condition on the dependency itself."""
        return self.is_any or bool(self.conditions)

    @property
    def is_assigned(self) -> bool:
        """Check whether the sigil ends as in `%c=`, so that a name must follow."""
        return self.sigil.text.endswith("=")

    def has(self, column: str) -> bool:
        """Check whether there is a condition on a column."""
        return any(isinstance(c, Term) and c.column == column for c, _ in self.conditions)


Part = Term | DependencyBuilder | NamedPart
Groups = list[list[tuple[Part, int]]]
"""The alternatives of one spec so far, each with its offset."""


class QueryBuilder:
    """The specs of a query so far, and where the next condition belongs.

    `dependency` is what conditions belong to now, None for the spec itself. `negation` and
    `alternative` are a `!` or a `|` that still needs its condition.
    """

    def __init__(self) -> None:
        self.dependency: DependencyBuilder | None = None
        self.negation: Token | None = None
        self.alternative: Token | None = None
        self._specs: list[Groups] = [[]]
        # The columns of which another condition begins the next spec.
        self._begun_with: set[str] = set()
        # What `%` belongs to; None for the spec itself.
        self._parent: DependencyBuilder | None = None
        self._spans: dict[Condition, tuple[int, int]] = {}
        self._count = 0

    def build(self) -> tuple[Query, Spans]:
        """Return the query, and where its conditions are. Raises QueryError."""
        for sign in (self.negation, self.alternative):
            if sign is not None:
                raise incomplete(sign.text, sign.start)
        self.check_dependency()
        specs = [groups for spec in self._specs for groups in self._specs_of(spec)]
        return query_of_specs(specs), self._spans

    @property
    def is_empty(self) -> bool:
        """Check whether the spec has no condition yet."""
        return not self._specs[-1]

    @property
    def needs_one_condition(self) -> bool:
        """Check whether the next condition is negated, or an alternative."""
        return self.negation is not None or self.alternative is not None

    def begin(self, column: str) -> None:
        """Begin another spec if this one has a hash, or a condition on the column."""
        if self.needs_one_condition:
            return
        if self._begun_with & {"hash", column}:
            self.begin_spec(column)
        self._begun_with.add(column)

    def begin_spec(self, column: str) -> None:
        """Begin another spec with a condition on a column."""
        self.check_dependency()
        self._specs.append([])
        self._begun_with = {column}
        self.dependency = self._parent = None

    def add(self, term: Term, token: Token) -> None:
        """Add a condition to the dependency, or to the spec."""
        dependency = self.dependency
        if dependency is None or self.needs_one_condition:
            self.add_to_spec(term, token)
            return
        self._check(term, token)
        dependency.conditions.append((term, token.start))
        dependency.end = token.end
        self._spans.setdefault(term, (token.start, token.end))

    def add_to_parent(self, term: Term, token: Token) -> None:
        """Add a condition on the architecture, which is never one on what `%` names."""
        dependency = self.dependency
        if dependency is None or not dependency.is_direct:
            self.add(term, token)
            return
        self.check_dependency()
        self.dependency = self._parent
        self.add(term, token)
        self.dependency = dependency

    def add_to_spec(self, term: Term, token: Token) -> None:
        """Add a condition to the spec itself."""
        self.check_dependency()
        self._check(term, token)
        term = Term(term.column, term.pattern, self.negation is not None)
        self.negation = None
        self._append(term, token)
        self._spans.setdefault(term, (token.start, token.end))
        if term.column in ("package", ANY):
            self.dependency = self._parent = None

    def add_named(self, query: Query, token: Token) -> None:
        """Add the conditions of a named query; one that names packages begins a spec."""
        self.check_dependency()
        if any(is_package_name(g) for groups in (query.groups, *query.specs) for g in groups):
            self.begin("package")
        for _ in query.conditions:
            self._count_term(token)
        self._append(NamedPart(query, token, self.negation is not None), token)
        self.negation = self.dependency = self._parent = None

    def add_nothing(self, token: Token) -> None:
        """Count a condition with an empty value, which Spack ignores."""
        self._count_term(token)
        if self.dependency is not None and not self.dependency.is_begun:
            self.dependency.is_any = True

    def begin_dependency(self, token: Token) -> None:
        """Begin a dependency, which the next conditions belong to."""
        if self.dependency is not None and self.dependency.is_assigned:
            self.check_dependency()
        negated, self.negation = self.negation is not None, None
        dependency = DependencyBuilder(token, negated)
        if dependency.is_direct and self._parent and self.alternative is None and not negated:
            self._parent.conditions.append((dependency, token.start))
        else:
            self._append(dependency, token)
            self._parent = None if dependency.is_direct else dependency
        self.dependency = dependency
        self._count_term(token)

    def negate(self, token: Token) -> None:
        """Negate the next condition, which belongs to the spec."""
        self.negation, self.dependency, self._parent = token, None, None

    def join(self, token: Token) -> None:
        """Make the next condition, which belongs to the spec, an alternative to the last one."""
        self.alternative, self.dependency, self._parent = token, None, None

    def check_dependency(self) -> None:
        """Check that no dependency is left without a name or a condition. Raises QueryError."""
        dependency = self.dependency
        if dependency is None or dependency.is_begun or dependency.sigil.text.endswith("]"):
            return
        raise incomplete(dependency.sigil.text[0], dependency.sigil.start)

    def _append(self, condition: Part, token: Token) -> None:
        groups = self._specs[-1]
        if self.alternative is not None:
            groups[-1].append((condition, token.start))
            self.alternative = None
        else:
            groups.append([(condition, token.start)])

    def _check(self, term: Term, token: Token) -> None:
        self._count_term(token)
        try:
            matcher(term.column, term.pattern)
        except ValueError as error:
            raise QueryError(str(error), token.start) from None

    def _count_term(self, token: Token) -> None:
        self._count += 1
        if self._count > MAX_TERMS:
            raise QueryError(f"A query has at most {MAX_TERMS:,} terms", token.start)

    def _specs_of(self, spec: Groups) -> list[list[Group]]:
        """Return the groups of a spec, once for each spec that its views have."""
        single: list[tuple[Condition, int]] = []
        groups = self._groups([group for group in spec if not _has_named(group)], single)
        inserted = [
            [
                (part if isinstance(part, NamedPart) else self._condition(part), start)
                for part, start in group
            ]
            for group in spec
            if _has_named(group)
        ]
        if not inserted:
            return [groups]
        # Most queries have none.
        from spackscope.model.query.inserted_queries import insert_queries

        return insert_queries(groups, single, inserted, self._spans)

    def _groups(self, spec: Groups, single: list[tuple[Condition, int]]) -> list[Group]:
        groups: list[Group] = []
        for alternatives in spec:
            group = tuple(dict.fromkeys(self._condition(part) for part, _ in alternatives))
            condition = group[0]
            if len(group) == 1 and isinstance(condition, Term) and not condition.negated:
                single.append((condition, alternatives[0][1]))
                groups += [(term,) for term in self._split_architecture(condition)]
            else:
                groups.append(group)
        check_once(single)
        return groups

    def _condition(self, part: Part) -> Condition:
        if isinstance(part, Term):
            return part
        assert isinstance(part, DependencyBuilder)
        virtuals, deptypes = _parse_edge(part.sigil)
        terms = [(term, start) for term, start in part.conditions if isinstance(term, Term)]
        check_once(terms)
        nested = [self._condition(c) for c, _ in part.conditions if not isinstance(c, Term)]
        split = (single for term, _ in terms for single in self._split_architecture(term))
        conditions = tuple(dict.fromkeys((*split, *nested)))
        dependency = Depends(part.is_direct, conditions, virtuals, deptypes, part.negated)
        end = max(part.end, *(self._spans[c][1] for c in nested), 0)
        self._spans.setdefault(dependency, (part.sigil.start, end))
        return dependency

    def _split_architecture(self, term: Term) -> list[Term]:
        """Split an architecture, so that each column shows its part."""
        if term.column != "arch":
            return [term]
        parts = [Term(column, pattern) for column, pattern in architecture(term.pattern)]
        for part in parts:
            self._spans.setdefault(part, self._spans[term])
        return parts


def _has_named(alternatives: list[tuple[Part, int]]) -> bool:
    return any(isinstance(part, NamedPart) for part, _ in alternatives)


def _parse_edge(token: Token) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the virtuals and the deptypes of a dependency token, both sorted.

    `%[deptypes=build] c,cxx=` has both ways to write them; the rules are those of
    `EdgeAttributeParser` in lib/spack/spack/spec_parser.py. Raises QueryError.
    """
    parts = re.fullmatch(lexer.EDGE_PARTS, token.text)
    assert parts is not None
    values: dict[str, str] = {}
    offset = token.start
    start, end = parts.span(2)
    while token.text[start:end].strip():
        attribute = re.compile(lexer.ATTRIBUTE).match(token.text, start, end)
        if attribute is None or attribute[1] not in ("virtuals", "deptypes"):
            raise QueryError("Expected virtuals=… or deptypes=…", token.start + start)
        # The last of several counts.
        values[attribute[1]] = attribute[3].strip("'\" ")
        if attribute[1] == "deptypes":
            offset = token.start + attribute.start(3)
        start = attribute.end()
    deptypes = set(values["deptypes"].split(",")) if "deptypes" in values else set()
    if unknown := sorted(deptypes.difference(_DEPTYPES)):
        hint = "use build, link, run or test"
        raise QueryError(f"{unknown[0]} is not a dependency type: {hint}", offset)
    virtuals = f"{values.get('virtuals', '')},{parts[3] or ''}".split(",")
    return tuple(sorted({name.strip() for name in virtuals} - {""})), tuple(sorted(deptypes))
