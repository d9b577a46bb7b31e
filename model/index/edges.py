"""Read the edges of an index: dependencies, dependents, and the paths between two specs."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, compress, islice, repeat
from operator import attrgetter
from typing import NamedTuple, TypeVar

from spackscope.model.core.records import DEPTYPES, LANGUAGES, Compiler, Dependency, is_run
from spackscope.model.index.index_file import Span, flags_of, mask_of, spans_of
from spackscope.model.index.rows import IndexData

_Node = TypeVar("_Node", bound=Hashable)

_MIN_SHARE = 100
"""A mask of all nodes is faster than single spans if it has at least one node of this many."""


class Adjacency:
    """Edges in CSR form: node i owns edges first[i]:first[i + 1] of `nodes` and `kinds`."""

    def __init__(self, first: array[int], nodes: array[int], kinds: Sequence[int]) -> None:
        self.first = first
        self.nodes = nodes
        # Bytes have `translate`.
        is_narrow = isinstance(kinds, array) and kinds.itemsize == 1
        self.kinds = bytes(kinds) if is_narrow else kinds

    def edges(self, node: int) -> range:
        """Return the numbers of the edges of a node; an absent dependency has no edges."""
        if node + 1 >= len(self.first):
            return range(0)
        return range(self.first[node], self.first[node + 1])

    def of(self, node: int, of_kind: Sequence[bool] | None = None) -> Sequence[int]:
        """Return the neighbours of a node in their order, by default over edges of all kinds."""
        edges = self.edges(node)
        nodes = self.nodes[edges.start : edges.stop]
        if of_kind is None:
            return nodes
        return [n for n, edge in zip(nodes, edges, strict=True) if of_kind[self.kinds[edge]]]

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

    def reached(self, starts: Iterable[int], of_kind: Sequence[bool] | None = None) -> set[int]:
        """Return nodes and all nodes that they reach over edges of some kinds."""
        newest, count = set(starts), len(self.first) - 1
        reached = set(newest)
        while newest:
            # A mask of all nodes costs more than a few spans, above all at each level of a deep
            # tree. For many nodes it gives fewer spans.
            nodes = (id_ for id_ in newest if id_ < count)
            is_few = len(newest) < count // _MIN_SHARE
            spans = (
                ((id_, id_ + 1) for id_ in nodes) if is_few else spans_of(mask_of(nodes, count))
            )
            newest = self.neighbours(spans, of_kind) - reached
            reached |= newest
        return reached

    def restricted(self, of_kind: Sequence[bool]) -> Adjacency:
        """Return the edges of some kinds; the result has no kinds."""
        if all(of_kind):
            return Adjacency(self.first, self.nodes, b"")
        mask = _mask(self.kinds, of_kind)
        counts = map(mask.count, repeat(b"\1"), self.first, islice(self.first, 1, None))
        first = array("I", accumulate(counts, initial=0))
        return Adjacency(first, array("I", compress(self.nodes, mask)), b"")


def _mask(kinds: Sequence[int], of_kind: Sequence[bool]) -> bytes:
    if isinstance(kinds, bytes):
        return kinds.translate(bytes(of_kind) + bytes(256 - len(of_kind)))
    return bytes([of_kind[kind] for kind in kinds])


def nearest_first(
    starts: Iterable[_Node], below: Callable[[_Node], Iterable[_Node]]
) -> dict[_Node, _Node]:
    """Return nodes and the nodes they reach, level by level, each with its predecessor.

    `below` returns the neighbours of a node. The predecessor of a start is the start itself.
    """
    came_from = {start: start for start in starts}
    queue = [*came_from]
    for node in queue:
        for child in below(node):
            if child not in came_from:
                came_from[child] = node
                queue.append(child)
    return came_from


def path_to(came_from: Mapping[_Node, _Node], end: _Node) -> list[_Node]:
    """Return the nodes on the path from a start to a node that it reaches, both included."""
    path = [end]
    while (node := came_from[path[-1]]) != path[-1]:
        path.append(node)
    return path[::-1]


class EdgeKind(NamedTuple):
    """The deptypes of an edge in Spack's order, and its virtuals, sorted; many edges share one."""

    deptypes: tuple[str, ...]
    virtuals: tuple[str, ...]


class Edge(NamedTuple):
    """One edge: the ids of a record and of its dependency, the deptypes and the virtuals."""

    parent: int
    child: int
    deptypes: tuple[str, ...]
    virtuals: tuple[str, ...]


class Edges:
    """The edges of an index; they are read when they are first needed.

    A dependency has the id of its record. If it is absent, because no document describes it, its
    id comes after the ids of all records. Safe to use from several threads.
    """

    def __init__(self, data: IndexData) -> None:
        self._data = data

    @cached_property
    def count(self) -> int:
        """The number of records."""
        return self._data.first[-1]

    @cached_property
    def absent(self) -> list[Dependency]:
        """The dependencies that no document describes, in the order of their ids."""
        return [Dependency(*row) for row in self._data.columns.json("absent")]

    @cached_property
    def kinds(self) -> list[EdgeKind]:
        """The kinds of edges, by code."""

        def rank(deptype: str) -> tuple[int, str]:
            is_known = deptype in DEPTYPES
            return DEPTYPES.index(deptype) if is_known else len(DEPTYPES), deptype

        rows = self._data.columns.json("edge_kinds")
        return [EdgeKind(tuple(sorted(d, key=rank)), tuple(sorted(v))) for d, v in rows]

    @cached_property
    def are_run(self) -> list[bool]:
        """Whether edges of each kind are to link or run."""
        return [is_run(kind.deptypes) for kind in self.kinds]

    @cached_property
    def down(self) -> Adjacency:
        """The edges from records to their dependencies."""
        return Adjacency(*map(self._data.column, ("edge_first", "edge_child", "edge_kind")))

    @cached_property
    def up(self) -> Adjacency:
        """The edges from dependencies to their dependents; dependents are in display order."""
        return Adjacency(*map(self._data.column, ("up_first", "up_parent", "up_kind")))

    @cached_property
    def are_listed(self) -> bytes:
        """For each look-alike, 1 if its document lists dependencies, else 0, as for pages."""
        listing = self._data.columns.raw("documents.dependencies")
        if 1 not in listing:
            return bytes(len(self._data.first) - 1)
        return flags_of(self._data.column("document"), listing)

    def prepare(self) -> None:
        """Read all edges now."""
        _ = self.down, self.up, self.are_listed

    def lists(self, id_: int) -> bool:
        """Check whether the document of a record lists dependencies; pages do not."""
        return id_ < self.count and bool(self.are_listed[self._data.look_alike(id_)])

    def of(self, id_: int) -> list[Edge]:
        """Return the edges to direct dependencies of a record, in the order of its document."""
        down, kinds = self.down, self.kinds
        return [Edge(id_, down.nodes[n], *kinds[down.kinds[n]]) for n in down.edges(id_)]

    def dependents(self, id_: int) -> list[Edge]:
        """Return the edges from the direct dependents of a dependency, in display order."""
        up, kinds = self.up, self.kinds
        return [Edge(up.nodes[n], id_, *kinds[up.kinds[n]]) for n in up.edges(id_)]

    def absent_at(self, id_: int) -> Dependency | None:
        """Return the absent dependency of an id; None for the id of a record."""
        return self.absent[id_ - self.count] if id_ >= self.count else None

    def name(self, id_: int) -> str:
        """Return the package of a record or of an absent dependency."""
        absent = self.absent_at(id_)
        return self._data.text("package", id_) if absent is None else absent.name

    def compilers(self, id_: int) -> tuple[Compiler, ...] | None:
        """Return the direct dependencies that compile a record, ordered by name.

        None if its document lists no dependencies. Specs from before Spack 1.0 have no compilers
        among their dependencies.
        """
        if not self.lists(id_):
            return None
        compilers = []
        for edge in self.of(id_):
            if not set(LANGUAGES).isdisjoint(edge.virtuals):
                is_absent = self.absent_at(edge.child) is not None
                version = "" if is_absent else self._data.text("version", edge.child)
                compilers.append(Compiler(self.name(edge.child), version, edge.virtuals))
        return tuple(sorted(compilers, key=attrgetter(*Compiler.__match_args__)))
