"""Complete the word at the cursor by what still occurs under the other conditions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.facets import FACETED, Facet, facets
from spackscope.model.core.errors import (
    QueryError,
    Unanswerable,
)
from spackscope.model.core.progress import ShouldStop, never
from spackscope.model.core.text import is_clean
from spackscope.model.query import lexer
from spackscope.model.query.ast import Query
from spackscope.model.query.column_filter import with_column
from spackscope.model.query.matchers import split_variant
from spackscope.model.query.parse import (
    Bare,
    parse,
)

MOST = 8
"""Completions that are offered at once."""

_KEYS = ("os", "target", "platform", "compiler", "stack", "tag", "source", "version", "size")
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
    text: str,
    cursor: int,
    *,
    bare: Bare = "any",
    package: int | None = None,
    should_stop: ShouldStop = never,
) -> Completions:
    """Complete the word of a query line that ends at the cursor.

    Nothing is offered within a word, and nothing that the word is already. Raises Cancelled.
    """
    word = None if text[cursor : cursor + 1].strip() else _word_before(text, cursor)
    if word is None:
        return Completions(cursor, cursor)
    start = word.start()
    others = _alive(catalog, without_word(text, cursor, bare), package, should_stop)
    within = _Within(catalog, others, package, should_stop, bare)
    try:
        offered = [c for c in within.candidates(word) if c.text != text[start:cursor] and c.count]
    except Unanswerable:
        offered = []
    return Completions(start, cursor, tuple(offered[:MOST]))


def complete_column(
    catalog: Catalog,
    query: Query,
    column: str,
    text: str,
    cursor: int,
    *,
    package: int | None = None,
    should_stop: ShouldStop = never,
) -> Completions:
    """Complete the word of a column's filter that ends at the cursor. Raises Cancelled."""
    word = re.search(r"(?:(?<=\s)|\A)!?([=@]*(\S*))\Z", text[:cursor])
    if text[cursor : cursor + 1].strip() or word is None or column not in FACETED:
        return Completions(cursor, cursor)
    start, typed = word.start(1), word[2].lower()
    try:
        query = with_column(query, column, text[: word.start()] + text[cursor:])
        found = facets(catalog, query, column, package=package, should_stop=should_stop)
    except (QueryError, Unanswerable):
        return Completions(cursor, cursor)
    fitting = _ranked(found, typed)
    # The whole value, where the word alone would match anywhere in others.
    sign = "" if column == "variants" else "="
    items = [
        Completion(sign + _quoted(facet.value), facet.count)
        for facet in fitting
        if sign + _quoted(facet.value) != word[1]
    ]
    return Completions(start, cursor, tuple(items[:MOST]))


class _Within:
    """Offer what occurs under some conditions."""

    def __init__(
        self,
        catalog: Catalog,
        others: Query,
        package: int | None,
        should_stop: ShouldStop,
        bare: Bare,
    ) -> None:
        self._catalog = catalog
        self._others = others
        self._package = package
        self._should_stop = should_stop
        self._bare = bare

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
        return facets(
            self._catalog,
            self._others,
            column,
            package=self._package,
            should_stop=self._should_stop,
        )

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
                for name in sorted(self._catalog.dictionaries.package_names, key=len):
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
        for facet in _beginning(self._facets("state"), typed):
            yield Completion(facet.value, facet.count)
        for facet in _beginning(self._facets("package"), typed):
            # In a live filter the bare name would be looked for in every column.
            key = "package=" if self._bare == "any" else ""
            yield Completion(f"{key}{facet.value}", facet.count)
        for column in ("os", "target", "platform", "stack", "tag", "compiler"):
            for facet in _beginning(self._facets(column), typed):
                value = facet.value
                text = f"%{value}" if column == "compiler" else f"{column}={lexer.quoted(value)}"
                yield Completion(text, facet.count)
        variants = self._facets("variants")
        for facet in variants:
            if split_variant(facet.value)[0].startswith(typed) and is_clean(facet.value):
                yield Completion(_spelled_variant(facet.value), facet.count)
        for key in _KEYS:
            if key.startswith(typed):
                yield Completion(f"{key}=", sum(facet.count for facet in self._facets("package")))


def _alive(catalog: Catalog, query: Query, package: int | None, should_stop: ShouldStop) -> Query:
    """Leave out what nothing fulfils together with what stands before it."""

    def count(asked: Query) -> int:
        return catalog.count(asked, package=package, should_stop=should_stop)

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


def _word_before(text: str, cursor: int) -> re.Match[str] | None:
    """Find the word that ends at the cursor, and its kind; none where a quote is open."""
    typed = text[max(0, cursor - 2_000) : cursor]
    if any(t.kind == lexer.ERROR and t.text[0] in "'\"" for t in lexer.tokens(typed)):
        return None
    begin = max(0, cursor - 200)
    for match in _WORD.finditer(text[:cursor], begin):
        if match.end() == cursor:
            return match
    return None


def without_word(text: str, cursor: int, bare: Bare = "any") -> Query:
    """Read a query without the word that ends at the cursor, as far as it can be read."""
    word = _word_before(text, cursor)
    before, end = text[: word.start() if word is not None else cursor], cursor
    # A name that the word is glued to is a name, not a bare word.
    glue = "@:" if before[-1:].strip() and before[-1] not in "!|" else ""
    for rest in (f"{before}{glue} {text[end:]}", f"{before} {text[end:]}", before):
        try:
            return parse(rest, bare=bare)
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


def _spelled_variant(variant: str) -> str:
    parts = lexer.PAIR_PARTS.fullmatch(variant)
    if parts is None:
        return variant
    name, operator, value = parts.groups()
    return f"{name}{operator}{lexer.quoted(lexer.unquoted(value))}"


def _quoted(value: str) -> str:
    return lexer.in_quotes(value) if re.search(r"[\s\"']", value) else value
