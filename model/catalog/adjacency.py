"""Hold the edges of an index in memory: downwards as the index has them, and upwards."""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, compress, islice, repeat

from spackscope.model.catalog.column_arrays import (
    ColumnArrays,
)
from spackscope.model.core.errors import (
    IndexDamaged,
)
from spackscope.model.index.codec import (
    is_ascending,
    pack_codes,
)
from spackscope.model.index.connection import Database
from spackscope.model.index.damage import text, texts

Span = tuple[int, int]
"""A range of ids: the first one, and that behind the last."""

_RUN = re.compile(b"\x01+")


class Adjacency:
    """Hold the neighbours of each node, node after node, and the kinds of the edges to them."""

    def __init__(self, first: array[int], nodes: array[int], kinds: Sequence[int]) -> None:
        self.first = first
        self.nodes = nodes
        self.kinds = kinds

    def along(self, spans: Iterable[Span], wanted: Sequence[bool] | None = None) -> set[int]:
        """Give the neighbours of some spans of nodes, on edges of the kinds that are wanted."""
        found: set[int] = set()
        if wanted is not None and not any(wanted):
            return found
        for start, stop in spans:
            edges = slice(self.first[start], self.first[stop])
            neighbours: Iterable[int] = self.nodes[edges]
            if wanted is not None and not all(wanted):
                neighbours = compress(neighbours, _marks(self.kinds[edges], wanted))
            found.update(neighbours)
        return found

    def only(self, wanted: Sequence[bool]) -> Adjacency:
        """Give what is left where no edge is of another kind."""
        marks = _marks(self.kinds, wanted)
        sizes = map(marks.count, repeat(b"\1"), self.first, islice(self.first, 1, None))
        first = array("I", accumulate(sizes, initial=0))
        return Adjacency(first, array("I", compress(self.nodes, marks)), b"")


class EdgeArrays:
    """Give the edges by the ids of records; those behind all records are the absent ones.

    Columns are read when they are first asked for. Raises IndexDamaged where they are damaged.
    """

    def __init__(self, database: Database, columns: ColumnArrays) -> None:
        self._database = database
        self._columns = columns

    @cached_property
    def count(self) -> int:
        """Count the records."""
        return self._columns.first[-1]

    @cached_property
    def absent(self) -> list[tuple[str, str]]:
        """Hold the names and hashes of dependencies that no document holds."""
        rows = self._database.execute("SELECT name, hash FROM absent ORDER BY id")
        return [(text(name), text(hash_)) for name, hash_ in rows]

    @cached_property
    def kinds(self) -> list[tuple[frozenset[str], frozenset[str]]]:
        """Hold the deptypes and the virtuals of each kind of edge."""
        rows = self._database.execute("SELECT deptypes, virtuals FROM edge_kind ORDER BY id")
        return [(frozenset(texts(types)), frozenset(texts(virtuals))) for types, virtuals in rows]

    @cached_property
    def down(self) -> Adjacency:
        """Hold the dependencies of each record."""
        names = ("edge_first", "edge_child", "edge_kind")
        return self._adjacency(names, self.count, self.count + len(self.absent))

    @cached_property
    def up(self) -> Adjacency:
        """Hold the dependents of each record, and of what is absent, in display order."""
        names = ("up_first", "up_parent", "up_kind")
        return self._adjacency(names, self.count + len(self.absent), self.count)

    def _adjacency(self, names: tuple[str, str, str], rows: int, nodes: int) -> Adjacency:
        first, others, kinds = map(self._columns.column, names)
        if (
            len(first) != rows + 1
            or first[0]
            or not is_ascending(first)
            or not first[-1] == len(others) == len(kinds)
            or max(others, default=-1) >= nodes
            or max(kinds, default=-1) >= len(self.kinds)
        ):
            raise IndexDamaged("the edges are damaged")
        return Adjacency(first, others, _small(kinds, len(self.kinds)))


def spans_of(mask: bytes | bytearray) -> Iterator[Span]:
    """Give the spans of ids that a mask, of bytes 0 and 1, has marked."""
    return (run.span() for run in _RUN.finditer(mask))


def mask_of(ids: Collection[int], count: int) -> bytearray:
    """Mark some ids in a mask of `count` bytes."""
    mask = bytearray(count)
    for id_ in ids:
        mask[id_] = 1
    return mask


def _small(kinds: array[int], count: int) -> Sequence[int]:
    """Spell codes as bytes, which can be translated, if there are few enough."""
    return pack_codes(kinds)[::4] if count <= 256 else kinds


def _marks(kinds: Sequence[int], wanted: Sequence[bool]) -> bytes:
    """Mark the edges of which the kind is wanted."""
    if isinstance(kinds, bytes):
        return kinds.translate(bytes(wanted) + bytes(256 - len(wanted)))
    return bytes(map(wanted.__getitem__, kinds))
