"""Compare the specs of two sources: packages added, removed and changed, and the causes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import takewhile
from operator import eq
from typing import Any, NamedTuple

from spackscope.model.analysis.compare import Difference, Pairs, changes_of
from spackscope.model.analysis.dag import (
    AttributeValue,
    ClosureMasks,
    Dag,
    Mask,
    by_package,
    explicit_specs,
    listed_specs,
    post_order,
)
from spackscope.model.analysis.follows import COMPILERS_OF_RUNTIMES
from spackscope.model.analysis.nearest import chosen_values
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import report_progress
from spackscope.model.core.versions import version_key
from spackscope.model.index.catalog import Catalog

MAX_CAUSES = 5_000_000
"""Causes of all specs together, each counted for each spec; two real caches have a tenth."""

_MAX_CHANGE_SETS = 10_000
_MAX_PRODUCT = 2_500
"""The most pairs of specs of a package that are compared one by one."""

_UNEXPLAINED = 1
"""The bit of differences that the sources do not list."""

ChangeSet = tuple[Difference, ...]
"""The changes in a package, or one change that any package may have, such as another os."""


class SpecChange(Frozen):
    """A spec of the first source, and the spec of the second source that replaced it.

    `own` has the causes in the two specs themselves, `causes` also the causes below them, as
    places in `SourceComparison.causes`. Some are `untold` if a source does not list all.
    """

    a: int
    b: int
    own: tuple[int, ...]
    causes: tuple[int, ...]
    untold: bool = False


class PackageChange(Frozen):
    """A package with different specs in two sources, one of which may not have it.

    `specs` has the changed specs, `added` and `removed` the ids of all other specs.
    """

    package: str
    specs: tuple[SpecChange, ...] = ()
    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()


class ChangeCause(Frozen):
    """Changes in specs of a package, or of any package, and counts of the specs they affect.

    `own` counts the specs with these changes, `only` other specs that differ because of nothing
    else, and `also` other specs that differ because of more changes.
    """

    differences: ChangeSet
    own: int
    only: int
    also: int


class Followers(Frozen):
    """How many specs changed, without changes of their package, because of the same causes."""

    count: int
    causes: tuple[int, ...]


class RootChanges(NamedTuple):
    """The roots that differ between two environments; changed roots are pairs of ids."""

    added: Sequence[int] = ()
    removed: Sequence[int] = ()
    changed: Sequence[tuple[int, int]] = ()


class SourceComparison(Frozen):
    """How two sources differ. All ids are of `graph`.

    `same` counts the hashes that both have, `added` and `removed` are the packages that one of
    them does not have, `changed` the packages with different specs in both. `unexplained` counts
    the changed specs for which the sources name no cause. A comparison that `is_part` has none of
    the causes, and perhaps no changed packages.
    """

    graph: Dag
    count_a: int
    count_b: int
    same: int
    added: Sequence[PackageChange]
    removed: Sequence[PackageChange]
    changed: Sequence[PackageChange]
    causes: Sequence[ChangeCause] = ()
    followers: Sequence[Followers] = ()
    roots: RootChanges = RootChanges()
    unexplained: int = 0
    is_part: bool = False

    @property
    def are_alike(self) -> bool:
        """Whether both sources have the same hashes, and the same roots."""
        return self.same == self.count_a == self.count_b and not any(self.roots)


def compare_sources(a: Catalog, b: Catalog) -> Iterator[SourceComparison]:
    """Compare the specs that two catalogs list; yield two parts of the comparison, then the whole.

    The packages that only one catalog has come first, then also all changed specs. Raises
    Cancelled.

        old, new = (load([source], session) for source in ("old/spack.lock", "new/spack.lock"))
        *_, comparison = compare_sources(old, new)
        for cause in comparison.causes:
            print(cause.differences, cause.only)
    """
    graph = Dag(a, b)
    identity, second = graph.identity, graph.second_id
    # Both sources by the identities of their specs, and of their roots.
    its_a, its_b = (
        {identity(id_): id_ for id_ in ids}
        for ids in (listed_specs(a), map(second, listed_specs(b)))
    )
    roots_a, roots_b = (
        dict.fromkeys(map(identity, ids))
        for ids in (explicit_specs(a), map(second, explicit_specs(b)))
    )
    same = its_a.keys() & its_b.keys()
    only_a, only_b = (
        [id_ for each, id_ in its.items() if each not in same] for its in (its_a, its_b)
    )
    roots = {its_a.get(root, root) for root in roots_a}
    roots |= {its_b.get(root, root) for root in roots_b}
    names_a, names_b = (set(map(graph.name, its.values())) for its in (its_a, its_b))
    both = names_a & names_b

    def comparison(
        specs: Iterable[SpecChange], unmatched: Sequence[Iterable[int]], **fields: Any
    ) -> SourceComparison:
        more, fewer = (by_package(graph, ids) for ids in unmatched)
        changed: dict[str, list[SpecChange]] = defaultdict(list)
        for spec in specs:
            changed[graph.name(spec.a)].append(spec)
        packages = [
            PackageChange(
                name,
                tuple(changed.get(name, ())),
                tuple(more.get(name, ())),
                tuple(fewer.get(name, ())),
            )
            for name in sorted({*changed, *more, *fewer})
        ]
        return SourceComparison(
            graph,
            len(its_a),
            len(its_b),
            len(same),
            [each for each in packages if each.package not in names_a],
            [each for each in packages if each.package not in names_b],
            [each for each in packages if each.package in both],
            **fields,
        )

    lone = [[id_ for id_ in ids if graph.name(id_) not in both] for ids in (only_b, only_a)]
    yield comparison((), lone, is_part=True)
    pairs = Pairs(graph)
    matched = match_specs(pairs, only_a, only_b, roots)
    paired = {id_ for pair in matched for id_ in pair}
    unmatched = [[id_ for id_ in ids if id_ not in paired] for ids in (only_b, only_a)]
    yield comparison((SpecChange(*pair, (), ()) for pair in matched), unmatched, is_part=True)
    specs, causes, followers = _find_causes(pairs, matched)
    root_changes = RootChanges()
    if roots_a and roots_b:
        root_pairs = [
            (x, y)
            for x, y in sorted(matched, key=lambda pair: graph.name(pair[0]))
            if identity(x) in roots_a and identity(y) in roots_b
        ]
        in_pairs = {identity(id_) for pair in root_pairs for id_ in pair}
        root_changes = RootChanges(
            [its_b[r] for r in roots_b if r not in roots_a and r not in in_pairs],
            [its_a[r] for r in roots_a if r not in roots_b and r not in in_pairs],
            root_pairs,
        )
    yield comparison(
        specs,
        unmatched,
        causes=causes,
        followers=followers,
        roots=root_changes,
        unexplained=sum(spec.untold and not spec.causes for spec in specs),
    )


def match_specs(
    pairs: Pairs, only_a: Iterable[int], only_b: Iterable[int], roots: Collection[int] = ()
) -> list[tuple[int, int]]:
    """Match specs with different hashes by their own attributes, each at most once.

    First pairs are matched that are equal but for the dependencies of their dependencies, then
    pairs that are equal but for their dependencies; then pairs with another version, another
    compiler, or both; then the nearest by the number of attributes that differ. Among equals come
    first pairs in which both or neither are roots, then pairs with the most dependencies in
    common, then pairs with the nearest versions. Packages are matched after their dependencies, so
    that a dependency in common has the same hash, or was matched. Raises Cancelled.
    """
    graph, compilers = pairs.dag, pairs.compilers
    sides = [by_package(graph, ids) for ids in (only_a, only_b)]
    unmatched = {graph.identity(id_) for side in sides for ids in side.values() for id_ in ids}
    matched: list[tuple[int, int]] = []
    match_of: dict[int, int] = {}

    @lru_cache(None)
    def labels(id_: int) -> frozenset[tuple[str, int]]:
        """Return a label for each dependency: a match, a hash, or a package with attributes."""
        return frozenset(
            ("", -1 - match_of[link.identity])
            if link.identity in match_of
            else (link.name, graph.configuration(link.id))
            if link.identity in unmatched
            else ("", link.identity)
            for link in pairs.links(id_)
        )

    firsts: dict[int, int] = {}

    @lru_cache(None)
    def first(id_: int) -> int:
        """Return the first spec with the same attributes."""
        return firsts.setdefault(graph.configuration(id_), id_)

    @lru_cache(None)
    def values(first: int, *without: str) -> frozenset[tuple[str, AttributeValue]]:
        chosen = chosen_values(graph.attributes(first)).items()
        return frozenset(item for item in chosen if item[0] not in without)

    @lru_cache(None)
    def distance(a: int, b: int) -> tuple[int, int]:
        """Return the number of values that differ, and the characters that the versions share."""
        versions = map(graph.version, (a, b))
        return (
            len({name for name, _ in values(a) ^ values(b)}),
            sum(takewhile(bool, map(eq, *versions))),
        )

    def rank(a: int, b: int) -> tuple[int, bool, int, int, int]:
        """Return a key that is smallest for specs that are the most alike."""
        differing, shared = distance(first(a), first(b))
        of_a, of_b = labels(a), labels(b)
        return (
            differing + (compilers(a) != compilers(b)),
            (a in roots) != (b in roots),
            -len(of_a & of_b),
            -shared,
            abs(len(of_a) - len(of_b)),
        )

    def order(id_: int) -> tuple[object, ...]:
        version = version_key(graph.version(id_))
        return id_ not in roots, version, sorted(labels(id_))

    def best(a: list[int], b: list[int]) -> Iterator[tuple[int, int]]:
        """Yield the best pairs of two groups, until one of them has no more."""
        if len(a) * len(b) <= 1:
            yield from zip(a, b, strict=False)
        elif len(a) * len(b) > _MAX_PRODUCT:
            yield from zip(sorted(a, key=order), sorted(b, key=order), strict=False)
        else:
            seen: set[int] = set()
            for _, *pair in sorted((rank(x, y), x, y) for x in a for y in b):
                if seen.isdisjoint(pair):
                    seen.update(pair)
                    yield pair[0], pair[1]

    # The rules that pair the remaining specs of a package, the strictest first.
    rules: Sequence[Callable[[int], Hashable]] = (
        lambda id_: (graph.configuration(id_), labels(id_)),
        lambda id_: (graph.configuration(id_), compilers(id_)),
        lambda id_: (values(first(id_)), compilers(id_)),
        lambda id_: (values(first(id_), "version"), compilers(id_)),
        lambda id_: values(first(id_)),
        lambda id_: values(first(id_), "version"),
        lambda id_: values(first(id_), "version", "os", "target"),
        lambda id_: None,
    )
    # The longest path down from each spec through others to be matched.
    heights: dict[int, int] = {}
    packages: dict[str, int] = {}

    @lru_cache(None)
    def below(id_: int) -> list[int]:
        # These are most of all specs, and `pairs` would keep the steps of each.
        return [child for child, _ in graph.links(id_) if graph.identity(child) in unmatched]

    for id_ in post_order((id_ for side in sides for ids in side.values() for id_ in ids), below):
        # In the cycles of damaged documents a child may have no height yet.
        heights[id_] = max((heights.get(child, 0) + 1 for child in below(id_)), default=0)
    for side in sides:
        for name, ids in side.items():
            packages[name] = max(packages.get(name, 0), *map(heights.__getitem__, ids))
    ordered = sorted(packages, key=lambda name: (packages[name], name))
    for number, name in enumerate(ordered):
        report_progress("packages matched", number, len(ordered))
        rest = [side.get(name, []) for side in sides]
        for rule in rules if all(rest) else ():
            groups: dict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
            for side_number, ids in enumerate(rest):
                for id_ in ids:
                    groups[rule(id_)][side_number].append(id_)
            # Later matches know these specs as dependencies in common.
            found = [pair for group in groups.values() for pair in best(*group)]
            for pair in found:
                match_of |= dict.fromkeys(map(graph.identity, pair), len(match_of))
            paired = {id_ for pair in found for id_ in pair}
            rest = [[id_ for id_ in ids if id_ not in paired] for ids in rest]
            matched += found
    return matched


def _find_causes(
    pairs: Pairs, matched: Sequence[tuple[int, int]]
) -> tuple[list[SpecChange], list[ChangeCause], list[Followers]]:
    """Return the changes of matched specs, their causes, and followers, the most first."""
    change_sets: dict[ChangeSet, int] = {}

    def bit(changes: ChangeSet) -> Mask:
        if changes not in change_sets and len(change_sets) == _MAX_CHANGE_SETS:
            return _UNEXPLAINED
        return 2 << change_sets.setdefault(changes, len(change_sets))

    @lru_cache(None)
    def changes_mask(a: int, b: int) -> Mask:
        # Two edges to one name may differ alike.
        changes = tuple(dict.fromkeys(changes_of(pairs.differences_of(a, b))))
        mask = 0
        if of_package := tuple(change for change in changes if change.package):
            mask |= bit(of_package)
        for change in changes:
            if not change.package:
                mask |= bit((change,))
        return mask

    @lru_cache(None)
    def own_mask(number: int) -> Mask:
        """Return the own changes of a pair as bits: an unknown change, then change sets."""
        below = pairs.below(number)
        if not all(map(pairs.dag.is_described, pairs.ids(number))):
            return _UNEXPLAINED
        # Pairs that are not entered any more are unexplained; so are pairs without a difference.
        mask = _UNEXPLAINED if pairs.is_full else 0
        compiler = COMPILERS_OF_RUNTIMES.get(pairs.name(number))
        if not compiler or compiler not in map(pairs.name, below):
            mask |= changes_mask(*pairs.twins(number))
        return mask or (0 if below else _UNEXPLAINED)

    # Change sets get their numbers bottom-up.
    masks = ClosureMasks(lambda number: [*pairs.below(number)][::-1], own_mask)
    found: list[tuple[tuple[int, int], list[int], list[int], bool]] = []
    kept = 0
    for count, pair in enumerate(matched):
        report_progress("specs compared", count, len(matched))
        number = pairs.number(*pair)
        total, own = masks.whole(number), own_mask(number)
        kept += total.bit_count()
        if kept > MAX_CAUSES:
            total = own | _UNEXPLAINED
        found.append((pair, _bits(own), _bits(total), bool(total & _UNEXPLAINED)))

    sets = list(change_sets)
    of_own: Counter[int] = Counter()
    of_all: Counter[int] = Counter()
    of_only: Counter[int] = Counter()
    following: Counter[tuple[int, ...]] = Counter()
    for _, own_bits, bits, _ in found:
        of_own.update(own_bits)
        of_all.update(bits)
        if not any(sets[each][0].package for each in own_bits):
            following[tuple(bits)] += 1
        if not own_bits and len(bits) == 1:
            of_only.update(bits)
    ranked = sorted(of_all, key=lambda each: (-of_only[each], -of_all[each], each))
    rank = {each: place for place, each in enumerate(ranked)}

    def places(bits: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(rank[each] for each in bits))

    return (
        [
            SpecChange(*pair, places(own_bits), places(bits), untold)
            for pair, own_bits, bits, untold in found
        ],
        [
            ChangeCause(sets[n], of_own[n], of_only[n], of_all[n] - of_own[n] - of_only[n])
            for n in ranked
        ],
        [Followers(count, places(bits)) for bits, count in following.most_common() if bits],
    )


def _bits(mask: Mask) -> list[int]:
    """Return the numbers of the change sets in a mask."""
    numbers = []
    mask >>= 1
    while mask:
        lowest = mask & -mask
        numbers.append(lowest.bit_length() - 1)
        mask ^= lowest
    return numbers
