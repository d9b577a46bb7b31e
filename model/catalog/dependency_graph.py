"""Read the dependencies and the dependents of single records, and the paths between two."""

from __future__ import annotations

from functools import cached_property
from operator import attrgetter

from spackscope.model.catalog.arrays import ColumnArrays
from spackscope.model.catalog.dictionaries import Dictionaries
from spackscope.model.catalog.edge_arrays import EdgeArrays
from spackscope.model.core.errors import IndexDamaged
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.records import LANGUAGES, Compiler, Dependency, is_run
from spackscope.model.index.damage import class_reading_index


class Edge(Frozen):
    """One edge: the ids of a record and of its dependency, the deptypes and the virtuals."""

    parent: int
    child: int
    deptypes: tuple[str, ...]
    virtuals: tuple[str, ...]


@class_reading_index
class DependencyGraph:
    """Answer questions on the edges of an index; safe to use from several threads.

    A dependency has the id of its record. If it is absent, because no document describes it, its
    id comes after those of all records. Raises IndexDamaged.
    """

    def __init__(
        self, arrays: ColumnArrays, edges: EdgeArrays, dictionaries: Dictionaries
    ) -> None:
        self._arrays, self._edges, self._dictionaries = arrays, edges, dictionaries

    def prepare(self) -> None:
        """Read all edges; otherwise they are read when they are first needed."""
        _ = self._edges.down, self._edges.up, self._edges.are_listed
        for column in ("package", "version"):
            values = self._dictionaries.values(column)
            if max(self._arrays.column(column), default=-1) >= len(values):
                raise IndexDamaged(f"the codes of {column}s are damaged")

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
