"""Compare what two sources list: packages added, removed and changed, and because of what."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from spackscope.model.analysis.differences.changes import Change
from spackscope.model.analysis.differences.node_pairs import NodePair
from spackscope.model.analysis.differences.pair_changes import UNEXPLAINED, PairChange, PairChanges
from spackscope.model.analysis.environments.root_uses import ListedSpecs
from spackscope.model.analysis.environments.spec_matching import SpecMatcher
from spackscope.model.analysis.graphs.graph import Graph, by_package
from spackscope.model.analysis.graphs.joined_graph import JoinedGraph
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.index.damage import reads_index

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

    graph: Graph
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


@reads_index
def compare_sources(
    a: Catalog, b: Catalog, *, should_stop: ShouldStop = never
) -> SourceComparison:
    """Compare the specs that two catalogs list.

    Raises IndexDamaged and Cancelled.

        old, new = (load([source], session) for source in ("old/spack.lock", "new/spack.lock"))
        for cause in compare_sources(old, new).causes:
            print(cause.changes, cause.only)
    """
    return _Sources(a, b).compare(should_stop)


class _Sources:
    """The specs of two catalogs in one graph, by their identities."""

    def __init__(self, a: Catalog, b: Catalog) -> None:
        listed_a, listed_b = ListedSpecs(a), ListedSpecs(b)
        self.graph = graph = JoinedGraph(listed_a.graph, listed_b.graph)
        self.a = {graph.identity(id_): id_ for id_ in listed_a.specs}
        second = [graph.second_id(id_) for id_ in listed_b.specs]
        self.b = {graph.identity(id_): id_ for id_ in second}
        self.roots_a = dict.fromkeys(map(graph.identity, listed_a.explicit))
        explicit = map(graph.second_id, listed_b.explicit)
        self.roots_b = dict.fromkeys(map(graph.identity, explicit))

    def compare(self, should_stop: ShouldStop) -> SourceComparison:
        """Match the specs, and find why they differ."""
        graph, same = self.graph, self.a.keys() & self.b.keys()
        only_a = [id_ for identity, id_ in self.a.items() if identity not in same]
        only_b = [id_ for identity, id_ in self.b.items() if identity not in same]
        roots = {self.a.get(root, root) for root in self.roots_a}
        roots |= {self.b.get(root, root) for root in self.roots_b}
        matching = SpecMatcher(graph, roots, should_stop=should_stop).match(only_a, only_b)
        search = PairChanges(graph, should_stop=should_stop)
        pair_changes = _bounded({pair: search.find(*pair) for pair in matching.pairs})
        causes = _Causes(search.change_sets, pair_changes.values())
        names_a, names_b = (set(map(graph.name, side.values())) for side in (self.a, self.b))
        added, more = _split(by_package(graph, matching.only_b), names_a)
        removed, fewer = _split(by_package(graph, matching.only_a), names_b)
        return SourceComparison(
            graph,
            len(self.a),
            len(self.b),
            len(same),
            added,
            removed,
            tuple(self._changed(causes, pair_changes, more, fewer)),
            causes.ordered,
            causes.followers,
            self._roots(matching.pairs),
            unexplained=sum(change.total == UNEXPLAINED for change in pair_changes.values()),
        )

    def _changed(
        self,
        causes: _Causes,
        pair_changes: Mapping[NodePair, PairChange],
        more: Mapping[str, list[int]],
        fewer: Mapping[str, list[int]],
    ) -> Iterator[PackageChange]:
        changes: dict[str, list[SpecChange]] = defaultdict(list)
        for pair, change in pair_changes.items():
            changes[self.graph.name(pair.a)].append(causes.spec_change(pair, change))
        for package in sorted(changes.keys() | more.keys() | fewer.keys()):
            yield PackageChange(
                package,
                tuple(changes.get(package, ())),
                tuple(more.get(package, ())),
                tuple(fewer.get(package, ())),
            )

    def _roots(self, pairs: Sequence[NodePair]) -> RootChanges:
        """Compare the roots, if both sources have some."""
        if not (self.roots_a and self.roots_b):
            return RootChanges()
        identity = self.graph.identity
        changed = [
            pair
            for pair in sorted(pairs, key=lambda pair: self.graph.name(pair.a))
            if identity(pair.a) in self.roots_a and identity(pair.b) in self.roots_b
        ]
        from_a = {identity(pair.a) for pair in changed}
        to_b = {identity(pair.b) for pair in changed}
        return RootChanges(
            tuple(
                self.b[root]
                for root in self.roots_b
                if root not in self.roots_a and root not in to_b
            ),
            tuple(
                self.a[root]
                for root in self.roots_a
                if root not in self.roots_b and root not in from_a
            ),
            tuple(changed),
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
