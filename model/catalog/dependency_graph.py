"""Read the dependencies and the dependents of single records, and the ways between two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from spackscope.model.catalog.adjacency import EdgeArrays
from spackscope.model.catalog.column_arrays import ColumnArrays
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.core.compilers import LANGUAGES
from spackscope.model.core.errors import (
    IndexDamaged,
)
from spackscope.model.core.records import (
    Compiler,
)
from spackscope.model.index.connection import Database
from spackscope.model.index.damage import class_reading_index

DEPTYPES = ("build", "link", "run", "test")
"""The deptypes, in the order in which Spack shows them."""


@dataclass(frozen=True, slots=True)
class Edge:
    """Hold one edge: the ids of a record and of its dependency, the deptypes and the virtuals."""

    parent: int
    child: int
    deptypes: tuple[str, ...]
    virtuals: tuple[str, ...]


@class_reading_index
class DependencyGraph:
    """Answer questions on the edges of an index; safe to use from several threads.

    A dependency has the id of its record, or one behind all records where it is absent: named by
    its hash, and held by no document. Columns are read when they are first asked for, which
    `prepare` does ahead of time. Raises IndexDamaged.
    """

    def __init__(
        self,
        database: Database,
        columns: ColumnArrays,
        edges: EdgeArrays,
        dictionaries: Dictionaries,
    ) -> None:
        self._database = database
        self._columns = columns
        self._edges = edges
        self._dictionaries = dictionaries

    def prepare(self) -> None:
        """Read all that is needed, in the thread that has the time for it."""
        _ = (
            self._edges.down,
            self._edges.up,
            self._kinds,
            self._listing,
        )
        for column in ("package", "version"):
            values = self._dictionaries.values(column)
            if max(self._columns.column(column), default=-1) >= len(values):
                raise IndexDamaged(f"the codes of {column}s are damaged")

    @cached_property
    def _kinds(self) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        return [
            (tuple(sorted(types, key=_rank)), tuple(sorted(v))) for types, v in self._edges.kinds
        ]

    @cached_property
    def _listing(self) -> list[bool]:
        """Tell of each look-alike whether its document lists dependencies."""
        rows = self._database.execute("SELECT id, dependencies FROM document")
        lists = {document: bool(dependencies) for document, dependencies in rows}
        return [lists[document] for document in self._columns.column("document")]

    def lists(self, id_: int) -> bool:
        """Tell whether the document of a record lists dependencies, as pages do not."""
        return id_ < self._edges.count and self._listing[self._columns.look_alike(id_)]

    def count(self, id_: int) -> int:
        """Count the edges to the direct dependencies of a record."""
        return len(self._downwards(id_))

    def of(self, id_: int) -> list[Edge]:
        """Give the edges to the direct dependencies of a record, as its document orders them."""
        return [self._downward(id_, number) for number in self._downwards(id_)]

    def dependents_count(self, id_: int) -> int:
        """Count the edges that lead to a record, or to what is absent."""
        first = self._edges.up.first
        return first[id_ + 1] - first[id_]

    def dependents(self, id_: int) -> list[Edge]:
        """Give the edges from those that depend on a record directly, in display order."""
        up = self._edges.up
        return [
            Edge(up.nodes[number], id_, *self._kinds[up.kinds[number]])
            for number in range(up.first[id_], up.first[id_ + 1])
        ]

    def absent(self, id_: int) -> tuple[str, str] | None:
        """Give the name and the hash of what no document holds; None of a record."""
        return self._edges.absent[id_ - self._edges.count] if id_ >= self._edges.count else None

    def name(self, id_: int) -> str:
        """Name the package of a record, or of what is absent."""
        if absent := self.absent(id_):
            return absent[0]
        package = self._columns.column("package")[self._columns.look_alike(id_)]
        return self._dictionaries.texts("package")[package]

    def compilers(self, id_: int) -> tuple[Compiler, ...] | None:
        """Return the direct dependencies that compile a record, ordered by name.

        None where its document lists no dependencies; none of them compiles what was built
        before Spack 1.0.
        """
        if not self.lists(id_):
            return None
        edges = (edge for edge in self.of(id_) if not set(LANGUAGES).isdisjoint(edge.virtuals))
        found = [Compiler(self.name(e.child), self._version(e.child), e.virtuals) for e in edges]
        return tuple(sorted(found))

    def _version(self, id_: int) -> str:
        """Return the version of a record; of what is absent none is known."""
        if self.absent(id_):
            return ""
        version = self._columns.column("version")[self._columns.look_alike(id_)]
        return self._dictionaries.texts("version")[version]

    def path(self, start: int, end: int) -> list[Edge] | None:
        """Give the edges of a shortest way from a record down to a dependency.

        Empty where both are one, None where there is no way.
        """
        children = self._edges.down.nodes
        # How each was come to: the number of the edge, and the one it leads from.
        reached = {start: (0, start)}
        waiting = [start]
        while waiting and end not in reached:
            further = []
            for parent in waiting:
                for number in self._downwards(parent):
                    child = children[number]
                    if child not in reached:
                        reached[child] = number, parent
                        further.append(child)
            waiting = further
        return list(self._way(end, start, reached))[::-1] if end in reached else None

    def _way(self, end: int, start: int, reached: dict[int, tuple[int, int]]) -> Iterator[Edge]:
        while end != start:
            number, end = reached[end]
            yield self._downward(end, number)

    def _downwards(self, id_: int) -> range:
        """Give the numbers of the edges to the dependencies; what is absent has none."""
        if id_ >= self._edges.count:
            return range(0)
        first = self._edges.down.first
        return range(first[id_], first[id_ + 1])

    def _downward(self, parent: int, number: int) -> Edge:
        down = self._edges.down
        return Edge(parent, down.nodes[number], *self._kinds[down.kinds[number]])


def _rank(deptype: str) -> tuple[int, str]:
    known = DEPTYPES.index(deptype) if deptype in DEPTYPES else len(DEPTYPES)
    return known, deptype
