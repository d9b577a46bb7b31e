"""The dependencies and the dependents of a spec as lines that can be unfolded and searched."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import groupby, islice
from typing import Literal, NamedTuple

from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import is_run
from spackscope.model.core.tasks import check_cancelled
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.edges import Edge

TreeSection = Literal["dependencies", "dependents"]

SECTIONS: tuple[TreeSection, ...] = ("dependencies", "dependents")
"""The two halves of a tree, in the order in which they are shown."""

Status = Literal["", "external", "unlisted", "absent"]
"""The reason why a spec is special; empty for a spec with a row in the table.

External specs were not built by Spack. Unlisted specs are in the index only as dependencies.
Absent specs are dependencies without a record in any document.
"""

MAX_CHILDREN = 10_000
"""The most lines that one line unfolds to; compilers and their runtime have more dependents."""
MAX_LINES = 5_000
"""The most lines that a tree unfolds to at once."""
MAX_SPECS = 20_000
"""The most specs, the nearest ones, whose names are searched."""

_ROOT = -1
"""The id that stands for all members of a tree."""
_PACKAGE = -2
"""Ids of lines for several dependents go down from here, by their parent and first dependent."""


class GraphSpec(Frozen):
    """The spec of a line; `name` is the package, and no text is cleaned."""

    name: str
    version: str
    hash: str
    status: Status = ""


class TreeNode(Frozen):
    """One line of a tree: the head of a section, or a spec that an edge leads to.

    `id` is the id of the record. `count` is the number of specs that the line unfolds to; the
    first MAX_CHILDREN are shown. Heads have neither an edge nor a spec. `share`: how many builds
    of a folded row have this dependency, 0 if all have it. `builds`: how many specs the line
    stands for. In a folded row these are look-alikes, of which each build has one. Several
    dependents of one package have one line, too: its id is not the id of a record, and its edge
    begins at the first dependent.
    """

    id: int
    section: TreeSection
    count: int
    depth: int = 0
    edge: Edge | None = None
    spec: GraphSpec | None = None
    is_unfolded: bool = False
    share: int = 0
    builds: int = 1

    @property
    def is_package(self) -> bool:
        """Whether the line stands for several dependents of one package."""
        return self.builds > 1 and self.section == "dependents"


class Tree(Frozen):
    """The lines of a tree from top to bottom; a parent is the nearest less deep line above.

    The ids of its lines belong to its `catalog`.

    A spec is unfolded at only one line of a section, so that cycles end, and shared dependencies
    are shown once; other lines of the spec are repetitions. It is the line where the spec is
    unfolded already, else the least deep line.

    The heads stand for all `members`, the builds of a folded row, or for one spec if there are no
    members. With `run_only`, a tree has only edges to link or run; with a `search`, only lines
    whose names match, and the lines above them.
    """

    catalog: Catalog
    lines: tuple[TreeNode, ...]
    members: tuple[int, ...] = ()
    run_only: bool = False
    search: str = ""

    @property
    def id(self) -> int:
        """The id of the record at the root."""
        return self.lines[0].id

    @property
    def unfolded_sections(self) -> frozenset[TreeSection]:
        """The sections that are unfolded."""
        return frozenset(
            node.section for node in self.lines if not node.depth and node.is_unfolded
        )

    def head(self, section: TreeSection) -> int:
        """Return the line of the head of a section."""
        return next(row for row, node in enumerate(self.lines) if node.section == section)

    @cached_property
    def _originals(self) -> dict[tuple[TreeSection, int], int]:
        def rank(row: int) -> tuple[bool, int, int]:
            return not self.lines[row].is_unfolded, self.lines[row].depth, row

        best_last = sorted(range(len(self.lines)), key=rank, reverse=True)
        return {(self.lines[row].section, self.lines[row].id): row for row in best_last}

    def original(self, row: int) -> int:
        """Return the line at which the spec of a line is, or can be, unfolded: mostly itself."""
        node = self.lines[row]
        return self._originals[node.section, node.id]

    def is_repeated(self, row: int) -> bool:
        """Check whether the spec of a line is, or can be, unfolded at another line."""
        return self.original(row) != row

    def can_unfold(self, row: int) -> bool:
        """Check whether a line is folded and leads to specs."""
        node = self.lines[row]
        return node.count > 0 and not node.is_unfolded and not self.is_repeated(row)

    def parent(self, row: int) -> int | None:
        """Return the parent of a line; None for a head."""
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
        return self.unfold(row, ())

    def unfold(self, row: int, children: Sequence[TreeNode]) -> Tree:
        """Return the tree with a line unfolded to its children, if there are any."""
        node = replace(self.lines[row], is_unfolded=bool(children))
        lines = (*self.lines[:row], node, *children, *self.lines[self.end(row) :])
        return replace(self, lines=lines)

    def prepared(self) -> Tree:
        """Compute guides and repetitions now, in a worker thread; else when they are needed."""
        _ = self.guides, self._originals
        return self

    @cached_property
    def guides(self) -> Sequence[str]:
        """The guides before each line: `│ ` for a parent with later lines, then `├ ` or `└ `."""
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

    # Reading, in a worker thread

    def read_unfolded(self, row: int) -> Tree:
        """Return the tree with a line unfolded, or the same tree if it cannot be unfolded.

        Lines are ordered by name, then like the rows of the table. Several dependents of one
        package have one line, which unfolds to them.
        """
        if not self.can_unfold(row):
            return self
        node = self.lines[row]
        reader = _Reader(self, node.section)
        if node.is_package:
            parent = self.lines[self.parent(row) or 0]
            ends = reader.sorted_ends(parent.id if parent.depth else _ROOT)
            ends = [end for end in ends if node.spec and reader.name(end) == node.spec.name]
        else:
            ends = reader.folded(node.id if node.depth else _ROOT)
        below = [(end, node.depth + 1, False) for end in ends[:MAX_CHILDREN]]
        return self.unfold(row, reader.nodes(below)).prepared()

    def read_all_unfolded(self, section: TreeSection) -> Tree:
        """Return the tree with a section unfolded, up to MAX_LINES of the nearest lines."""
        return _Reader(self, section).unfolded().prepared()

    def read_matching(self, text: str) -> Tree:
        """Return the tree with the specs whose names contain a text, and a shortest path to each.

        The unfolded sections are searched, or the dependencies if none is unfolded. Raises
        Cancelled.

        >>> tree.read_matching("libx").lines
        """
        sections = self.unfolded_sections or SECTIONS[:1]
        tree = replace(self, search=text)
        for section in sections:
            tree = _Reader(tree, section).unfolded()
        return tree.prepared()

    def read_again(self, *, run_only: bool) -> Tree:
        """Return the tree with the same unfolded sections, without a search."""
        sections, members = self.unfolded_sections, self.members
        return (
            read_tree(self.catalog, self.id, sections, members=members, run_only=run_only) or self
        )


def read_tree(
    catalog: Catalog,
    id_: int,
    unfolded: Collection[TreeSection] = (),
    *,
    members: Sequence[int] = (),
    run_only: bool = False,
) -> Tree | None:
    """Read the tree of a record, or of the `members` of a folded row, with sections unfolded.

    None if the document of the record lists no dependencies; pages do not. `run_only` leaves out
    dependencies that are only for building or testing.

    >>> tree = read_tree(catalog, row.id, ["dependencies"])
    """
    if not catalog.edges.lists(id_):
        return None
    heads = tuple(TreeNode(id_, section, 0) for section in SECTIONS)
    tree = Tree(catalog, heads, tuple(members) if len(members) > 1 else (), run_only)
    counts = (len(_Reader(tree, section).ends()) for section in SECTIONS)
    lines = (replace(head, count=count) for head, count in zip(heads, counts, strict=True))
    tree = replace(tree, lines=tuple(lines))
    for section in unfolded:
        tree = tree.read_unfolded(tree.head(section))
    return tree


def read_specs(catalog: Catalog, ids: Iterable[int]) -> dict[int, GraphSpec]:
    """Read the specs of some ids, which may be ids of absent dependencies."""
    specs: dict[int, GraphSpec] = {}
    present = []
    for id_ in dict.fromkeys(ids):
        if (absent := catalog.edges.absent_at(id_)) is not None:
            specs[id_] = GraphSpec(absent.name, "", absent.hash, "absent")
        else:
            present.append(id_)
    for id_, spec in zip(present, catalog.records(present), strict=True):
        status: Status = "" if spec.in_cache else "unlisted"
        specs[id_] = GraphSpec(spec.package, spec.version, spec.hash, status)
    return specs


class _End(NamedTuple):
    """The end of an edge, or of the edges of several builds to look-alikes.

    `share`: how many of the row's builds have this edge. `builds`: how many look-alikes are at its
    ends.
    """

    id: int
    edge: Edge
    share: int = 1
    builds: int = 1


class _Reader:
    """Reads the lines of one section of a tree."""

    def __init__(self, tree: Tree, section: TreeSection) -> None:
        self._catalog, self._tree, self._section = tree.catalog, tree, section
        self._roots = tree.members or (tree.id,)
        self._is_down = section == "dependencies"

    def _edges(self, id_: int) -> list[Edge]:
        of = self._catalog.edges.of if self._is_down else self._catalog.edges.dependents
        return [edge for edge in of(id_) if not self._tree.run_only or is_run(edge.deptypes)]

    def _count(self, id_: int) -> int:
        """Return the number of edges of a spec, also beyond MAX_CHILDREN."""
        edges = self._catalog.edges
        adjacency = edges.down if self._is_down else edges.up
        numbers = adjacency.edges(id_)
        if not self._tree.run_only:
            return len(numbers)
        return sum(edges.are_run[adjacency.kinds[number]] for number in numbers)

    def ends(self, id_: int = _ROOT) -> list[_End]:
        """Return the ends of the edges of a spec, or of the root.

        Look-alikes that several members depend on are one end.
        """
        parents = self._roots if id_ == _ROOT else (id_,)
        edges = [edge for parent in parents for edge in self._edges(parent)]
        ids = [edge.child if self._is_down else edge.parent for edge in edges]
        if len(parents) == 1:
            return list(map(_End, ids, edges))
        groups: dict[tuple[bool, int], list[int]] = {}
        for number, id_ in enumerate(ids):
            is_alike = self._is_down and self._catalog.edges.absent_at(id_) is None
            key = is_alike, self._catalog.look_alike(id_) if is_alike else id_
            groups.setdefault(key, []).append(number)
        return [
            _End(
                *(ids[numbers[0]], edges[numbers[0]]),
                share=len({edges[number].parent for number in numbers}),
                builds=len({ids[number] for number in numbers}),
            )
            for numbers in groups.values()
        ]

    def sorted_ends(self, id_: int) -> list[_End]:
        """Return the ends sorted by name, then like the rows of the table."""
        # Absent specs have no position in the order of the records.
        return sorted(self.ends(id_), key=lambda end: (self.name(end), end.id))

    def name(self, end: _End) -> str:
        """Return the package at the end of an edge."""
        return self._catalog.edges.name(end.edge.child if self._is_down else end.edge.parent)

    def folded(self, id_: int) -> list[_End]:
        """Return the sorted ends, but one end for several dependents of one package."""
        ends = self.sorted_ends(id_)
        if self._is_down:
            return ends
        # The first dependent may be the same below two specs.
        parent = _PACKAGE - ((id_ - _ROOT) << 32)
        return [
            first._replace(id=parent - first.id, builds=1 + len(more)) if more else first
            for _, (first, *more) in groupby(ends, self.name)
        ]

    def nodes(self, lines: Sequence[tuple[_End, int, bool]]) -> list[TreeNode]:
        """Read the lines of ends, each given with its depth and whether it is unfolded."""
        specs = read_specs(self._catalog, (end.id for end, _, _ in lines if end.id >= 0))
        codes, facts = self._catalog.column("node"), self._catalog.nodes
        for id_, spec in specs.items():
            if id_ < len(codes) and facts[codes[id_]].external:
                specs[id_] = replace(spec, status="external")
        counts = {id_: self._count(id_) for id_ in specs}
        members = len(self._tree.members) if self._is_down else 0
        nodes = []
        for end, _, _ in lines:
            if end.id < 0:
                specs[end.id] = GraphSpec(self.name(end), "", "")
                counts[end.id] = end.builds
        for end, depth, is_unfolded in lines:
            share = end.share if depth == 1 and end.share < members else 0
            line = depth, end.edge, specs[end.id], is_unfolded, share, end.builds
            nodes.append(TreeNode(end.id, self._section, counts[end.id], *line))
        return nodes

    def unfolded(self) -> Tree:
        """Return the tree with the section unfolded, each spec at its least deep line.

        With a search, the tree has shortest paths to the matching specs, else all specs up to
        MAX_LINES.
        """
        search = self._tree.search
        ends: dict[int, list[_End]] = {}
        # The spec below which each spec is unfolded.
        came_from: dict[int, int] = {}
        queue, count = deque([_ROOT]), 0
        while queue and len(came_from) < MAX_SPECS:
            check_cancelled()
            id_ = queue.popleft()
            found = self.sorted_ends(id_)
            count += len(found)
            if not search and count > MAX_LINES and id_ != _ROOT:
                break
            ends[id_] = found
            for end in found:
                if end.id not in came_from and end.id not in self._roots:
                    came_from[end.id] = id_
                    queue.append(end.id)
        ids = self._on_paths(came_from) if search else {*came_from, self._tree.id}

        def below(id_: int) -> list[_End]:
            shown = [end for end in ends.get(id_, ()) if end.id in ids]
            return [end for end in shown if not search or came_from.get(end.id) == id_]

        lines: list[tuple[_End, int, bool]] = []
        originals: set[int] = set()
        stack = [(_ROOT, end, 1) for end in reversed(below(_ROOT))]
        while stack:
            parent, end, depth = stack.pop()
            is_original = came_from.get(end.id) == parent and end.id not in originals
            children = below(end.id) if is_original else []
            lines.append((end, depth, bool(children)))
            if is_original:
                originals.add(end.id)
            stack += ((end.id, child, depth + 1) for child in reversed(children))
        return self._tree.unfold(self._tree.head(self._section), self.nodes(lines))

    def _on_paths(self, came_from: dict[int, int]) -> set[int]:
        """Return the ids of specs whose names match the search, and of the specs above them."""
        wanted, on_path = self._tree.search.casefold(), set[int]()
        name = self._catalog.edges.name
        matching = (id_ for id_ in came_from if wanted in name(id_).casefold())
        for id_ in islice(matching, MAX_LINES):
            while id_ != _ROOT and id_ not in on_path:
                on_path.add(id_)
                id_ = came_from[id_]
        return on_path
