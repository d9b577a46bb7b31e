"""Say what a sign still waits for, or why a text has no meaning where it stands."""

from __future__ import annotations

import re

from spackscope.model.core.errors import QueryError
from spackscope.model.query import lexer
from spackscope.model.query.lexer import Token

_WAITING = {
    "!": "wants a condition behind it",
    "|": "wants another condition behind it",
    "@": "wants a version behind it",
    "+": "wants the name of a variant behind it",
    "~": "wants the name of a variant behind it",
    "-": "wants the name of a variant behind it",
    "/": "wants the beginning of a hash behind it",
    "^": "wants the name of a dependency behind it",
    "%": "wants the name of a compiler or a direct dependency behind it",
    "'": "is a quote that is not closed",
    '"': "is a quote that is not closed",
    "=": "wants the name of a variant or a column before it, and a value behind it",
}

_BOUND = re.compile(r"[^@,:=\s]+")


def incomplete(sign: str, offset: int) -> QueryError:
    """Return the error on a sign that needs more after it."""
    return QueryError(f"{sign} {_WAITING[sign]}", offset)


def unexpected(token: Token, before: Token, after: Token | None) -> QueryError:
    """Return the error on a character that begins no token, by the tokens around it."""
    if token.text[0] in "'\"":
        return incomplete(token.text[0], token.start)
    is_value_missing = token.text == "=" and before.kind == lexer.NAME
    if is_value_missing and after is not None and after.text[0] in "'\"":
        return incomplete(after.text[0], after.start)
    if token.text == "[" and before.kind == lexer.DEPENDENCY and before.end < token.start:
        return QueryError(f"Unexpected [. Write {before.text}[ without a blank", token.start)
    if token.text == "[" and before.kind == lexer.DEPENDENCY:
        return QueryError("[ wants a ] behind it, and then a name", token.start)
    if is_value_missing and before.end == token.start:
        return QueryError(f"{before.text}= wants a value behind it", token.start)
    if token.text in _WAITING:
        return incomplete(token.text, token.start)
    return QueryError(f"{token.text} has no meaning here; quote it in a value", token.start)


def check_ascii(token: Token) -> None:
    """Refuse letters that no name and no value of Spack has, unless they are quoted.

    Raises QueryError.
    """
    parts = lexer.PAIR_PARTS.fullmatch(token.text) if token.kind == lexer.PAIR else None
    is_quoted = token.kind == lexer.WORD or (parts is not None and parts[3][0] in "'\"")
    if is_quoted or token.kind == lexer.ERROR:
        return
    for at, letter in enumerate(token.text):
        if not letter.isascii() and not letter.isspace():
            raise QueryError(f"Unexpected {letter}. Quote it in a value", token.start + at)


def check_version_end(token: Token) -> None:
    """Refuse a version that ends in a separator, as Spack's tokenizer does. Raises QueryError."""
    for match in _BOUND.finditer(token.text):
        bound = match[0]
        if bound[-1] in ".-" and not bound.startswith("git."):
            raise QueryError(f"Unexpected {bound[-1]}", token.start + match.end() - 1)
