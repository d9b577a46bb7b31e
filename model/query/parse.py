"""Read a query: Spack's spec syntax, with the keys and signs that are spackscope's own.

The grammar is that of lib/spack/spack/spec_parser.py in Spack 1.2. Beyond it there are the keys
of the columns, `!` and `|`, wildcards, and bare words in a live filter. Other than in Spack, a
name may stand behind the conditions that belong to it, and the architecture behind `%name` is
that of the spec, not of its dependency.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Literal

from spackscope.model.core.columns import FLAGS
from spackscope.model.core.errors import (
    QueryError,
)
from spackscope.model.query import lexer
from spackscope.model.query.ast import Condition, Query
from spackscope.model.query.lexer import Token
from spackscope.model.query.parser import Parser
from spackscope.model.query.validation import (
    LONGEST,
    MOST_TERMS,
    check_once,
)

Bare = Literal["package", "any"]

_FLAGS_UNQUOTED = re.compile(rf"({'|'.join(FLAGS)})(==?)([^\s'\"]\S*(?:\s+-\S+)+)")


def parse(text: str, *, bare: Bare = "package") -> Query:
    """Parse a query; `bare` says what a word without sigil or key stands for.

    Raises QueryError at the first place that is none.
    """
    return parse_tokens(text, lexer.tokens(text), bare=bare)[0]


def query_text(words: Iterable[str]) -> str:
    """Join the words of a command line, with the quotes that the shell took from flags.

    Spack's own commands do so too: `cflags="-O2 -g"` comes as one word without its quotes.
    """
    flags = ((_FLAGS_UNQUOTED.fullmatch(word), word) for word in words)
    return " ".join(f"{m[1]}{m[2]}{lexer.in_quotes(m[3])}" if m else word for m, word in flags)


def parse_tokens(
    text: str, tokens: Iterable[Token], *, bare: Bare
) -> tuple[Query, Mapping[Condition, tuple[int, int]]]:
    """Parse the tokens of a text; return its query, and where in it each condition is.

    Raises QueryError.
    """
    if len(text) > LONGEST:
        raise QueryError(f"a query has {LONGEST:,} characters at most", LONGEST)
    return Parser(tokens, bare).parse()


def one_condition(text: str) -> Condition:
    """Parse a text that is a single condition. Raises QueryError where it is not."""
    query = parse(text)
    conditions = list(query.conditions)
    if len(conditions) != 1:
        raise QueryError(f"{text} is no single condition")
    return conditions[0]


__all__ = [
    "LONGEST",
    "MOST_TERMS",
    "Bare",
    "QueryError",
    "check_once",
    "one_condition",
    "parse",
    "parse_tokens",
    "query_text",
]
