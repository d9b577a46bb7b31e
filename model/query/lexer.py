"""Cut a query into the tokens of Spack's spec syntax, and spackscope's own.

The tokens are those of lib/spack/spack/spec_parser.py in Spack 1.2. `!`, `|`, the wildcards `*`
and `?`, and quoted words are spackscope's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from spackscope.model.core.columns import REGISTRY

SPACE, ERROR = "space", "error"
QUOTES = ("'", '"')
NAME, WORD, VERSION, VARIANT, PAIR, HASH = "name", "word", "version", "variant", "pair", "hash"
DEPENDENCY, NOT, OR = "dependency", "not", "or"

_OTHER = r"[^\x00-\x7f\s]"
_NAME = rf"(?:[\w*?]|{_OTHER})(?:[\w\-.*?]|{_OTHER})*"
_IDENTIFIER = r"[A-Za-z_0-9][A-Za-z_0-9\-]*"
_KEY = r"[A-Za-z_0-9][A-Za-z_0-9\-.]*"
# A quote behind a backslash is part of the value, and nothing else is escaped. Spack takes such a
# quote for the end of a value where none follows that could be.
_QUOTED = r"""'(?:[^']|(?<=\\)')*(?<!\\)'|"(?:[^"]|(?<=\\)")*(?<!\\)\""""
_VALUE = r"[\w\-+*.,:=%^~/\\?]+"
# Spack, which does not know these keys, ends every value at `@`.
_OWN_COLUMNS = [column for column in REGISTRY if column.syntax != "spack"]
_OWN_KEY = rf"(?:{'|'.join(key for column in _OWN_COLUMNS for key in column.keys)})"
_OWN_VALUE = r"[\w\-+*.,:=%^~/\\?@]+"
_PLAIN = r"[A-Za-z0-9_*?][A-Za-z0-9_.\-*?]*"
_END = rf"{_PLAIN}(?![\w.\-*?])(?!\s*:?=)"
_GIT = r"(?:git\.[A-Za-z0-9_./\-]+|[0-9A-Fa-f]{40})"
_VERSION = rf"(?:{_GIT}|=?(?:{_PLAIN})?:(?:{_END})?|=?{_PLAIN})"
# `%c=gcc` assigns a virtual to a package; `%c=*` asks for any value of the variant c.
_IDENTIFIERS = rf"{_IDENTIFIER}(?:,{_IDENTIFIER})*"
_ASSIGNED = rf"\s*{_IDENTIFIERS}=(?=[\w?]|\*[\w*?])"
_ATTRIBUTES = rf"\[(?:[^\]'\"]|{_QUOTED}){{0,200}}\]"

_TOKEN = re.compile(
    rf"""
    (?P<space>\s+)
  | (?P<dependency>(?:\^|%%?)(?:{_ATTRIBUTES})?(?:{_ASSIGNED})?)
  | (?P<version>@{_GIT}={_PLAIN}|@\s*{_VERSION}(?:\s*,\s*{_VERSION})*)
  | (?P<variant>(?:\+\+|~~|--|[+~\-])\s*{_KEY})
  | (?P<pair>{_OWN_KEY}==?{_OWN_VALUE}|{_KEY}:?==?(?:{_QUOTED}|{_VALUE}))
  | (?P<hash>/[A-Za-z0-9_]+)
  | (?P<name>{_NAME})
  | (?P<word>{_QUOTED})
  | (?P<not>!)
  | (?P<or>\|)
    """,
    re.VERBOSE,
)
IDENTIFIERS = re.compile(_IDENTIFIERS)
PAIR_PARTS = re.compile(rf"({_KEY})(:?==?)(.+)", re.DOTALL)
_BARE_VALUE = re.compile(rf"(?!=){_VALUE}", re.ASCII)
# What ends in a backslash cannot have been in quotes.
_BARE_END = re.compile(rf"(?!=){_OWN_VALUE}(?<=\\)", re.ASCII)
EDGE_PARTS = re.compile(r"(\^|%%?)(?:\[(.*)\])?(?:\s*([^\]=]*)=)?", re.DOTALL)
ATTRIBUTE = re.compile(rf"\s*({_KEY})(:?=)(?!=)({_QUOTED}|{_VALUE})\s*")


@dataclass(frozen=True, slots=True)
class Token:
    """Hold a piece of a query: its kind, its text, and where it begins, in characters."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """The offset behind the last character."""
        return self.start + len(self.text)


def tokens(text: str) -> Iterator[Token]:
    """Give the tokens of a query in their order; no character is left out.

    What begins no token is an `error` of one character. A quote that is not closed is one to the
    end of the text, or the search for its end would be repeated at every quote behind it. Never
    raises.
    """
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is not None:
            token = Token(match.lastgroup or ERROR, match[0], at)
        else:
            token = Token(ERROR, text[at:] if text[at] in QUOTES else text[at], at)
        yield token
        at = token.end


def is_token(kind: str, text: str) -> bool:
    """Check whether a text is exactly one token of a kind."""
    match = _TOKEN.match(text)
    return match is not None and match.lastgroup == kind and match.end() == len(text)


def unquoted(text: str) -> str:
    """Take the quotes off a value, and the backslashes off such quotes in it, as Spack does."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in QUOTES:
        return text[1:-1].replace(f"\\{text[0]}", text[0])
    return text


def quoted(text: str) -> str:
    """Quote a value where it needs quotes, so that it is read as it is."""
    is_bare = _BARE_VALUE.fullmatch(text) or _BARE_END.fullmatch(text)
    return text if is_bare else in_quotes(text)


def in_quotes(text: str) -> str:
    """Put quotes around a text, so that it is read as it is.

    No text in quotes ends in a backslash: there a wildcard takes its place.
    """
    if text.endswith("\\"):
        text = f"{text[:-1]}?"
    quote = '"' if "'" in text else "'"
    return quote + text.replace(quote, f"\\{quote}") + quote


def variant_pattern(name: str, operator: str, value: str) -> str:
    """Write a variant that is asked for so that its operator and its value can be told apart."""
    return f"{name}{operator}{in_quotes(value) if value[:1] in ('', '=', *QUOTES) else value}"


def highlights(tokens: Iterable[Token]) -> Iterator[tuple[int, int, str]]:
    """Yield the pieces of a query as (start, end, kind), each to be shown in its own style.

    Kinds are those of tokens without `space`, and `key` and `value` for the halves of a pair.
    """
    key_end = -1
    for token in tokens:
        if token.kind == PAIR and (parts := PAIR_PARTS.fullmatch(token.text)) is not None:
            value_start = token.start + parts.end(2)
            yield token.start, value_start, "key"
            yield value_start, token.end, "value"
        elif token.kind == ERROR and token.text in ":=" and key_end == token.start:
            # A key whose value is still to come is not an error yet.
            key_end = token.end
            yield token.start, token.end, "key"
        elif token.kind != SPACE:
            key_end = token.end if token.kind == NAME else -1
            yield token.start, token.end, token.kind
