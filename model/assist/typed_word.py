"""Find the word of an input that ends at the cursor, and what the rest of the input asks for."""

from __future__ import annotations

import re

from spackscope.model.core.errors import QueryError
from spackscope.model.query import lexer
from spackscope.model.query.ast import Query
from spackscope.model.query.column_filter import apply_filter
from spackscope.model.query.conditions import Depends
from spackscope.model.query.parsed_input import ParsedInput
from spackscope.model.query.parser import parse

_MAX_WORD = 200
_KEY = r"[A-Za-z_0-9][\w\-.]*"
_WORD = re.compile(
    rf"""
    (?P<key>{_KEY})(?P<operator>:?==?)(?P<value>[^\s"']*)
  | @\s*(?P<version>\S*)
  | (?P<sign>\+\+|~~|[+~]|(?<!\S)-)(?P<variant>[\w\-.]*)
  | (?P<sigil>[%^])\s*(?:[\w,\-]+=)?(?P<dependency>[\w\-.]*(?:@[\w.\-]*)?)
  | /(?P<hash>\w*)
  | (?P<name>(?<![^\s!|])[\w\-.]*)
    """,
    re.VERBOSE,
)
_FILTER_WORD = re.compile(r"(?:(?<=\s)|\A)!?(?P<word>[=@]*(?P<value>\S*))\Z")


def typed_word(parsed: ParsedInput) -> re.Match[str] | None:
    """Return the word that ends at the cursor; None for none, or inside a quoted value.

    The groups of the match are the parts of the word, `word` and `value` in a filter.
    """
    cursor = parsed.cursor
    if parsed.column:
        return _FILTER_WORD.search(parsed.text[:cursor])
    for token in parsed.tokens:
        is_open = token.kind == lexer.ERROR or cursor < token.end
        if token.start < cursor and is_open and set(lexer.QUOTES) & set(token.text):
            return None
    words = _WORD.finditer(parsed.text[:cursor], max(0, cursor - _MAX_WORD))
    return next((word for word in words if word.end() == cursor), None)


def without_word(parsed: ParsedInput) -> Query:
    """Return the query of an input without the word that ends at the cursor.

    Its alternatives go with it. Where the text is not a query, or the word is part of a
    dependency, the rest is parsed as far as it can be. Raises QueryError where the rest of a
    filter cannot be parsed.
    """
    query, text, cursor = parsed.query, parsed.text, parsed.cursor
    word = typed_word(parsed)
    start = word.start() if word is not None else cursor
    if query is not None and start == cursor:
        return query
    if query is not None and not query.specs:
        spans = parsed.spans
        is_part = any(
            begin < start < end
            or (isinstance(condition, Depends) and start <= begin < cursor < end)
            for condition, (begin, end) in spans.items()
        )
        if not is_part:
            typed = {c for c, (begin, _) in spans.items() if start <= begin < cursor}
            return Query(tuple(group for group in query.groups if typed.isdisjoint(group)))
    before, after = text[:start], text[cursor:]
    if parsed.column:
        return apply_filter(parsed.others, parsed.column, before + after)[0]
    # A name that the word is attached to is a name, not a bare word.
    name_end = "@:" if before[-1:].strip() and before[-1] not in "!|" else ""
    for rest in (f"{before}{name_end} {after}", f"{before} {after}", before):
        try:
            return parse(rest, bare="any")
        except QueryError:
            continue
    return Query()
