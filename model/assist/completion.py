"""Complete the word at the cursor by what still occurs under the other conditions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.facets import Facet, facets
from spackscope.model.core.columns import COLUMNS, FACETED
from spackscope.model.core.errors import (
    QueryError,
    Unanswerable,
)
from spackscope.model.core.progress import ShouldStop, never
from spackscope.model.core.text import is_clean
from spackscope.model.query import lexer
from spackscope.model.query.ast import Query, Term
from spackscope.model.query.column_filter import with_column
from spackscope.model.query.matchers import split_variant
from spackscope.model.query.parsed_input import ParsedInput
from spackscope.model.query.parser import parse

MOST = 8
"""Completions that are offered at once."""

# Words without a key come first.
_COMPLETED = sorted((c for c in COLUMNS if c.completes_values), key=lambda c: c.sigil != "")
_KEY = r"[A-Za-z_0-9][\w\-.]*"
_WORD = re.compile(
    rf"""
    (?P<key>{_KEY})(?P<operator>:?==?)(?P<quote>["']?)(?P<value>[^\s"']*)
  | @\s*(?P<version>\S*)
  | (?P<sign>\+\+|~~|[+~]|(?<!\S)-)(?P<variant>[\w\-.]*)
  | (?P<sigil>[%^])\s*(?:[\w,\-]+=)?(?P<dependency>[\w\-.]*(?:@[\w.\-]*)?)
  | /(?P<hash>\w*)
  | (?P<name>(?<![^\s!|])[\w\-.]*)
    """,
    re.VERBOSE,
)
_FILTER_WORD = re.compile(r"(?:(?<=\s)|\A)!?([=@]*(\S*))\Z")


@dataclass(frozen=True, slots=True)
class Completion:
    """Hold a text for the word at the cursor, and how many records it would leave."""

    text: str
    count: int


@dataclass(frozen=True, slots=True)
class Completions:
    """Hold what the characters from `start` to `end` can become, the best first."""

    start: int
    end: int
    items: tuple[Completion, ...] = ()


def complete(
    catalog: Catalog,
    parsed: ParsedInput,
    *,
    should_stop: ShouldStop = never,
) -> Completions:
    """Complete the word of an input that ends at the cursor.

    Nothing is offered inside a word, nor the word as it is. Raises Cancelled.
    """
    if parsed.text[parsed.cursor : parsed.cursor + 1].strip():
        return Completions(parsed.cursor, parsed.cursor)
    if parsed.column:
        return _complete_filter(catalog, parsed, should_stop)
    cursor, word = parsed.cursor, _word_before(parsed)
    if word is None:
        return Completions(cursor, cursor)
    start, typed = word.start(), word[0]
    others = _alive(catalog, without_word(parsed), should_stop)
    within = _Within(catalog, others, should_stop)
    try:
        offered = [c for c in within.candidates(word) if c.text != typed and c.count]
    except Unanswerable:
        offered = []
    return Completions(start, cursor, tuple(offered[:MOST]))


def _complete_filter(
    catalog: Catalog, parsed: ParsedInput, should_stop: ShouldStop
) -> Completions:
    cursor, column = parsed.cursor, parsed.column
    word = _FILTER_WORD.search(parsed.text[:cursor])
    if word is None or column not in FACETED:
        return Completions(cursor, cursor)
    start, typed = word.start(1), word[2].lower()
    try:
        query = without_word(parsed)
        values = facets(catalog, query, column, should_stop=should_stop)
    except (QueryError, Unanswerable):
        return Completions(cursor, cursor)
    # The whole value, where the word alone would match anywhere in others.
    sign = "" if column == "variants" else "="
    items = [
        Completion(sign + _quoted(facet.value), facet.count)
        for facet in _ranked(values, typed)
        if sign + _quoted(facet.value) != word[1]
    ]
    return Completions(start, cursor, tuple(items[:MOST]))


class _Within:
    """Offer what occurs under some conditions."""

    def __init__(
        self,
        catalog: Catalog,
        others: Query,
        should_stop: ShouldStop,
    ) -> None:
        self._catalog = catalog
        self._others = others
        self._should_stop = should_stop

    def candidates(self, word: re.Match[str]) -> Iterator[Completion]:
        groups = word.groupdict()
        if groups["key"] is not None:
            yield from self._values(groups["key"], groups["operator"], groups["value"])
        elif groups["version"] is not None:
            yield from self._versions(groups["version"])
        elif groups["variant"] is not None:
            yield from self._variants(groups["sign"], groups["variant"])
        elif groups["dependency"] is not None:
            yield from self._dependencies(word[0], groups["sigil"], groups["dependency"])
        elif groups["name"]:
            yield from self._anything(groups["name"])

    def _facets(self, column: str) -> list[Facet]:
        return facets(self._catalog, self._others, column, should_stop=self._should_stop)

    def _values(self, key: str, operator: str, typed: str) -> Iterator[Completion]:
        if key in FACETED:
            for facet in _ranked(self._facets(key), typed):
                yield Completion(f"{key}={lexer.quoted(facet.value)}", facet.count)
            return
        for facet in _ranked(self._variants_named(key), typed):
            yield Completion(f"{key}{operator}{lexer.quoted(facet.value)}", facet.count)

    def _variants_named(self, name: str) -> list[Facet]:
        counts: dict[str, int] = {}
        for facet in self._facets("variants"):
            its_name, its_values = split_variant(facet.value)
            if its_name == name and facet.value[:1] not in ("+", "~"):
                for value in its_values:
                    counts[value] = counts.get(value, 0) + facet.count
        return [Facet(*pair) for pair in sorted(counts.items(), key=lambda pair: -pair[1])]

    def _versions(self, typed: str) -> Iterator[Completion]:
        last = re.split(r"[,:=]", typed)[-1]
        before = typed[: len(typed) - len(last)]
        for facet in self._facets("version"):
            if facet.value.startswith(last):
                yield Completion(f"@{before}{facet.value}", facet.count)

    def _variants(self, sign: str, typed: str) -> Iterator[Completion]:
        flag = "+" if sign[0] == "+" else "~"
        for facet in self._facets("variants"):
            if facet.value[:1] == flag and facet.value[1:].startswith(typed):
                yield Completion(f"{sign}{facet.value[1:]}", facet.count)

    def _dependencies(self, word: str, sigil: str, typed: str) -> Iterator[Completion]:
        """Offer compilers behind `%`; behind `^` the names of all packages that begin so.

        How many specs depend on a package is not counted: the number is that of all specs.
        """
        if sigil != "%":
            if self._catalog.dictionaries.lists_dependencies and typed:
                count = self._catalog.count(self._others)
                for name in sorted(self._catalog.dictionaries.texts("package"), key=len):
                    if name.startswith(typed) and is_clean(name):
                        yield Completion(word[: len(word) - len(typed)] + name, count)
            return
        counts: dict[str, int] = {}
        for facet in self._facets("compiler"):
            name = facet.value if "@" in typed else facet.value.partition("@")[0]
            if name != "none" and name.startswith(typed) and is_clean(name):
                counts[name] = counts.get(name, 0) + facet.count
        for name, count in sorted(counts.items(), key=lambda pair: -pair[1]):
            yield Completion(word[: len(word) - len(typed)] + name, count)

    def _anything(self, typed: str) -> Iterator[Completion]:
        """Offer packages, values of the other columns, variants and keys that begin so."""
        for column in _COMPLETED:
            if column.name == "package" and self._others.package_term:
                continue
            for facet in _beginning(self._facets(column.name), typed):
                keyed = f"{column.name}={lexer.quoted(facet.value)}"
                text = keyed if column.sigil is None else column.sigil + facet.value
                yield Completion(text, facet.count)
        variants = self._facets("variants")
        for facet in variants:
            if split_variant(facet.value)[0].startswith(typed) and is_clean(facet.value):
                yield Completion(str(Term("variants", facet.value)), facet.count)
        for column in COLUMNS:
            if column.completes_key and column.name.startswith(typed):
                yield Completion(f"{column.name}=", self._catalog.count(self._others))


def _alive(catalog: Catalog, query: Query, should_stop: ShouldStop) -> Query:
    """Leave out what nothing fulfils together with what stands before it."""

    def count(asked: Query) -> int:
        return catalog.count(asked, should_stop=should_stop)

    try:
        if count(query):
            return query
        alive = Query()
        for part in query.parts():
            more = alive.plus(part)
            alive = more if count(more) else alive
    except Unanswerable:
        return Query()
    return alive


def _word_before(parsed: ParsedInput) -> re.Match[str] | None:
    """Return the word that ends at the cursor; None for none, or inside a quoted value."""
    cursor = parsed.cursor
    for token in reversed(parsed.tokens):
        is_open = token.kind == lexer.ERROR or cursor < token.end
        if token.start < cursor and is_open and set("'\"") & set(token.text):
            return None
    for match in _WORD.finditer(parsed.text[:cursor], max(0, cursor - 200)):
        if match.end() == cursor:
            return match
    return None


def without_word(parsed: ParsedInput) -> Query:
    """Return the query of an input without the word that ends at the cursor.

    Its alternatives go with it. Where the text is not a query, or the word is part of a
    dependency, the rest is parsed as far as it can be. Raises QueryError where the rest of a
    filter cannot be parsed.
    """
    query, text, cursor = parsed.query, parsed.text, parsed.cursor
    word = _FILTER_WORD.search(text[:cursor]) if parsed.column else _word_before(parsed)
    start = word.start() if word is not None else cursor
    if query is not None and start == cursor:
        return query
    if query is not None and not query.specs:
        spans = parsed.spans
        is_part = any(
            begin < start < end or start <= begin < cursor < end for begin, end in spans.values()
        )
        if not is_part:
            typed = {c for c, (begin, _) in spans.items() if start <= begin < cursor}
            return Query(tuple(group for group in query.groups if typed.isdisjoint(group)))
    if parsed.column:
        return with_column(parsed.others, parsed.column, text[:start] + text[cursor:])
    # A name that the word is attached to is a name, not a bare word.
    is_attached = start > 0 and not text[start - 1].isspace() and text[start - 1] not in "!|"
    before, after = text[:start], text[cursor:]
    for rest in (f"{before}{'@:' * is_attached} {after}", f"{before} {after}", before):
        try:
            return parse(rest, bare="any")
        except QueryError:
            continue
    return Query()


def _ranked(found: Iterable[Facet], typed: str) -> list[Facet]:
    """Put first what begins as typed, then what holds it; the rest is left out."""
    lower = typed.lower()
    fitting = [f for f in found if lower in f.value.lower() and is_clean(f.value)]
    return sorted(fitting, key=lambda facet: not facet.value.lower().startswith(lower))


def _beginning(found: Iterable[Facet], typed: str) -> list[Facet]:
    lower = typed.lower()
    return [f for f in found if f.value.lower().startswith(lower) and is_clean(f.value)]


def _quoted(value: str) -> str:
    return lexer.in_quotes(value) if re.search(r"[\s\"']", value) else value
