"""Find all changes below many pairs of specs at once: each pair below is compared once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, reduce
from operator import or_
from typing import NamedTuple

from spackscope.model.analysis.differences.changes import Change, changes_of
from spackscope.model.analysis.differences.differences import COMPILERS_OF_RUNTIMES
from spackscope.model.analysis.differences.edge_matching import common_edges
from spackscope.model.analysis.differences.node_pairs import NodePair
from spackscope.model.analysis.differences.own_differences import own_differences
from spackscope.model.analysis.graphs.graph import Graph
from spackscope.model.catalog.edge_arrays import EdgeKind
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.tasks import ShouldStop, never

UNEXPLAINED = 1
"""The bit of differences that the sources do not tell."""

MAX_PAIRS = 300_000
"""Pairs of one search; two caches of 60,000 specs have a third of that."""

_MAX_CHANGE_SETS = 10_000
_PAIRS_BETWEEN_CHECKS = 256


class PairChange(NamedTuple):
    """The changes of a pair as the bits of numbers: `own` of its two specs, and with those below.

    The first bit is UNEXPLAINED; each other stands for one of `PairChanges.change_sets`.
    """

    own: int
    total: int


class _Child(NamedTuple):
    """A pair of dependencies of the same name, by their ids and by their identities."""

    name: str
    pair: NodePair
    key: NodePair


class _Shape(NamedTuple):
    """A number for the edges of a spec without their ends, and the ends in the same order."""

    edges: int
    children: tuple[int, ...]


class PairChanges:
    """Finds the changes of pairs of specs, and of all pairs below them.

    What changes in a package is one change set, and so is each change that any package may have,
    such as that of the os. `change_sets` has those that were found. What is below more than
    `max_pairs` pairs is UNEXPLAINED, and so are changes after very many others.
    """

    def __init__(
        self, graph: Graph, *, max_pairs: int = MAX_PAIRS, should_stop: ShouldStop = never
    ) -> None:
        self.change_sets: list[tuple[Change, ...]] = []
        self._graph, self._max_pairs, self._should_stop = graph, max_pairs, should_stop
        self._numbers: dict[tuple[Change, ...], int] = {}
        self._found: dict[NodePair, PairChange] = {}
        self._kinds: dict[tuple[tuple[str, EdgeKind], ...], int] = {}
        self._shape = lru_cache(None)(self._read_shape)

    def find(self, a: int, b: int) -> PairChange:
        """Return the changes between two specs with different hashes. Raises Cancelled."""
        first = self._key(a, b)
        entered: set[NodePair] = set()
        stack = [] if first in self._found else [(first, NodePair(a, b), self._children(a, b))]
        while stack:
            key, pair, children = stack[-1]
            if key not in entered:
                # In a cycle, which only damaged documents have, a pair is entered once.
                entered.add(key)
                stack += [
                    (its, child, self._children(*child))
                    for _, child, its in children
                    if its not in self._found and its not in entered
                ]
            else:
                if key not in self._found:
                    self._add(key, pair, children)
                stack.pop()
        return self._found[first]

    @property
    def _is_full(self) -> bool:
        return len(self._found) >= self._max_pairs

    def _key(self, a: int, b: int) -> NodePair:
        return NodePair(self._graph.identity(a), self._graph.identity(b))

    def _add(self, key: NodePair, pair: NodePair, children: Sequence[_Child]) -> None:
        own = self._own(pair, [child.name for child in children])
        total = own
        for child in children:
            below = self._found.get(child.key)
            total |= below.total if below is not None else 0
        if self._is_full:
            total |= UNEXPLAINED
        if not total:
            own = total = UNEXPLAINED
        self._found[key] = PairChange(own, total)
        if len(self._found) % _PAIRS_BETWEEN_CHECKS == 0 and self._should_stop():
            raise Cancelled

    def _own(self, pair: NodePair, children: Sequence[str]) -> int:
        graph = self._graph
        if not all(map(graph.is_described, pair)):
            return UNEXPLAINED
        name = graph.name(pair.a)
        if self._are_alike(pair) or COMPILERS_OF_RUNTIMES.get(name) in children:
            return 0
        differences = own_differences(graph, *pair)
        # Two edges to one name may differ alike.
        changes = dict.fromkeys(changes_of(name, differences))
        own = tuple(change for change in changes if change.package)
        sets = [*([own] if own else []), *((change,) for change in changes if not change.package)]
        return reduce(or_, map(self._bit, sets), 0)

    def _are_alike(self, pair: NodePair) -> bool:
        """Check quickly whether two specs have no own differences."""
        a, b = pair
        if self._graph.configuration(a) != self._graph.configuration(b):
            return False
        return self._shape(a).edges == self._shape(b).edges

    def _bit(self, change_set: tuple[Change, ...]) -> int:
        number = self._numbers.get(change_set)
        if number is None:
            if len(self.change_sets) == _MAX_CHANGE_SETS:
                return UNEXPLAINED
            number = self._numbers[change_set] = len(self.change_sets)
            self.change_sets.append(change_set)
        return UNEXPLAINED << (number + 1)

    def _children(self, a: int, b: int) -> list[_Child]:
        """Return the pairs of dependencies with different hashes, with their names."""
        if self._is_full:
            return []
        graph = self._graph
        shape_a, shape_b = self._shape(a), self._shape(b)
        if shape_a.edges == shape_b.edges:
            pairs = list(map(NodePair, shape_a.children, shape_b.children))
        else:
            edges = common_edges(graph, a, b)
            pairs = [NodePair(edge.child, other.child) for _, edge, other in edges]
        keys = ((pair, self._key(*pair)) for pair in pairs)
        return [_Child(graph.name(pair.a), pair, key) for pair, key in keys if key.a != key.b]

    def _read_shape(self, id_: int) -> _Shape:
        links = list(self._graph.links(id_))
        kinds = tuple((self._graph.name(child), kind) for child, kind in links)
        number = self._kinds.setdefault(kinds, len(self._kinds))
        return _Shape(number, tuple(child for child, _ in links))
