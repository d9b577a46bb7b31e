"""See two graphs as one, such as the specs of an environment and those of the caches.

An index of caches is large and kept; what an environment has is small and changes often. So each
has a catalog of its own, and only the graphs are joined.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from functools import cached_property

from spackscope.model.analysis.graphs.graph import Attributes
from spackscope.model.analysis.graphs.hash_graph import HashGraph
from spackscope.model.analysis.graphs.spec_graph import SpecGraph
from spackscope.model.catalog.arrays import EdgeKind
from spackscope.model.catalog.dependency_graph import Edge

_OFFSET = 1 << 32
"""What is added to the ids of the second graph; an index has no such ids."""


class JoinedGraph:
    """The specs of a first graph by their ids, and those of a second one by `second_id`.

    Edges stay within a graph. Specs with the same hash have the same `identity`: that in the
    first graph, unless only the second describes the spec. Safe to use from several threads.
    """

    def __init__(self, first: SpecGraph, second: SpecGraph | HashGraph) -> None:
        self._first, self._second = first, second
        self._identities: dict[int, int] = {}
        self._configurations: dict[int, int] = {}

    @staticmethod
    def second_id(id_: int) -> int:
        """Return the id here of a spec of the second graph."""
        return _OFFSET + id_

    @staticmethod
    def is_second(id_: int) -> bool:
        """Check whether a spec is one of the second graph."""
        return id_ >= _OFFSET

    @property
    def count(self) -> int:
        """The number of records."""
        return self._first.count + self._second.count

    def is_described(self, id_: int) -> bool:
        """Check whether a document describes a spec."""
        graph, own = self._own(id_)
        return graph.is_described(own)

    def lists_dependencies(self, id_: int) -> bool:
        """Check whether the document of a spec lists its dependencies, as pages do not."""
        graph, own = self._own(id_)
        return graph.lists_dependencies(own)

    def name(self, id_: int) -> str:
        """Return the package of a spec."""
        graph, own = self._own(id_)
        return graph.name(own)

    def hashes(self, ids: Iterable[int]) -> list[str]:
        """Return the hash of each id, in their order."""
        wanted = list(ids)
        first, second = self._split(wanted)
        hashes = dict(zip(first, self._first.hashes(first), strict=True))
        hashes |= zip(map(self.second_id, second), self._second.hashes(second), strict=True)
        return [hashes[id_] for id_ in wanted]

    def find(self, hashes: Iterable[str]) -> dict[str, int]:
        """Return the identity of those of some hashes that a graph has."""
        wanted = set(hashes)
        in_second = {
            hash_: self.identity(self.second_id(id_))
            for hash_, id_ in self._second.find(wanted).items()
        }
        rest = self._first.find(wanted - in_second.keys())
        return in_second | dict(rest)

    def identity(self, id_: int) -> int:
        """Return an id that specs have in common if and only if they have the same hash."""
        if (known := self._identities.get(id_)) is not None:
            return known
        graph, own = self._own(id_)
        if not graph.is_described(own):
            return self._shared(id_)
        if not self.is_second(id_):
            return graph.identity(own)
        return self._described.get(own, self.second_id(graph.identity(own)))

    @cached_property
    def _described(self) -> dict[int, int]:
        """The ids in the first graph, where it describes it, of all records of the second."""
        records = range(self._second.count)
        hashes = self._second.hashes(records)
        first = self._first.find(hashes)
        return {
            id_: first[hash_]
            for id_, hash_ in zip(records, hashes, strict=True)
            if hash_ in first and self._first.is_described(first[hash_])
        }

    def _shared(self, id_: int) -> int:
        """Return and keep the identity of an absent dependency, which the other graph may have."""
        hashes = self.hashes([id_])
        (first,) = [*self._first.find(hashes).values()] or [-1]
        (second,) = [*self._second.find(hashes).values()] or [-1]
        is_first = first >= 0 and (
            second < 0 or self._first.is_described(first) or not self._second.is_described(second)
        )
        self._identities[id_] = identity = first if is_first else self.second_id(second)
        return identity

    def edges(self, id_: int) -> Sequence[Edge]:
        """Return the edges to the direct dependencies, in the order of the document."""
        graph, own = self._own(id_)
        edges = graph.edges(own)
        if not self.is_second(id_):
            return edges
        return [Edge(id_, _OFFSET + e.child, e.deptypes, e.virtuals) for e in edges]

    def links(self, id_: int) -> Iterable[tuple[int, EdgeKind]]:
        """Return the direct dependencies, each with the kind of the edge to it."""
        if not self.is_second(id_):
            return self._first.links(id_)
        links = self._second.links(id_ - _OFFSET)
        return ((_OFFSET + child, kind) for child, kind in links)

    def dependents(self, id_: int) -> set[int]:
        """Return the specs that depend directly on a spec, each with its identity."""
        hashes = self.hashes([id_])
        first = {
            d for own in self._first.find(hashes).values() for d in self._first.dependents(own)
        }
        second = {
            self.identity(self.second_id(dependent))
            for own in self._second.find(hashes).values()
            for dependent in self._second.dependents(own)
        }
        return first | second

    def attributes(self, id_: int) -> Attributes:
        """Return the own attributes of a spec."""
        graph, own = self._own(id_)
        return graph.attributes(own)

    def configuration(self, id_: int) -> int:
        """Return a number that is equal for specs with equal attributes; not for absent ones."""
        if not self.is_described(id_):
            return -1 - self.identity(id_)
        if not self.is_second(id_):
            return self._first.configuration(id_)
        own = self._second.configuration(id_ - _OFFSET)
        if (number := self._configurations.get(own)) is None:
            of_first = self._first.configuration_of(self._second.signature(id_ - _OFFSET))
            number = self.second_id(own) if of_first is None else of_first
            self._configurations[own] = number
        return number

    def appearance(self, id_: int) -> Hashable:
        """Return a value that is equal for specs of one graph that look alike."""
        graph, own = self._own(id_)
        return self.is_second(id_), graph.appearance(own)

    def closure(self, ids: Iterable[int]) -> set[int]:
        """Return specs with all that they depend on."""
        first, second = self._split(ids)
        below = map(self.second_id, self._second.closure(second))
        return self._first.closure(first).union(below)

    def run_closure(self, ids: Iterable[int]) -> set[int]:
        """Return specs with all that they reach over dependencies that are linked or run."""
        first, second = self._split(ids)
        below = map(self.second_id, self._second.run_closure(second))
        return self._first.run_closure(first).union(below)

    def _own(self, id_: int) -> tuple[SpecGraph | HashGraph, int]:
        """Return the graph of a spec, and the id there."""
        return (self._second, id_ - _OFFSET) if id_ >= _OFFSET else (self._first, id_)

    def _split(self, ids: Iterable[int]) -> tuple[list[int], list[int]]:
        """Return the ids in the first graph, and those in the second."""
        wanted = list(ids)
        second = [self._own(id_)[1] for id_ in wanted if self.is_second(id_)]
        return [id_ for id_ in wanted if not self.is_second(id_)], second
