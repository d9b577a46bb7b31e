"""Check a query for what the grammar alone does not exclude, and word what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from spackscope.model.core.columns import REGISTRY
from spackscope.model.core.errors import QueryError
from spackscope.model.core.variants import is_variant, split_variant
from spackscope.model.query import lexer
from spackscope.model.query.conditions import Condition, Term
from spackscope.model.query.lexer import Token
from spackscope.model.query.matchers import ARCHITECTURE, architecture, is_glob

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
