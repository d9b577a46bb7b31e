"""The edges of an index in memory, as arrays that are read when they are first needed."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate, compress, islice, repeat
from typing import NamedTuple

from spackscope.model.catalog.arrays import ColumnArrays, Span
from spackscope.model.core.errors import IndexDamaged
from spackscope.model.core.records import DEPTYPES, Dependency
from spackscope.model.index.connection import Database
from spackscope.model.index.damage import text, texts


class Adjacency:
    """Edges in CSR form: node i owns edges first[i]:first[i + 1] of `nodes` and `kinds`."""

    def __init__(self, first: array[int], nodes: array[int], kinds: Sequence[int]) -> None:
        self.first = first
        self.nodes = nodes
        self.kinds = kinds

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

    Arrays are read when they are first needed. Raises IndexDamaged.
    """

    def __init__(self, database: Database, columns: ColumnArrays) -> None:
        self._database = database
        self._columns = columns

    @cached_property
    def count(self) -> int:
        """The number of records."""
        return self._columns.first[-1]

    @cached_property
    def absent(self) -> list[Dependency]:
        """The dependencies that no document describes; their ids come after those of records."""
        rows = self._database.execute("SELECT hash, name FROM absent ORDER BY id")
        return [Dependency(text(hash_), text(name)) for hash_, name in rows]

    @cached_property
    def kinds(self) -> list[EdgeKind]:
        """The kinds of edges by their codes."""
        rows = self._database.execute("SELECT deptypes, virtuals FROM edge_kind ORDER BY id")
        return [
            EdgeKind(
                tuple(sorted(texts(deptypes), key=_deptype_rank)), tuple(sorted(texts(virtuals)))
            )
            for deptypes, virtuals in rows
        ]

    @cached_property
    def down(self) -> Adjacency:
        """The edges from records to their dependencies."""
        names = ("edge_first", "edge_child", "edge_kind")
        return self._adjacency(names, self.count, self.count + len(self.absent))

    @cached_property
    def up(self) -> Adjacency:
        """The edges from dependencies to their dependents, which are in display order."""
        names = ("up_first", "up_parent", "up_kind")
        return self._adjacency(names, self.count + len(self.absent), self.count)

    @cached_property
    def are_listed(self) -> bytes:
        """Whether the document of each look-alike lists dependencies, as pages do not: 1 or 0."""
        rows = self._database.execute("SELECT id FROM document WHERE dependencies")
        listing = {document for (document,) in rows}
        if not listing:
            return bytes(self._columns.count)
        return bytes(map(listing.__contains__, self._columns.column("document")))

    def _adjacency(self, names: tuple[str, str, str], rows: int, nodes: int) -> Adjacency:
        first, others, kinds = map(self._columns.column, names)
        if (
            len(first) != rows + 1
            or not first[-1] == len(others) == len(kinds)
            or max(others, default=-1) >= nodes
            or max(kinds, default=-1) >= len(self.kinds)
        ):
            raise IndexDamaged("the edges are damaged")
        # As bytes the kinds can be translated.
        return Adjacency(first, others, bytes(kinds) if kinds.itemsize == 1 else kinds)


def _mask(kinds: Sequence[int], of_kind: Sequence[bool]) -> bytes:
    if isinstance(kinds, bytes):
        return kinds.translate(bytes(of_kind) + bytes(256 - len(of_kind)))
    return bytes(map(of_kind.__getitem__, kinds))


def _deptype_rank(deptype: str) -> tuple[int, str]:
    rank = DEPTYPES.index(deptype) if deptype in DEPTYPES else len(DEPTYPES)
    return rank, deptype
