"""Split a query into the tokens of Spack's spec syntax, and of spackscope's additions.

The tokens are those of lib/spack/spack/spec_parser.py in Spack 1.2. `!`, `|`, the wildcards `*`
and `?`, and quoted words are spackscope's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from spackscope.model.core.columns import REGISTRY
from spackscope.model.core.frozen import Frozen

SPACE, ERROR = "space", "error"
QUOTES = ("'", '"')
NAME, WORD, VERSION, VARIANT, PAIR, HASH = "name", "word", "version", "variant", "pair", "hash"
DEPENDENCY, NOT, OR = "dependency", "not", "or"

_OTHER = r"[^\x00-\x7f\s]"
_NAME = rf"(?:[\w*?]|{_OTHER})(?:[\w\-.*?]|{_OTHER})*"
_IDENTIFIER = r"[A-Za-z_0-9][A-Za-z_0-9\-]*"
_KEY = r"[A-Za-z_0-9][A-Za-z_0-9\-.]*"
# A quote after a backslash is part of the value, and nothing else is escaped. In Spack such a
# quote ends the value where no other follows that could.
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
# No quoted value ends in a backslash.
_BARE_END = re.compile(rf"(?!=){_OWN_VALUE}(?<=\\)", re.ASCII)
EDGE_PARTS = re.compile(r"(\^|%%?)(?:\[(.*)\])?(?:\s*([^\]=]*)=)?", re.DOTALL)
ATTRIBUTE = re.compile(rf"\s*({_KEY})(:?=)(?!=)({_QUOTED}|{_VALUE})\s*")


class Token(Frozen):
    """A piece of a query: its kind, its text, and the offset of its start, in characters."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """The offset after the last character."""
        return self.start + len(self.text)


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a query in their order; together they are the whole text.

    A character that begins no token is an `error`. An unclosed quote is one up to the end of the
    text, or the search for its end would be repeated at every quote after it. Never raises.
    """
    start = 0
    while start < len(text):
        match = _TOKEN.match(text, start)
        if match is not None:
            token = Token(match.lastgroup or ERROR, match[0], start)
        else:
            token = Token(ERROR, text[start:] if text[start] in QUOTES else text[start], start)
        yield token
        start = token.end


def is_token(kind: str, text: str) -> bool:
    """Check whether a text is exactly one token of a kind."""
    match = _TOKEN.match(text)
    return match is not None and match.lastgroup == kind and match.end() == len(text)


def unquoted(text: str) -> str:
    """Remove the quotes around a value, and the backslashes before such quotes in it, as Spack."""
    if len(text) >= 2 and text[0] == text[-1] and text[0] in QUOTES:
        return text[1:-1].replace(f"\\{text[0]}", text[0])
    return text


def quoted(text: str) -> str:
    """Quote a value if it would not be read as one without."""
    is_bare = _BARE_VALUE.fullmatch(text) or _BARE_END.fullmatch(text)
    return text if is_bare else in_quotes(text)


def in_quotes(text: str) -> str:
    """Return a text in quotes.

    No text in quotes can end in a backslash: a wildcard replaces it there.
    """
    if text.endswith("\\"):
        text = f"{text[:-1]}?"
    quote = '"' if "'" in text else "'"
    return quote + text.replace(quote, f"\\{quote}") + quote


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
