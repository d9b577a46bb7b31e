"""Count the causes between many pairs of specs that share nodes."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from spackscope.model.analysis.differences.edge_matching import common_edges
from spackscope.model.analysis.differences.node_pairs import MAX_PAIRS
from spackscope.model.analysis.differences.own_differences import own_differences
from spackscope.model.analysis.graphs.graph import Graph

_Pair = tuple[int, int]


class _Node(NamedTuple):
    """A node that has one dependency of each name: a number for its own configuration."""

    configuration: int
    children: Mapping[str, int]


class _PairCauses(NamedTuple):
    """Whether the own configurations of a pair differ, and the pairs below it that differ."""

    is_cause: bool
    below: tuple[_Pair, ...]


class CauseCounter:
    """Counts the causes that `compare` finds, reading each node and each pair of nodes once."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.steps = 0
        """Pairs of nodes that all counts have visited, and the dependencies of these."""
        self._node = lru_cache(None)(self._read)
        self._configurations: dict[Hashable, int] = {}
        self._pairs: dict[_Pair, _PairCauses] = {}

    def count(self, a: int, b: int, most: int) -> int | None:
        """Return the number of causes between two specs, or None if there are more than `most`."""
        start = a, b
        seen = {start}
        waiting = [start]
        causes = 0
        while waiting:
            pair = waiting.pop()
            if (known := self._pairs.get(pair)) is None:
                known = self._pairs[pair] = self._compare(*pair)
            self.steps += 1 + len(known.below)
            causes += known.is_cause
            if causes > most:
                return None
            for child in known.below:
                if child not in seen and len(seen) < MAX_PAIRS:
                    seen.add(child)
                    waiting.append(child)
        return causes

    def _compare(self, a: int, b: int) -> _PairCauses:
        graph = self._graph
        if not (graph.is_described(a) and graph.is_described(b)):
            return _PairCauses(False, ())
        node_a, node_b = self._node(a), self._node(b)
        if node_a is None or node_b is None:
            return _PairCauses(bool(own_differences(graph, a, b)), tuple(self._below(a, b)))
        others = node_b.children
        below = (
            (child, others[name])
            for name, child in node_a.children.items()
            if name in others and others[name] != child
        )
        return _PairCauses(node_a.configuration != node_b.configuration, tuple(below))

    def _read(self, id_: int) -> _Node | None:
        """Return a node; None if its dependencies are unknown, or several have one name."""
        graph = self._graph
        links = [(graph.name(child), child, kind) for child, kind in graph.links(id_)]
        children = {name: graph.identity(child) for name, child, _ in links}
        if len(children) < len(links) or not graph.lists_dependencies(id_):
            return None
        key = graph.configuration(id_), frozenset((name, kind) for name, _, kind in links)
        number = self._configurations.setdefault(key, len(self._configurations))
        return _Node(number, children)

    def _below(self, a: int, b: int) -> Iterator[_Pair]:
        identity = self._graph.identity
        for _, edge, other in common_edges(self._graph, a, b):
            pair = identity(edge.child), identity(other.child)
            if pair[0] != pair[1]:
                yield pair
