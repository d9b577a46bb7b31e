"""Read the edges of an index: dependencies, dependents, and the paths between two specs."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate, compress, islice, repeat
from operator import attrgetter
from typing import NamedTuple

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import DEPTYPES, LANGUAGES, Compiler, Dependency
from spackscope.model.index.masks import Span
from spackscope.model.index.rows import IndexData


class Adjacency:
    """Edges in CSR form: node i owns edges first[i]:first[i + 1] of `nodes` and `kinds`."""

    def __init__(self, first: array[int], nodes: array[int], kinds: Sequence[int]) -> None:
        self.first = first
        self.nodes = nodes
        # As bytes the kinds can be translated.
        is_narrow = isinstance(kinds, array) and kinds.itemsize == 1
        self.kinds = bytes(kinds) if is_narrow else kinds

    def edges(self, node: int) -> range:
        """Return the numbers of the edges of a node; an absent dependency has none."""
        if node + 1 >= len(self.first):
            return range(0)
        return range(self.first[node], self.first[node + 1])

    def of(self, node: int) -> Sequence[int]:
        """Return the neighbours of a node."""
        edges = self.edges(node)
        return self.nodes[edges.start : edges.stop]

    def neighbours(self, spans: Iterable[Span], of_kind: Sequence[bool] | None = None) -> set[int]:
        """Return the neighbours of spans of nodes.

        `of_kind` is True for the kinds of edges to follow; by default all are followed.
        """
        neighbours: set[int] = set()
        if of_kind is not None and not any(of_kind):
            return neighbours
        for start, stop in spans:
            edges = slice(self.first[start], self.first[stop])
            nodes: Iterable[int] = self.nodes[edges]
            if of_kind is not None and not all(of_kind):
                nodes = compress(nodes, _mask(self.kinds[edges], of_kind))
            neighbours.update(nodes)
        return neighbours

    def restricted(self, of_kind: Sequence[bool]) -> Adjacency:
        """Return the edges of some kinds, without their kinds."""
        if all(of_kind):
            return Adjacency(self.first, self.nodes, b"")
        mask = _mask(self.kinds, of_kind)
        counts = map(mask.count, repeat(b"\1"), self.first, islice(self.first, 1, None))
        first = array("I", accumulate(counts, initial=0))
        return Adjacency(first, array("I", compress(self.nodes, mask)), b"")


def _mask(kinds: Sequence[int], of_kind: Sequence[bool]) -> bytes:
    if isinstance(kinds, bytes):
        return kinds.translate(bytes(of_kind) + bytes(256 - len(of_kind)))
    return bytes(map(of_kind.__getitem__, kinds))


class EdgeKind(NamedTuple):
    """What edges have in common: the deptypes in Spack's order, and the virtuals sorted."""

    deptypes: tuple[str, ...]
    virtuals: tuple[str, ...]


class Edge(Frozen):
    """One edge: the ids of a record and of its dependency, the deptypes and the virtuals."""

    parent: int
    child: int
    deptypes: tuple[str, ...]
    virtuals: tuple[str, ...]


class Edges:
    """The edges of an index; they are read when they are first needed.

    A dependency has the id of its record. If it is absent, because no document describes it, its
    id comes after those of all records. Safe to use from several threads.
    """

    def __init__(self, data: IndexData) -> None:
        self._data = data

    @property
    def count(self) -> int:
        """The number of records."""
        return self._data.spec_count

    @cached_property
    def absent(self) -> list[Dependency]:
        """The dependencies that no document describes; their ids come after those of records."""
        return [Dependency(*row) for row in self._data.columns.json("absent")]

    @cached_property
    def kinds(self) -> list[EdgeKind]:
        """The kinds of edges by their codes."""

        def rank(deptype: str) -> tuple[int, str]:
            is_known = deptype in DEPTYPES
            return DEPTYPES.index(deptype) if is_known else len(DEPTYPES), deptype

        rows = self._data.columns.json("edge_kinds")
        return [EdgeKind(tuple(sorted(d, key=rank)), tuple(sorted(v))) for d, v in rows]

    @cached_property
    def down(self) -> Adjacency:
        """The edges from records to their dependencies."""
        return Adjacency(*map(self._data.column, ("edge_first", "edge_child", "edge_kind")))

    @cached_property
    def up(self) -> Adjacency:
        """The edges from dependencies to their dependents, which are in display order."""
        return Adjacency(*map(self._data.column, ("up_first", "up_parent", "up_kind")))

    @cached_property
    def are_listed(self) -> bytes:
        """Whether the document of each look-alike lists dependencies, as pages do not: 1 or 0."""
        listing = self._data.columns.raw("documents.dependencies")
        if 1 not in listing:
            return bytes(self._data.look_alike_count)
        return bytes(map(listing.__getitem__, self._data.column("document")))

    def prepare(self) -> None:
        """Read all edges now."""
        _ = self.down, self.up, self.are_listed

    def lists(self, id_: int) -> bool:
        """Check whether the document of a record lists dependencies, as pages do not."""
        return id_ < self.count and bool(self.are_listed[self._data.look_alike(id_)])

    def of(self, id_: int) -> list[Edge]:
        """Return the edges to the direct dependencies of a record, in its document's order."""
        return [self._edge(id_, number) for number in self.down.edges(id_)]

    def _edge(self, parent: int, number: int) -> Edge:
        return Edge(parent, self.down.nodes[number], *self.kinds[self.down.kinds[number]])

    def dependents(self, id_: int) -> list[Edge]:
        """Return the edges from the direct dependents of a dependency, in display order."""
        up, kinds = self.up, self.kinds
        return [Edge(up.nodes[n], id_, *kinds[up.kinds[n]]) for n in up.edges(id_)]

    def absent_at(self, id_: int) -> Dependency | None:
        """Return the absent dependency of an id; None if it is that of a record."""
        return self.absent[id_ - self.count] if id_ >= self.count else None

    def name(self, id_: int) -> str:
        """Return the package of a record or of an absent dependency."""
        absent = self.absent_at(id_)
        return self._text("package", id_) if absent is None else absent.name

    def compilers(self, id_: int) -> tuple[Compiler, ...] | None:
        """Return the direct dependencies that compile a record, ordered by name.

        None if its document lists no dependencies. What was built before Spack 1.0 has none.
        """
        if not self.lists(id_):
            return None
        compilers = []
        for edge in self.of(id_):
            if not set(LANGUAGES).isdisjoint(edge.virtuals):
                is_absent = self.absent_at(edge.child) is not None
                version = "" if is_absent else self._text("version", edge.child)
                compilers.append(Compiler(self.name(edge.child), version, edge.virtuals))
        return tuple(sorted(compilers, key=attrgetter(*Compiler.__match_args__)))

    def _text(self, column: str, id_: int) -> str:
        return self._data.texts(column)[self._data.column(column)[self._data.look_alike(id_)]]

    def path(self, start: int, end: int) -> list[Edge] | None:
        """Return the edges of a shortest path from a record down to a dependency.

        Empty if both are the same, None if there is no path.
        """
        # For each node that was reached, the node it comes from, and the number of the edge.
        reached = {start: (start, 0)}
        queue = deque([start])
        while queue and end not in reached:
            parent = queue.popleft()
            for number in self.down.edges(parent):
                child = self.down.nodes[number]
                if child not in reached:
                    reached[child] = parent, number
                    queue.append(child)
        if end not in reached:
            return None
        edges = []
        while end != start:
            end, number = reached[end]
            edges.append(self._edge(end, number))
        return edges[::-1]
