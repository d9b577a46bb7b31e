"""Join two graphs into one, such as those of an environment and of the caches.

An index of caches is large and kept; what an environment has is small and changes often. So each
has a catalog of its own, and only the graphs are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import count
from typing import TypeVar

from spackscope.model.analysis.graphs.graph import Attributes
from spackscope.model.analysis.graphs.hash_graph import HashGraph
from spackscope.model.analysis.graphs.spec_graph import SpecGraph
from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.catalog.edge_arrays import EdgeKind

_OFFSET = 1 << 32
"""What is added to the ids of the second graph; an index has no such ids."""

_MAX_EDGE_LISTS = 20_000
"""Specs whose edges are kept; those of large sources would need too much memory."""

_Answer = TypeVar("_Answer")


class JoinedGraph:
    """The specs of a first graph by their ids, and those of a second one by `second_id`.

    Edges stay within a graph. Specs with the same hash have the same `identity`: that in the
    first graph, unless only the second describes the spec. Answers on single specs are kept, as
    analyses ask the same of a spec many times: see `Graph`. Safe to use from several threads.
    """

    is_described: Callable[[int], bool]
    lists_dependencies: Callable[[int], bool]
    name: Callable[[int], str]
    identity: Callable[[int], int]
    configuration: Callable[[int], int]
    attributes: Callable[[int], Attributes]
    build_spec: Callable[[int], str]
    edges: Callable[[int], Sequence[Edge]]

    def __init__(self, first: SpecGraph, second: SpecGraph | HashGraph) -> None:
        self._first, self._second = first, second
        self._configurations: dict[tuple[bool, int], int] = {}
        # Numbers from a counter, since threads that add at once would see the same length.
        self._numbers: dict[Hashable, int] = {}
        self._next_number: Callable[[], int] = count().__next__
        self.is_described = _in_either(first.is_described, second.is_described)
        self.lists_dependencies = _in_either(first.lists_dependencies, second.lists_dependencies)
        self.name = _in_either(first.name, second.name)
        self.attributes = _in_either(first.attributes, second.attributes)
        self.build_spec = _in_either(first.build_spec, second.build_spec)
        self.identity = lru_cache(None)(self._identity_of)
        self.configuration = lru_cache(None)(self._configuration_of)
        self.edges = lru_cache(_MAX_EDGE_LISTS)(self._edges_of)

    @staticmethod
    def second_id(id_: int) -> int:
        """Return the id here of a spec of the second graph."""
        return _OFFSET + id_

    @staticmethod
    def is_second(id_: int) -> bool:
        """Check whether a spec is one of the second graph."""
        return id_ >= _OFFSET

    def hashes(self, ids: Iterable[int]) -> list[str]:
        """Return the hash of each id, in their order."""
        wanted = list(ids)
        first = [id_ for id_ in wanted if not self.is_second(id_)]
        second = [id_ for id_ in wanted if self.is_second(id_)]
        hashes = dict(zip(first, self._first.hashes(first), strict=True))
        own = (id_ - _OFFSET for id_ in second)
        hashes |= zip(second, self._second.hashes(own), strict=True)
        return [hashes[id_] for id_ in wanted]

    def _identity_of(self, id_: int) -> int:
        """Return an id that specs have in common if and only if they have the same hash."""
        if not self.is_described(id_):
            return self._shared(id_)
        if not self.is_second(id_):
            return self._first.identity(id_)
        own = id_ - _OFFSET
        return self._described.get(own, self.second_id(self._second.identity(own)))

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
        """Return the identity of an absent dependency, which the other graph may have."""
        hashes = self.hashes([id_])
        (first,) = [*self._first.find(hashes).values()] or [-1]
        (second,) = [*self._second.find(hashes).values()] or [-1]
        is_first = first >= 0 and (
            second < 0 or self._first.is_described(first) or not self._second.is_described(second)
        )
        return first if is_first else self.second_id(second)

    def _edges_of(self, id_: int) -> Sequence[Edge]:
        if not self.is_second(id_):
            return self._first.edges(id_)
        edges = self._second.edges(id_ - _OFFSET)
        return [Edge(id_, _OFFSET + e.child, e.deptypes, e.virtuals) for e in edges]

    def links(self, id_: int) -> Iterable[tuple[int, EdgeKind]]:
        """Return the direct dependencies, each with the kind of the edge to it."""
        if not self.is_second(id_):
            return self._first.links(id_)
        links = self._second.links(id_ - _OFFSET)
        return ((_OFFSET + child, kind) for child, kind in links)

    def _configuration_of(self, id_: int) -> int:
        if not self.is_described(id_):
            return -1 - self.identity(id_)
        is_second = self.is_second(id_)
        configuration = (
            self._second.configuration(id_ - _OFFSET)
            if is_second
            else self._first.configuration(id_)
        )
        if (number := self._configurations.get((is_second, configuration))) is None:
            number = self._numbers.setdefault(self.attributes(id_).key, self._next_number())
            self._configurations[is_second, configuration] = number
        return number


def _in_either(
    in_first: Callable[[int], _Answer], in_second: Callable[[int], _Answer]
) -> Callable[[int], _Answer]:
    """Return a function that asks the graph of a spec, once for each."""
    return lru_cache(None)(
        lambda id_: in_second(id_ - _OFFSET) if id_ >= _OFFSET else in_first(id_)
    )
