"""Parse and write the filter under a column: the conditions of a query on that column.

A word matches anywhere in the value; `=word` matches the whole value, `!word` excludes, `|`
separates alternatives, and version ranges, target ranges, `+variant`, `%compiler` and hashes are
as in a query.

A variant has a filter, too: the column `+x` stands for the variant `x`. Its words are `+x`, `~x`
and `x=value`, or just `+`, `~` and `value`.
"""

from __future__ import annotations

import re

from spackscope.model.core.columns import FIELDS
from spackscope.model.core.errors import QueryError
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import ANSWERS, is_variant, split_variant
from spackscope.model.query import lexer
from spackscope.model.query.ast import Condition, Group, Query, Term
from spackscope.model.query.matchers import is_glob, matcher
from spackscope.model.query.parser import (
    MAX_QUERY_LENGTH,
    MAX_TERMS,
    UNCLOSED_QUOTE,
    ParsedInput,
    Spans,
    check_once,
    parse,
)

_QUOTED = r""""(?:[^"\\]|\\[\s\S])*"|'(?:[^'\\]|\\[\s\S])*\'"""
_WORD = re.compile(rf"""(?:[^\s"']|{_QUOTED})+|["']""")
_QUOTES = re.compile(_QUOTED)
_INCOMPLETE = frozenset({"!", "=", "+", "~", "@", "%", "!=", "!+", "!~", "!@", "!%"})
_AS_IN_SPACK = ("version", "compiler", "target")


def column_groups(column: str, text: str) -> tuple[tuple[Group, ...], Spans]:
    """Parse the filter of a column; return its groups, and the start and end of each condition.

    A sign that still lacks its word is ignored. Raises QueryError.
    """
    if len(text) > MAX_QUERY_LENGTH:
        raise QueryError(f"A filter has at most {MAX_QUERY_LENGTH:,} characters", MAX_QUERY_LENGTH)
    # In the filter of a variant these are whole words.
    signs = {"+", "~", "!+", "!~"} if column[:1] == "+" else set[str]()
    groups: list[Group] = []
    spans: dict[Condition, tuple[int, int]] = {}
    joined = False
    for count, match in enumerate(_WORD.finditer(text)):
        word = _QUOTES.sub(lambda quoted: lexer.unquoted(quoted[0]), match[0])
        if match[0] == "|" or word in _INCOMPLETE - signs:
            joined = match[0] == "|" and bool(groups)
            continue
        try:
            if match[0] in lexer.QUOTES:
                raise QueryError(UNCLOSED_QUOTE, match.start())
            if count >= MAX_TERMS:
                raise ValueError(f"A filter has at most {MAX_TERMS:,} words")
            condition = _condition(column, word)
        except ValueError as error:
            raise QueryError(str(error), match.start()) from None
        alternatives = groups.pop() if joined else ()
        groups.append((*alternatives, condition))
        joined = False
        spans.setdefault(condition, match.span())
    return tuple(dict.fromkeys(groups)), spans


def column_text(query: Query, column: str) -> str:
    """Return the filter of a column for the groups of a query that are on this column only."""
    return " ".join(
        " | ".join(_word(column, condition) for condition in group)
        for group in query.of_column(column)
    )


def _condition(column: str, word: str) -> Condition:
    body = word.removeprefix("!")
    negated = body != word
    # A damaged record may have a variant without a name.
    variant = column[1:] if column[:1] == "+" else None
    if column == "compiler" and body.startswith("%"):
        conditions = list(parse(word).conditions)
        if [condition.column for condition in conditions] != [column]:
            raise ValueError(f"{body} is more than a compiler. Type it in the query line.")
        return conditions[0]
    if variant is not None and body in ("+", "~"):
        pattern = body + variant
    elif variant is not None and is_variant(body) and split_variant(body)[0] == variant:
        pattern = body
    elif variant is not None and body[:1] in ("+", "~"):
        raise ValueError(f"{body} is not {variant}. Type other variants in the query line.")
    elif variant is not None:
        is_whole = body.startswith("=") or is_glob(body)
        pattern = (
            f"{variant}={body.removeprefix('=') or '*'}" if is_whole else f"{variant}=*{body}*"
        )
    elif column == "variants" and is_variant(body):
        pattern = body
    elif not (FIELDS[column].has_dictionary or FIELDS[column].is_by_host):
        # Each record has a value of its own.
        pattern = body
    elif body.startswith("=") or (column == "version" and body.startswith("@")):
        pattern = body[1:]
    elif is_glob(body) or (column in _AS_IN_SPACK and set(":,") & set(body)):
        pattern = body
    elif body in ANSWERS and FIELDS[column].is_by_host:
        # Anywhere in a text, "no" would also mean "unknown".
        pattern = body
    else:
        pattern = f"*{body}*"
    term = Term(column if variant is None else "variants", pattern, negated)
    matcher(term.column, pattern)
    return term


def _word(column: str, condition: Condition) -> str:
    """Return the shortest word of the filter that parses to a condition."""
    if not isinstance(condition, Term):
        return str(condition)
    sign, pattern = "!" * condition.negated, condition.pattern
    if not pattern:
        # A filter has no word for no value: any value is excluded.
        return "?*" if condition.negated else "!?*"
    words = (pattern[1:-1], pattern, f"={pattern}")
    if column[:1] == "+":
        value = lexer.unquoted(pattern.partition("=")[2])
        words = (value[1:-1], value if is_glob(value) else "", pattern)
    for word in words:
        if word and word not in _INCOMPLETE and word != "|":
            try:
                if _condition(column, sign + word) == condition:
                    break
            except ValueError:
                continue
    return sign + quote_word(word)


def quote_word(word: str) -> str:
    """Quote a word of a filter if it has blanks or quotes, or is `|`."""
    return lexer.in_quotes(word) if re.search(r"[\s\"']", word) or word == "|" else word


def parse_filter_input(text: str, cursor: int, column: str, query: Query) -> ParsedInput:
    """Parse the filter of a column, and put it into a query in place of the old one. Never raises.

    Example: `24 | 22` in the filter of os turns `hdf5 os=x` into `hdf5 os=*24* | os=*22*`.
    """
    others = query.without_column(column)
    parsed = ParsedInput(text, cursor, None, {}, column=column, others=others)
    try:
        groups, spans = column_groups(column, text)
        filtered = others.plus(Query(groups))
        single = (g[0] for g in filtered.groups if len(g) == 1 and not g[0].negated)
        check_once((condition, spans.get(condition, (0, 0))[0]) for condition in single)
    except QueryError as error:
        return replace(parsed, error=error.with_traceback(None))
    return replace(parsed, query=filtered, spans=spans)
