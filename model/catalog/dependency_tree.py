"""The dependencies and the dependents of one spec as a tree of lines: plain data.

Drawing and folding reads nothing; `tree_reader` reads a tree and what is unfolded.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal

from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.core.frozen import Frozen, replace

Section = Literal["dependencies", "dependents"]

SECTIONS: tuple[Section, ...] = ("dependencies", "dependents")
"""The two halves of a tree, in the order in which they are shown."""

Status = Literal["", "external", "unlisted", "absent"]
"""Whether a spec has a row in the table: empty if it has, else why not.

External specs were not built by Spack; unlisted ones are in the index as a dependency only; absent
ones are named as a dependency, and no document has their record.
"""

MAX_CHILDREN = 10_000
"""Lines that one line unfolds to; compilers and their runtime have more dependents than that."""


class GraphSpec(Frozen):
    """A spec as an edge names it; `name` is that of the package, and nothing is cleaned."""

    name: str
    version: str
    hash: str
    status: Status = ""


class Node(Frozen):
    """One line of a tree: the head of a section, or a spec that an edge leads to.

    `id` is that of the record, `count` how many specs it leads to, of which the first
    MAX_CHILDREN are shown; heads have neither an edge nor a spec. `share` is how many of the
    builds of a folded row have the dependency, 0 if all have it; they have one of so many
    `builds` that look the same.
    """

    id: int
    section: Section
    count: int
    depth: int = 0
    edge: Edge | None = None
    spec: GraphSpec | None = None
    is_unfolded: bool = False
    share: int = 0
    builds: int = 1


class Tree(Frozen):
    """The lines of a tree from top to bottom; a parent is the nearest less deep line above.

    A spec is unfolded at one line of a section only, so that cycles end and what many specs share
    is shown once: other lines with it are repetitions. That one line is where the spec is unfolded
    already, else the least deep one.

    The heads stand for all `members`, the builds of a folded row; for the one spec if there are
    none. A tree that is `run_only` has what is linked or run, and one with a `search` only the
    lines whose names match it, with those above them.
    """

    lines: tuple[Node, ...]
    members: tuple[int, ...] = ()
    run_only: bool = False
    search: str = ""

    @property
    def id(self) -> int:
        """The id of the record whose tree this is."""
        return self.lines[0].id

    @property
    def unfolded_sections(self) -> frozenset[Section]:
        """The sections that are unfolded."""
        return frozenset(
            node.section for node in self.lines if not node.depth and node.is_unfolded
        )

    def head(self, section: Section) -> int:
        """Return the line of the head of a section."""
        return next(row for row, node in enumerate(self.lines) if node.section == section)

    @cached_property
    def _originals(self) -> dict[tuple[Section, int], int]:
        originals: dict[tuple[Section, int], int] = {}
        for row, node in enumerate(self.lines):
            first = originals.setdefault((node.section, node.id), row)
            if _rank(node) < _rank(self.lines[first]):
                originals[node.section, node.id] = row
        return originals

    def original(self, row: int) -> int:
        """Return the line at which the spec of a line is unfolded or can be: mostly the same."""
        node = self.lines[row]
        return self._originals[node.section, node.id]

    def is_repeated(self, row: int) -> bool:
        """Check whether the spec of a line is unfolded, or to be unfolded, at another line."""
        return self.original(row) != row

    def can_unfold(self, row: int) -> bool:
        """Check whether a line is folded and has something to unfold."""
        node = self.lines[row]
        return node.count > 0 and not node.is_unfolded and not self.is_repeated(row)

    def parent(self, row: int) -> int | None:
        """Return the parent of a line; None of a head."""
        depth = self.lines[row].depth
        above = range(row - 1, -1, -1)
        return next((other for other in above if self.lines[other].depth < depth), None)

    def end(self, row: int) -> int:
        """Return the line after all descendants of a line."""
        depth, after = self.lines[row].depth, range(row + 1, len(self.lines))
        return next(
            (other for other in after if self.lines[other].depth <= depth), len(self.lines)
        )

    def fold(self, row: int) -> Tree:
        """Return the tree with a line folded."""
        return self._replaced(row, is_unfolded=False, children=())

    def unfold(self, row: int, children: Iterable[Node]) -> Tree:
        """Return the tree with a line unfolded to its children."""
        return self._replaced(row, is_unfolded=True, children=children)

    def _replaced(self, row: int, *, is_unfolded: bool, children: Iterable[Node]) -> Tree:
        node = replace(self.lines[row], is_unfolded=is_unfolded)
        lines = (*self.lines[:row], node, *children, *self.lines[self.end(row) :])
        return replace(self, lines=lines)

    def prepared(self) -> Tree:
        """Compute now, in a worker thread, what drawing needs; else it is computed when needed."""
        _ = self.guides, self._originals
        return self

    def path_ends(self, row: int) -> list[tuple[int, int]]:
        """Return the ids of the specs of the tree and that of a line, the dependent one first."""
        node, ids = self.lines[row], self.members or (self.id,)
        if node.section == "dependencies":
            return [(id_, node.id) for id_ in ids]
        return [(node.id, id_) for id_ in ids]

    @cached_property
    def guides(self) -> Sequence[str]:
        """The guide lines before each line: `│ ` below a parent that goes on, `├ ` or `└ `."""
        guides: list[str] = []
        # Whether a later line has this depth, below the same parent.
        follows: list[bool] = []
        for node in reversed(self.lines):
            depth = node.depth
            del follows[depth + 1 :]
            follows += [False] * (depth + 1 - len(follows))
            above = "".join("│ " if going else "  " for going in follows[1:depth])
            guides.append(above + ("├ " if follows[depth] else "└ ") if depth else "")
            follows[depth] = True
        return guides[::-1]


def _rank(node: Node) -> tuple[bool, int]:
    return not node.is_unfolded, node.depth
