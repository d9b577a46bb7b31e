"""Build the errors on texts that are not queries, each with what was expected."""

from __future__ import annotations

import re

from spackscope.model.core.errors import QueryError
from spackscope.model.query import lexer
from spackscope.model.query.lexer import Token

_EXPECTED = {
    "!": "a condition after !",
    "|": "another condition after |",
    "@": "a version after @",
    "+": "a variant after +",
    "~": "a variant after ~",
    "-": "a variant after -",
    "/": "a hash prefix after /",
    "^": "a dependency after ^",
    "%": "a compiler or a direct dependency after %",
    "=": "a variant or a column before =, and a value after it",
}
_PARENTHESES = ("(", ")")

_BOUND = re.compile(r"[^@,:=\s]+")


def incomplete(sign: str, offset: int) -> QueryError:
    """Return the error on a sign that needs more after it."""
    return QueryError(f"Expected {_EXPECTED[sign]}", offset)


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
    hint = "Quote it, or use | for or." if token.text in _PARENTHESES else "Quote it in a value."
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
        if bound[-1] in ".-" and not bound.startswith("git."):
            raise QueryError(f'Unexpected "{bound[-1]}"', token.start + match.end() - 1)
