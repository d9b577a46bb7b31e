"""Read and write the filter under a column, which says a part of the query in its own way.

A word matches anywhere in the value; `=word` wants the whole value, `!word` excludes, `|` stands
between alternatives, and version ranges, target ranges, `+variant`, `%compiler` and hashes
are as in a query.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from spackscope.model.core.errors import (
    QueryError,
)
from spackscope.model.query import lexer
from spackscope.model.query.ast import Condition, Group, Query, Term
from spackscope.model.query.matchers import is_glob, is_variant, test_of
from spackscope.model.query.parse import (
    LONGEST,
    MOST_TERMS,
    check_once,
    one_condition,
)

_QUOTED = r""""(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*\'"""
_WORD = re.compile(rf"""(?:[^\s"']|{_QUOTED})+|["']""")
_QUOTES = re.compile(_QUOTED)
_WAITING = frozenset({"!", "=", "+", "~", "@", "%", "!=", "!+", "!~", "!@", "!%"})
_AS_IN_SPACK = ("version", "compiler", "target")


def column_groups(column: str, text: str) -> tuple[Group, ...]:
    """Parse a column's filter.

    A sign that still waits for its word is passed over. Raises QueryError.
    """
    groups: list[list[Condition]] = []
    spans: dict[Condition, tuple[int, int]] = {}
    joined = False
    for count, (offset, word, is_bar) in enumerate(_words(text)):
        if is_bar or word in _WAITING:
            joined = is_bar and bool(groups)
            continue
        if count >= MOST_TERMS:
            raise QueryError(f"a filter has {MOST_TERMS:,} words at most", offset)
        try:
            condition = _condition(column, word)
        except ValueError as error:
            raise QueryError(str(error), offset) from None
        if joined:
            groups[-1].append(condition)
        else:
            groups.append([condition])
        joined = False
        spans.setdefault(condition, (offset, offset + len(word)))
    made = tuple(dict.fromkeys(map(tuple, groups)))
    check_once(_placed(made, spans))
    return made


def column_text(query: Query, column: str) -> str:
    """Spell what a query asks of one column and of nothing else as its filter does."""
    return " ".join(
        " | ".join(_word(column, condition) for condition in group)
        for group in query.of_column(column)
    )


def with_column(query: Query, column: str, text: str) -> Query:
    """Replace what a query asks of one column by what stands in its filter. Raises QueryError."""
    filtered = query.without_column(column).plus(Query(column_groups(column, text)))
    check_once(_placed(filtered.groups, {}))
    return filtered


def _placed(
    groups: Iterable[Group], spans: Mapping[Condition, tuple[int, int]]
) -> Iterator[tuple[Condition, int]]:
    """Yield the conditions that stand alone, each with its offset."""
    for condition, *others in groups:
        if not others and not condition.negated:
            yield condition, spans.get(condition, (0, 0))[0]


def _words(text: str) -> list[tuple[int, str, bool]]:
    """Give the words, where they begin, and whether it is the bar between alternatives."""
    if len(text) > LONGEST:
        raise QueryError(f"a filter has {LONGEST:,} characters at most", LONGEST)
    words = []
    for match in _WORD.finditer(text):
        if match[0] in ('"', "'"):
            raise QueryError("the quote is not closed", match.start())
        word = _QUOTES.sub(lambda quoted: lexer.unquoted(quoted[0]), match[0])
        words.append((match.start(), word, match[0] == "|"))
    return words


def _condition(column: str, word: str) -> Condition:
    body = word.removeprefix("!")
    negated = body != word
    if column == "compiler" and body.startswith("%"):
        condition = one_condition(word)
        if condition.column != column:
            raise ValueError(f"{body} asks for more than a compiler: write it in the query line")
        return condition
    term = Term(column, _pattern(column, body), negated)
    test_of(term.column, term.pattern)
    return term


def _pattern(column: str, body: str) -> str:
    if column in ("hash", "size") or (column == "variants" and is_variant(body)):
        return body
    if column == "version" and body.startswith("@"):
        return body[1:]
    if body.startswith("="):
        return body[1:]
    if is_glob(body) or (column in _AS_IN_SPACK and set(":,") & set(body)):
        return body
    return f"*{body}*"


def _word(column: str, condition: Condition) -> str:
    """Find the shortest word of the filter that is read as this condition."""
    if not isinstance(condition, Term):
        return str(condition)
    sign, pattern = "!" * condition.negated, condition.pattern
    for word in (pattern[1:-1], pattern, f"={pattern}"):
        if word and word not in _WAITING and word != "|":
            try:
                if _condition(column, sign + word) == condition:
                    break
            except ValueError:
                continue
    return sign + _quoted(word)


def _quoted(word: str) -> str:
    return lexer.in_quotes(word) if re.search(r"[\s\"']", word) or word == "|" else word
