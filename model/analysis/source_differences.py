"""Compare what two sources list: packages added, removed and changed, and because of what."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import takewhile
from typing import NamedTuple

from spackscope.model.analysis.compare import (
    UNEXPLAINED,
    Change,
    NodePair,
    PairChange,
    PairChanges,
)
from spackscope.model.analysis.dag import Dag, Value, by_package, post_order
from spackscope.model.analysis.environment import ListedSpecs
from spackscope.model.analysis.nearest import chosen_values, compilers_of
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.core.versions import version_key

_MAX_PRODUCT = 2_500
"""Specs of a package on one side, times those on the other, up to which each is compared."""

_Label = tuple[str, int]
"""What stands for a dependency: its hash, its match, or its package and configuration."""


class Matching(NamedTuple):
    """Pairs of specs, and those without a partner, by ids."""

    pairs: list[NodePair]
    only_a: list[int]
    only_b: list[int]


class SpecMatcher:
    """Matches specs by their own attributes, each at most once.

    First those that are equal but for what their dependencies depend on, then those that are
    equal but for their dependencies; then those with another version, another
    compiler, or both; then the nearest by the number of attributes that differ. Among equals come
    first those that are roots alike, then those with the most dependencies in common, then those
    with the nearest versions. Packages are matched after those that they depend on, so that a
    dependency in common is one with the same hash, or one that was matched.
    """

    def __init__(
        self, graph: Dag, roots: Collection[int] = (), *, should_stop: ShouldStop = never
    ) -> None:
        self._graph, self._roots, self._should_stop = graph, roots, should_stop
        self._values: dict[int, Mapping[str, Value]] = {}
        self._compilers_of = lru_cache(None)(partial(compilers_of, graph))
        self._labels_of = lru_cache(None)(self._read_labels)
        self._matched: dict[int, _Label] = {}
        self._unmatched: set[int] = set()
        self._distances: dict[tuple[int, int], int] = {}

    def match(self, a: Iterable[int], b: Iterable[int]) -> Matching:
        """Match specs with different hashes, package by package. Raises Cancelled."""
        matching = Matching([], [], [])
        sides = [by_package(self._graph, ids) for ids in (a, b)]
        self._unmatched = {
            self._graph.identity(id_) for side in sides for ids in side.values() for id_ in ids
        }
        for package in self._ordered(sides):
            if self._should_stop():
                raise Cancelled
            rest_a, rest_b = (side.get(package, []) for side in sides)
            for pairs_of in self._rounds if rest_a and rest_b else ():
                pairs = list(pairs_of(rest_a, rest_b))
                matched = {id_ for pair in pairs for id_ in pair}
                rest_a, rest_b = (
                    [id_ for id_ in rest if id_ not in matched] for rest in (rest_a, rest_b)
                )
                matching.pairs.extend(pairs)
                self._add_matched(pairs)
            matching.only_a.extend(rest_a)
            matching.only_b.extend(rest_b)
        return matching

    def _ordered(self, sides: Sequence[Mapping[str, Sequence[int]]]) -> list[str]:
        """Return all packages, those that others depend on first.

        What counts is the longest path down through specs to be matched.
        """
        heights: dict[int, int] = {}
        specs = (id_ for side in sides for ids in side.values() for id_ in ids)
        for id_ in post_order(specs, self._below):
            # In the cycles of damaged documents a child may have no height yet.
            below = (heights.get(child, 0) + 1 for child in self._below(id_))
            heights[id_] = max(below, default=0)
        packages: dict[str, int] = {}
        for side in sides:
            for package, ids in side.items():
                height = max(map(heights.__getitem__, ids))
                packages[package] = max(packages.get(package, 0), height)
        return sorted(packages, key=lambda package: (packages[package], package))

    def _below(self, id_: int) -> list[int]:
        identity = self._graph.identity
        links = self._graph.links(id_)
        return [child for child, _ in links if identity(child) in self._unmatched]

    def _add_matched(self, pairs: Iterable[NodePair]) -> None:
        for pair in pairs:
            label = "", -1 - len(self._matched)
            for id_ in pair:
                self._matched[self._graph.identity(id_)] = label

    @property
    def _rounds(self) -> Iterator[Callable[[list[int], list[int]], Iterator[NodePair]]]:
        """Yield the rules that pair the remaining specs of a package, the strictest first."""
        keys: tuple[Callable[[int], Hashable], ...] = (
            lambda id_: (self._graph.configuration(id_), self._labels_of(id_)),
            lambda id_: (self._graph.configuration(id_), self._compilers_of(id_)),
            lambda id_: (self._key(id_), self._compilers_of(id_)),
            lambda id_: (self._key(id_, "version"), self._compilers_of(id_)),
            self._key,
            lambda id_: self._key(id_, "version"),
            lambda id_: self._key(id_, "version", "os", "target"),
        )
        for key in keys:
            yield partial(self._equal, key)
        yield self._best

    def _equal(
        self, key: Callable[[int], Hashable], a: Sequence[int], b: Sequence[int]
    ) -> Iterator[NodePair]:
        """Yield the best pairs of specs with equal keys."""
        groups: dict[Hashable, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for side, ids in enumerate((a, b)):
            for id_ in ids:
                groups[key(id_)][side].append(id_)
        for group in groups.values():
            yield from self._best(*group)

    def _best(self, a: Sequence[int], b: Sequence[int]) -> Iterator[NodePair]:
        """Yield the best pairs of two groups, until one of them has no more."""
        if len(a) * len(b) <= 1:
            yield from map(NodePair, a, b)
        elif len(a) * len(b) > _MAX_PRODUCT:
            yield from map(NodePair, *(sorted(ids, key=self._order) for ids in (a, b)))
        else:
            matched: set[int] = set()
            for _, x, y in sorted((self._rank(x, y), x, y) for x in a for y in b):
                if matched.isdisjoint((x, y)):
                    matched |= {x, y}
                    yield NodePair(x, y)

    def _order(self, id_: int) -> tuple[object, ...]:
        return (
            id_ not in self._roots,
            version_key(self._graph.version(id_)),
            sorted(self._labels_of(id_)),
        )

    def _rank(self, a: int, b: int) -> tuple[int, bool, int, int, int]:
        """Return a key that is smallest for specs that are the most alike."""
        are_roots = [id_ in self._roots for id_ in (a, b)]
        shared = self._labels_of(a) & self._labels_of(b)
        return (
            self._distance(a, b),
            are_roots[0] != are_roots[1],
            -len(shared),
            -self._common(a, b),
            abs(len(self._labels_of(a)) - len(self._labels_of(b))),
        )

    def _common(self, a: int, b: int) -> int:
        """Return how many characters the versions of two specs begin with alike."""
        return _common_length(*(self._graph.version(id_) for id_ in (a, b)))

    def _distance(self, a: int, b: int) -> int:
        """Return how many attributes differ."""
        compilers = self._compilers_of(a) != self._compilers_of(b)
        key = self._graph.configuration(a), self._graph.configuration(b)
        if (own := self._distances.get(key)) is None:
            different = self._values_of(a).items() ^ self._values_of(b).items()
            own = self._distances[key] = len({name for name, _ in different})
        return own + compilers

    def _key(self, id_: int, *without: str) -> Hashable:
        items = self._values_of(id_).items()
        return frozenset(item for item in items if item[0] not in without)

    def _values_of(self, id_: int) -> Mapping[str, Value]:
        configuration = self._graph.configuration(id_)
        if (values := self._values.get(configuration)) is None:
            values = self._values[configuration] = chosen_values(self._graph.attributes(id_))
        return values

    def _read_labels(self, id_: int) -> frozenset[_Label]:
        """Return what the dependencies of a spec may have in common with those of another."""
        return frozenset(self._label(child) for child, _ in self._graph.links(id_))

    def _label(self, id_: int) -> _Label:
        identity = self._graph.identity(id_)
        if (label := self._matched.get(identity)) is not None:
            return label
        if identity not in self._unmatched:
            return "", identity
        return self._graph.name(id_), self._graph.configuration(id_)


@lru_cache(4096)
def _common_length(a: str, b: str) -> int:
    pairs = zip(a, b, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


MAX_CAUSES = 5_000_000
"""Causes of all specs together, each counted for each spec; two real caches have a tenth."""


class SpecChange(Frozen):
    """A spec of the first source, and what it is in the second.

    `own` numbers the causes in the two specs themselves, `causes` all with those below. They
    are those of `SourceComparison.causes`. It `is_unexplained` if a source does not
    list all of them.
    """

    a: int
    b: int
    own: tuple[int, ...]
    causes: tuple[int, ...]
    is_unexplained: bool = False


class PackageSpecs(Frozen):
    """A package that one of the sources has, with the ids of its specs there."""

    package: str
    specs: tuple[int, ...]


class PackageChange(Frozen):
    """A package that both sources have, with different specs.

    `specs` has what changed, `added` and `removed` the ids of specs beyond that.
    """

    package: str
    specs: tuple[SpecChange, ...]
    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()


class ChangeCause(Frozen):
    """What changes in specs of a package, or of any package, and what changes because of it.

    `own` counts the specs with these changes, `only` the others that differ because of nothing
    else, and `also` those that differ because of more changes.
    """

    changes: tuple[Change, ...]
    own: int
    only: int
    also: int


class Followers(Frozen):
    """How many specs changed, without changes of their package, because of the same causes."""

    count: int
    causes: tuple[int, ...]


class RootChanges(Frozen):
    """The roots of two environments that differ; those that changed are pairs of ids."""

    added: tuple[int, ...] = ()
    removed: tuple[int, ...] = ()
    changed: tuple[NodePair, ...] = ()


class SourceComparison(Frozen):
    """How two sources differ. All ids are those of `graph`.

    `same` counts the hashes that both have. `unexplained` counts the changed specs for which the
    sources name no cause.
    """

    graph: Dag
    count_a: int
    count_b: int
    same: int
    added: tuple[PackageSpecs, ...]
    removed: tuple[PackageSpecs, ...]
    changed: tuple[PackageChange, ...]
    causes: tuple[ChangeCause, ...]
    followers: tuple[Followers, ...]
    roots: RootChanges
    unexplained: int = 0

    @property
    def are_alike(self) -> bool:
        """Whether both sources have the same hashes, and the same roots."""
        return self.same == self.count_a == self.count_b and self.roots == RootChanges()


def compare_sources(
    a: Catalog, b: Catalog, *, should_stop: ShouldStop = never
) -> SourceComparison:
    """Compare the specs that two catalogs list.

    Raises Cancelled.

        old, new = (load([source], session) for source in ("old/spack.lock", "new/spack.lock"))
        for cause in compare_sources(old, new).causes:
            print(cause.changes, cause.only)
    """
    graph = Dag(a, b)
    listed_a, listed_b = ListedSpecs(a), ListedSpecs(b)
    second = map(graph.second_id, listed_b.specs), map(graph.second_id, listed_b.explicit)
    # Both sources by the identities of their specs, and of their roots.
    its_a, its_b = (
        {graph.identity(id_): id_ for id_ in ids} for ids in (listed_a.specs, second[0])
    )
    roots_a, roots_b = (
        dict.fromkeys(map(graph.identity, ids)) for ids in (listed_a.explicit, second[1])
    )
    same = its_a.keys() & its_b.keys()
    only_a, only_b = (
        [id_ for identity, id_ in its.items() if identity not in same] for its in (its_a, its_b)
    )
    roots = {its_a.get(root, root) for root in roots_a}
    roots |= {its_b.get(root, root) for root in roots_b}
    matching = SpecMatcher(graph, roots, should_stop=should_stop).match(only_a, only_b)
    search = PairChanges(graph)
    pair_changes = _bounded(
        {pair: search.find(*pair, should_stop=should_stop) for pair in matching.pairs}
    )
    causes = _Causes(search.change_sets, pair_changes.values())
    names_a, names_b = (set(map(graph.name, its.values())) for its in (its_a, its_b))
    added, more = _split(by_package(graph, matching.only_b), names_a)
    removed, fewer = _split(by_package(graph, matching.only_a), names_b)
    changes: dict[str, list[SpecChange]] = defaultdict(list)
    for pair, change in pair_changes.items():
        changes[graph.name(pair.a)].append(causes.spec_change(pair, change))
    changed = (
        PackageChange(
            package,
            tuple(changes.get(package, ())),
            tuple(more.get(package, ())),
            tuple(fewer.get(package, ())),
        )
        for package in sorted(changes.keys() | more.keys() | fewer.keys())
    )
    root_changes = RootChanges()
    if roots_a and roots_b:
        pairs = [
            pair
            for pair in sorted(matching.pairs, key=lambda pair: graph.name(pair.a))
            if graph.identity(pair.a) in roots_a and graph.identity(pair.b) in roots_b
        ]
        in_pairs = {graph.identity(id_) for pair in pairs for id_ in pair}
        root_changes = RootChanges(
            tuple(its_b[r] for r in roots_b if r not in roots_a and r not in in_pairs),
            tuple(its_a[r] for r in roots_a if r not in roots_b and r not in in_pairs),
            tuple(pairs),
        )
    return SourceComparison(
        graph,
        len(its_a),
        len(its_b),
        len(same),
        added,
        removed,
        tuple(changed),
        causes.ordered,
        causes.followers,
        root_changes,
        unexplained=sum(change.total == UNEXPLAINED for change in pair_changes.values()),
    )


def _bounded(pair_changes: Mapping[NodePair, PairChange]) -> dict[NodePair, PairChange]:
    """Return changes with only their own causes once all have very many causes together."""
    bounded, count = {}, 0
    for pair, change in pair_changes.items():
        count += change.total.bit_count()
        is_cut = count > MAX_CAUSES
        bounded[pair] = PairChange(change.own, change.own | UNEXPLAINED) if is_cut else change
    return bounded


def _split(
    packages: Mapping[str, list[int]], others: Collection[str]
) -> tuple[tuple[PackageSpecs, ...], dict[str, list[int]]]:
    """Return the packages that the other source does not have, and the specs of those it has."""
    new = tuple(
        PackageSpecs(name, tuple(packages[name]))
        for name in sorted(packages)
        if name not in others
    )
    return new, {name: ids for name, ids in packages.items() if name in others}


class _Causes:
    """The change sets of pairs, those with the most effect first."""

    def __init__(
        self, change_sets: Sequence[tuple[Change, ...]], pair_changes: Iterable[PairChange]
    ) -> None:
        is_of_package = [bool(changes[0].package) for changes in change_sets]
        own: Counter[int] = Counter()
        total: Counter[int] = Counter()
        only: Counter[int] = Counter()
        followers: Counter[tuple[int, ...]] = Counter()
        for change in pair_changes:
            own_numbers, numbers = (tuple(_numbers(mask)) for mask in change)
            own.update(own_numbers)
            total.update(numbers)
            if not any(is_of_package[number] for number in own_numbers):
                followers[numbers] += 1
            if not own_numbers and len(numbers) == 1:
                only.update(numbers)
        ranked = sorted(total, key=lambda number: (-only[number], -total[number], number))
        self._rank = {number: rank for rank, number in enumerate(ranked)}
        self.ordered = tuple(
            ChangeCause(
                change_sets[number],
                own[number],
                only[number],
                total[number] - own[number] - only[number],
            )
            for number in ranked
        )
        self.followers = tuple(
            Followers(count, self._ranked(numbers))
            for numbers, count in followers.most_common()
            if numbers
        )

    def _ranked(self, numbers: Iterable[int]) -> tuple[int, ...]:
        return tuple(sorted(self._rank[number] for number in numbers))

    def spec_change(self, pair: NodePair, change: PairChange) -> SpecChange:
        """Return the change of a pair of specs with the numbers of its causes."""
        own, causes = (self._ranked(_numbers(mask)) for mask in change)
        return SpecChange(*pair, own, causes, bool(change.total & UNEXPLAINED))


def _numbers(mask: int) -> Iterator[int]:
    """Yield the numbers of the change sets in a mask."""
    mask >>= 1
    while mask:
        lowest = mask & -mask
        yield lowest.bit_length() - 1
        mask ^= lowest
