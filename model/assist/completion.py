"""Complete the word at the cursor with values that occur under the other conditions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import NamedTuple, cast

from spackscope.model.assist.offers import MAX_CHOICES, Completion, Completions, bounded
from spackscope.model.core.columns import (
    ALIASES,
    COLUMNS,
    COUNTED,
    HOST_COLUMNS,
    REGISTRY,
    WORDS,
    spec_name,
)
from spackscope.model.core.errors import Cancelled, QueryError, Unanswerable
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import ANSWERS, NO_COMPILER, YES, Spec, split_variant
from spackscope.model.core.text import clean, counted, is_clean
from spackscope.model.core.versions import version_key
from spackscope.model.index.by_host import HOST
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.value_counts import ValueCount, value_counts
from spackscope.model.query import lexer
from spackscope.model.query.ast import Depends, Query, Term, query_of
from spackscope.model.query.column_filter import parse_filter_input, quote_word
from spackscope.model.query.matchers import ARCHITECTURE
from spackscope.model.query.parser import ParsedInput, parse, parse_input

MAX_COMPLETIONS = 8
"""The most completions that are offered."""

# Words without a key come first.
_COMPLETED = sorted((c for c in COLUMNS if "values" in c.completes), key=lambda c: c.sigil != "")
_KEYS = [column.name for column in COLUMNS if "key" in column.completes]
_MAX_WORD = 200
_MAX_COUNTED = 2 * MAX_COMPLETIONS
"""Completions on a dependency of which each is counted among the specs that depend on it."""
_KEY = r"[A-Za-z_0-9][\w\-.]*"
_WORD = re.compile(
    rf"""
    (?P<key>{_KEY})(?P<operator>:?==?)(?P<value>[^\s"']*)
  | @\s*(?P<version>[^\s+~%^]*)
  | (?P<sign>\+\+|~~|[+~]|(?<!\S)-)(?P<variant>[\w\-.]*)
  | (?P<sigil>(?P<direct>%)|\^)\s*(?:[\w,\-]+=)?
    (?P<dependency>[\w\-.]*(?(direct)(?:@[\w.\-]*)?))
  | /(?P<hash>\w*)
  | (?P<name>(?<![^\s!|])[\w\-.]*)
    """,
    re.VERBOSE,
)
_LISTS = re.compile(r".*[,:]")
_FILTER_WORD = re.compile(r"(?:(?<=\s)|\A)!?(?P<word>[=@]*(?P<value>\S*))\Z")


def complete(catalog: Catalog, parsed: ParsedInput, *, always: bool = False) -> Completions:
    """Complete the word of an input that ends at the cursor.

    Nothing is offered inside a word, nor for an empty word, unless `always`. The typed word itself
    comes first if it has matches, but is never offered alone. Raises Cancelled.

    Example: for `py-build os=ub` with the cursor at its end `os=ubuntu24.04` is offered, with the
    count of that system among the records of py-build.
    """
    text, cursor, column = parsed.text, parsed.cursor, parsed.column
    is_inside = bool(text[cursor : cursor + 1].strip())
    is_begun = bool(text[max(0, cursor - 1) : cursor].strip())
    word = typed_word(parsed)
    is_counted = column in ("", *COUNTED) or column[:1] == "+"
    if is_inside or word is None or not is_counted or not (is_begun or always):
        return Completions(cursor, cursor)
    part = "word" if column else 0
    before = text[: word.start(part)]
    tokens = (token for token in parsed.tokens if token.end <= len(before))
    is_of_dependency = not column and word["sigil"] != "^" and _dependencies_end(tokens) > 0
    try:
        others = _before(before) if is_of_dependency else without_word(parsed)
        if not column:
            others = satisfiable(catalog, others, of_nodes=is_of_dependency)
        completer = _Completer(catalog, others, is_of_dependency)
        found = (
            completer.filter_values(column, word["value"])
            if column
            else completer.candidates(word)
        )
        items = [each for each in found if each.count]
        if is_of_dependency:
            items = [*_of_dependents(catalog, parsed, before, items[:_MAX_COUNTED])]
    except Unanswerable:
        return Completions(cursor, cursor)
    # The typed word is first, so that Tab does not replace it by a longer one. A word without
    # longer completions needs none.
    longer = [item for item in items if item.text != word[part]]
    exact = [item for item in items if item.text == word[part]]
    offered = [*exact[:1], *longer] if longer else []
    return Completions(word.start(part), cursor, tuple(offered[:MAX_COMPLETIONS]))


def _of_dependents(
    catalog: Catalog, parsed: ParsedInput, before: str, items: Iterable[Completion]
) -> Iterator[Completion]:
    """Yield completions of a word on a dependency, with the counts of the specs that depend on it.

    `before` is the text before the word. Raises Unanswerable and Cancelled.
    """
    for each in items:
        text = f"{before}{each.text}{parsed.text[parsed.cursor :]}"
        with suppress(QueryError):
            if count := catalog.count(parse(text, packages=parsed.packages)):
                yield replace(each, count=count)


class _Completer(NamedTuple):
    """Completes words under the other conditions of a query.

    Without a catalog, it completes keys and words of the language. With `of_nodes` it completes
    what is said of a dependency, which may have dependency-only records alone.
    """

    catalog: Catalog | None
    others: Query
    of_nodes: bool = False

    def counts(self, column: str) -> list[ValueCount]:
        """Return the values of a column; `yes` first for a column about the host."""
        if self.catalog is None:
            return []
        found = value_counts(self.catalog, self.others, column, of_nodes=self.of_nodes)
        if column in HOST_COLUMNS:
            # Users ask for specs that run here, even if fewer do.
            found.sort(key=lambda each: each.value != YES)
        return found

    def count(self, query: Query) -> int:
        """Count the specs that match a query; 0 without a catalog."""
        return 0 if self.catalog is None else _count(self.catalog, query, of_nodes=self.of_nodes)

    def candidates(self, word: re.Match[str], *, in_shell: bool = False) -> Iterator[Completion]:
        """Yield completions of a match of `typed_word`; `in_shell`, some do not begin with it."""
        parts = word.groupdict()
        if parts["key"] is not None:
            yield from self.values(parts["key"], parts["operator"], parts["value"], in_shell)
        elif (typed := parts["version"]) is not None:
            last = re.split(r"[,:=]", typed)[-1]
            before = typed.removesuffix(last)
            values = [each for each in self.counts("version") if each.value.startswith(last)]
            if in_shell:
                values.sort(key=lambda each: version_key(each.value), reverse=True)
            for each in values:
                yield Completion(f"@{before}{each.value}", each.count)
        elif (typed := parts["variant"]) is not None:
            flag = ("+" if parts["sign"][0] == "+" else "~") + typed
            for each in self.counts("variants"):
                if each.value.startswith(flag):
                    yield Completion(parts["sign"] + each.value[1:], each.count)
        elif (typed := parts["dependency"]) is not None:
            counts: Counter[str] = Counter()
            if parts["sigil"] == "%":
                for each in self.counts("compiler"):
                    name = each.value if "@" in typed else each.value.partition("@")[0]
                    counts[name] += each.count
                del counts[NO_COMPILER]
            elif typed and self.catalog and self.catalog.lists_dependencies:
                # All packages, with the count of all specs, as dependents are not counted.
                names = sorted(self.catalog.texts("package"), key=len)
                counts.update(dict.fromkeys(names, self.count(self.others)))
            note = "" if parts["sigil"] == "^" else None
            for name, count in counts.most_common():
                if name.startswith(typed) and is_clean(name):
                    yield Completion(word[0].removesuffix(typed) + name, count, note)
        elif parts["hash"] is not None and in_shell and self.catalog is not None:
            for choice in hashes_with_prefix(self.catalog, parts["hash"], self.others):
                yield Completion(f"/{choice.text}", 0, choice.note)
        elif parts["name"] is not None and in_shell:
            yield from self.shell_words(parts["name"])
        elif parts["name"]:
            yield from self.anything(parts["name"])

    def values(self, key: str, operator: str, typed: str, in_shell: bool) -> Iterator[Completion]:
        """Yield the values of a column or a variant that contain a text."""
        before = lists[0] if (lists := _LISTS.match(typed)) else ""
        column = ALIASES.get(key, key)
        operator = "=" if column in COUNTED else operator
        if in_shell and column in HOST_COLUMNS:
            # Computing whether specs run on a host takes too long for a completion.
            for answer in ANSWERS:
                yield Completion(f"{key}={answer}", note="")
        elif column == "target" and before:
            yield from self.target_lists(before, typed, f"{key}=")
        else:
            if column in COUNTED:
                values = self.counts(column)
            else:
                counts: Counter[str] = Counter()
                for each in self.counts("variants"):
                    name, its_values = split_variant(each.value)
                    if name == key and each.value[:1] not in ("+", "~"):
                        counts.update(dict.fromkeys(its_values, each.count))
                values = [ValueCount(*pair) for pair in counts.most_common()]
            is_list = column == "version" or column not in COUNTED
            # Whole values, and one more value of a list.
            for head in dict.fromkeys(("", before if is_list else "")):
                for each in _ranked(values, typed.removeprefix(head)):
                    text = f"{key}{operator}{lexer.quoted(head + each.value)}"
                    yield Completion(text, each.count)
        if in_shell and column in ARCHITECTURE:
            yield Completion(f"{key}={before}{HOST}", note="the same as the host")

    def target_lists(self, before: str, typed: str, sign: str = "") -> Iterator[Completion]:
        """Yield lists and ranges of targets, with each target that begins with their typed end.

        Once the end has a character, it may also become a target that no record has, such as the
        target of the host.
        """
        from archspec.cpu import TARGETS

        last = typed.removeprefix(before)
        known = [each.value for each in self.counts("target")]
        for name in dict.fromkeys([*known, *(TARGETS if last else ())]):
            if name in TARGETS and name.startswith(last):
                query = self.others.plus(query_of(Term("target", before + name)))
                yield Completion(sign + before + name, self.count(query))

    def named_target(self, typed: str) -> Iterator[Completion]:
        """Yield the range up to a target with the typed name, even if no record has it."""
        from archspec.cpu import TARGETS

        if typed in TARGETS:
            query = self.others.plus(query_of(Term("target", f":{typed}")))
            yield Completion(f"target=:{typed}", self.count(query))

    def anything(self, typed: str) -> Iterator[Completion]:
        """Yield packages, values of other columns, variants and keys."""
        for column in _COMPLETED:
            if column.name == "package" and self.others.package_term:
                continue
            for each in _ranked(self.counts(column.name), typed, begun=True):
                keyed = f"{column.name}={lexer.quoted(each.value)}"
                text = keyed if column.sigil is None else column.sigil + each.value
                yield Completion(text, each.count)
        yield from self.named_target(typed)
        for each in self.counts("variants"):
            is_named = typed in each.value and split_variant(each.value)[0].startswith(typed)
            if is_named and is_clean(each.value):
                yield Completion(str(Term("variants", each.value)), each.count)
        for name in _KEYS:
            if name.startswith(typed):
                yield Completion(f"{name}=", self.count(self.others))

    def shell_words(self, typed: str) -> Iterator[Completion]:
        """Yield packages; after a package, or without a fitting one, words, keys and variants."""
        found = (f for f in self.counts("package") if f.value.startswith(typed))
        packages = [Completion(each.value, each.count) for each in found]
        has_package = bool(self.others.package_term or self.others.specs)
        if not has_package:
            yield from packages
        if typed or has_package or not packages:
            yield from (Completion(word, note="") for word in WORDS)
            yield from (Completion(f"{key}=", 0, "column", False) for key in _KEYS)
        if has_package or not packages:
            # Counting variants takes as long as all the rest.
            total = self.count(self.others)
            for each in self.counts("variants"):
                if each.value[:1] not in ("+", "~"):
                    yield Completion(f"{split_variant(each.value)[0]}=", 0, "variant", False)
                elif not typed and each.count < total:
                    # A flag that all specs have does not narrow the query.
                    yield Completion(each.value, each.count)
        if has_package and typed:
            yield from packages

    def filter_values(self, column: str, typed: str) -> Iterator[Completion]:
        """Yield words of a filter for whole values of a column, as `=gcc@13.2.0`."""
        if column == "target" and (lists := _LISTS.match(typed)):
            yield from self.target_lists(lists[0], typed)
            return
        variant = column[1:] if column[:1] == "+" else ""
        sign = "" if variant or column == "variants" else "="
        for each in _ranked(self.counts("variants" if variant else column), typed):
            if not variant or split_variant(each.value)[0] == variant:
                yield Completion(sign + quote_word(each.value), each.count)


def satisfiable(catalog: Catalog, query: Query, *, of_nodes: bool = False) -> Query:
    """Return the query without each part that has no match together with the parts before it.

    With `of_nodes` dependency-only records are matches, too.
    """
    try:
        if _count(catalog, query, of_nodes=of_nodes):
            return query
        query_so_far = Query()
        for part in query.parts():
            more = query_so_far.plus(part)
            query_so_far = more if _count(catalog, more, of_nodes=of_nodes) else query_so_far
    except Unanswerable:
        return Query()
    return query_so_far


def _count(catalog: Catalog, query: Query, *, of_nodes: bool) -> int:
    return len(catalog.match_nodes(query)) if of_nodes else catalog.count(query)


def _ranked(values: Iterable[ValueCount], typed: str, *, begun: bool = False) -> list[ValueCount]:
    """Return the values that contain a text: first the text itself, then values that begin so.

    With `begun`, only values that begin with the text are returned.
    """
    places = ((each.value.lower().find(typed.lower()), each) for each in values)
    fitting = [
        (at, f) for at, f in places if (at == 0 if begun else at >= 0) and is_clean(f.value)
    ]
    return [f for at, f in sorted(fitting, key=lambda pair: (pair[1].value != typed, pair[0] > 0))]


def typed_word(parsed: ParsedInput) -> re.Match[str] | None:
    """Return the word that ends at the cursor; None without one, or inside a quoted value.

    The groups of the match are the parts of the word; in a filter, they are `word` and `value`.
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

    Alternatives of the word are left out, too. If the text is not a query, or the word is part of
    a dependency, the rest of the text is parsed, as far as it can be.
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
        rest = parse_filter_input(before + after, start, parsed.column, parsed.others)
        return rest.query if rest.query is not None else parsed.others
    # A name right before the word stays the name of a package.
    name_end = "@:" if before[-1:].strip() and before[-1] not in "!|" else ""
    for text in (f"{before}{name_end} {after}", f"{before} {after}", before):
        try:
            return parse(text, packages=parsed.packages)
        except QueryError:
            continue
    return Query()


_MAX_LENGTH = 200


def complete_word(catalog: Catalog | None, before: str, word: str) -> list[Completion]:
    """Return completions of the last word of a query, the most frequent first.

    `before` is the text of the words before it. All completions begin with the word, and are parts
    of a query, not quoted for any shell. Without a catalog, they are keys and words of the
    language. Returns nothing in a quoted value, or once the task is cancelled.

        complete_word(catalog, "hdf5", "os=rhel")  # os=rhel9, with the note "12 specs"
    """
    text = f"{before} {word}"
    parsed = parse_input(text, len(text), packages=None)
    match = typed_word(parsed)
    if match is None or match.start() <= len(before):
        return []
    others, before_match = Query(), text[: match.start()]
    of_nodes = match["sigil"] != "^" and _dependencies_end(lexer.tokens(before_match)) > 0
    try:
        if catalog is not None:
            others = satisfiable(catalog, _before(before_match), of_nodes=of_nodes)
        completer = _Completer(catalog, others, of_nodes)
        found = [*completer.candidates(match, in_shell=True)]
    except (Cancelled, Unanswerable):
        return []
    head = text[len(before) + 1 : match.start()]
    choices: dict[str, Completion] = {}
    for each in found:
        # The shell inserts the text in one line.
        is_short = len(each.text) <= _MAX_LENGTH and is_clean(each.text)
        note = counted(each.count, "spec") if each.note is None and each.count else each.note
        if is_short and note is not None and each.text.startswith(match[0]):
            choices.setdefault(each.text, replace(each, text=head + each.text, note=note))
    return bounded([*choices.values()])


def _before(text: str) -> Query:
    """Return the conditions before a word, on the spec that the word belongs to.

    After `^` this is the dependency, as a spec of its own. Conditions on the host are left out:
    checking them takes longer than the rest of a completion. Returns no condition for a text that
    is not a query.
    """
    text = text.rstrip(" !|(")
    end = _dependencies_end(lexer.tokens(text))
    text = " " * end + text[end:]
    try:
        query = parse(text)
    except QueryError:
        return Query()
    for column in HOST_COLUMNS:
        query = query.without_column(column)
    return query


def _dependencies_end(tokens: Iterable[lexer.Token]) -> int:
    """Return the end of the last `^` of a text; 0 without one."""
    of_kind = (token for token in tokens if token.kind == lexer.DEPENDENCY)
    return max((token.end for token in of_kind if token.text[0] == "^"), default=0)


COUNTABLE = tuple(c.name for c in REGISTRY if c.has_dictionary or c.is_by_host)
"""The columns whose values are counted; hashes and sizes differ from record to record."""


def axis_names(catalog: Catalog) -> list[str]:
    """Return the names of all columns and variants whose values can be counted, columns first."""
    sets = cast(Sequence[tuple[str, ...]], catalog.values("variants"))
    variants = {split_variant(text)[0] for set_ in sets for text in set_}
    return [*COUNTABLE, *sorted(variants - {""})]


def hashes_with_prefix(catalog: Catalog, prefix: str, others: Query = Query()) -> list[Completion]:
    """Return the hashes with a prefix, each with a note on its spec; nothing if they are too many.

    If no more than MAX_CHOICES records match `others`, only their hashes are returned.
    """
    ids = catalog.match(others) if others else ()
    if 0 < len(ids) <= MAX_CHOICES:
        specs = [row.spec for row in catalog.rows(list(ids))]
    else:
        hashes = catalog.hashes.first(prefix, limit=MAX_CHOICES + 1) if prefix else []
        if len(hashes) > MAX_CHOICES:
            return []
        specs = [rows[0].spec for rows in map(catalog.by_hash, hashes) if rows]
    return [Completion(s.hash, note=_note(s)) for s in specs if s.hash.startswith(prefix)]


def _note(spec: Spec) -> str:
    """Return the name, version, compiler, os and target of a spec, on one line."""
    name = spec_name(spec.package, spec.version)
    parts = (name, f"%{spec.compiler}", spec.os, spec.target)
    return clean(" ".join(filter(None, parts)))
