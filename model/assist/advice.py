"""Explain what is wrong with a query, and find queries near one without a match."""

from __future__ import annotations

import contextlib
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import IntEnum
from itertools import chain, combinations, islice

from spackscope.model.assist.answers import Note, Relaxation
from spackscope.model.assist.completion import without_word
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.facets import Facet, facets
from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import HASH_LENGTH, NO, UNKNOWN, YES, compiler_name, is_compiler
from spackscope.model.core.suggestions import did_you_mean, listed, near
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.text import clean, shorten
from spackscope.model.core.variants import is_propagated, is_variant, split_variant
from spackscope.model.core.versions import version_key
from spackscope.model.query.ast import (
    COLUMN_KEYS,
    VIEW,
    Condition,
    Depends,
    Group,
    Query,
    Term,
    exact_term,
    format_group,
    query_of,
)
from spackscope.model.query.matchers import ANY, is_glob, target_test, unknown_target
from spackscope.model.query.parser import ParsedInput, parse

_MAX_NEAREST = 3
"""Values that are offered in place of one."""

_ALIKE = 0.8
"""How near a word without its key must be to a value, from 0 to 1."""

_MIN_PREFIX = 3
"""Letters that a shortened prefix of a hash keeps."""

_MIN_HASH_WORD = 4
"""Letters of a word that may be meant as a hash."""

_ONLY_DROPPED = ("size", "state", "flags", "arch")
"""Columns of which no value is near another."""

_BOUNDS = re.compile(r"[,:=]")


def wider_conditions(
    catalog: Catalog, others: Query, condition: Condition, should_stop: ShouldStop
) -> Iterator[Condition]:
    """Yield conditions near one that is not negated, or wider ones, the best first.

    What it becomes exists under the `others` of its query as far as that is quickly found; whether
    it really leaves a record is for the caller to count. Raises Cancelled and Unanswerable.
    """

    def values(column: str) -> list[str]:
        return _values(catalog, others, column, should_stop)

    if isinstance(condition, Depends):
        yield from _wider_dependency(condition, values)
        return
    column, pattern = condition.column, condition.pattern
    typed = pattern.strip("*")
    can_be_near = bool(typed) and not is_glob(typed)
    nearest: list[str] = []
    if column in ("package", ANY):
        column = "package"
        if len(typed) >= _MIN_HASH_WORD and catalog.has_hash(typed):
            yield Term("hash", typed)
        if can_be_near and typed not in catalog.texts("package"):
            if (meant := meant_condition(catalog, typed, should_stop)) is not None:
                yield meant
            nearest = near(typed, values("package"))
    elif column == "version" and not is_glob(pattern):
        nearest = nearest_versions(pattern, values("version"))
    elif column == "compiler" and not is_glob(pattern):
        name, constraint = _split_compiler(pattern)
        if constraint:
            yield Term("compiler", name)
        nearest = _near_compilers(values("compiler"), name, constraint)
    elif column == "target" and not is_glob(pattern):
        # What the targets can run, and what the nearest newer ones can run.
        known, newer = values("target"), list[str]()
        for name in dict.fromkeys(filter(None, re.split("[,:]", pattern))):
            if any(map(target_test(f":{name}"), known)):
                yield Term("target", f":{name}")
            newer += filter(target_test(f"{name}:"), known)
        for value in newer:
            if not any(target_test(f":{value}")(other) for other in newer if other != value):
                yield Term("target", f":{value}")
        nearest = near(typed, known) if can_be_near else []
    elif column == "variants" and is_variant(pattern):
        yield from _wider_variant(pattern, values("variants"))
    elif column == "hash":
        # The longest prefix that some hash has.
        prefix = pattern.removeprefix("/").lower()
        shorter = (prefix[:end] for end in range(len(prefix), _MIN_PREFIX - 1, -1))
        longest = (p for p in shorter if p != pattern and catalog.has_hash(p))
        if not is_glob(prefix) and (found := next(longest, None)) is not None:
            yield Term("hash", found)
    elif column in ("fits", "reusable"):
        # What may fit: its source does not list what decides it.
        if pattern == YES:
            yield Term(column, UNKNOWN)
    elif column not in _ONLY_DROPPED and can_be_near:
        nearest = near(typed, values(column))
    for value in nearest:
        yield exact_term(column, value)


def _wider_variant(pattern: str, texts: Sequence[str]) -> Iterator[Condition]:
    """Yield other values of a variant, by the texts of all, or variants with its value."""
    name, values = split_variant(pattern)
    is_signed = pattern[:1] in ("+", "~")
    if is_propagated(pattern):
        yield Term("variants", pattern[1:] if is_signed else pattern.replace("==", "=", 1))
    own = [text for text in texts if split_variant(text)[0] == name]
    if own and not is_signed:
        yield Term("variants", f"{name}=*")
        for value in near(",".join(values), (text.partition("=")[2] for text in own)):
            yield exact_term("variants", f"{name}={value}")
    elif not own:
        for other in near(name, dict.fromkeys(split_variant(text)[0] for text in texts)):
            yield Term("variants", pattern.replace(name, other, 1))


def _wider_dependency(
    condition: Depends, values: Callable[[str], list[str]]
) -> Iterator[Condition]:
    """Yield the condition without one of its own, with `^` for `%`, or with other versions."""
    name = condition.name_term
    for term in condition.terms:
        if term is not name and len(condition.terms) > 1:
            rest = tuple(other for other in condition.terms if other is not term)
            yield replace(condition, terms=rest)
    if condition.virtuals or condition.deptypes:
        yield replace(condition, virtuals=(), deptypes=())
    if condition.compiler is not None and name is not None:
        constraint = condition.compiler.partition("@")[2].partition("/")[0]
        own_name = compiler_name(name.pattern)
        for compiler in _near_compilers(values("compiler"), own_name, constraint):
            its_name, version = _split_compiler(compiler)
            exact = (Term("version", f"={version}"),) if version else ()
            named = replace(name, pattern=name.pattern if version else its_name)
            yield replace(condition, terms=(named, *exact))
    if condition.direct and not condition.deptypes:
        yield replace(condition, direct=False)


def _near_compilers(compilers: Sequence[str], name: str, constraint: str) -> list[str]:
    """Return the compilers of a name with the nearest versions, or names like it."""
    pairs = [_split_compiler(compiler) for compiler in compilers if compiler != "none"]
    if versions := [version for its_name, version in pairs if its_name == name]:
        return [f"{name}@{version}" for version in nearest_versions(constraint, versions)]
    return near(name, (its_name for its_name, _ in pairs))


def _values(catalog: Catalog, query: Query, column: str, should_stop: ShouldStop) -> list[str]:
    counted = facets(catalog, query, column, should_stop=should_stop)
    return [facet.value for facet in counted if facet.value]


def meant_condition(
    catalog: Catalog, word: str, should_stop: ShouldStop, *, is_near: bool = False
) -> Condition | None:
    """Return the condition that a word stands for which lacks its key, if it is not a package.

    If it `is_near`, the word may also only be near to a value. Raises Cancelled.
    """
    from archspec.cpu import TARGETS

    compilers = _values(catalog, Query(), "compiler", should_stop)
    if is_compiler(word) or word in (_split_compiler(value)[0] for value in compilers):
        return Depends(True, (Term("package", word),))
    for column in ("target", "os", "platform", "stack", "tag"):
        is_target = column == "target"
        known = _values(catalog, Query(), column, should_stop) + [*TARGETS] * is_target
        for close in near(word, known, _ALIKE) if is_near else {word}.intersection(known):
            return Term(column, f":{close}") if is_target else exact_term(column, close)
    return None


def nearest_versions(constraint: str, versions: Iterable[str]) -> list[str]:
    """Return the versions next to the bounds of a constraint, below and above, nearest first.

    Example: `nearest_versions("1.14:", ["1.10", "1.12", "2.0"]) == ["1.12", "2.0"]`.
    """
    ordered = sorted(dict.fromkeys(versions), key=version_key)
    keys = [version_key(version) for version in ordered]
    nearest: dict[str, None] = {}
    for bound in filter(None, _BOUNDS.split(constraint)):
        at = bisect_left(keys, version_key(bound))
        nearest.update(dict.fromkeys(ordered[max(0, at - 1) : at][::-1] + ordered[at : at + 1]))
    return list(nearest)[:_MAX_NEAREST]


def _split_compiler(compiler: str) -> tuple[str, str]:
    name, _, version = compiler.partition("/")[0].partition("@")
    return name, version


MAX_RELAXATIONS = 8
"""Relaxations that are offered at most."""

_MAX_WIDER = 4
"""Those among them that change a condition rather than drop one."""

_MAX_COUNTED = 100
"""Queries that are counted at most where dropping one, two or all but one is tried."""

_MAX_CONDITIONS = 2_000
"""Conditions of these queries in total; a pasted query may have a thousand."""

_MAX_PARTS = 12
"""Parts of a query of which every two are dropped together."""

Groups = tuple[Group, ...]


class _Rank(IntEnum):
    """How much of a query is kept, most first."""

    MOVED = 0
    CHANGED = 1
    WITHOUT_ONE = 2
    WITHOUT_NAME = 3
    CHANGED_WITHOUT_ONE = 4
    WITHOUT_TWO = 5
    ONLY_ONE = 6
    NOTHING = 7


_Candidate = tuple[_Rank, str, Query]
"""A query that is tried, how much of another it keeps, and how it differs from that."""


def relaxations(
    catalog: Catalog, query: Query, *, should_stop: ShouldStop = never
) -> tuple[Relaxation, ...]:
    """Return what to drop or to widen in a query without a match: what keeps most of it first.

    Those that keep as much are in the order of their counts, each that of its whole query. More
    than one condition is changed only where changing one does not help. Raises Cancelled.

    Example: for `hdf5@1.14: +mpi` the first may be `@=1.12.2 instead of @1.14:`.
    """
    parts, tried = query.parts(), {query}
    conditions = sum(1 for _ in query.conditions)
    budget = max(1, min(_MAX_COUNTED, _MAX_CONDITIONS // max(1, conditions)))

    def changed(of: Query, rank: _Rank, after: str = "") -> Iterator[_Candidate]:
        """Yield a query with a wider condition; `after` ends the labels."""
        for group, rest, put in _places(of):
            if len(group) > 1 or group[0].negated:
                continue
            with contextlib.suppress(Unanswerable, QueryError):
                others = put(rest) or Query()
                for wider in wider_conditions(catalog, others, group[0], should_stop):
                    if new := put(rest if (wider,) in rest else (*rest, (wider,))):
                        label = f"{_text((wider,))} instead of {_text(group)}{after}"
                        yield rank, label, new

    def farther() -> Iterator[_Candidate]:
        """Yield the query without two of its parts, or without one and with another wider."""
        for first, second in combinations(parts[:_MAX_PARTS], 2):
            if rest := query.minus(first).minus(second):
                label = f"without {_part_text(first)} and {_part_text(second)}"
                yield _Rank.WITHOUT_TWO, label, rest
        for rank, label, rest in islice(_dropped(query), _MAX_PARTS):
            if rank is _Rank.WITHOUT_ONE:
                yield from changed(rest, _Rank.CHANGED_WITHOUT_ONE, f", {label}")

    def new(candidates: Iterable[_Candidate]) -> Iterator[_Candidate]:
        for candidate in candidates:
            if candidate[2] not in tried:
                tried.add(candidate[2])
                yield candidate

    apart: list[_Candidate] = []
    if query.specs and query.groups:
        apart = [(_Rank.WITHOUT_ONE, "without what all specs share", Query((), query.specs))]
    stages: tuple[Iterable[_Candidate], ...] = (
        chain(apart, _moved(query), _dropped(query), changed(query, _Rank.CHANGED)),
        farther(),
        ((_Rank.ONLY_ONE, f"only {_part_text(part)}", part) for part in parts),
        [(_Rank.NOTHING, "without any filter", Query())],
    )
    for stage in stages:
        found: list[tuple[_Rank, Relaxation]] = []
        for rank, label, candidate in islice(new(stage), budget):
            with contextlib.suppress(Unanswerable):
                count = catalog.count(candidate, should_stop=should_stop)
                if count and _is_writable(candidate):
                    found.append((rank, Relaxation(clean(label), candidate, count)))
        if found:
            found.sort(key=lambda pair: (pair[0], -pair[1].count))
            # Those that change a condition leave room for those that drop one.
            wider = [p for p in found if p[0] in (_Rank.CHANGED, _Rank.CHANGED_WITHOUT_ONE)]
            offered = (pair for pair in found if pair not in wider[_MAX_WIDER:])
            return tuple(relaxation for _, relaxation in offered)[:MAX_RELAXATIONS]
    return ()


def _moved(query: Query) -> Iterator[_Candidate]:
    """Yield the query with variants of a dependency asked of the spec itself instead.

    They were typed after `%gcc` or `^zlib`, and so belong to that.
    """
    for (dependency, *alternatives), rest, put in _places(query):
        if alternatives or not isinstance(dependency, Depends) or dependency.negated:
            continue
        variants = [term for term in dependency.terms if term.column == "variants"]
        others = tuple(term for term in dependency.terms if term not in variants)
        plain = replace(dependency, terms=others)
        moved = put((*rest, *((term,) for term in variants), (plain,)))
        if variants and others and moved:
            yield _Rank.MOVED, f"{' '.join(map(str, variants))} before {plain!s}", moved


def _dropped(query: Query) -> Iterator[_Candidate]:
    """Yield the query without one condition, first without the last: it was typed last."""
    for group, rest, put in _places(query, last_first=True):
        is_name = all(condition.column == "package" for condition in group)
        if dropped := put(rest):
            rank = _Rank.WITHOUT_NAME if is_name else _Rank.WITHOUT_ONE
            yield rank, f"without {_text(group)}", dropped


def _places(
    query: Query, *, last_first: bool = False
) -> Iterator[tuple[Group, Groups, Callable[[Groups], Query | None]]]:
    """Yield each group of a query, those beside it, and what puts others in the place of all.

    That returns None where one of several specs would be left without any, and match everything.
    """
    places = (query.groups, *query.specs)
    for number, groups in enumerate(places):

        def put(new: Groups, number: int = number) -> Query | None:
            changed = list(places)
            changed[number] = new
            return Query(changed[0], tuple(changed[1:])) if new or not number else None

        for group in reversed(groups) if last_first else groups:
            yield group, tuple(other for other in groups if other is not group), put


def _part_text(part: Query) -> str:
    return str(part) if part.specs else _text(part.groups[0])


def _text(group: Group) -> str:
    """Return the text of alternatives; a package without its key."""
    texts = [str(condition) for condition in group]
    return " | ".join(text.removeprefix("package=") for text in texts)


def _is_writable(query: Query) -> bool:
    """Check whether a query can be written, so that it can be shown, and changed by hand."""
    try:
        return parse(str(query), packages=()) == query
    except QueryError:
        return False


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
_MIN_WORD = 4


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
        for group in (*self._names[:1], *self._others):
            query = self._context if group in self._names else Query((group,))
            if not self._count(query):
                return self._advice(group)
        return None

    def _count(self, query: Query) -> int:
        """Count the records of the packages that match a query."""
        return self._catalog.count(self._context.plus(query), should_stop=self._should_stop)

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
        names = [name for name in self._catalog.texts("package") if name]
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
            may_fit = pattern == YES and self._count(query_of(Term(column, UNKNOWN)))
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
        if meant is None:
            return ""
        versions = self._patterns("version") if isinstance(meant, Depends) else []
        return f". Did you mean {clean(str(meant))}{''.join(f'@{v}' for v in versions[:1])}?"


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
    is_prefix = len(pattern) >= _MIN_WORD and catalog.has_hash(pattern)
    return pattern if is_prefix else ""
