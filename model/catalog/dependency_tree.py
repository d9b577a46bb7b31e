"""Hold what is unfolded of the dependencies and the dependents of one spec."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from spackscope.model.catalog.dependency_graph import Dependencies, Edge
from spackscope.model.catalog.rows import Row
from spackscope.model.core.records import Provenance

Section = Literal["dependencies", "dependents"]

SECTIONS: tuple[Section, ...] = ("dependencies", "dependents")
"""The two halves of a tree, in the order in which they are shown."""

_WINDOW = 64
_MOST_ROWS = 4096

Fetch = Callable[[Sequence[int]], list[Row]]
"""Gives the rows with some ids; none where the index turns out to be damaged."""

Tell = Callable[[int], Provenance]
"""Gives where the record with an id comes from."""


@dataclass(slots=True, eq=False)
class Node:
    """Hold one line: a head of a section, or a spec that an edge leads to.

    `id` is that of the record, `above` the line it hangs on; `below` is None while folded.
    `count` says how many lines it can unfold.
    """

    id: int
    section: Section
    count: int
    edge: Edge | None = None
    above: Node | None = None
    depth: int = 0
    below: list[Node] | None = field(default=None, repr=False)


class Tree:
    """Unfold the dependencies of a record, and upwards its dependents, line by line.

    A spec is unfolded in one place of a section only, so that cycles end and what many share is
    shown once: elsewhere it is repeated. That place is where it is unfolded already, else the
    one least deep. `fetch` and `tell` are asked of what is looked at; `opened` names the sections
    that begin unfolded.
    """

    def __init__(
        self,
        dependencies: Dependencies,
        fetch: Fetch,
        tell: Tell,
        id_: int,
        opened: Collection[str] = (),
    ) -> None:
        self._dependencies = dependencies
        self._fetch = fetch
        self._tell = tell
        self._rows: dict[int, Row | None] = {}
        self._external: dict[int, bool] = {}
        self.id = id_
        self.heads = {
            section: Node(id_, section, self._count(id_, section)) for section in SECTIONS
        }
        for section, head in self.heads.items():
            if section in opened and head.count:
                head.below = self._hanging(head)
        self.lines: list[Node] = []
        self._places: dict[tuple[Section, int], Node] = {}
        self._lay_out()

    def _count(self, id_: int, section: Section) -> int:
        known = self._dependencies
        return known.count(id_) if section == "dependencies" else known.dependents_count(id_)

    def _hanging(self, node: Node) -> list[Node]:
        """Make the lines that a line unfolds to, by name and then in display order."""
        downwards = node.section == "dependencies"
        known = self._dependencies
        edges = known.of(node.id) if downwards else known.dependents(node.id)
        reached = [(edge.child if downwards else edge.parent, edge) for edge in edges]
        # Absent ones have no place in the order of the records.
        reached.sort(key=lambda pair: (known.name(pair[0]), pair[0]))
        return [
            Node(id_, node.section, self._count(id_, node.section), edge, node, node.depth + 1)
            for id_, edge in reached
        ]

    def _lay_out(self) -> None:
        self.lines = [line for head in self.heads.values() for line in _flat(head)]
        places: dict[tuple[Section, int], Node] = {}
        for line in self.lines:
            other = places.setdefault((line.section, line.id), line)
            if other is not line and _rank(line) < _rank(other):
                places[line.section, line.id] = line
        self._places = places

    def place(self, node: Node) -> Node:
        """Give the line where the spec of a line is unfolded or can be: mostly this one."""
        return self._places.get((node.section, node.id), node)

    def is_repeated(self, node: Node) -> bool:
        """Tell whether the spec of a line is unfolded, or to be unfolded, elsewhere."""
        return self.place(node) is not node

    def unfold(self, node: Node) -> bool:
        """Unfold a line; False where it is already, is repeated, or has nothing to unfold."""
        if node.below is not None or not node.count or self.is_repeated(node):
            return False
        node.below = self._hanging(node)
        self._lay_out()
        return True

    def fold(self, node: Node) -> bool:
        """Fold a line; False where it is folded."""
        if node.below is None:
            return False
        node.below = None
        self._lay_out()
        return True

    @property
    def opened(self) -> frozenset[Section]:
        """Name the sections that are unfolded."""
        return frozenset(s for s, head in self.heads.items() if head.below is not None)

    # What the lines say

    def row(self, node: Node) -> Row | None:
        """Give the row of a line; None for what is absent."""
        if node.id not in self._rows:
            at = self.lines.index(node)
            near = self.lines[at - at % _WINDOW : at - at % _WINDOW + _WINDOW]
            ids = {line.id for line in near} - self._rows.keys()
            present = [id_ for id_ in ids if self._dependencies.absent(id_) is None]
            if len(self._rows) > _MOST_ROWS:
                self._rows.clear()
            self._rows.update(dict.fromkeys(ids))
            self._rows.update((row.id, row) for row in self._fetch(present))
        return self._rows[node.id]

    def forget_rows(self) -> None:
        """Drop the rows that were fetched; those that are looked at again are fetched again."""
        self._rows.clear()

    def is_external(self, node: Node) -> bool:
        """Tell whether Spack did not build the spec of a line."""
        if node.id not in self._external:
            self._external[node.id] = bool(self.row(node) and self._tell(node.id).external)
        return self._external[node.id]

    def absent(self, node: Node) -> tuple[str, str] | None:
        """Give the name and the hash of a line that no document holds."""
        return self._dependencies.absent(node.id)

    def way(self, node: Node) -> list[Edge]:
        """Give the edges of a shortest way between the spec of the tree and that of a line.

        They go downwards, whichever section the line is in.
        """
        ends = (self.id, node.id) if node.section == "dependencies" else (node.id, self.id)
        return self._dependencies.path(*ends) or []


def _flat(head: Node) -> Iterator[Node]:
    waiting = [head]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(node.below or ()))


def _rank(node: Node) -> tuple[bool, int]:
    return node.below is None, node.depth
