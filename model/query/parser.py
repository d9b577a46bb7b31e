"""Parse a query: Spack's spec syntax, with keys and signs of its own.

The grammar is that of lib/spack/spack/spec_parser.py in Spack 1.2. Beyond it there are the keys
of the columns, `!` and `|`, wildcards, and bare words in a live filter. Unlike in Spack, a name
may follow the conditions that belong to it, and the architecture after `%name` is that of the
spec, not of its dependency.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain, product
from typing import TypeVar

from spackscope.model.core.columns import ALIASES, FIELDS, FLAGS, REGISTRY, WORDS
from spackscope.model.core.errors import QueryError, WrongNamedQuery
from spackscope.model.core.frozen import Frozen, field, replace
from spackscope.model.core.variants import is_variant, split_variant
from spackscope.model.query import lexer
from spackscope.model.query.ast import (
    VIEW,
    Condition,
    Depends,
    Group,
    NamedPart,
    Query,
    Term,
    is_package_name,
    query_of_specs,
)
from spackscope.model.query.lexer import Token
from spackscope.model.query.matchers import ANY, ARCHITECTURE, architecture, is_glob, matcher

MAX_QUERY_LENGTH = 50_000
"""Characters of a query; scripts pass hundreds of whole hashes."""

MAX_TERMS = 1_000
"""Terms of a query."""

_ONCE = frozenset(column.name for column in REGISTRY if column.once)
_ARCHITECTURE = frozenset((column, column) for column in ARCHITECTURE)

_EXPECTED = {
    **dict.fromkeys("+~-", "a variant"),
    "!": "a condition",
    "|": "another condition",
    "@": "a version",
    "/": "a hash prefix",
    "^": "a dependency",
    "%": "a compiler or a direct dependency",
    "=": "a name before =, and a value",
}
_BOUND = re.compile(r"[^@,:=\s]+")


def check_once(conditions: Iterable[tuple[Condition, int]]) -> None:
    """Refuse what Spack refuses: one spec with two versions, or with one variant twice.

    Each condition comes with its offset, in the order in which they are written; all of them must
    hold, and none is negated. The rules are those of `SpecNodeParser`, and of
    `Spec._set_architecture`, which takes no `arch=` after a part of it. Raises QueryError at the
    second one.
    """
    first_conditions: dict[tuple[str, str], Condition] = {}
    for condition, offset in conditions:
        keys = _keys(condition)
        excluded = _ARCHITECTURE if condition.column == "arch" else keys
        for key in sorted(excluded & first_conditions.keys()):
            first = first_conditions[key]
            if first == condition and condition.column == "namespace":
                continue
            hint = f". For either, write {first} | {condition}." if first != condition else ""
            raise QueryError(f"{key[1]} is given twice{hint}", offset)
        first_conditions.update(dict.fromkeys(keys, condition))


def _keys(condition: Condition) -> frozenset[tuple[str, str]]:
    """Return the columns, each with itself or a variant, that a spec has only once."""
    if not isinstance(condition, Term):
        return frozenset()
    column, pattern = condition.column, condition.pattern
    if column == "arch":
        return frozenset((column, column) for column, _ in architecture(pattern))
    if column == "variants":
        return frozenset({(column, split_variant(pattern)[0])} if is_variant(pattern) else ())
    is_once = column in _ONCE and (not is_glob(pattern) or pattern == "*")
    return frozenset({(column, column)} if is_once else ())


def incomplete(sign: str, offset: int) -> QueryError:
    """Return the error on a sign that needs more after it."""
    return QueryError(f"Expected {_EXPECTED[sign]} after {sign}", offset)


def unclosed_quote(offset: int) -> QueryError:
    """Return the error on a quote without its end."""
    return QueryError("Unclosed quote", offset)


def unexpected(token: Token, before: Token, after: Token | None) -> QueryError:
    """Return the error on a character that begins no token, by the tokens around it."""
    if token.text[0] in lexer.QUOTES:
        return unclosed_quote(token.start)
    is_value_missing = token.text == "=" and before.kind == lexer.NAME
    if is_value_missing and after is not None and after.text[0] in lexer.QUOTES:
        return unclosed_quote(after.start)
    if token.text == "[" and before.kind == lexer.DEPENDENCY and before.end < token.start:
        return QueryError(f'Unexpected "[". Write {before.text}[ without a blank.', token.start)
    if token.text == "[" and before.kind == lexer.DEPENDENCY:
        return QueryError("Expected ] and a name after [", token.start)
    if is_value_missing and before.end == token.start:
        return QueryError(f"Expected a value after {before.text}=", token.start)
    if token.text in _EXPECTED:
        return incomplete(token.text, token.start)
    hint = "Quote it, or use | for or." if token.text in "()" else "Quote it in a value."
    return QueryError(f'Unexpected "{token.text}". {hint}', token.start)


def check_ascii(token: Token) -> None:
    """Refuse letters that no name and no value of Spack has, unless they are quoted.

    Raises QueryError.
    """
    parts = lexer.PAIR_PARTS.fullmatch(token.text) if token.kind == lexer.PAIR else None
    is_quoted = token.kind == lexer.WORD or (parts is not None and parts[3][0] in lexer.QUOTES)
    if is_quoted or token.kind == lexer.ERROR:
        return
    for position, letter in enumerate(token.text):
        if not letter.isascii() and not letter.isspace():
            message = f'Unexpected "{letter}". Quote it in a value.'
            raise QueryError(message, token.start + position)


def check_version_end(token: Token) -> None:
    """Refuse a version that ends in a separator, as Spack's tokenizer does. Raises QueryError."""
    for match in _BOUND.finditer(token.text):
        bound = match[0]
        if bound[-1] in ".-" and not token.text.startswith("@git."):
            raise QueryError(f'Unexpected "{bound[-1]}"', token.start + match.end() - 1)


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


Alternatives = Sequence[tuple[Condition | NamedPart, int]]
"""Conditions and named queries of which one must hold, each with its offset."""

Item = TypeVar("Item")

_TOO_MANY = "A view has too many conditions to be used so"


def insert_queries(
    groups: list[Group],
    single: Sequence[tuple[Condition, int]],
    inserted: Iterable[Alternatives],
    spans: dict[Condition, tuple[int, int]],
) -> list[list[Group]]:
    """Return the groups of a spec with those of named queries, once for each spec that these have.

    `single` are the conditions of the spec that are neither negated nor alternatives, with their
    offsets. `spans` gets where the conditions of the named queries are: at their names. Raises
    QueryError where they are too many, or a spec would have two versions.
    """
    specs = [groups]
    for alternatives in inserted:
        start = alternatives[0][1]
        try:
            parts = _specs(alternatives, spans)
            specs = [[*groups, *more] for groups, more in _product([specs, parts])]
            for groups in specs:
                _check_once(groups, single, start)
            if sum(_size(c) for groups in specs for group in groups for c in group) > MAX_TERMS:
                raise QueryError(_TOO_MANY)
        except QueryError as error:
            raise QueryError(str(error), start) from None
    return specs


def _specs(
    alternatives: Alternatives, spans: dict[Condition, tuple[int, int]]
) -> list[list[Group]]:
    """Return what alternatives with a named query among them mean: the groups of some specs."""
    part, _ = alternatives[0]
    if len(alternatives) == 1 and isinstance(part, NamedPart) and not part.negated:
        query = part.query
        _note(part, chain(query.groups, *query.specs), spans)
        return [[*query.groups, *more] for more in query.specs or ((),)]
    parts: list[Sequence[Group]] = []
    for part, _ in alternatives:
        if isinstance(part, NamedPart):
            groups = normal_form(part.query)
            parts.append(opposite(groups) if part.negated else groups)
            _note(part, parts[-1], spans)
        else:
            parts.append([(part,)])
    return [either(parts)]


def _size(condition: Condition) -> int:
    """Return how many terms a condition is written with."""
    return 1 if isinstance(condition, Term) else 1 + sum(map(_size, condition.terms))


def _note(
    part: NamedPart, groups: Iterable[Group], spans: dict[Condition, tuple[int, int]]
) -> None:
    for condition in chain.from_iterable(groups):
        spans.setdefault(condition, (part.token.start, part.token.end))


def _check_once(
    groups: Sequence[Group], single: Sequence[tuple[Condition, int]], start: int
) -> None:
    """Refuse a named query that gives a spec a second version, which no text could say."""
    named = [group[0] for group in groups if len(group) == 1 and not group[0].negated]
    places = dict(reversed(single))
    try:
        check_once((c, places.get(c, start)) for c in dict.fromkeys((*places, *named)))
    except QueryError as error:
        raise QueryError(f"{str(error).partition('. For')[0]}: here and in a view") from None


def normal_form(query: Query) -> list[Group]:
    """Return a query as groups that must all hold, even if it has several specs.

    Raises QueryError where they are too many.
    """
    return [*query.groups, *(either(query.specs) if query.specs else ())]


def either(parts: Iterable[Sequence[Group]]) -> list[Group]:
    """Return the groups that hold where all groups of one of the parts hold.

    Raises QueryError where they are too many.
    """
    return _shortest(tuple(dict.fromkeys(chain.from_iterable(each))) for each in _product(parts))


def opposite(groups: Sequence[Group]) -> list[Group]:
    """Return the groups that hold where one of some groups does not.

    Raises QueryError where they are too many.
    """
    return _shortest(tuple(dict.fromkeys(map(_negated, choice))) for choice in _product(groups))


def _shortest(groups: Iterable[Group]) -> list[Group]:
    """Return groups without those that hold because another one does, with fewer alternatives."""
    kept: dict[frozenset[Condition], Group] = {}
    for group in sorted(groups, key=len):
        conditions = frozenset(group)
        if not any(fewer <= conditions for fewer in kept):
            kept[conditions] = group
    return [*kept.values()]


def _negated(condition: Condition) -> Condition:
    return replace(condition, negated=not condition.negated)


def _product(parts: Iterable[Sequence[Item]]) -> Iterable[tuple[Item, ...]]:
    """Yield all ways to take one of each part. Raises QueryError where they are too many."""
    parts = list(parts)
    if math.prod(map(len, parts)) > MAX_TERMS:
        raise QueryError(_TOO_MANY)
    return product(*parts)


Packages = Collection[str] | None
"""The names that a bare word may be; None where it is the name of a package whatever it is."""

_OF_RECORDS = frozenset(column.name for column in REGISTRY if column.syntax == "record")
_PART_OF_NAME = re.compile(r"[A-Za-z_0-9][A-Za-z_0-9\-]*")
_SIGILS = (lexer.VERSION, lexer.VARIANT, lexer.HASH, lexer.DEPENDENCY)

# RESERVED_NAMES of lib/spack/spack/variant.py: what no dependency can be given with `==`.
_NOT_PROPAGATED = frozenset(
    {
        *("arch", "architecture", "platform", "os", "operating_system", "target", "namespace"),
        *("branch", "commit", "dev_path", "patches", "tag"),
    }
)


def parse(text: str, *, packages: Packages = None, named: NamedQueries | None = None) -> Query:
    """Parse Spack specs, with the additions of docs/query-language.md.

    A word without sigil or key is the name of a package. With `packages`, as in a live filter, it
    is one only if it names some of them, and else a text in any column; there a version may also
    end in a separator. `view=` uses one of `named`, the named queries, if there are some, and else
    is a variant. Returns the query, whose `str` parses back to it. Raises QueryError at the first
    offset where the text is not a query.

    Example: `parse("hdf5@1.14 +mpi os=a | os=b").of_column("os")` has one group of two terms.
    """
    return parse_tokens(text, lexer.tokens(text), packages=packages, named=named)[0]


def parse_tokens(
    text: str,
    tokens: Iterable[Token],
    *,
    packages: Packages = None,
    named: NamedQueries | None = None,
    inside: Sequence[str] = (),
) -> tuple[Query, Spans, Sequence[Token]]:
    """Parse the tokens of a text; return its query, and where in it each condition is.

    Returns also the words that are searched in any column. `inside` are the names of the queries
    whose text this is. Raises QueryError.
    """
    if len(text) > MAX_QUERY_LENGTH:
        raise QueryError(f"A query has at most {MAX_QUERY_LENGTH:,} characters", MAX_QUERY_LENGTH)
    return Parser(tokens, packages, named, inside).parse()


class Parser:
    """Parse the tokens of one query."""

    def __init__(
        self,
        tokens: Iterable[Token],
        packages: Packages,
        named: NamedQueries | None,
        inside: Sequence[str],
    ) -> None:
        self._tokens = [token for token in tokens if token.kind != lexer.SPACE]
        self._position = 0
        self._packages = packages
        self._named, self._inside = named, inside
        self._builder = QueryBuilder()
        # The last condition with an empty value, as in `os=''`.
        self._empty: Token | None = None
        self._words: list[Token] = []

    def parse(self) -> tuple[Query, Spans, Sequence[Token]]:
        """Return what `parse_tokens` returns. Raises QueryError."""
        handlers: dict[str, Callable[[Token], None]] = {
            lexer.NAME: self._name,
            lexer.WORD: self._word,
            lexer.VERSION: self._version,
            lexer.VARIANT: self._variant,
            lexer.HASH: self._hash,
            lexer.PAIR: self._pair,
            lexer.DEPENDENCY: self._builder.begin_dependency,
            lexer.NOT: self._not,
            lexer.OR: self._or,
            lexer.ERROR: self._error,
        }
        for position, token in enumerate(self._tokens):
            self._position = position
            if self._packages is None:
                check_ascii(token)
            handlers[token.kind](token)
        return *self._builder.build(), self._words

    def _name(self, token: Token) -> None:
        builder = self._builder
        dependency = builder.dependency
        if dependency is not None and not dependency.is_begun:
            self._name_dependency(dependency, token)
            return
        if not self._is_attached and token.text in WORDS:
            builder.add_to_spec(Term(*WORDS[token.text]), token)
            return
        if not self._is_attached and not self._is_package(token.text):
            self._word(token)
            return
        builder.begin("package")
        if token.text == "*":
            self._empty = token
            return
        terms = _name_terms(token)
        is_followed = self._next is not None and self._next.kind == lexer.OR
        if is_followed or builder.needs_one_condition:
            self._check_single(token, terms)
        for term in terms:
            builder.add_to_spec(term, token)

    def _is_package(self, word: str) -> bool:
        """Check whether a bare word names a package."""
        if self._packages is None:
            return True
        if is_glob(word):
            return any(map(matcher("package", word), self._packages))
        parts = word.split(".")
        return parts[-1] in self._packages and all(map(_PART_OF_NAME.fullmatch, parts))

    def _name_dependency(self, dependency: DependencyBuilder, token: Token) -> None:
        dependency.end = token.end
        if token.text == "*" and not dependency.is_assigned:
            dependency.is_any = True
            return
        for term in _name_terms(token):
            self._builder.add(term, token)

    def _check_single(self, token: Token, terms: Sequence[Term]) -> None:
        if len(terms) > 1:
            hint = f"this is two. Write {terms[0].pattern} {terms[1]}."
            raise QueryError(f"! and | apply to one condition, and {hint}", token.start)
        if self._is_attached:
            raise QueryError(
                "! and | apply to one condition. Put a blank after the name, or write whole specs"
                " one after the other.",
                token.start,
            )

    def _word(self, token: Token) -> None:
        if self._packages is None:
            raise QueryError("Expected a key before a quoted value, as in key='…'", token.start)
        self._words.append(token)
        self._builder.add_to_spec(Term(ANY, lexer.unquoted(token.text)), token)

    def _version(self, token: Token) -> None:
        if self._packages is None:
            check_version_end(token)
        constraint = re.sub(r"\s", "", token.text[1:])
        before = self._previous
        if constraint != ":":
            self._builder.add(Term("version", constraint), token)
        elif before is None or before.kind != lexer.NAME or before.end != token.start:
            self._ignore(token)

    def _variant(self, token: Token) -> None:
        signed = token.text.lstrip("+~-")
        sign = token.text[: -len(signed)].replace("-", "~")
        name = signed.lstrip()
        if len(sign) > 1 and name in _NOT_PROPAGATED:
            raise QueryError(f"{name} cannot be propagated to dependencies", token.start)
        if ALIASES.get(name, name) in (*FLAGS, *ARCHITECTURE, "arch", "namespace"):
            raise QueryError(f"{name} is not a variant: write {name}=…", token.start)
        self._builder.add(Term("variants", sign + name), token)

    def _hash(self, token: Token) -> None:
        dependency = self._builder.dependency
        if dependency is None:
            self._builder.begin("hash")
        elif dependency.has("hash"):
            self._builder.begin_spec("hash")
        self._builder.add(Term("hash", token.text[1:]), token)

    def _pair(self, token: Token) -> None:
        parts = lexer.PAIR_PARTS.fullmatch(token.text)
        assert parts is not None
        key, operator, value = parts[1], parts[2], lexer.unquoted(parts[3])
        builder = self._builder
        dependency = builder.dependency
        if dependency is not None and dependency.is_assigned and not dependency.is_begun:
            raise QueryError("Expected a package name, found =", token.start + parts.start(2))
        if key == VIEW and self._named is not None:
            self._view(token, operator, value)
            return
        if key in _NOT_PROPAGATED and operator.endswith("=="):
            raise QueryError(f"Use = after {key}, not ==", token.start)
        key = ALIASES.get(key, key)
        if not value and (key in FLAGS or key in ("arch", *ARCHITECTURE)):
            self._ignore(token)
        elif key in FLAGS:
            builder.add(Term("flags", f"{key}={value}"), token)
        elif key in ("arch", *ARCHITECTURE):
            builder.add_to_parent(Term(key, value), token)
        elif key in _OF_RECORDS or key == ANY:
            builder.add_to_spec(Term(key, value), token)
        elif key in FIELDS:
            exact = "=" if key == "version" and operator == "==" else ""
            builder.add(Term(key, exact + value), token)
        else:
            builder.add(Term("variants", token.text), token)

    def _view(self, token: Token, operator: str, name: str) -> None:
        """Add the conditions of a named query."""
        assert self._named is not None
        if operator != "=":
            raise QueryError(f"Use = after {VIEW}, not {operator}", token.start)
        try:
            query = self._named.query(name, self._inside)
        except QueryError as error:
            error.offset = token.start
            raise
        if query:
            self._builder.add_named(query, token)
        else:
            self._ignore(token)

    def _ignore(self, token: Token) -> None:
        """Ignore an empty value, as Spack does, unless it is one of alternatives."""
        if self._builder.needs_one_condition:
            raise QueryError(f"{token.text} is not a condition", token.start)
        self._builder.add_nothing(token)
        self._empty = token

    def _not(self, token: Token) -> None:
        self._builder.check_dependency()
        if self._builder.negation is not None:
            raise QueryError('Unexpected "!" after !', token.start)
        self._builder.negate(token)

    def _or(self, token: Token) -> None:
        builder = self._builder
        builder.check_dependency()
        is_first = builder.is_empty or self._previous is self._empty
        if is_first or builder.needs_one_condition:
            raise QueryError("Expected a condition on each side of |", token.start)
        if builder.dependency is None and self._is_after_attached:
            raise QueryError(
                "| joins two single conditions. Put a blank after the name, or write whole specs"
                " one after the other.",
                token.start,
            )
        builder.join(token)

    def _error(self, token: Token) -> None:
        raise unexpected(token, self._previous or token, self._next)

    @property
    def _previous(self) -> Token | None:
        return self._tokens[self._position - 1] if self._position else None

    @property
    def _next(self) -> Token | None:
        following = self._tokens[self._position + 1 : self._position + 2]
        return following[0] if following else None

    @property
    def _is_attached(self) -> bool:
        """Check whether a sigil follows without a blank, so that the word can only be a name."""
        token, following = self._tokens[self._position], self._next
        return following is not None and following.start == token.end and following.kind in _SIGILS

    @property
    def _is_after_attached(self) -> bool:
        """Check whether the last condition is attached to the name that it belongs to."""
        last = first = self._position - 1
        while first > 0 and self._tokens[first - 1].end == self._tokens[first].start:
            first -= 1
        is_attached = first < last and self._tokens[first].kind == lexer.NAME
        # `name@:` is the same as the name alone.
        return is_attached and not (first == last - 1 and self._tokens[last].text == "@:")


def _name_terms(token: Token) -> list[Term]:
    """Return the conditions on name and namespace. Raises QueryError for no package name."""
    if is_glob(token.text):
        return [Term("package", token.text)]
    parts = token.text.split(".")
    start = token.start
    for part in parts:
        if not _PART_OF_NAME.fullmatch(part):
            raise QueryError(f"{token.text} is not a package name", start)
        start += len(part) + 1
    *namespace, name = parts
    terms = [Term("package", name)]
    return [*terms, Term("namespace", ".".join(namespace))] if namespace else terms


MAX_NESTED = 20
"""Views that are used in each other at most."""


class NamedQueries:
    """The texts of queries by their names; `places` has where each is defined, such as a line."""

    def __init__(self, texts: Mapping[str, str], places: Mapping[str, str] = {}) -> None:
        self.texts, self._places = texts, places
        self._queries: dict[str, Query] = {}

    def query(self, name: str, inside: Sequence[str] = ()) -> Query:
        """Return the query of a name; `inside` are the views that it is used in.

        Raises QueryError where there is none, it is not a query, or it needs itself.
        """
        if name not in self.texts:
            raise QueryError(f"Unknown view {name}{self._nearest(name)}")
        if name in inside:
            circle = tuple(inside[inside.index(name) :])
            sentence = f"view={name} needs itself: {' → '.join([*circle, name])}"
            raise WrongNamedQuery(sentence, sentence, circle)
        if len(inside) >= MAX_NESTED:
            sentence = f"More than {MAX_NESTED} views are used in each other"
            raise WrongNamedQuery(sentence, sentence, tuple(inside))
        if name not in self._queries:
            self._queries[name] = self._parse(name, inside)
        return self._queries[name]

    def _parse(self, name: str, inside: Sequence[str]) -> Query:
        # The parser calls this.

        try:
            text, inside = self.texts[name], (*inside, name)
            return parse_tokens(text, lexer.tokens(text), named=self, inside=inside)[0]
        except QueryError as error:
            sentence = str(error)
            names: tuple[str, ...] = (name,)
            if isinstance(error, WrongNamedQuery):
                sentence, names = error.sentence, error.names
            place = self._places.get(name, "")
            message = f"view={name}{place and f' ({place})'}: {error}"
        raise WrongNamedQuery(message, sentence, names)

    def _nearest(self, name: str) -> str:
        from spackscope.model.core.suggestions import did_you_mean

        guess = did_you_mean(name, self.texts)
        return guess or f"; there are {', '.join(sorted(self.texts))}"


class ParsedInput(Frozen):
    """What is typed in the query line, or in the filter of `column`, parsed once.

    Offsets are in characters. `query` is the whole query once the text is typed; None where the
    text is not a query, and `error` says why. `spans` has the start and end of each condition in
    the text, `tokens` those of the query line, and `words` the tokens that are searched in any
    column. `others` are the conditions on other columns, which a filter keeps. `named` and
    `packages` are the queries and packages that the text may name.

    Example: `parse_input("hdf5 +mpi", 9).spans[Term("variants", "+mpi")] == (5, 9)`.
    """

    text: str
    cursor: int
    query: Query | None
    spans: Spans
    tokens: tuple[Token, ...] = ()
    error: QueryError | None = None
    column: str = ""
    others: Query = Query()
    named: NamedQueries | None = field(default=None, repr=False)
    packages: Packages = field(default=(), repr=False)
    words: Sequence[Token] = ()

    @property
    def settled_text(self) -> str:
        """The text with its key at each word that is searched in any column.

        As it is while no packages are known, which a word may be.
        """
        text = self.text
        for word in reversed(self.words if self.packages else ()):
            keyed = f"{ANY}={lexer.quoted(lexer.unquoted(word.text))}"
            text = text[: word.start] + keyed + text[word.end :]
        return text


def parse_input(
    text: str, cursor: int, *, packages: Packages = (), named: NamedQueries | None = None
) -> ParsedInput:
    """Parse the text of the query line; keyword arguments as of `parse`. Never raises."""
    tokens = tuple(lexer.tokens(text))
    parsed = ParsedInput(text, cursor, None, {}, tokens, named=named, packages=packages)
    try:
        query, spans, words = parse_tokens(text, tokens, packages=packages, named=named)
        return replace(parsed, query=query, spans=spans, words=words)
    except QueryError as error:
        # The frames of a traceback would keep the parser.
        return replace(parsed, error=QueryError(str(error), error.offset))


def format_for_shell(query: Query) -> str:
    """Return the text of a query from which `parse` returns the same query.

    Raises QueryError where there is no such text.
    """
    texts = [str(query)]
    package = query.package_term
    if package is not None and is_package_name((package,)):
        name, others = package.pattern, str(query.without_column("package"))
        named = f"{name} {others}".rstrip()
        texts = [named.replace(" @", "@", 1), named, *texts]
    for text in texts:
        if _means(text, query):
            return text
    raise QueryError("It cannot be written as a query of the shell", 0)


def _means(text: str, query: Query) -> bool:
    try:
        return parse(text) == query
    except QueryError:
        return False
