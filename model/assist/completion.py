"""Complete the word at the cursor by what still occurs under the other conditions."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from spackscope.model.assist.answers import MAX_CHOICES, Choice, Completion, Completions, bounded
from spackscope.model.catalog.by_host import HOST
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.facets import Facet, facets
from spackscope.model.core.columns import ALIASES, COLUMNS, COUNTED, FIELDS, HOST_COLUMNS, WORDS
from spackscope.model.core.errors import Cancelled, QueryError, Unanswerable
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import ANSWERS, Spec
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.text import clean, counted, is_clean
from spackscope.model.core.variants import split_variant
from spackscope.model.core.versions import version_key
from spackscope.model.query import lexer
from spackscope.model.query.ast import VIEW, Depends, Query, Term, query_of
from spackscope.model.query.column_filter import apply_filter, quote_word
from spackscope.model.query.parser import ParsedInput, parse, parse_input

if TYPE_CHECKING:
    from spackscope.model.query.parser import NamedQueries


MAX_COMPLETIONS = 8
"""Completions that are offered at once."""

# Words without a key come first.
_COMPLETED = sorted((c for c in COLUMNS if "values" in c.completes), key=lambda c: c.sigil != "")
_MAX_WORD = 200
_KEY = r"[A-Za-z_0-9][\w\-.]*"
_WORD = re.compile(
    rf"""
    (?P<key>{_KEY})(?P<operator>:?==?)(?P<value>[^\s"']*)
  | @\s*(?P<version>[^\s+~%^]*)
  | (?P<sign>\+\+|~~|[+~]|(?<!\S)-)(?P<variant>[\w\-.]*)
  | (?P<sigil>[%^])\s*(?:[\w,\-]+=)?(?P<dependency>[\w\-.]*(?:@[\w.\-]*)?)
  | /(?P<hash>\w*)
  | (?P<name>(?<![^\s!|])[\w\-.]*)
    """,
    re.VERBOSE,
)
_LISTS = re.compile(r".*[,:]")
_FILTER_WORD = re.compile(r"(?:(?<=\s)|\A)!?(?P<word>[=@]*(?P<value>\S*))\Z")


def complete(
    catalog: Catalog, parsed: ParsedInput, *, always: bool = False, should_stop: ShouldStop = never
) -> Completions:
    """Complete the word of an input that ends at the cursor.

    Nothing is offered inside a word; nor for a word without a character, unless `always`. The
    word as it is comes first, and is not offered alone. Raises Cancelled.

    Example: for `py-build os=ub` with the cursor at its end `os=ubuntu24.04` is offered, with the
    count of that system among the records of py-build.
    """
    text, cursor = parsed.text, parsed.cursor
    is_inside = bool(text[cursor : cursor + 1].strip())
    is_begun = bool(text[max(0, cursor - 1) : cursor].strip())
    word = typed_word(parsed)
    is_counted = parsed.column in ("", *COUNTED) or parsed.column[:1] == "+"
    if is_inside or word is None or not is_counted or not (is_begun or always):
        return Completions(cursor, cursor)
    try:
        if parsed.column:
            start, typed = word.start("word"), word["word"]
            items = _filter_values(catalog, parsed, word["value"], should_stop)
        else:
            start, typed = word.start(), word[0]
            others = satisfiable(catalog, without_word(parsed), should_stop)
            items = Candidates(catalog, others, should_stop, parsed.named).of(word)
        counted_items = [item for item in items if item.count]
    except (QueryError, Unanswerable):
        return Completions(cursor, cursor)
    longer = [item for item in counted_items if item.text != typed]
    exact = [item for item in counted_items if item.text == typed]
    # The typed word is first, so that Tab takes no longer one instead of it. A word with nothing
    # longer needs no completion.
    offered = [*exact[:1], *longer] if longer else []
    return Completions(start, cursor, tuple(offered[:MAX_COMPLETIONS]))


def _filter_values(
    catalog: Catalog, parsed: ParsedInput, typed: str, should_stop: ShouldStop
) -> Iterator[Completion]:
    # The whole value, where the word alone would match anywhere in others.
    variant = parsed.column[1:] if parsed.column[:1] == "+" else ""
    candidates = Candidates(catalog, without_word(parsed), should_stop)
    if parsed.column == "target" and (lists := _LISTS.match(typed)):
        for facet in candidates.target_lists(lists, typed):
            yield Completion(facet.value, facet.count)
        return
    values = candidates.facets("variants" if variant else parsed.column)
    sign = "" if variant or parsed.column == "variants" else "="
    for facet in _ranked(values, typed):
        if not variant or split_variant(facet.value)[0] == variant:
            yield Completion(sign + quote_word(facet.value), facet.count)


class Candidates(Frozen):
    """What a word can become under the other conditions, with counts.

    Without a catalog there is nothing that it can become.
    """

    catalog: Catalog | None
    others: Query
    should_stop: ShouldStop
    named: NamedQueries | None = None

    def facets(self, column: str) -> list[Facet]:
        """Return the values of a column."""
        if self.catalog is None:
            return []
        return facets(self.catalog, self.others, column, should_stop=self.should_stop)

    def of(self, word: re.Match[str]) -> Iterator[Completion]:
        """Yield what a match of `typed_word` can become."""
        groups = word.groupdict()
        if groups["key"] is not None:
            yield from self._values(groups["key"], groups["operator"], groups["value"])
        elif (typed := groups["version"]) is not None:
            last = re.split(r"[,:=]", typed)[-1]
            before = typed[: len(typed) - len(last)]
            for facet in self.facets("version"):
                if facet.value.startswith(last):
                    yield Completion(f"@{before}{facet.value}", facet.count)
        elif (typed := groups["variant"]) is not None:
            flag = "+" if groups["sign"][0] == "+" else "~"
            for facet in self.facets("variants"):
                if facet.value[:1] == flag and facet.value[1:].startswith(typed):
                    yield Completion(f"{groups['sign']}{facet.value[1:]}", facet.count)
        elif (typed := groups["dependency"]) is not None:
            sigil = word[0][: len(word[0]) - len(typed)]
            counts: Counter[str] = Counter()
            if groups["sigil"] == "%":
                for facet in self.facets("compiler"):
                    name = facet.value if "@" in typed else facet.value.partition("@")[0]
                    counts[name] += facet.count
                del counts["none"]
            elif typed and self.catalog is not None and self.catalog.lists_dependencies:
                # All packages, with the count of all specs, as dependents are not counted.
                names = sorted(self.catalog.texts("package"), key=len)
                counts.update(dict.fromkeys(names, self.catalog.count(self.others)))
            for name, count in counts.most_common():
                if name.startswith(typed) and is_clean(name):
                    yield Completion(sigil + name, count)
        elif groups["name"]:
            yield from self._anything(groups["name"])

    def values_of(self, key: str) -> list[Facet]:
        """Return the values of a column or a variant."""
        if key in COUNTED:
            return self.facets(key)
        counts: Counter[str] = Counter()
        for facet in self.facets("variants"):
            name, values = split_variant(facet.value)
            if name == key and facet.value[:1] not in ("+", "~"):
                counts.update(dict.fromkeys(values, facet.count))
        return [Facet(*pair) for pair in counts.most_common()]

    def _values(self, key: str, operator: str, typed: str) -> Iterator[Completion]:
        if key == VIEW and self.named is not None:
            yield from self._named(typed, lambda name: typed.lower() in name.lower())
            return
        lists = _LISTS.match(typed) if key == "target" else None
        values = self.target_lists(lists, typed) if lists else _ranked(self.values_of(key), typed)
        for facet in values:
            text = f"{key}{'=' if key in COUNTED else operator}{lexer.quoted(facet.value)}"
            yield Completion(text, facet.count)

    def target_lists(self, lists: re.Match[str], typed: str) -> list[Facet]:
        """Return lists and ranges of targets: each with a known target that begins with the end.

        Once that is begun also with targets that no record has, as that of a host.
        """
        from archspec.cpu import TARGETS

        assert self.catalog is not None
        last = typed[lists.end() :]
        known = [facet.value for facet in self.facets("target")]
        values = [
            lists[0] + name
            for name in dict.fromkeys([*known, *(TARGETS if last else ())])
            if name in TARGETS and name.startswith(last)
        ]
        queries = (self.others.plus(query_of(Term("target", value))) for value in values)
        return list(map(Facet, values, map(self.catalog.count, queries)))

    def _named(self, typed: str, fits: Callable[[str], bool]) -> Iterator[Completion]:
        """Yield the named queries with fitting names, those that begin with a text first."""
        if self.named is None or self.catalog is None:
            return
        names = sorted(filter(fits, self.named.texts), key=lambda name: not name.startswith(typed))
        for name in names:
            with contextlib.suppress(QueryError, Unanswerable):
                query = self.named.query(name)
                both = query if self.others.specs and query.specs else self.others.plus(query)
                count = self.catalog.count(both, should_stop=self.should_stop)
                yield Completion(f"{VIEW}={name}", count)

    def _anything(self, typed: str) -> Iterator[Completion]:
        """Yield packages, values of the other columns, variants and keys."""
        lower = typed.lower()
        for column in _COMPLETED:
            if column.name == "package" and self.others.package_term:
                continue
            begun = (f for f in self.facets(column.name) if f.value.lower().startswith(lower))
            for facet in _ranked(begun, typed):
                keyed = f"{column.name}={lexer.quoted(facet.value)}"
                text = keyed if column.sigil is None else column.sigil + facet.value
                yield Completion(text, facet.count)
        for facet in self.facets("variants"):
            if split_variant(facet.value)[0].startswith(typed) and is_clean(facet.value):
                yield Completion(str(Term("variants", facet.value)), facet.count)
        yield from self._named(
            typed, lambda name: f"{VIEW}={name}".startswith(typed) or name.startswith(typed)
        )
        if self.catalog is not None:
            for column in COLUMNS:
                if "key" in column.completes and column.name.startswith(typed):
                    yield Completion(f"{column.name}=", self.catalog.count(self.others))

    def choices(self, word: re.Match[str]) -> Iterator[Choice]:
        """Yield the words that begin with a match of `typed_word`, for a shell."""
        groups = word.groupdict()
        if groups["key"] == VIEW and self.named is not None:
            counts = {item.text: item.count for item in self.of(word)}
            for text in (f"{VIEW}={name}" for name in self.named.texts):
                yield Choice(text, counted(counts[text], "spec") if text in counts else "")
        elif groups["key"] is not None:
            yield from self._keyed(groups["key"], groups["operator"], groups["value"])
        elif groups["name"] is not None:
            yield from self._names(groups["name"])
        elif groups["hash"] is not None and self.catalog is not None:
            for choice in hashes_with_prefix(self.catalog, groups["hash"], self.others):
                yield Choice(f"/{choice.text}", choice.note)
        else:
            found = [item for item in self.of(word) if item.count]
            if groups["version"] is not None:
                found.sort(key=lambda item: version_key(item.text), reverse=True)
            # The dependents of a dependency are not counted.
            is_counted = groups["sigil"] != "^"
            for item in found:
                yield Choice(item.text, counted(item.count, "spec") if is_counted else "")

    def _keyed(self, key: str, operator: str, typed: str) -> Iterator[Choice]:
        """Yield the values of a column or variant, after those of a list or range."""
        column = ALIASES.get(key, key)
        head = lists[0] if (lists := _LISTS.match(typed)) else ""
        if column in FIELDS and FIELDS[column].is_by_host:
            # Whether specs run on a host takes longer to find out than somebody waits.
            for answer in ANSWERS:
                yield Choice(f"{key}{operator}{answer}")
        else:
            for facet in self.values_of(column):
                value = head + facet.value if head else lexer.quoted(facet.value)
                is_part = bool(head) and lexer.quoted(value) != value
                if (head + facet.value).startswith(typed) and facet.count and not is_part:
                    yield Choice(f"{key}{operator}{value}", counted(facet.count, "spec"))
        if column in _OF_HOST:
            yield Choice(f"{key}{operator}{head}{HOST}", "that of the host")

    def _names(self, typed: str) -> Iterator[Choice]:
        """Yield packages; after one, or where none begins so, words, keys and variants."""
        found = (f for f in self.facets("package") if f.value.startswith(typed))
        packages = [Choice(facet.value, counted(facet.count, "spec")) for facet in found]
        has_package = bool(self.others.package_term or self.others.specs)
        if not has_package:
            yield from packages
        if typed or has_package or not packages:
            for word in WORDS:
                yield Choice(word)
            for column in COLUMNS:
                if "key" in column.completes:
                    yield Choice(f"{column.name}=", "column", is_whole=False)
            if self.named is not None:
                yield Choice(f"{VIEW}=", "a query with a name", is_whole=False)
        if has_package or not packages:
            # What is counted of variants takes as long as the rest.
            yield from self._variants(signs=not typed)
        if has_package and typed:
            yield from packages

    def _variants(self, *, signs: bool) -> Iterator[Choice]:
        """Yield the variants with values by their names, and with `signs` others that differ."""
        total = self.catalog.count(self.others) if self.catalog is not None else 0
        for facet in self.facets("variants"):
            if facet.value[:1] not in ("+", "~"):
                yield Choice(f"{split_variant(facet.value)[0]}=", "variant", is_whole=False)
            elif signs and facet.count < total:
                yield Choice(facet.value, counted(facet.count, "spec"))


def satisfiable(catalog: Catalog, query: Query, should_stop: ShouldStop) -> Query:
    """Return the query without each part that nothing matches together with those before it."""
    try:
        if catalog.count(query, should_stop=should_stop):
            return query
        query_so_far = Query()
        for part in query.parts():
            more = query_so_far.plus(part)
            query_so_far = more if catalog.count(more, should_stop=should_stop) else query_so_far
    except Unanswerable:
        return Query()
    return query_so_far


def _ranked(values: Iterable[Facet], typed: str) -> list[Facet]:
    """Return the values that contain a text: first the text itself, then those that begin so."""
    lower = typed.lower()
    fitting = [f for f in values if lower in f.value.lower() and is_clean(f.value)]
    return sorted(fitting, key=lambda f: (f.value != typed, not f.value.lower().startswith(lower)))


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
            return parse(rest, packages=parsed.packages, named=parsed.named)
        except QueryError:
            continue
    return Query()


_MAX_LENGTH = 200
_OF_HOST = ("platform", "os", "target")


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
    others = Query()
    try:
        if catalog is not None:
            others = satisfiable(catalog, _before(text[: match.start()], named), should_stop)
        found = [*Candidates(catalog, others, should_stop, named).choices(match)]
    except (Cancelled, QueryError, Unanswerable):
        return []
    typed, head = match[0], text[len(before) + 1 : match.start()]
    unique = {choice.text: choice for choice in reversed(found)}
    fitting = [
        Choice(head + choice.text, choice.note, choice.is_whole)
        for choice in reversed(unique.values())
        if choice.text.startswith(typed)
        # It is inserted in one line.
        and len(choice.text) <= _MAX_LENGTH
        and is_clean(choice.text)
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
    try:
        query = parse(text, named=named)
    except QueryError:
        return Query()
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
        hashes = catalog.hashes(prefix, limit=MAX_CHOICES + 1) if prefix else []
        if len(hashes) > MAX_CHOICES:
            return []
        specs = [rows[0].spec for rows in map(catalog.by_hash, hashes) if rows]
    return [Choice(s.hash, _note(s)) for s in specs if s.hash.startswith(prefix)]


def _note(spec: Spec) -> str:
    """Return what tells a spec from others of its name, on one line."""
    version = f"@{spec.version}" if spec.version else ""
    parts = (f"{spec.package}{version}", f"%{spec.compiler}", spec.os, spec.target)
    return clean(" ".join(filter(None, parts)))
