"""The syntax of the query line and of the filter under a column.

A query line is words between blanks, quotes as in a shell. `name` is a package (globs allowed,
several names are alternatives), `os=ubuntu24.04` and the like are terms on a column, `+mpi`,
`~mpi` and `name=value` are terms on variants, `/abc` is the beginning of a hash, `!` in front
excludes. All terms must match.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Literal

from spackscope.model.columns import ALIASES, BY_NAME
from spackscope.model.query.match import KEYED, SIGILED, is_glob, is_variant, test_of
from spackscope.model.query.terms import Query, Term, quote

LONGEST = 10_000
"""Characters of a query; a longer one is a paste that went astray."""

MOST_TERMS = 100
"""Terms of a query; SQLite takes conditions about a thousand deep."""

_WORD = re.compile(r"""(?:[^\s"']|"[^"]*"|'[^']*')+|["']""")
_QUOTED = re.compile(r""""([^"]*)"|'([^']*)'""")
_WAITING = frozenset({"!", "=", "+", "~", "@", "!=", "!+", "!~", "!@"})


class QueryError(ValueError):
    """Report a word that is no term, with its place: the offset in characters."""

    def __init__(self, message: str, offset: int = 0) -> None:
        super().__init__(message)
        self.offset = offset


def parse(text: str, *, bare: Literal["package", "any"] = "package") -> Query:
    """Parse a query line; `bare` says what a word without sigil or key stands for.

    Raises QueryError at the first word that is no term.
    """
    return Query(tuple(_terms(_words(text), lambda word: _line_term(word, bare))))


def parse_words(words: Iterable[str]) -> Query:
    """Parse the words of a command line, where the shell has taken the quotes away."""
    return Query(tuple(_terms(((0, word) for word in words), lambda w: _line_term(w, "package"))))


def column_terms(column: str, text: str) -> tuple[Term, ...]:
    """Parse a column's filter input: words that must all match.

    A word matches anywhere in the value; `=word` wants the whole value, `!word` excludes, and
    version ranges, `+variant` and hash prefixes are as in a query line. A sigil that still waits
    for its word is passed over. Raises QueryError.
    """
    words = [(at, word) for at, word in _words(text) if word not in _WAITING]
    return tuple(_terms(words, lambda word: _column_term(column, word)))


def column_text(query: Query, column: str) -> str:
    """Spell the terms of one column as its filter input does."""
    return " ".join(_column_word(term) for term in query.terms if term.column == column)


def with_column(query: Query, column: str, text: str) -> Query:
    """Replace the terms of one column by those of its filter input.

    Raises QueryError where a word of the text is no term.
    """
    terms = column_terms(column, text)
    kept = [term for term in query.terms if term.column != column]
    return Query((*kept, *terms))


def _words(text: str) -> list[tuple[int, str]]:
    if len(text) > LONGEST:
        raise QueryError(f"a query has {LONGEST:,} characters at most", LONGEST)
    words = []
    for match in _WORD.finditer(text):
        if match[0] in ('"', "'"):
            raise QueryError("the quote is not closed", match.start())
        words.append((match.start(), _QUOTED.sub(lambda q: q[1] or q[2] or "", match[0])))
    return words


def _terms(words: Iterable[tuple[int, str]], parse_word: Callable[[str], Term]) -> list[Term]:
    terms = []
    for offset, word in words:
        try:
            term = parse_word(word)
            test_of(term.column, term.pattern)
        except ValueError as error:
            raise QueryError(str(error), offset) from None
        if term not in terms:
            terms.append(term)
        if len(terms) > MOST_TERMS:
            raise QueryError(f"a query has {MOST_TERMS} terms at most", offset)
    return terms


def _line_term(word: str, bare: str) -> Term:
    body = word.removeprefix("!")
    negated = body != word
    if body[:1] in ("+", "~"):
        if not SIGILED.fullmatch(body):
            raise ValueError(f"{body[0]} wants the name of a variant behind it")
        return Term("variants", body, negated)
    if body == "/":
        raise ValueError("/ wants the beginning of a hash behind it")
    if body.startswith("/"):
        return Term("hash", body[1:], negated)
    if keyed := KEYED.fullmatch(body):
        name, _, pattern = keyed.groups()
        if not pattern:
            raise ValueError(f"{name}= wants a value behind it")
        column = ALIASES.get(name, name)
        if column not in BY_NAME:
            return Term("variants", body, negated)
        return Term(column, pattern, negated)
    if not body:
        raise ValueError("! wants a term behind it")
    if bare == "package" and set("@%^ ") & set(body):
        raise ValueError(
            f"{body} is no package name; write versions as version=1.14, compilers as"
            " compiler=gcc@13, and every condition as a word of its own"
        )
    return Term(bare, body, negated)


def _column_term(column: str, word: str) -> Term:
    body = word.removeprefix("!")
    negated = body != word
    if column in ("hash", "size") or (column == "variants" and is_variant(body)):
        return Term(column, body, negated)
    if column == "version" and body.startswith("@"):
        return Term(column, body[1:], negated)
    if body.startswith("="):
        return Term(column, body[1:], negated)
    if is_glob(body) or (column in ("version", "compiler") and set(":,") & set(body)):
        return Term(column, body, negated)
    return Term(column, f"*{body}*", negated)


def _column_word(term: Term) -> str:
    """Find the shortest word of a filter input that is read as this term."""
    words = (term.pattern[1:-1], term.pattern, f"={term.pattern}")
    sign = "!" * term.negated
    for word in words:
        if word and word not in _WAITING and _column_term(term.column, sign + word) == term:
            break
    return sign + quote(word)
