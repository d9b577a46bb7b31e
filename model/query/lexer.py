"""Split a query into the tokens of Spack's spec syntax, and of spackscope's additions.

The tokens follow lib/spack/spack/spec_parser.py in Spack 1.2. `!`, `|`, the wildcards `*` and `?`,
and quoted words are spackscope's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from spackscope.model.core.columns import REGISTRY
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import split_keyed

SPACE, ERROR = "space", "error"
QUOTES = ("'", '"')
NAME, WORD, VERSION, VARIANT, PAIR, HASH = "name", "word", "version", "variant", "pair", "hash"
DEPENDENCY, NOT, OR = "dependency", "not", "or"

_OTHER = r"[^\x00-\x7f\s]"
_NAME = rf"(?:[\w*?]|{_OTHER})(?:[\w\-.*?]|{_OTHER})*"
IDENTIFIER = r"[A-Za-z_0-9][A-Za-z_0-9\-]*"
_KEY = r"[A-Za-z_0-9][A-Za-z_0-9\-.]*"
# A quote after a backslash is part of the value, and nothing else is escaped. In Spack such a
# quote ends the value if no other quote follows that could end it.
_QUOTED = r"""'(?:[^']|(?<=\\)')*(?<!\\)'|"(?:[^"]|(?<=\\)")*(?<!\\)\""""
_VALUE = r"[\w\-+*.,:=%^~/\\?]+"
# Spack, which does not know these keys, ends every value at `@`.
_OWN_COLUMNS = [column for column in REGISTRY if column.syntax != "spack"]
_OWN_KEY = rf"(?:{'|'.join(key for column in _OWN_COLUMNS for key in column.keys)})"
_OWN_VALUE = r"[\w\-+*.,:=%^~/\\?@]+"
_PLAIN = r"[A-Za-z0-9_*?][A-Za-z0-9_.\-*?]*"
# The end of a range must not take a key: in `@:1.x=a` it is `1.`, as in Spack.
_END = rf"{_PLAIN}(?:\b|(?![\w.\-*?]))(?!\s*=)"
_GIT = r"(?:git\.[A-Za-z0-9_./\-]+|[0-9A-Fa-f]{40})"
_VERSION = rf"(?:{_GIT}|=?(?:{_PLAIN})?:(?:{_END})?|=?{_PLAIN})"
# `%c=gcc` assigns a virtual to a package; `%c=*` asks for any value of the variant c.
IDENTIFIERS = rf"{IDENTIFIER}(?:,{IDENTIFIER})*"
_ASSIGNED = rf"\s*{IDENTIFIERS}=(?=[\w?]|\*[\w*?])"
_ATTRIBUTES = rf"\[(?:[^\]'\"]|{_QUOTED}){{0,200}}\]"

# Texts: `re` takes 3 ms to compile all patterns, and a query has tokens of few kinds.
_PATTERNS = {
    SPACE: r"\s+",
    DEPENDENCY: rf"(?:\^|%%?)(?:{_ATTRIBUTES})?(?:{_ASSIGNED})?",
    VERSION: rf"@{_GIT}={_PLAIN}|@\s*{_VERSION}(?:\s*,\s*{_VERSION})*",
    VARIANT: rf"(?:\+\+|~~|--|[+~\-])\s*{_KEY}",
    PAIR: rf"{_OWN_KEY}==?{_OWN_VALUE}|{_KEY}:?==?(?:{_QUOTED}|{_VALUE})",
    HASH: r"/[A-Za-z0-9_]+",
    NAME: _NAME,
    WORD: _QUOTED,
    NOT: "!",
    OR: r"\|",
}
_BY_START = {
    **dict.fromkeys("^%", (DEPENDENCY,)),
    **dict.fromkeys("+~-", (VARIANT,)),
    **dict.fromkeys(QUOTES, (WORD,)),
    "@": (VERSION,),
    "/": (HASH,),
    "!": (NOT,),
    "|": (OR,),
}
"""The kinds of tokens that a character begins; other characters begin a space, pair or name."""

_BARE_VALUE = rf"(?!=){_VALUE}"
# No quoted value ends in a backslash.
_BARE_END = rf"(?!=){_OWN_VALUE}(?<=\\)"
EDGE_PARTS = r"(?s)(\^|%%?)(?:\[(.*)\])?(?:\s*([^\]=]*)=)?"
ATTRIBUTE = rf"\s*({_KEY})(:?=)(?!=)({_QUOTED}|{_VALUE})\s*"


class Token(Frozen):
    """A piece of a query: its kind, its text, and the offset of its start, in characters."""

    kind: str
    text: str
    start: int

    @property
    def end(self) -> int:
        """The offset after its last character."""
        return self.start + len(self.text)


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a query in their order; together they are the whole text.

    A character that begins no token is an `error` token. An unclosed quote is one `error` token up
    to the end of the text, as a search at every quote after it would take too long. Never raises.
    """
    start = 0
    while start < len(text):
        token = _token_at(text, start)
        yield token
        start = token.end


def is_token(kind: str, text: str) -> bool:
    """Check whether a text is exactly one token of a kind."""
    token = _token_at(text, 0) if text else None
    return token is not None and token.kind == kind and token.text == text


def _token_at(text: str, start: int) -> Token:
    first = text[start]
    others = (PAIR, NAME) if "=" in text else (NAME,)
    kinds = (SPACE,) if first.isspace() else _BY_START.get(first, others)
    for kind in kinds:
        if match := re.compile(_PATTERNS[kind]).match(text, start):
            return Token(kind, match[0], start)
    return Token(ERROR, text[start:] if first in QUOTES else first, start)


def unquoted(text: str) -> str:
    """Remove the quotes around a value, and the backslashes before such quotes in it.

    A value with a line break keeps both, as in `strip_quotes_and_unescape` of
    lib/spack/spack/spec_parser.py.
    """
    if "\n" not in text and len(text) >= 2 and text[0] == text[-1] and text[0] in QUOTES:
        return text[1:-1].replace(f"\\{text[0]}", text[0])
    return text


def quoted(text: str) -> str:
    """Quote a value that the lexer would not read as one value without quotes."""
    is_bare = any(re.fullmatch(bare, text, re.ASCII) for bare in (_BARE_VALUE, _BARE_END))
    return text if is_bare else in_quotes(text)


def in_quotes(text: str) -> str:
    """Return a text in quotes.

    No text in quotes can end in a backslash: a wildcard replaces it. A text with a line break is
    returned unchanged, as it still has its quotes.
    """
    if "\n" in text:
        return text
    if text.endswith("\\"):
        text = f"{text[:-1]}?"
    quote = '"' if "'" in text else "'"
    return quote + text.replace(quote, f"\\{quote}") + quote


def highlights(tokens: Iterable[Token]) -> Iterator[tuple[int, int, str]]:
    """Yield the pieces of a query as (start, end, kind), for a style of each kind.

    The kinds are the kinds of tokens except `space`, and `key` and `value` for the two halves of
    a pair.
    """
    key_end = -1
    for token in tokens:
        if token.kind == PAIR and (parts := split_keyed(token.text)) is not None:
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
