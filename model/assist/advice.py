"""Explain errors in a query, and find similar queries if one has no match."""

from __future__ import annotations

import contextlib
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain, combinations, islice

from spackscope.model.assist.completion import without_word
from spackscope.model.assist.offers import Note, Relaxation
from spackscope.model.core.columns import COUNTED, FIELDS, WORDS
from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import (
    HASH_LENGTH,
    LANGUAGES,
    NO,
    NO_COMPILER,
    UNKNOWN,
    YES,
    compiler_name,
    is_compiler,
    is_propagated,
    is_variant,
    split_variant,
)
from spackscope.model.core.suggestions import CLOSE, did_you_mean, enumerated, near
from spackscope.model.core.text import clean, shorten
from spackscope.model.core.versions import version_key
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.value_counts import ValueCount, value_counts
from spackscope.model.query.ast import (
    COLUMN_KEYS,
    Condition,
    Depends,
    Group,
    Query,
    Term,
    exact_term,
    format_group,
    is_package_name,
    query_of,
    query_of_specs,
)
from spackscope.model.query.matchers import ANY, is_glob, target_test, targets_like, unknown_target
from spackscope.model.query.parser import ENGLISH_WORDS, ParsedInput, parse

MAX_RELAXATIONS = 8
"""The most relaxations that are offered."""

_MAX_WIDER = 4
"""The most offered relaxations that change a condition rather than drop one."""

_MAX_COUNTED = 100
"""The most queries that are counted in one stage, such as dropping each two conditions."""

_MAX_CONDITIONS = 2_000
"""The most conditions of all these queries; a pasted query may have a thousand."""

_MAX_PARTS = 12
"""The first parts of a query; every two of them are dropped together."""

_MAX_NEAREST = 3
"""The most versions that are offered in place of one."""

_ALIKE = 0.8
"""The least similarity of a word without a key to a value, from 0 to 1."""

_MIN_PREFIX = 3
"""The fewest letters of a shortened prefix of a hash."""

_MIN_HASH_WORD = 4
"""The fewest letters of a word that may be meant as a hash."""

_BOUNDS = re.compile(r"[,:=]")

_Groups = tuple[Group, ...]
_Candidate = tuple[int, str, Query]
"""The rank of a query (0 keeps most of the typed one), the difference in words, and the query."""


_MOVED, _CHANGED, _DROPPED = range(3)
"""Changes of a group, by rank: the first keeps most of it."""


def _instead(
    group: Group, kind: int, wider: Callable[[Condition], Iterable[Condition]]
) -> Iterator[tuple[str, _Groups]]:
    """Yield replacements of a group, each with a label."""
    condition = group[0]
    if kind == _DROPPED:
        yield f"without {_text(group)}", ()
    elif len(group) > 1 or condition.negated:
        return
    elif kind == _CHANGED:
        for other in wider(condition):
            yield f"{_text((other,))} instead of {_text(group)}", ((other,),)
    elif isinstance(condition, Depends):
        # Variants after `%gcc` or `^zlib` may have been meant for the spec itself.
        variants = [term for term in condition.terms if term.column == "variants"]
        others = tuple(term for term in condition.terms if term not in variants)
        if variants and others:
            plain = replace(condition, terms=others)
            label = f"{' '.join(map(str, variants))} before {plain!s}"
            yield label, (*((term,) for term in variants), (plain,))


def relaxations(catalog: Catalog, query: Query) -> tuple[Relaxation, ...]:
    """Return queries with matches that are similar to a query without, the most similar first.

    They drop, widen or correct conditions. Queries that keep equally much are ordered by their
    numbers of matches. More than one condition is changed only if changing one does not help.
    Raises Cancelled.

    Example: for `hdf5@1.14: +mpi` the first may be `@=1.12.2 instead of @1.14:`.
    """
    parts = query.parts()

    def near(of: Query, *kinds: int, after: str = "") -> Iterator[_Candidate]:
        """Yield a query with one group replaced; `after` ends the labels."""
        for kind in kinds:
            # The last condition first, since it was typed last.
            for group in reversed([*chain(of.groups, *of.specs)]):
                others = _replaced(of, group, ()) or Query()
                wider = partial(_wider, catalog, others)
                is_name = all(condition.column == "package" for condition in group)
                with contextlib.suppress(Unanswerable, QueryError):
                    for label, groups in _instead(group, kind, wider):
                        if candidate := _replaced(of, group, groups):
                            yield kind + (is_name and not groups), label + after, candidate

    def on_machine() -> Iterator[_Candidate]:
        """Yield queries for what runs on a target for which the package has no build itself.

        Without the target, builds would be offered that do not run there.
        """
        packages = _packages(query.groups)
        for group in chain(query.groups, *query.specs):
            asked, *others = group
            if others or not isinstance(asked, Term) or asked.negated or asked.column != "target":
                continue
            if unknown_target(asked.pattern) or not catalog.count(packages):
                continue
            runs = Term("target", f":{asked.pattern}")
            running, built_for = _replaced(query, group, ((runs,),)), packages.also(asked)
            if running and not (catalog.count(built_for) or catalog.count(running)):
                yield from near(running, _CHANGED, _DROPPED, after=f", {runs}")

    def two_changed() -> Iterator[_Candidate]:
        for first, second in combinations(parts[:_MAX_PARTS], 2):
            if rest := query.minus(first).minus(second):
                label = f"without {_part_text(first)} and {_part_text(second)}"
                yield _DROPPED, label, rest
        for rank, label, rest in islice(near(query, _DROPPED), _MAX_PARTS):
            if rank == _DROPPED:
                yield from near(rest, _CHANGED, after=f", {label}")

    without = (_DROPPED, "without the conditions of all specs", Query((), query.specs))
    apart = [without] if query.specs else []
    reworded = _reworded(catalog, query)
    stages: tuple[Iterable[_Candidate], ...] = (
        # Changed conditions are counted last: there may be many.
        chain(reworded, apart, near(query, _MOVED, _DROPPED, _CHANGED), on_machine()),
        two_changed(),
        ((_DROPPED, f"only {_part_text(part)}", part) for part in parts),
        [(_DROPPED, "without any filter", Query())],
    )
    if len(_specs(query)) > 1 and catalog.virtuals.unknown(query):
        # A text with several specs and an unknown package was meant otherwise.
        stages = (reworded, stages[-1])
    conditions = sum(1 for _ in query.conditions)
    budget = max(1, min(_MAX_COUNTED, _MAX_CONDITIONS // max(1, conditions)))
    tried = {query}
    for stage in stages:
        found: list[tuple[int, Relaxation]] = []
        for rank, label, candidate in islice((c for c in stage if c[2] not in tried), budget):
            tried.add(candidate)
            with contextlib.suppress(Unanswerable):
                count = catalog.count(candidate)
                if count and _is_writable(candidate):
                    found.append((rank, Relaxation(clean(label), candidate, count)))
        if found:
            found.sort(key=lambda pair: (pair[0], -pair[1].count))
            # Changed conditions leave room for dropped ones.
            too_many = [pair for pair in found if pair[0] == _CHANGED][_MAX_WIDER:]
            offered = [pair[1] for pair in found if pair not in too_many]
            return tuple(offered[:MAX_RELAXATIONS])
    return ()


def _reworded(catalog: Catalog, query: Query) -> Iterator[_Candidate]:
    """Yield queries with the meaning of a word: `target=:zen3` for `zen3`, `%gcc@12` for `gcc@12`.

    For a query of several specs, the last one is without all names of unknown packages.
    """
    specs, unknown = _specs(query), [(term,) for term in catalog.virtuals.unknown(query)]
    rest, unlisted = _without(specs, unknown), catalog.virtuals.unlisted(query)

    def with_spec(old: _Groups, *new: Group, without: _Groups = ()) -> Query:
        return _without([new if spec == old else spec for spec in specs], without)

    for spec in specs[:_MAX_PARTS]:
        versions = _versions(spec)
        for group in spec:
            word = group[0]
            if len(group) > 1 or not isinstance(word, Term) or word.negated:
                continue
            # The name of a package is meant, unless its version may belong to a compiler.
            is_unlisted = group in unknown or word.pattern in unlisted
            is_name = word.column == "package" and (is_unlisted or versions)
            if not (is_name or word.column == ANY):
                continue
            text = _typed(spec, word)
            if len(specs) > 1 and group in unknown:
                for name in near(text, _listed_packages(catalog), _ALIKE):
                    named = ((Term("package", name),) if g == group else g for g in spec)
                    yield _CHANGED, f"{name} instead of {text}", with_spec(spec, *named)
            if (meant := _meant_condition(catalog, spec, word, rest)) is not None:
                moved = versions if isinstance(meant, Depends) else []
                text += "".join(map(format_group, moved))
                others = (g for g in spec if g not in moved)
                changed = with_spec(spec, *others, (meant,), without=(group,))
                yield _CHANGED, f"{meant} instead of {text}", changed
    words = [_typed(spec, word[0]) for spec in specs for word in unknown if word in spec]
    if len(specs) > 1 and words:
        yield _DROPPED, f"without {enumerated(words, 'and')}", rest


def _packages(groups: Iterable[Group]) -> Query:
    """Return the conditions on the package alone."""
    return Query(tuple(g for g in groups if all(c.column == "package" for c in g)))


def _specs(query: Query) -> list[_Groups]:
    """Return the groups of each alternative spec; alternative names are specs of their own."""
    specs = list[_Groups]()
    for groups in query.whole_specs:
        names = next((g for g in groups if all(is_package_name((c,)) for c in g)), ())
        rest = tuple(group for group in groups if group != names)
        specs += [((name,), *rest) for name in names] if names else [rest]
    return specs


def _without(specs: Iterable[_Groups], words: Collection[Group]) -> Query:
    """Return a query of specs without words; the rest of a nameless spec joins the spec before."""
    joined, first = list[_Groups](), _Groups()
    for spec in specs:
        is_nameless = any(group in words and group[0].column == "package" for group in spec)
        left_out = "namespace" if is_nameless else ""
        rest = tuple(g for g in spec if g not in words and g[0].column != left_out)
        if not is_nameless:
            joined.append((*first, *rest))
            first = ()
        elif joined:
            joined[-1] += rest
        else:
            first += rest
    return query_of_specs(joined or [first])


def _versions(spec: Iterable[Group]) -> list[Group]:
    return [group for group in spec if len(group) == 1 and group[0].column == "version"]


def _typed(spec: Iterable[Group], word: Term) -> str:
    """Return a word of a spec as it was typed: a name with its namespace before it."""
    first = (group[0] for group in spec if word.column == "package")
    parts = [t.pattern for t in first if isinstance(t, Term) and t.column == "namespace"]
    return ".".join([*parts, word.pattern])


def _replaced(query: Query, group: Group, new: _Groups) -> Query | None:
    """Return the query with other groups in place of a group.

    None if one of several specs would be left without a group, and so match everything.
    """
    shared, *specs = (
        dict.fromkeys(chain.from_iterable(new if g == group else (g,) for g in groups))
        for groups in (query.groups, *query.specs)
    )
    return Query(tuple(shared), tuple(map(tuple, specs))) if all(specs) else None


def _part_text(part: Query) -> str:
    return str(part) if part.specs else _text(part.groups[0])


def _text(group: Group) -> str:
    """Return the text of a group, with packages as bare names."""
    return " | ".join(re.sub("^(!?)package=", r"\1", str(condition)) for condition in group)


def _is_writable(query: Query) -> bool:
    """Check whether a query has a text, so that it can be shown, and edited."""
    try:
        return parse(str(query), packages=()) == query
    except QueryError:
        return False


def _wider(catalog: Catalog, others: Query, condition: Condition) -> Iterator[Condition]:
    """Yield conditions similar to one that is not negated, or wider, the best first.

    They mostly have matches under the `others` of the query; the caller counts these. Raises
    Cancelled and Unanswerable.
    """

    def values(column: str) -> list[str]:
        return _values(catalog, others, column)

    if isinstance(condition, Depends):
        yield from _wider_dependency(condition, values)
        return
    column, pattern = condition.column, condition.pattern
    typed = pattern.strip("*")
    can_be_near = bool(typed) and not is_glob(typed)
    nearest: list[str] = []
    if column == "variants" and is_variant(pattern):
        yield from _providers(catalog, pattern)
        yield from _wider_variant(pattern, values("variants"))
    elif column in ("package", ANY):
        column = "package"
        if len(typed) >= _MIN_HASH_WORD and catalog.hashes.with_prefix(typed):
            yield Term("hash", typed)
        if can_be_near and typed not in _listed_packages(catalog):
            nearest = near(typed, values("package"))
    elif column == "hash":
        # The longest prefix that some hash has.
        prefix = pattern.removeprefix("/").lower()
        shorter = (prefix[:end] for end in range(len(prefix), _MIN_PREFIX - 1, -1))
        longest = (p for p in shorter if p != pattern and catalog.hashes.with_prefix(p))
        if not is_glob(prefix) and (found := next(longest, None)) is not None:
            yield Term("hash", found)
    elif FIELDS[column].is_by_host:
        # Specs that may fit: the source does not list enough to decide.
        if pattern == YES:
            yield Term(column, UNKNOWN)
    elif column in ("version", "compiler", "target") and is_glob(pattern):
        return
    elif column == "version":
        nearest = nearest_versions(pattern, values("version"))
    elif column == "compiler":
        name, constraint = _split_compiler(pattern)
        if constraint:
            yield Term("compiler", name)
        nearest = _near_compilers(values("compiler"), name, constraint)
    elif column == "target":
        # Ranges up to the named targets; a range also up to the nearest newer targets.
        known, newer = values("target"), list[str]()
        named = dict.fromkeys(filter(None, _BOUNDS.split(pattern)))
        for name in dict.fromkeys(chain.from_iterable(map(targets_like, named))):
            if any(map(target_test(f":{name}"), known)):
                yield Term("target", f":{name}")
            elif ":" in pattern:
                newer += filter(target_test(f"{name}:"), known)
        for value in newer:
            if not any(target_test(f":{value}")(other) for other in newer if other != value):
                yield Term("target", f":{value}")
        # Similar names of targets that archspec knows are no similar machines.
        nearest = near(typed, filter(unknown_target, known)) if can_be_near else []
    elif FIELDS[column].is_guessed and can_be_near:
        nearest = near(typed, values(column))
    for value in nearest:
        yield exact_term(column, value)


def _wider_variant(pattern: str, texts: Sequence[str]) -> Iterator[Condition]:
    """Yield terms on other values of a variant, or on similar variants, from all `texts`."""
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


def _providers(catalog: Catalog, pattern: str) -> Iterator[Depends]:
    """Yield `%mpi=openmpi` and `^[virtuals=mpi] openmpi` for `mpi=openmpi`, a virtual."""
    name, values = split_variant(pattern)
    is_virtual = name in LANGUAGES or catalog.virtuals.providers(query_of(Term("package", name)))
    if is_virtual and pattern[:1] not in ("+", "~") and len(values) == 1:
        for is_direct in (True, False):
            yield Depends(is_direct, (Term("package", values[0]),), (name,))


def _wider_dependency(
    condition: Depends, values: Callable[[str], list[str]]
) -> Iterator[Condition]:
    """Yield a condition with fewer terms, with other compiler versions, or with `^` for `%`."""
    name = condition.name_term
    for term in condition.terms:
        if term is not name and len(condition.terms) > 1:
            rest = tuple(other for other in condition.terms if other is not term)
            yield replace(condition, terms=rest)
    if condition.virtuals or condition.deptypes:
        yield replace(condition, virtuals=(), deptypes=())
    if condition.compiler is not None and name is not None:
        own_name, constraint = compiler_name(name.pattern), _split_compiler(condition.compiler)[1]
        for compiler in _near_compilers(values("compiler"), own_name, constraint):
            its_name, version = _split_compiler(compiler)
            exact = (Term("version", f"={version}"),) if version else ()
            named = replace(name, pattern=name.pattern if version else its_name)
            yield replace(condition, terms=(named, *exact))
    if condition.direct and not condition.deptypes:
        yield replace(condition, direct=False)


def _near_compilers(compilers: Sequence[str], name: str, constraint: str) -> list[str]:
    """Return the compilers of a name with the nearest versions, or similar names."""
    pairs = [_split_compiler(compiler) for compiler in compilers if compiler != NO_COMPILER]
    if versions := [version for its_name, version in pairs if its_name == name]:
        return [f"{name}@{version}" for version in nearest_versions(constraint, versions)]
    return near(name, (its_name for its_name, _ in pairs))


def _split_compiler(compiler: str) -> tuple[str, str]:
    name, _, version = compiler.partition("/")[0].partition("@")
    return name, version


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


def _values(catalog: Catalog, query: Query, column: str) -> list[str]:
    counted = value_counts(catalog, query, column)
    return [each.value for each in counted if each.value]


def _meant_condition(
    catalog: Catalog, spec: Iterable[Group], term: Term, others: Query, *, is_near: bool = False
) -> Condition | None:
    """Return the condition that a word without a key was meant as, if there is one.

    A compiler or a dependency takes the version of the spec, and a variant must belong to the
    package that `others` name. With `is_near`, a value that is similar to the word is enough.
    Raises Cancelled.
    """
    from archspec.cpu import TARGETS

    word = _typed(spec, term)
    values = partial(_values, catalog, Query())
    compilers = values("compiler")
    is_listed = word in _listed_packages(catalog)
    of_compilers = (_split_compiler(value)[0] for value in compilers)
    # What is only a dependency may be one at any depth.
    is_direct = is_compiler(word) or (not is_listed and word in of_compilers)
    if is_direct or (not is_listed and word in catalog.texts("package")):
        terms = (Term("package", word), *chain.from_iterable(_versions(spec)))
        return Depends(is_direct, terms)
    for column in ("target", "os", "platform", "stack", "tag"):
        is_target = column == "target"
        known = [*values(column), *(TARGETS if is_target else ())]
        for close in near(word, known, _ALIKE) if is_near else {word}.intersection(known):
            return Term(column, f":{close}") if is_target else exact_term(column, close)
    flag = Term("variants", f"+{word}")
    either = Query(((flag, replace(flag, pattern=f"~{word}")),))
    # Another condition may need dependencies that are not listed.
    with contextlib.suppress(Unanswerable):
        if "package" in others.columns and catalog.count(others.plus(either)):
            return flag
    with contextlib.suppress(ValueError):
        version = Term("version", word)
        if word[:1].isdigit() and any(map(version.matcher("version"), catalog.texts("version"))):
            return version
    return None


_MAX_VALUES = 3
"""The most values that a sentence names, if none is similar."""

_MAX_NAMES = 6
"""The most variants that a sentence names, if none is similar."""

_ON_HOST = {
    ("fits", YES): ("runs on this host", "is known to run on this host"),
    ("fits", NO): ("fails to run on this host", ""),
    ("reusable", YES): ("can be reused on this host", "is known to be reusable on this host"),
}
"""The words after "No spec", by the condition on the host: if all answers are known, and else."""

_MAX_SENTENCE = 160


class Advice(Frozen):
    """A sentence about a condition that no record matches."""

    sentence: str
    condition: Condition


def advise(catalog: Catalog, query: Query) -> Advice | None:
    """Return advice on the first condition that no record of the query's packages matches.

    An unknown package comes first. For a query of several specs, advice is only returned if each
    spec has such a condition. None if each condition has a match by itself. Raises Cancelled.
    """
    for word in catalog.virtuals.unknown(query)[:1]:
        return Advice(_unknown_package(catalog, query, word), word)
    first = None
    for spec in map(Query, query.whole_specs):
        packages = _packages(spec.groups)
        try:
            advice = None
            for group in (*packages.groups[:1], *spec.minus(packages).groups):
                if not catalog.count(packages.plus(Query((group,)))):
                    sentence = _sentence(catalog, spec, packages, group)
                    advice = Advice(_as_far_as_read(catalog, clean(sentence)), group[0])
                    break
        except Unanswerable as error:
            return Advice(str(error), error.condition)
        if advice is None:
            return None
        first = first or advice
    return first


def _sentence(catalog: Catalog, spec: Query, packages: Query, group: Group) -> str:
    """Return the sentence on a group of a spec that no record of its packages matches."""

    def counted(column: str) -> list[ValueCount]:
        return value_counts(catalog, packages, column)

    condition, name = group[0], clean(packages.package or "")
    none = f"No {name or 'spec'}"
    if len(group) > 1 or condition.negated:
        return f"{none} matches {format_group(group)}"
    for term in condition.terms if isinstance(condition, Depends) else (condition,):
        if isinstance(term, Term) and term.column == "target":
            targets = filter(None, _BOUNDS.split(term.pattern))
            if sentence := next(filter(None, map(unknown_target, targets)), ""):
                return sentence

    if isinstance(condition, Depends) and condition.compiler is None:
        known = [name for name in catalog.texts("package") if name]
        named = query_of(Term("package", condition.name))
        is_known = condition.name in known or catalog.virtuals.providers(named)
        if is_known and not any(map(catalog.edges.lists, catalog.match(packages).ids())):
            specs = name or "any spec"
            return f"The sources list no dependencies of {specs}, so none matches {condition}"
        guess = "" if is_known else did_you_mean(condition.name, known)
        return f"{none} depends on {condition}{guess}"
    if isinstance(condition, Depends):
        name, compilers = compiler_name(condition.name), counted("compiler")
        listed_names = [each.value.partition("@")[0] for each in compilers]
        if name != condition.name and condition.name in listed_names:
            return (
                f"%{condition.name} means the package {name}, as in Spack. For the compiler as it"
                f" is listed, write compiler={condition.name}."
            )
        if catalog.virtuals.asked_of_compilers(query_of(condition)):
            return (
                f"{none} is built with {condition}, as far as that is known without recipes."
                f" Write {replace(condition, direct=False)} for a dependency."
            )
        if name not in listed_names:
            guess = did_you_mean(condition.name, [n for n in listed_names if n != NO_COMPILER])
            return f"{none} is built with %{condition.name}{guess}"
        versions = [each for each in compilers if each.value.startswith(f"{name}@")]
        return f"{none} is built with {condition}{_only(versions)}"

    column, pattern = condition.column, condition.pattern
    if column == "variants" and is_variant(pattern):
        variant, its_values = split_variant(pattern)
        variants = counted("variants")
        names = [split_variant(each.value)[0] for each in variants]
        for provider in _providers(catalog, pattern):
            with contextlib.suppress(Unanswerable):
                if catalog.count(packages.also(provider)):
                    return f"{none} has the variant {clean(pattern)}. Did you mean {provider}?"
        if variant in names:
            own = [each for each, its in zip(variants, names, strict=True) if its == variant]
            return f"{none} has {clean(pattern)}{_only(own)}"
        keys = [] if its_values in (("+",), ("~",)) else [f"{key}=" for key in sorted(COLUMN_KEYS)]
        guess = did_you_mean(variant, [*names, *keys])
        if not guess and 0 < len({*names}) <= _MAX_NAMES:
            guess = f", only {enumerated(sorted(map(clean, {*names})), 'and')}"
        return f"Unknown variant {clean(variant)}{f' of {name}' if name else ''}{guess}"
    if column == "hash":
        is_possible = set(pattern) <= set("abcdefghijklmnopqrstuvwxyz234567*?")
        why = "" if is_possible else ": hashes contain only a-z and 2-7"
        if len(pattern) > HASH_LENGTH:
            why = f": hashes have {HASH_LENGTH} characters"
        return f"No hash starts with {clean(pattern)}{why}"
    if (column, pattern) in _ON_HOST:
        unknown = packages.also(Term(column, UNKNOWN))
        may_fit = pattern == YES and catalog.count(unknown)
        return f"{none} {_ON_HOST[column, pattern][bool(may_fit)]}"
    if column == ANY or pattern in catalog.virtuals.unlisted(packages):
        return _unknown_package(catalog, spec, condition)
    values = counted(column) if column in COUNTED else []
    guess = ""
    if column not in ("version", "target") and len(values) > _MAX_VALUES:
        guess = did_you_mean(pattern.strip("*"), [each.value for each in values])
    return f"{none} has {condition}{guess or _only(values)}"


def _unknown_package(catalog: Catalog, query: Query, word: Term) -> str:
    """Return the sentence on a word that is not a package, with a suggestion.

    With other conditions in the query, a suggested name must be more similar.
    """
    specs = _specs(query)
    spec = next(spec for spec in specs if any(word in group for group in spec))
    text, unknown = _typed(spec, word), [(term,) for term in catalog.virtuals.unknown(query)]
    others = _without(specs, [*unknown, (word,)])
    sentence = f"Unknown package {text}"
    if not catalog.is_whole:
        sentence = f"{text} is not {_among_read(catalog)}"
    elif catalog.virtuals.unlisted(query_of(Term("package", text))):
        sentence = f"{text} is only a dependency here"
    elif word.column == ANY:
        sentence += f", and no {others.package or 'spec'} shows it in any column"
    sentence = clean(sentence)
    if text in ENGLISH_WORDS:
        return f"{sentence}. {ENGLISH_WORDS[text]}"
    meant = _meant_condition(catalog, spec, word, others)
    if meant is None:
        names = [f"{text}="] if text in COLUMN_KEYS else [*_listed_packages(catalog), *WORDS]
        if guess := did_you_mean(text, names, _ALIKE if others else CLOSE):
            return sentence + guess
        meant = _meant_condition(catalog, spec, word, others, is_near=True)
    return sentence if meant is None else f"{sentence}. Did you mean {clean(str(meant))}?"


def _listed_packages(catalog: Catalog) -> list[str]:
    return [package.name for package in catalog.all_packages]


def _only(values: Sequence[ValueCount]) -> str:
    """Name the most frequent values, as `, only 80, 90 and none`."""
    texts = [clean(each.value) for each in values[:_MAX_VALUES] if each.value]
    if not texts:
        return ""
    texts.sort(key=version_key)
    if len(values) > _MAX_VALUES:
        texts.append(f"{len(values) - _MAX_VALUES:,} more")
    return f", only {enumerated(texts, 'and')}"


def check_input(catalog: Catalog, parsed: ParsedInput) -> Note | None:
    """Return a note on the first condition of an input that no record matches, if there is one.

    The conditions at the cursor are checked last. Raises Cancelled.
    """
    finished = parsed.others if parsed.column else without_word(parsed)
    for query in dict.fromkeys((finished, parsed.query or Query())):
        if (advice := advise(catalog, query)) is not None:
            return note_on(advice.condition, shorten(advice.sentence, _MAX_SENTENCE), parsed)
    return None


def note_on(condition: Condition, sentence: str, parsed: ParsedInput) -> Note:
    """Return a note at the place of a condition in an input."""
    span = parsed.spans.get(condition)
    return Note(sentence, span and span[0])


def _among_read(catalog: Catalog) -> str:
    return "among what is read so far" if catalog.part else "among what could be read"


def _as_far_as_read(catalog: Catalog, sentence: str) -> str:
    """Limit a sentence on all specs to the specs that were read, if some were not."""
    if catalog.is_whole or not sentence.startswith(("No ", "Unknown ", "There are no")):
        return sentence
    return f"{_among_read(catalog).capitalize()}: {sentence[0].lower()}{sentence[1:]}"


def explain_no_match(catalog: Catalog, query: Query) -> str:
    """Return a sentence on the condition because of which a query has no match.

    `relaxations` returns similar queries with matches.
    """
    return _as_far_as_read(catalog, _why_no_match(catalog, query))


def _why_no_match(catalog: Catalog, query: Query) -> str:
    if not query:
        return "There are no specs"
    (condition, *others) = query.conditions
    if not others and isinstance(condition, Term) and condition.column == "package":
        word = condition.pattern
        if len(word) >= _MIN_HASH_WORD and catalog.hashes.with_prefix(word):
            return f"No match for {query}, but /{word} is a hash"
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
