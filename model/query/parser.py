"""Parse a query: Spack's spec syntax, with keys and signs of its own.

The grammar is that of lib/spack/spack/spec_parser.py in Spack 1.2. Beyond it there are the keys
of the columns, `!` and `|`, wildcards, and bare words in a live filter. Unlike in Spack, a name
may follow the conditions that belong to it, and the architecture after `%name` is that of the
spec, not of its dependency.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from spackscope.model.core.columns import ALIASES, FIELDS, FLAGS, REGISTRY, WORDS
from spackscope.model.core.errors import QueryError
from spackscope.model.query import lexer
from spackscope.model.query.ast import Query
from spackscope.model.query.builder import DependencyBuilder, QueryBuilder, Spans
from spackscope.model.query.conditions import VIEW, Term
from spackscope.model.query.lexer import Token
from spackscope.model.query.matchers import ANY, ARCHITECTURE, is_glob, matcher
from spackscope.model.query.validation import (
    MAX_QUERY_LENGTH,
    check_ascii,
    check_version_end,
    unexpected,
)

if TYPE_CHECKING:
    from spackscope.model.query.named_queries import NamedQueries

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
