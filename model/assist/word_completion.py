"""Complete a word of a query on a command line, where choices begin with what was typed.

The candidates are those of the query line, but a name without a sign or key is that of a package,
and keys come before their values, so that the list stays short.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from spackscope.model.assist.answers import Completion
from spackscope.model.assist.choices import MAX_CHOICES, Choice, bounded
from spackscope.model.assist.completion import Candidates, satisfiable, typed_word
from spackscope.model.catalog.by_host import HOST
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.columns import ALIASES, COLUMNS, FIELDS, HOST_COLUMNS, WORDS
from spackscope.model.core.errors import Cancelled, QueryError, Unanswerable
from spackscope.model.core.progress import ShouldStop, never
from spackscope.model.core.records import ANSWERS, Spec
from spackscope.model.core.text import clean, counted, is_clean
from spackscope.model.core.variants import split_variant
from spackscope.model.core.versions import version_key
from spackscope.model.query import lexer
from spackscope.model.query.ast import Query
from spackscope.model.query.conditions import VIEW
from spackscope.model.query.parsed_input import parse_input
from spackscope.model.query.parser import parse

if TYPE_CHECKING:
    from spackscope.model.query.named_queries import NamedQueries

_MAX_LENGTH = 200
_OF_HOST = ("platform", "os", "target")
_LISTS = re.compile(r".*[,:]")


def complete_word(
    catalog: Catalog | None,
    before: str,
    word: str,
    *,
    named: NamedQueries | None = None,
    should_stop: ShouldStop = never,
) -> list[Choice]:
    """Return what the last word of a query can become, the most frequent first.

    `before` is the text of the words before it, which may use queries of `named`. All choices
    begin with the word, and are parts of a query, not quoted for any shell. Without a catalog they
    are the keys and words of the language. Nothing is found in a quoted value, or once
    `should_stop` is true.

        complete_word(catalog, "hdf5", "os=rhel")  # Choice("os=rhel9", "12 specs")
    """
    text = f"{before} {word}"
    parsed = parse_input(text, len(text), packages=None, named=named)
    match = typed_word(parsed)
    if match is None or match.start() <= len(before):
        return []
    candidates = None
    try:
        if catalog is not None:
            others = satisfiable(catalog, _before(text[: match.start()], named), should_stop)
            candidates = Candidates(catalog, others, should_stop, named)
        found = [*_Words(candidates, named).of(match)]
    except (Cancelled, QueryError, Unanswerable):
        return []
    typed, head = match[0], text[len(before) + 1 : match.start()]
    unique = {choice.text: choice for choice in reversed(found)}
    fitting = [
        Choice(head + choice.text, choice.note, choice.is_whole)
        for choice in reversed(unique.values())
        if choice.text.startswith(typed) and _is_plain(choice.text)
    ]
    return bounded(fitting)


def _before(text: str, named: NamedQueries | None) -> Query:
    """Return the conditions before a word on the spec that it belongs to; none of a wrong text.

    After `^` it belongs to the dependency, which is looked for as a spec of its own. What fits the
    host is not among them: to find out takes longer than the rest of a completion.
    """
    text = text.rstrip(" !|(")
    dependencies = (token for token in lexer.tokens(text) if token.kind == lexer.DEPENDENCY)
    for token in dependencies:
        if token.text.startswith("^"):
            text = " " * token.end + text[token.end :]
    query = Query()
    with contextlib.suppress(QueryError):
        query = parse(text, named=named)
    for column in HOST_COLUMNS:
        query = query.without_column(column)
    return query


def hashes_with_prefix(catalog: Catalog, prefix: str, others: Query = Query()) -> list[Choice]:
    """Return the hashes with a prefix, each with its spec, unless they are too many.

    Where no more than MAX_CHOICES records match the query, they are those of these records.
    """
    ids = catalog.match(others) if others else ()
    if 0 < len(ids) <= MAX_CHOICES:
        specs = [row.spec for row in catalog.rows(list(ids))]
    else:
        hashes = catalog.dictionaries.hashes(prefix, limit=MAX_CHOICES + 1) if prefix else []
        if len(hashes) > MAX_CHOICES:
            return []
        specs = [rows[0].spec for rows in map(catalog.by_hash, hashes) if rows]
    return [Choice(s.hash, _note(s)) for s in specs if s.hash.startswith(prefix)]


class _Words:
    """The words that begin with a typed one, under the other conditions of a query."""

    def __init__(self, candidates: Candidates | None, named: NamedQueries | None) -> None:
        self._candidates, self._named = candidates, named

    def of(self, word: re.Match[str]) -> Iterator[Choice]:
        """Yield what a match of `typed_word` can become."""
        groups = word.groupdict()
        if groups["key"] == VIEW and self._named is not None:
            counts = {item.text: item.count for item in self._completions(word)}
            for text in (f"{VIEW}={name}" for name in self._named.texts):
                yield Choice(text, counted(counts[text], "spec") if text in counts else "")
        elif groups["key"] is not None:
            yield from self._values(groups["key"], groups["operator"], groups["value"])
        elif groups["name"] is not None:
            yield from self._names(groups["name"])
        elif groups["hash"] is not None and self._candidates is not None:
            catalog, others = self._candidates.catalog, self._candidates.others
            for choice in hashes_with_prefix(catalog, groups["hash"], others):
                yield Choice(f"/{choice.text}", choice.note)
        else:
            found = [item for item in self._completions(word) if item.count]
            if groups["version"] is not None:
                found.sort(key=lambda item: version_key(item.text), reverse=True)
            # The dependents of a dependency are not counted.
            is_counted = groups["sigil"] != "^"
            for item in found:
                yield Choice(item.text, counted(item.count, "spec") if is_counted else "")

    def _completions(self, word: re.Match[str]) -> list[Completion]:
        return [*self._candidates.of(word)] if self._candidates is not None else []

    def _values(self, key: str, operator: str, typed: str) -> Iterator[Choice]:
        """Yield the values of a column or variant, after those of a list or range."""
        column = ALIASES.get(key, key)
        head, last = "", typed
        if lists := _LISTS.match(typed):
            head, last = lists[0], typed[lists.end() :]
        if column in FIELDS and FIELDS[column].is_by_host:
            # Whether specs run on a host takes longer to find out than somebody waits.
            for answer in ANSWERS:
                yield Choice(f"{key}{operator}{answer}")
        elif self._candidates is not None:
            for facet in self._candidates.values_of(column):
                value = head + facet.value if head else lexer.quoted(facet.value)
                is_part = bool(head) and lexer.quoted(value) != value
                if facet.value.startswith(last) and facet.count and not is_part:
                    yield Choice(f"{key}{operator}{value}", counted(facet.count, "spec"))
        if column in _OF_HOST:
            yield Choice(f"{key}{operator}{head}{HOST}", "that of the host")

    def _names(self, typed: str) -> Iterator[Choice]:
        """Yield packages; after one, or where none begins so, words, keys and variants."""
        packages = [each for each in self._packages() if each.text.startswith(typed)]
        others = self._candidates.others if self._candidates is not None else Query()
        has_package = bool(others.package_term or others.specs)
        if not has_package:
            yield from packages
        if typed or has_package or not packages:
            yield from self._words_and_keys()
        if has_package or not packages:
            # What is counted of variants takes as long as the rest.
            yield from self._variants(signs=not typed)
        if has_package and typed:
            yield from packages

    def _packages(self) -> Iterator[Choice]:
        for facet in self._candidates.values_of("package") if self._candidates is not None else ():
            yield Choice(facet.value, counted(facet.count, "spec"))

    def _words_and_keys(self) -> Iterator[Choice]:
        for word in WORDS:
            yield Choice(word)
        for column in COLUMNS:
            if "key" in column.completes:
                yield Choice(f"{column.name}=", "column", is_whole=False)
        if self._named is not None:
            yield Choice(f"{VIEW}=", "a query with a name", is_whole=False)

    def _variants(self, *, signs: bool) -> Iterator[Choice]:
        """Yield the variants with values by their names, and with `signs` others that differ."""
        if self._candidates is None:
            return
        total = self._candidates.catalog.count(self._candidates.others)
        for facet in self._candidates.values_of("variants"):
            if facet.value[:1] not in ("+", "~"):
                yield Choice(f"{split_variant(facet.value)[0]}=", "variant", is_whole=False)
            elif signs and facet.count < total:
                yield Choice(facet.value, counted(facet.count, "spec"))


def _is_plain(text: str) -> bool:
    """Check whether a choice can be inserted: on one line, and not too long."""
    return len(text) <= _MAX_LENGTH and is_clean(text)


def _note(spec: Spec) -> str:
    """Return what tells a spec from others of its name, on one line."""
    version = f"@{spec.version}" if spec.version else ""
    parts = (f"{spec.package}{version}", f"%{spec.compiler}", spec.os, spec.target)
    return clean(" ".join(filter(None, parts)))
