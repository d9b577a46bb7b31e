"""Keep what a graph returned, for analyses that ask the same of a spec many times."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache

from spackscope.model.analysis.graphs.graph import Attributes, Graph
from spackscope.model.catalog.arrays import EdgeKind
from spackscope.model.catalog.dependency_graph import Edge

_MAX_EDGE_LISTS = 20_000
"""Specs whose edges are kept; those of large sources would need too much memory."""


class CachedGraph:
    """Another graph, each of whose answers on single specs is computed once: see `Graph`."""

    is_described: Callable[[int], bool]
    lists_dependencies: Callable[[int], bool]
    name: Callable[[int], str]
    identity: Callable[[int], int]
    configuration: Callable[[int], int]
    attributes: Callable[[int], Attributes]
    edges: Callable[[int], Sequence[Edge]]
    appearance: Callable[[int], Hashable]

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self.is_described = lru_cache(None)(graph.is_described)
        self.lists_dependencies = lru_cache(None)(graph.lists_dependencies)
        self.name = lru_cache(None)(graph.name)
        self.identity = lru_cache(None)(graph.identity)
        self.configuration = lru_cache(None)(graph.configuration)
        self.appearance = graph.appearance
        self.attributes = lru_cache(None)(graph.attributes)
        self.edges = lru_cache(_MAX_EDGE_LISTS)(graph.edges)

    @property
    def count(self) -> int:
        """The number of records."""
        return self._graph.count

    def hashes(self, ids: Iterable[int]) -> list[str]:
        """Return the hash of each id, in their order."""
        return self._graph.hashes(ids)

    def find(self, hashes: Iterable[str]) -> Mapping[str, int]:
        """Return the first id of each of some hashes, of those that are there."""
        return self._graph.find(hashes)

    def links(self, id_: int) -> Iterable[tuple[int, EdgeKind]]:
        """Return the direct dependencies, each with the kind of the edge to it."""
        return self._graph.links(id_)

    def dependents(self, id_: int) -> set[int]:
        """Return the specs that depend directly on a spec, each with its first id."""
        return self._graph.dependents(id_)

    def closure(self, ids: Iterable[int]) -> set[int]:
        """Return specs with all that they depend on."""
        return self._graph.closure(ids)

    def run_closure(self, ids: Iterable[int]) -> set[int]:
        """Return specs with all that they reach over dependencies that are linked or run."""
        return self._graph.run_closure(ids)
