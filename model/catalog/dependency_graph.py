"""Read the edges of an index: dependencies, dependents, and the paths between two specs."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate, compress, islice, repeat
from operator import attrgetter
from typing import NamedTuple

from spackscope.model.catalog.arrays import ColumnArrays, Span
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import DEPTYPES, LANGUAGES, Compiler, Dependency, is_run
from spackscope.model.index.columns import Columns


class Adjacency:
    """Edges in CSR form: node i owns edges first[i]:first[i + 1] of `nodes` and `kinds`."""

    def __init__(self, first: array[int], nodes: array[int], kinds: Sequence[int]) -> None:
        self.first = first
        self.nodes = nodes
        self.kinds = kinds

    def of(self, node: int) -> Sequence[int]:
        """Return the neighbours of a node; an absent dependency has none."""
        if node + 1 >= len(self.first):
            return ()
        return self.nodes[self.first[node] : self.first[node + 1]]

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


class EdgeKind(NamedTuple):
    """What edges have in common: the deptypes in Spack's order, and the virtuals sorted."""

    deptypes: tuple[str, ...]
    virtuals: tuple[str, ...]


class EdgeArrays:
    """The edges by the ids of records; the ids after them are those of absent dependencies.

    Arrays are read when they are first needed.
    """

    def __init__(self, columns: Columns, arrays: ColumnArrays) -> None:
        self._sections = columns
        self._columns = arrays

    @cached_property
    def count(self) -> int:
        """The number of records."""
        return self._columns.first[-1]

    @cached_property
    def absent(self) -> list[Dependency]:
        """The dependencies that no document describes; their ids come after those of records."""
        return [Dependency(*row) for row in self._sections.json("absent")]

    @cached_property
    def kinds(self) -> list[EdgeKind]:
        """The kinds of edges by their codes."""
        rows = self._sections.json("edge_kinds")
        return [
            EdgeKind(tuple(sorted(deptypes, key=_deptype_rank)), tuple(sorted(virtuals)))
            for deptypes, virtuals in rows
        ]

    @cached_property
    def down(self) -> Adjacency:
        """The edges from records to their dependencies."""
        return self._adjacency("edge_first", "edge_child", "edge_kind")

    @cached_property
    def up(self) -> Adjacency:
        """The edges from dependencies to their dependents, which are in display order."""
        return self._adjacency("up_first", "up_parent", "up_kind")

    @cached_property
    def are_listed(self) -> bytes:
        """Whether the document of each look-alike lists dependencies, as pages do not: 1 or 0."""
        listing = self._sections.raw("documents.dependencies")
        if 1 not in listing:
            return bytes(self._columns.count)
        return bytes(map(listing.__getitem__, self._columns.column("document")))

    def _adjacency(self, *names: str) -> Adjacency:
        first, others, kinds = map(self._columns.column, names)
        # As bytes the kinds can be translated.
        return Adjacency(first, others, bytes(kinds) if kinds.itemsize == 1 else kinds)


def _mask(kinds: Sequence[int], of_kind: Sequence[bool]) -> bytes:
    if isinstance(kinds, bytes):
        return kinds.translate(bytes(of_kind) + bytes(256 - len(of_kind)))
    return bytes(map(of_kind.__getitem__, kinds))


def _deptype_rank(deptype: str) -> tuple[int, str]:
    rank = DEPTYPES.index(deptype) if deptype in DEPTYPES else len(DEPTYPES)
    return rank, deptype


class Edge(Frozen):
    """One edge: the ids of a record and of its dependency, the deptypes and the virtuals."""

    parent: int
    child: int
    deptypes: tuple[str, ...]
    virtuals: tuple[str, ...]


class DependencyGraph:
    """Answer questions on the edges of an index; safe to use from several threads.

    A dependency has the id of its record. If it is absent, because no document describes it, its
    id comes after those of all records.
    """

    def __init__(
        self, arrays: ColumnArrays, edges: EdgeArrays, dictionaries: Dictionaries
    ) -> None:
        self._arrays, self._edges, self._dictionaries = arrays, edges, dictionaries

    def prepare(self) -> None:
        """Read all edges; otherwise they are read when they are first needed."""
        _ = self._edges.down, self._edges.up, self._edges.are_listed

    def lists(self, id_: int) -> bool:
        """Check whether the document of a record lists dependencies, as pages do not."""
        if id_ >= self._edges.count:
            return False
        return bool(self._edges.are_listed[self._arrays.look_alike(id_)])

    def count(self, id_: int) -> int:
        """Return the number of edges to the direct dependencies of a record."""
        return len(self._edge_numbers(id_))

    def of(self, id_: int) -> list[Edge]:
        """Return the edges to the direct dependencies of a record, in its document's order."""
        return [self._edge(id_, number) for number in self._edge_numbers(id_)]

    def dependents_count(self, id_: int) -> int:
        """Return the number of edges from the direct dependents of a dependency."""
        first = self._edges.up.first
        return first[id_ + 1] - first[id_]

    def count_run(self, id_: int, *, downwards: bool) -> int:
        """Return the number of edges to dependencies, or from dependents, that link or run."""
        if downwards:
            numbers, kinds = self._edge_numbers(id_), self._edges.down.kinds
        else:
            up = self._edges.up
            numbers, kinds = range(up.first[id_], up.first[id_ + 1]), up.kinds
        return sum(self._are_run[kinds[number]] for number in numbers)

    @cached_property
    def _are_run(self) -> list[bool]:
        """Whether edges of each kind are linked or run."""
        return [is_run(kind.deptypes) for kind in self._edges.kinds]

    def dependents(self, id_: int) -> list[Edge]:
        """Return the edges from the direct dependents of a dependency, in display order."""
        up, kinds = self._edges.up, self._edges.kinds
        numbers = range(up.first[id_], up.first[id_ + 1])
        return [Edge(up.nodes[number], id_, *kinds[up.kinds[number]]) for number in numbers]

    def absent(self, id_: int) -> Dependency | None:
        """Return the absent dependency of an id; None if it is that of a record."""
        return self._edges.absent[id_ - self._edges.count] if id_ >= self._edges.count else None

    def name(self, id_: int) -> str:
        """Return the package of a record or of an absent dependency."""
        absent = self.absent(id_)
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
                version = "" if self.absent(edge.child) else self._text("version", edge.child)
                compilers.append(Compiler(self.name(edge.child), version, edge.virtuals))
        return tuple(sorted(compilers, key=attrgetter(*Compiler.__match_args__)))

    def _text(self, column: str, id_: int) -> str:
        code = self._arrays.column(column)[self._arrays.look_alike(id_)]
        return self._dictionaries.texts(column)[code]

    def path(self, start: int, end: int) -> list[Edge] | None:
        """Return the edges of a shortest path from a record down to a dependency.

        Empty if both are the same, None if there is no path.
        """
        children = self._edges.down.nodes
        # For each node that was reached, the number of an edge to it, and the node it comes from.
        reached = {start: (0, start)}
        frontier = [start]
        while frontier and end not in reached:
            following = []
            for parent in frontier:
                for number in self._edge_numbers(parent):
                    child = children[number]
                    if child not in reached:
                        reached[child] = number, parent
                        following.append(child)
            frontier = following
        if end not in reached:
            return None
        edges = []
        while end != start:
            number, end = reached[end]
            edges.append(self._edge(end, number))
        return edges[::-1]

    def _edge_numbers(self, id_: int) -> range:
        """Return the numbers of the edges to dependencies; those of absent ones are not known."""
        if id_ >= self._edges.count:
            return range(0)
        first = self._edges.down.first
        return range(first[id_], first[id_ + 1])

    def _edge(self, parent: int, number: int) -> Edge:
        down = self._edges.down
        return Edge(parent, down.nodes[number], *self._edges.kinds[down.kinds[number]])
