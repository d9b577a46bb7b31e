"""Compare the specs of two sources: packages added, removed and changed, and the causes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain, takewhile
from operator import eq
from typing import Literal, NamedTuple

from spackscope.model.analysis.dag import (
    AttributeValue,
    ClosureMasks,
    Dag,
    Mask,
    Step,
    Walker,
    by_package,
    cached_method,
    compiled_languages,
    explicit_specs,
    listed_specs,
    post_order,
)
from spackscope.model.analysis.differences import (
    OF_MANY_PACKAGES,
    Cell,
    Difference,
    compare_values,
    follows,
)
from spackscope.model.analysis.nearest import chosen_values, compilers_of
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import RUNTIME_OF, is_run
from spackscope.model.core.tasks import report_progress
from spackscope.model.core.versions import version_key
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.run_sets import LIBC

MAX_CAUSES = 5_000_000
"""Causes of all specs together, each counted for each spec; two real caches have a tenth."""

MAX_PAIRS = 300_000
"""Pairs of specs that are compared; two caches of 60,000 specs have a third of that."""

_MAX_CHANGE_SETS = 10_000
_MAX_NAMED_CAUSES = 3
"""The most causes that are named together; specs with more causes are counted."""
_MAX_PRODUCT = 2_500
"""The most pairs of specs of a package that are compared one by one."""

_UNEXPLAINED = 1
"""The bit of differences that the sources do not list."""

_COMPILERS_OF_RUNTIMES = {runtime: compiler for compiler, runtime in RUNTIME_OF.items()}

_COME_WITH_COMPILER = frozenset((*_COMPILERS_OF_RUNTIMES, "compiler-wrapper", "glibc", "musl"))
"""Packages that another compiler brings along."""
_TOOLCHAIN = frozenset(("spec_format", "platform", "compiler"))
"""Attributes that change with the compiler."""

_OF_ANY_PACKAGE = OF_MANY_PACKAGES | {"present", "provider"}
"""Attributes whose equal changes are one, whatever the packages that have them."""

Pair = tuple[int, int]
"""The ids of two specs of one package."""

ChangeSet = tuple[Difference, ...]
"""The changes in a package, or one change that any package may have, such as another os."""

ChangeKind = Literal[
    "root added", "root removed", "because", "several", "unexplained", "cause",
    "added", "removed", "more", "fewer", "changed",
]  # fmt: skip
"""What a change is, in the order in which changes are told.

A package that one source lacks is `added` or `removed`; of another package there are `more` or
`fewer` builds, and a spec has `changed` if another one replaced it. A `cause` made specs change.
Specs without changes of their package changed `because` of the same few causes, or of `several`
ones; specs for which the sources name no cause are `unexplained`.
"""


class SourceChange(NamedTuple):
    """A change from the first source to the second one: of roots, a package, a spec, or a cause.

    `a` and `b` are the specs of either source that it is about. A change without specs counts
    them: `specs` have a cause themselves, or changed because of all `causes` together, and `also`
    changed since a spec below them has the cause.
    """

    kind: ChangeKind
    a: Sequence[int] = ()
    b: Sequence[int] = ()
    causes: Sequence[ChangeSet] = ()
    specs: int = 0
    also: int = 0


class SourceComparison(Frozen):
    """The changes between two sources; all ids are of `graph`. `same` counts hashes of both.

    There are no changes if both have the same hashes, and the same roots; or if the comparison
    `is_part` of one that has more.
    """

    graph: Dag
    count_a: int
    count_b: int
    same: int
    changes: Sequence[SourceChange] = ()
    is_part: bool = True


def compare_sources(a: Catalog, b: Catalog) -> Iterator[SourceComparison]:
    """Compare the specs that two catalogs list; yield two parts of the comparison, then the whole.

    The packages that only one catalog has come first, then also all other specs. Raises Cancelled.

        old, new = (load([source], session) for source in ("old/spack.lock", "new/spack.lock"))
        *_, comparison = compare_sources(old, new)
        for change in comparison.changes:
            print(change.kind, change.causes, change.specs)
    """
    graph = Dag(a, b)
    # Both sources by the identities of their specs, and of their roots.
    its_a, its_b = (
        {graph.identity(id_): id_ for id_ in ids}
        for ids in (listed_specs(a), map(graph.second_id, listed_specs(b)))
    )
    roots_a, roots_b = (
        {identity: its.get(identity, identity) for identity in map(graph.identity, ids)}
        for its, ids in (
            (its_a, explicit_specs(a)),
            (its_b, map(graph.second_id, explicit_specs(b))),
        )
    )
    same = its_a.keys() & its_b.keys()
    only_a, only_b = (
        [id_ for each, id_ in its.items() if each not in same] for its in (its_a, its_b)
    )
    names_a, names_b = (set(map(graph.name, its.values())) for its in (its_a, its_b))
    added = [id_ for id_ in only_b if graph.name(id_) not in names_a]
    removed = [id_ for id_ in only_a if graph.name(id_) not in names_b]
    changes = [*_of_packages(graph, "added", b=added), *_of_packages(graph, "removed", a=removed)]
    part = SourceComparison(graph, len(its_a), len(its_b), len(same), changes)
    yield part
    walker = Walker(graph)
    matched = match_specs(walker, only_a, only_b, {*roots_a.values(), *roots_b.values()})
    known = {*added, *removed, *chain.from_iterable(matched)}
    more, fewer = ([id_ for id_ in ids if id_ not in known] for ids in (only_b, only_a))
    by_name = sorted(matched, key=lambda pair: graph.name(pair[0]))
    changes = [
        *changes,
        *_of_packages(graph, "more", b=more),
        *_of_packages(graph, "fewer", a=fewer),
        *(SourceChange("changed", (x,), (y,)) for x, y in by_name),
    ]
    yield replace(part, changes=changes)
    root_changes = _of_roots(graph, roots_a, roots_b, matched) if roots_a and roots_b else ()
    changes = [*root_changes, *_causes(walker, matched), *changes]
    yield replace(part, changes=changes, is_part=False)


def _of_packages(
    graph: Dag, kind: ChangeKind, *, a: Iterable[int] = (), b: Iterable[int] = ()
) -> Iterator[SourceChange]:
    """Yield a change for each package of specs of one source."""
    of_a, of_b = by_package(graph, a), by_package(graph, b)
    for name in sorted({*of_a, *of_b}):
        yield SourceChange(kind, of_a.get(name, ()), of_b.get(name, ()))


def _of_roots(
    graph: Dag, a: Mapping[int, int], b: Mapping[int, int], matched: Iterable[tuple[int, int]]
) -> Iterator[SourceChange]:
    """Yield the roots of two environments that only one has, and that no other root replaced."""
    identities = [tuple(map(graph.identity, pair)) for pair in matched]
    known = {*chain.from_iterable((x, y) for x, y in identities if x in a and y in b)}
    known |= a.keys() & b.keys()
    yield from (SourceChange("root added", b=(b[root],)) for root in b if root not in known)
    yield from (SourceChange("root removed", a=(a[root],)) for root in a if root not in known)


def match_specs(
    walker: Walker, only_a: Sequence[int], only_b: Sequence[int], roots: Collection[int] = ()
) -> list[tuple[int, int]]:
    """Match specs with different hashes by their own attributes, each at most once.

    First pairs are matched that are equal but for the dependencies of their dependencies, then
    pairs that are equal but for their dependencies; then pairs with another version, another
    compiler, or both; then the nearest by the number of attributes that differ. Among equals come
    first pairs in which both or neither are roots, then pairs with the most dependencies in
    common, then pairs with the nearest versions. Packages are matched after their dependencies, so
    that a dependency in common has the same hash, or was matched. Raises Cancelled.
    """
    sides = [by_package(walker.graph, ids) for ids in (only_a, only_b)]
    matching = _Matching(walker, [*only_a, *only_b], roots)
    packages, matched = matching.packages(), list[tuple[int, int]]()
    for number, name in enumerate(packages):
        report_progress("packages matched", number, len(packages))
        if all(name in side for side in sides):
            matched += matching.match(*(side[name] for side in sides))
    return matched


class _Matching:
    """The rules by which specs are matched; later matches rest on earlier ones."""

    def __init__(self, walker: Walker, ids: Sequence[int], roots: Collection[int]) -> None:
        self._steps, self._graph, self._ids, self._roots = walker.steps, walker.graph, ids, roots
        self._unmatched = set(map(self._graph.identity, ids))
        self._match_of: dict[int, int] = {}
        self._firsts: dict[int, int] = {}
        self._below = cached_method(self._read_below)
        self._labels = cached_method(self._read_labels)
        self._first = cached_method(self._read_first)
        self._values = cached_method(self._read_values)
        self._distance = cached_method(self._read_distance)
        self._compilers = lru_cache(None)(partial(compilers_of, self._graph))

    def packages(self) -> list[str]:
        """Return the packages of the specs in order of their longest paths to others of these."""
        heights, packages = dict[int, int](), dict[str, int]()
        for id_ in post_order(self._ids, self._below):
            # In the cycles of damaged documents a child may have no height yet.
            below = (heights.get(child, 0) + 1 for child in self._below(id_))
            heights[id_] = max(below, default=0)
        for id_ in self._ids:
            name = self._graph.name(id_)
            packages[name] = max(packages.get(name, 0), heights[id_])
        return sorted(packages, key=lambda name: (packages[name], name))

    def match(self, a: list[int], b: list[int]) -> list[tuple[int, int]]:
        """Match the specs of a package by each rule, the strictest first."""
        identity, matched = self._graph.identity, list[tuple[int, int]]()
        for rule in self._RULES:
            groups: dict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
            for side, ids in enumerate((a, b)):
                for id_ in ids:
                    groups[rule(self, id_)][side].append(id_)
            # Later matches know these specs as dependencies in common.
            found = [pair for group in groups.values() for pair in self._best(*group)]
            for pair in found:
                self._match_of |= dict.fromkeys(map(identity, pair), len(self._match_of))
            paired = {id_ for pair in found for id_ in pair}
            a, b = ([id_ for id_ in ids if id_ not in paired] for ids in (a, b))
            matched += found
        return matched

    _RULES: Sequence[Callable[[_Matching, int], Hashable]] = (
        lambda self, id_: (self._graph.configuration(id_), self._labels(id_)),
        lambda self, id_: (self._graph.configuration(id_), self._compilers(id_)),
        lambda self, id_: (self._values(self._first(id_)), self._compilers(id_)),
        lambda self, id_: (self._values(self._first(id_), "version"), self._compilers(id_)),
        lambda self, id_: self._values(self._first(id_)),
        lambda self, id_: self._values(self._first(id_), "version"),
        lambda self, id_: self._values(self._first(id_), "version", "os", "target"),
        lambda self, id_: None,
    )

    def _best(self, a: list[int], b: list[int]) -> Iterator[tuple[int, int]]:
        """Yield the best pairs of two groups, until one of them has no more."""
        if len(a) * len(b) <= 1:
            yield from zip(a, b, strict=False)
        elif len(a) * len(b) > _MAX_PRODUCT:
            in_order = (sorted(ids, key=self._order) for ids in (a, b))
            yield from zip(*in_order, strict=False)
        else:
            seen: set[int] = set()
            for _, *pair in sorted((self._rank(x, y), x, y) for x in a for y in b):
                if seen.isdisjoint(pair):
                    seen.update(pair)
                    yield pair[0], pair[1]

    def _order(self, id_: int) -> tuple[object, ...]:
        version = version_key(self._graph.version(id_))
        return id_ not in self._roots, version, sorted(self._labels(id_))

    def _rank(self, a: int, b: int) -> tuple[int, bool, int, int, int]:
        """Return a key that is smallest for specs that are the most alike."""
        differing, shared = self._distance(self._first(a), self._first(b))
        of_a, of_b = self._labels(a), self._labels(b)
        return (
            differing + (self._compilers(a) != self._compilers(b)),
            (a in self._roots) != (b in self._roots),
            -len(of_a & of_b),
            -shared,
            abs(len(of_a) - len(of_b)),
        )

    def _read_distance(self, a: int, b: int) -> tuple[int, int]:
        """Return the number of values that differ, and the characters that the versions share."""
        versions = map(self._graph.version, (a, b))
        return (
            len({name for name, _ in self._values(a) ^ self._values(b)}),
            sum(takewhile(bool, map(eq, *versions))),
        )

    def _read_values(self, first: int, *without: str) -> frozenset[tuple[str, AttributeValue]]:
        chosen = chosen_values(self._graph.attributes(first)).items()
        return frozenset(item for item in chosen if item[0] not in without)

    def _read_first(self, id_: int) -> int:
        """Return the first spec with the same attributes."""
        return self._firsts.setdefault(self._graph.configuration(id_), id_)

    def _read_labels(self, id_: int) -> frozenset[tuple[str, int]]:
        """Return a label for each dependency: a match, a hash, or a package with attributes."""
        match_of = self._match_of
        return frozenset(
            ("", -1 - match_of[link.identity])
            if link.identity in match_of
            else (link.name, self._graph.configuration(link.id))
            if link.identity in self._unmatched
            else ("", link.identity)
            for link in self._steps(id_)
        )

    def _read_below(self, id_: int) -> list[int]:
        # These are most of all specs, and the walker would keep the steps of each.
        graph = self._graph
        return [c for c, _ in graph.links(id_) if graph.identity(c) in self._unmatched]


def _causes(walker: Walker, matched: Sequence[tuple[int, int]]) -> Iterator[SourceChange]:
    """Yield for which causes matched specs changed, and the causes, the most first."""
    sets = _ChangeSets(walker)
    of_own, of_all, of_only = Counter[int](), Counter[int](), Counter[int]()
    following: Counter[tuple[int, ...]] = Counter()
    counted = unexplained = 0
    for count, pair in enumerate(matched):
        report_progress("specs compared", count, len(matched))
        total, own = sets.whole(pair), sets.own(pair)
        counted += total.bit_count()
        if counted > MAX_CAUSES:
            total = own | _UNEXPLAINED
        own_bits, bits = _bits(own), _bits(total)
        unexplained += total == _UNEXPLAINED
        of_own.update(own_bits)
        of_all.update(bits)
        if all(sets.sets[each][0].attribute in _OF_ANY_PACKAGE for each in own_bits):
            following[bits] += 1
        if not own_bits and len(bits) == 1:
            of_only.update(bits)
    ranked = sorted(of_all, key=lambda each: (-of_only[each], -of_all[each], each))
    rank = {each: place for place, each in enumerate(ranked)}
    several = 0
    for bits, count in following.most_common():
        if len(bits) > _MAX_NAMED_CAUSES:
            several += count
        elif bits:
            causes = [sets.sets[each] for each in sorted(bits, key=rank.__getitem__)]
            yield SourceChange("because", causes=causes, specs=count)
    counts: dict[ChangeKind, int] = {"several": several, "unexplained": unexplained}
    yield from (SourceChange(kind, specs=count) for kind, count in counts.items() if count)
    for each in ranked:
        own, also = of_own[each], of_all[each] - of_own[each]
        yield SourceChange("cause", causes=(sets.sets[each],), specs=own, also=also)


class _Links(NamedTuple):
    """The dependencies of two specs: pairs of one name that differ, and those that one lacks."""

    below: Sequence[Pair] = ()
    only_a: Sequence[Step] = ()
    only_b: Sequence[Step] = ()


class _ChangeSets:
    """The changes of pairs of specs as masks: a bit for each set of changes.

    The first bit is of changes that no source lists. `own` returns the mask of a pair alone, and
    `whole` the one of a pair with all pairs below. `sets` get their bits bottom-up.
    """

    def __init__(self, walker: Walker) -> None:
        self._graph, self._steps = walker.graph, walker.steps
        self.sets: list[ChangeSet] = []
        self._numbers: dict[ChangeSet, int] = {}
        self._links: dict[Pair, _Links] = {}
        self._of_attributes: dict[Hashable, Sequence[Difference]] = {}
        self.own = cached_method(self._read_own)
        self.whole = ClosureMasks(lambda pair: self._links_of(pair).below, self.own).whole

    def _links_of(self, pair: Pair) -> _Links:
        """Return the dependencies of two specs; none after MAX_PAIRS."""
        if pair not in self._links and len(self._links) < MAX_PAIRS:
            # A spliced spec lists no build dependencies.
            is_spliced = any(map(self._graph.build_spec, pair))
            of_a, of_b = (_by_name(self._steps(id_), run_only=is_spliced) for id_ in pair)
            below = [
                (x.identity, y.identity)
                for name, links in of_a.items()
                for x, y in zip(links, of_b.get(name, ()), strict=False)
                if x.identity != y.identity
            ]
            only_a, only_b = (
                [link for name, (link, *_) in its.items() if name not in others]
                for its, others in ((of_a, of_b), (of_b, of_a))
            )
            are_listed = all(map(self._graph.lists_dependencies, pair))
            self._links[pair] = _Links(below, only_a, only_b) if are_listed else _Links(below)
        return self._links.get(pair, _Links())

    def _read_own(self, pair: Pair) -> Mask:
        graph, links = self._graph, self._links_of(pair)
        if not all(map(graph.is_described, pair)):
            return _UNEXPLAINED
        # Pairs that are not entered any more are unexplained; so are pairs without a difference.
        mask = 0 if pair in self._links else _UNEXPLAINED
        # A runtime follows its compiler.
        compiler = _COMPILERS_OF_RUNTIMES.get(graph.name(pair[0]))
        if compiler is None or compiler not in (graph.name(child) for child, _ in links.below):
            changes = [*self._attribute_changes(pair)]
            changes += self._link_changes(links, {each.attribute for each in changes})
            own = tuple(each for each in changes if each.attribute not in _OF_ANY_PACKAGE)
            others = ((each,) for each in changes if each.attribute in _OF_ANY_PACKAGE)
            for each in (*((own,) if own else ()), *others):
                mask |= self._bit(each)
        return mask or (0 if links.below else _UNEXPLAINED)

    def _attribute_changes(self, pair: Pair) -> Sequence[Difference]:
        """Return the attributes that changed, but those that follow others, unless all do."""
        graph = self._graph
        key = *map(graph.configuration, pair), *map(graph.lists_dependencies, pair)
        if key not in self._of_attributes:
            a, b = pair
            values = dict(compare_values(graph, [(a,), (b,)], graph.attributes))
            leading = [
                name
                for name, cells in values.items()
                if not follows(name, values, is_lacking=() in cells)
            ]
            package = graph.name(a)
            self._of_attributes[key] = [
                _change("" if name in _OF_ANY_PACKAGE else package, name, *values[name])
                for name in leading or values
            ]
        return self._of_attributes[key]

    def _link_changes(self, links: _Links, changed: set[str]) -> Iterator[Difference]:
        """Yield virtuals that another dependency provides, then dependencies that one spec lacks.

        Dependencies that come with the attributes that `changed` are left out: any with another
        version, variant or recipe, the runtime with another compiler, both with another spec
        format.
        """
        by_virtual = {virtual: link for link in links.only_b for virtual in link.kind.virtuals}
        virtuals = defaultdict[Pair, list[str]](list)
        for link in links.only_a:
            for virtual in link.kind.virtuals:
                if virtual in by_virtual:
                    virtuals[link.id, by_virtual[virtual].id].append(virtual)
        for providers, names in virtuals.items():
            cells = ((self._label(id_),) for id_ in providers)
            yield _change(", ".join(names), "provider", *cells)
        if not changed <= _OF_ANY_PACKAGE:
            return
        provided = {name for names in virtuals.values() for name in names}
        new_toolchain = bool(provided) or not _TOOLCHAIN.isdisjoint(changed)
        for links_of, is_lost in ((links.only_a, True), (links.only_b, False)):
            for link in links_of:
                is_runtime = link.name in _COME_WITH_COMPILER or LIBC in link.kind.virtuals
                is_compiler = bool(compiled_languages(link.kind.virtuals))
                comes_along = (is_runtime and new_toolchain) or (
                    is_compiler and "spec_format" in changed
                )
                if not comes_along and provided.isdisjoint(link.kind.virtuals):
                    cell = (self._graph.version(link.id),)
                    values = (cell, None) if is_lost else (None, cell)
                    yield _change(link.name, "present", *values)

    def _label(self, id_: int) -> str:
        version = self._graph.version(id_)
        return f"{self._graph.name(id_)}@{version}" if version else self._graph.name(id_)

    def _bit(self, changes: ChangeSet) -> Mask:
        if changes not in self._numbers:
            if len(self.sets) == _MAX_CHANGE_SETS:
                return _UNEXPLAINED
            self._numbers[changes] = len(self.sets)
            self.sets.append(changes)
        return 2 << self._numbers[changes]


def _change(package: str, attribute: str, *values: Cell) -> Difference:
    return Difference("own", package, attribute, values, packages=(package,))


def _by_name(links: Iterable[Step], *, run_only: bool) -> dict[str, list[Step]]:
    """Return dependencies by their packages, of each those first that are linked or run."""
    by_name = dict[str, list[Step]]()
    for link in links:
        runs = is_run(link.kind.deptypes)
        if runs or not run_only:
            its = by_name.setdefault(link.name, [])
            its.insert(0 if runs else len(its), link)
    return by_name


def _bits(mask: Mask) -> tuple[int, ...]:
    """Return the numbers of the change sets in a mask."""
    numbers = []
    mask >>= 1
    while mask:
        lowest = mask & -mask
        numbers.append(lowest.bit_length() - 1)
        mask ^= lowest
    return tuple(numbers)
