"""Explain what is wrong with a query: an error while it is typed, or a filter without a match."""

from __future__ import annotations

import re
from collections.abc import Sequence

from spackscope.model.assist.answers import Note
from spackscope.model.assist.completion import without_word
from spackscope.model.assist.widening import meant_condition
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.facets import Facet, facets
from spackscope.model.core.compilers import compiler_name
from spackscope.model.core.errors import Unanswerable
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.progress import ShouldStop, never
from spackscope.model.core.records import HASH_LENGTH, NO, UNKNOWN, YES
from spackscope.model.core.suggestions import did_you_mean, listed
from spackscope.model.core.text import clean, shorten
from spackscope.model.core.variants import is_variant, split_variant
from spackscope.model.core.versions import version_key
from spackscope.model.query.ast import Query, query_of
from spackscope.model.query.conditions import COLUMN_KEYS, VIEW, Condition, Depends, Group, Term
from spackscope.model.query.format import format_group
from spackscope.model.query.matchers import ANY, unknown_target
from spackscope.model.query.parsed_input import ParsedInput

_MAX_VALUES = 3
"""Values that are named where nothing is close."""

_MAX_NAMES = 6
"""Variants that are all named where none is close."""

_ON_HOST = {
    ("fits", YES): ("runs on this host", "run on this host"),
    ("fits", NO): ("fails to run on this host", ""),
    ("reusable", YES): ("can be reused on this host", "be reusable on this host"),
}
"""What no spec does, and what none is known to do, by the conditions on the host."""

_MAX_SENTENCE = 160
_MIN_PREFIX = 4


class Advice(Frozen):
    """A sentence about a condition that no record fulfils."""

    sentence: str
    condition: Condition


def advise(catalog: Catalog, query: Query, *, should_stop: ShouldStop = never) -> Advice | None:
    """Return advice on the first condition that no record of the query's packages fulfils.

    Of several specs, each must have such a condition. None where each condition can be fulfilled,
    even if not together with the others. Raises Cancelled.
    """
    first = None
    for groups in query.specs or ((),):
        try:
            advice = _Advisor(catalog, (*query.groups, *groups), should_stop).advise()
        except Unanswerable as error:
            return Advice(str(error), error.condition)
        if advice is None:
            return None
        first = first or advice
    return first


class _Advisor:
    """Check the conditions of one spec, each within the packages that the spec names."""

    def __init__(self, catalog: Catalog, groups: Sequence[Group], should_stop: ShouldStop) -> None:
        self._catalog = catalog
        self._names = [g for g in groups if all(c.column == "package" for c in g)]
        self._others = [group for group in groups if group not in self._names]
        self._context = Query(tuple(self._names))
        self._should_stop = should_stop
        self._name = clean(self._context.package or "")
        self._none = f"No {self._name or 'spec'}"

    def advise(self) -> Advice | None:
        if self._names and not self._count(self._context):
            return self._advice(self._names[0])
        for group in self._others:
            if not self._count(self._context.plus(Query((group,)))):
                return self._advice(group)
        return None

    def _count(self, query: Query) -> int:
        return self._catalog.count(query, should_stop=self._should_stop)

    def _advice(self, group: Group) -> Advice:
        condition = group[0]
        if len(group) > 1 and group in self._names and not any(c.negated for c in group):
            names = [clean(c.pattern) for c in group if isinstance(c, Term)]
            sentence = f"No package {listed(names, 'or')}"
        elif len(group) > 1 or condition.negated:
            sentence = f"{self._none} matches {format_group(group)}"
        elif isinstance(condition, Depends) and condition.compiler is None:
            sentence = self._on_dependency(condition)
        elif isinstance(condition, Depends):
            sentence = self._on_compiler(condition)
        elif condition.column == "variants" and is_variant(condition.pattern):
            sentence = self._on_variant(condition.pattern)
        else:
            sentence = self._on_value(condition)
        return Advice(clean(sentence), condition)

    def _facets(self, column: str) -> list[Facet]:
        context = Query() if column == "package" else self._context
        return facets(self._catalog, context, column, should_stop=self._should_stop)

    def _on_dependency(self, condition: Depends) -> str:
        for term in condition.terms:
            if isinstance(term, Term) and (sentence := _on_targets(term)):
                return sentence
        names = [name for name in self._catalog.dictionaries.texts("package") if name]
        package_query = query_of(Term("package", condition.name))
        is_known = condition.name in names or self._catalog.virtuals.providers(package_query)
        guess = "" if is_known else did_you_mean(condition.name, names)
        return f"{self._none} has a dependency {condition}{guess}"

    def _on_compiler(self, condition: Depends) -> str:
        values = self._facets("compiler")
        names = [facet.value.partition("@")[0] for facet in values]
        name = compiler_name(condition.name)
        if name != condition.name and condition.name in names:
            return (
                f"%{condition.name} means the package {name}, as in Spack. For the compiler as it"
                f" is listed, write compiler={condition.name}."
            )
        if self._catalog.virtuals.asked_of_compilers(query_of(condition)):
            return (
                f"{self._none} is built with {condition}, as far as that is known without recipes."
                f" Write {replace(condition, direct=False)} for a dependency."
            )
        if name not in names:
            guess = did_you_mean(condition.name, [n for n in names if n != "none"])
            return f"{self._none} is built with %{condition.name}{guess}"
        versions = [f for f in values if f.value.startswith(f"{name}@")]
        return f"{self._none} is built with {condition}{_only(versions)}"

    def _on_variant(self, pattern: str) -> str:
        name, values = split_variant(pattern)
        if name == VIEW:
            view = clean(pattern.partition("=")[2])
            return f"There is no view {view}: the configuration has no [views]"
        variants = self._facets("variants")
        same_name = [facet for facet in variants if split_variant(facet.value)[0] == name]
        if same_name:
            return f"{self._none} has {clean(pattern)}{_only(same_name)}"
        names = dict.fromkeys(split_variant(facet.value)[0] for facet in variants)
        others = [] if values in (("+",), ("~",)) else [f"{key}=" for key in sorted(COLUMN_KEYS)]
        guess = did_you_mean(name, [*names, *others])
        package = f" of {self._name}" if self._name else ""
        if not guess and 0 < len(names) <= _MAX_NAMES:
            guess = f", only {listed(sorted(map(clean, names)), 'and')}"
        return f"Unknown variant {clean(name)}{package}{guess}"

    def _on_value(self, condition: Term) -> str:
        column, pattern = condition.column, condition.pattern
        if column == "hash":
            is_possible = set(pattern) <= set("abcdefghijklmnopqrstuvwxyz234567*?")
            why = "" if is_possible else ": hashes contain only a-z and 2-7"
            if len(pattern) > HASH_LENGTH:
                why = f": hashes have {HASH_LENGTH} characters"
            return f"No hash starts with {clean(pattern)}{why}"
        if (column, pattern) in _ON_HOST:
            may_fit = pattern == YES and self._count(
                self._context.plus(query_of(Term(column, UNKNOWN)))
            )
            known = "is known to " if may_fit else ""
            return f"{self._none} {known}{_ON_HOST[column, pattern][bool(may_fit)]}"
        if column == "size":
            return f"{self._none} has {condition}"
        if column == ANY:
            return f"{self._none} shows {clean(pattern)} in any column{self._meant(pattern)}"
        if column == "package":
            word = ".".join([*self._patterns("namespace"), pattern])
            return f"Unknown package {clean(word)}{self._meant(word)}"
        if sentence := _on_targets(condition):
            return sentence
        values, guess = self._facets(column), ""
        if column != "version" and len(values) > _MAX_VALUES:
            guess = did_you_mean(pattern.strip("*"), [facet.value for facet in values])
        return f"{self._none} has {condition}{guess or _only(values)}"

    def _patterns(self, column: str) -> list[str]:
        """Return the patterns of the conditions on a column."""
        groups = (group[0] for group in self._others if len(group) == 1)
        return [c.pattern for c in groups if isinstance(c, Term) and c.column == column]

    def _meant(self, word: str) -> str:
        """Guess what was meant by a word that is not a package: with its key, or alike."""
        meant = meant_condition(self._catalog, word, self._should_stop)
        if meant is None:
            names = [facet.value for facet in facets(self._catalog, Query(), "package")]
            if guess := did_you_mean(word, names):
                return guess
            meant = meant_condition(self._catalog, word, self._should_stop, is_near=True)
        version = "@" + self._patterns("version")[0] if self._patterns("version") else ""
        at_version = version if isinstance(meant, Depends) else ""
        return f". Did you mean {clean(str(meant))}{at_version}?" if meant is not None else ""


def _on_targets(term: Term) -> str:
    """Return the sentence on the first unknown target of a condition; empty if there is none."""
    names = re.split("[,:]", term.pattern) if term.column == "target" else ()
    return next(filter(None, map(unknown_target, filter(None, names))), "")


def _only(values: Sequence[Facet]) -> str:
    """Name the most frequent values, as `, only 80, 90 and none`."""
    texts = [clean(facet.value) for facet in values[:_MAX_VALUES] if facet.value]
    if not texts:
        return ""
    texts.sort(key=version_key)
    if len(values) > _MAX_VALUES:
        texts.append(f"{len(values) - _MAX_VALUES:,} more")
    return f", only {listed(texts, 'and')}"


def check_input(catalog: Catalog, parsed: ParsedInput, should_stop: ShouldStop) -> Note | None:
    """Return a note on the first condition of an input that no record fulfils, if there is one.

    The conditions at the cursor are checked last. Raises Cancelled.
    """
    finished = parsed.others if parsed.column else without_word(parsed)
    for query in (finished, parsed.query or Query()):
        advice = advise(catalog, query, should_stop=should_stop)
        if advice is not None:
            offset = _offset(parsed, advice.condition)
            return Note(shorten(advice.sentence, _MAX_SENTENCE), offset)
    return None


def unanswerable_note(error: Unanswerable, parsed: ParsedInput) -> Note:
    """Return the note on a condition that the records cannot decide."""
    return Note(str(error), _offset(parsed, error.condition))


def _offset(parsed: ParsedInput, condition: Condition) -> int | None:
    span = parsed.spans.get(condition)
    return span[0] if span is not None else None


def explain_no_match(catalog: Catalog, query: Query) -> str:
    """Return a sentence on the condition because of which a query has no match.

    What would match instead are the `relaxations` of the query.
    """
    if not query:
        return "There are no specs"
    prefix = _hash_prefix(catalog, query)
    if prefix:
        return f"No match for {query}, but /{prefix} is a hash"
    if (advice := advise(catalog, query)) is not None:
        return advice.sentence
    parts = query.parts()
    if len(parts) > 1 and any(catalog.count(query.minus(part)) for part in parts):
        return "No match"
    before = Query()
    for number, part in enumerate(parts):
        if not catalog.count(part):
            return f"No match for {part}"
        if not catalog.count(before.plus(part)):
            pairs = (other for other in parts[:number] if not catalog.count(other.plus(part)))
            return f"No match for {part} together with {next(pairs, before)}"
        before = before.plus(part)
    return "No match"


def _hash_prefix(catalog: Catalog, query: Query) -> str:
    """Return the word that was read as a package and begins a hash, or an empty text."""
    (condition, *others) = query.conditions
    if others or not isinstance(condition, Term) or condition.column != "package":
        return ""
    pattern = condition.pattern
    is_prefix = len(pattern) >= _MIN_PREFIX and catalog.dictionaries.has_hash(pattern)
    return pattern if is_prefix else ""
