"""Say what a sign still waits for, or why a text has no meaning where it stands."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.query import tokens
from spackscope.model.query.limits import QueryError
from spackscope.model.query.tokens import Token

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


def waiting(sign: str, at: int) -> QueryError:
    """Say what is missing behind a sign."""
    return QueryError(f"{sign} {_WAITING[sign]}", at)


def refusal(token: Token, before: Token, after: Sequence[Token]) -> QueryError:
    """Say what is wrong with a character that begins no token, by the tokens around it."""
    is_value_missing = token.text == "=" and before.kind == tokens.NAME
    if is_value_missing and after and after[0].text in ("'", '"'):
        return waiting(after[0].text, after[0].start)
    if token.text == "[" and before.kind == tokens.DEPENDENCY:
        return QueryError("[ wants a ] behind it, and then a name", token.start)
    if is_value_missing and before.end == token.start:
        return QueryError(f"{before.text}= wants a value behind it", token.start)
    if token.text in _WAITING:
        return waiting(token.text, token.start)
    return QueryError(f"{token.text} has no meaning here; quote it in a value", token.start)
