"""Match the specs of two sources: what each one changed to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import takewhile
from typing import NamedTuple

from spackscope.model.analysis.differences.node_pairs import NodePair
from spackscope.model.analysis.differences.own_differences import Value
from spackscope.model.analysis.graphs.graph import Graph, by_package
from spackscope.model.analysis.graphs.post_order import post_order
from spackscope.model.analysis.nearest.candidates import chosen_values, compilers_of
from spackscope.model.core.errors import Cancelled
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
        self, graph: Graph, roots: Collection[int] = (), *, should_stop: ShouldStop = never
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
            version_key(self._graph.attributes(id_).version),
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
        return _common_length(*(self._graph.attributes(id_).version for id_ in (a, b)))

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
