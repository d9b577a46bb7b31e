"""The dependencies and the dependents of a spec as lines, read, unfolded and searched."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Literal, NamedTuple

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, field, replace
from spackscope.model.core.records import is_run
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.index.damage import reads_index

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


_CHUNK = 512
"""Records that are read with one statement."""


@reads_index
def read_tree(
    catalog: Catalog,
    id_: int,
    unfolded: Collection[Section] = (),
    *,
    members: Sequence[int] = (),
    run_only: bool = False,
) -> Tree | None:
    """Read the tree of a record, or of the `members` of a folded row, with sections unfolded.

    None if the document of the record lists no dependencies, as pages do not. `run_only` leaves
    out what is only built or tested with. Raises IndexDamaged.

    >>> tree = read_tree(catalog, row.id, ["dependencies"])
    """
    if not catalog.dependencies.lists(id_):
        return None
    tree = Tree((), tuple(members) if len(members) > 1 else (), run_only)
    heads = (
        Node(id_, section, len(read_ends(catalog, tree, tree.members or (id_,), section)))
        for section in SECTIONS
    )
    tree = replace(tree, lines=tuple(heads))
    for section in unfolded:
        tree = read_unfolded(catalog, tree, tree.head(section))
    return tree.prepared()


@reads_index
def read_unfolded(catalog: Catalog, tree: Tree, row: int) -> Tree:
    """Return a tree with a line unfolded, or the same tree if the line cannot be unfolded.

    Lines are ordered by name, and then as the table is. Raises IndexDamaged.
    """
    if not tree.can_unfold(row):
        return tree
    return tree.unfold(row, read_children(catalog, tree, tree.lines[row])).prepared()


def read_children(catalog: Catalog, tree: Tree, node: Node) -> list[Node]:
    """Read the lines that a line of a tree unfolds to."""
    parents = (tree.members or (node.id,)) if not node.depth else (node.id,)
    ends = read_ends(catalog, tree, parents, node.section)
    sort_ends(catalog, ends)
    del ends[MAX_CHILDREN:]
    lines = [(end, node.depth + 1, False) for end in ends]
    return read_nodes(catalog, tree, node.section, lines)


def sort_ends(catalog: Catalog, ends: list[End]) -> None:
    """Order what edges lead to by name, and then as the table is."""
    # Absent specs have no position in the order of the records.
    ends.sort(key=lambda end: (catalog.dependencies.name(end.id), end.id))


def read_nodes(
    catalog: Catalog, tree: Tree, section: Section, lines: Sequence[tuple[End, int, bool]]
) -> list[Node]:
    """Read the lines at the ends of edges, each with its depth and whether it is unfolded."""
    ids = list(dict.fromkeys(end.id for end, _, _ in lines))
    specs = read_specs(catalog, ids)
    for id_ in _external_ids(catalog, ids):
        specs[id_] = replace(specs[id_], status="external")
    counts = {id_: count_ends(catalog, tree, id_, section) for id_ in ids}
    is_shared = section == "dependencies" and len(tree.members) > 1
    return [
        Node(
            *(end.id, section, counts[end.id], depth, end.edge, specs[end.id], is_unfolded),
            share=end.share * (is_shared and depth == 1 and end.share < len(tree.members)),
            builds=end.builds,
        )
        for end, depth, is_unfolded in lines
    ]


class End(NamedTuple):
    """Where an edge leads to.

    Of several specs that edges begin at, `share` have such an edge, and `builds` is how many that
    look the same are at their ends.
    """

    id: int
    edge: Edge
    share: int = 1
    builds: int = 1


def read_ends(catalog: Catalog, tree: Tree, parents: Sequence[int], section: Section) -> list[End]:
    """Return the ends of the edges of some specs; what several of them share is one end."""
    if len(parents) > 1:
        return _merged_ends(catalog, tree, parents, section)
    edges = edges_of(catalog, tree, parents[0], section)
    return [End(edge.child if section == "dependencies" else edge.parent, edge) for edge in edges]


def _merged_ends(
    catalog: Catalog, tree: Tree, parents: Sequence[int], section: Section
) -> list[End]:
    """Return what several specs lead to: dependencies that look the same are one end."""
    arrays, count = catalog.column_arrays, catalog.edge_arrays.count
    edges_by_key: dict[tuple[int, int], list[Edge]] = {}
    for parent in parents:
        for edge in edges_of(catalog, tree, parent, section):
            key = (1, edge.parent)
            if section == "dependencies":
                is_described = edge.child < count
                key = (0, arrays.look_alike(edge.child)) if is_described else (1, edge.child)
            edges_by_key.setdefault(key, []).append(edge)
    ends = []
    for edges in edges_by_key.values():
        ids = dict.fromkeys(
            edge.child if section == "dependencies" else edge.parent for edge in edges
        )
        users = {edge.parent for edge in edges}
        ends.append(End(next(iter(ids)), edges[0], len(users), len(ids)))
    return ends


@reads_index
def read_specs(catalog: Catalog, ids: Iterable[int]) -> dict[int, GraphSpec]:
    """Read the specs with some ids, absent ones among them. Raises IndexDamaged."""
    specs: dict[int, GraphSpec] = {}
    present = []
    for id_ in dict.fromkeys(ids):
        if (absent := catalog.dependencies.absent(id_)) is not None:
            specs[id_] = GraphSpec(absent.name, "", absent.hash, "absent")
        else:
            present.append(id_)
    for start in range(0, len(present), _CHUNK):
        for row in catalog.rows(present[start : start + _CHUNK]):
            spec = row.spec
            status: Status = "" if spec.in_cache else "unlisted"
            specs[row.id] = GraphSpec(spec.package, spec.version, spec.hash, status)
    return specs


def _external_ids(catalog: Catalog, ids: Sequence[int]) -> list[int]:
    """Return those of some ids whose specs were not built by Spack."""
    codes, nodes = catalog.column_arrays.column("node"), catalog.dictionaries.nodes
    return [id_ for id_ in ids if id_ < len(codes) and nodes[codes[id_]].external]


def edges_of(catalog: Catalog, tree: Tree, id_: int, section: Section) -> list[Edge]:
    """Return the edges of a spec that a tree shows."""
    dependencies = catalog.dependencies
    edges = dependencies.of(id_) if section == "dependencies" else dependencies.dependents(id_)
    return [edge for edge in edges if is_run(edge.deptypes)] if tree.run_only else edges


def count_ends(catalog: Catalog, tree: Tree, id_: int, section: Section) -> int:
    """Return the number of lines that a spec unfolds to in a tree, as if there were no bound."""
    dependencies = catalog.dependencies
    if tree.run_only:
        return dependencies.count_run(id_, downwards=section == "dependencies")
    if section == "dependencies":
        return dependencies.count(id_)
    return dependencies.dependents_count(id_)


MAX_LINES = 5_000
"""Lines that a tree unfolds to at once."""
MAX_SPECS = 20_000
"""Specs among which names are searched: the nearest ones."""

_ROOT = -1
"""Stands for all members of a tree."""


class _Walk(Frozen):
    """The specs reached from the root of a tree, nearest first.

    `ends` has the ends of the edges of each spec that was entered, and `came_from` the spec at
    which each one is unfolded.
    """

    ends: dict[int, list[End]] = field(default_factory=dict)
    came_from: dict[int, int] = field(default_factory=dict)


@reads_index
def read_all_unfolded(catalog: Catalog, tree: Tree, section: Section) -> Tree:
    """Return a tree with all lines of a section unfolded, the nearest first up to MAX_LINES.

    Raises IndexDamaged.
    """
    walk = _walk(catalog, tree, section, never, max_lines=MAX_LINES)
    ids = walk.came_from.keys() | {tree.id}
    return _with_lines(catalog, tree, section, walk, ids).prepared()


@reads_index
def read_matching(
    catalog: Catalog, tree: Tree, text: str, should_stop: ShouldStop = never
) -> Tree:
    """Return a tree with the specs whose names contain a text, below a shortest path to each.

    They are searched in the unfolded sections. Raises Cancelled and IndexDamaged.

    >>> read_matching(catalog, tree, "libx").lines
    """
    wanted = text.casefold()
    found = replace(tree, search=text)
    for section in tree.unfolded_sections or SECTIONS[:1]:
        walk = _walk(catalog, tree, section, should_stop)
        on_path: set[int] = set()
        matching = (id_ for id_ in walk.came_from if matches(catalog, id_, wanted))
        for id_, _ in zip(matching, range(MAX_LINES), strict=False):
            while id_ != _ROOT and id_ not in on_path:
                on_path.add(id_)
                id_ = walk.came_from[id_]
        found = _with_lines(catalog, found, section, walk, on_path)
    return found.prepared()


def matches(catalog: Catalog, id_: int, text: str) -> bool:
    """Check whether the name of a spec contains a casefolded text."""
    return text in catalog.dependencies.name(id_).casefold()


def _walk(
    catalog: Catalog,
    tree: Tree,
    section: Section,
    should_stop: ShouldStop,
    *,
    max_lines: int = 0,
) -> _Walk:
    roots = tree.members or (tree.id,)
    walk, lines = _Walk(), 0
    queue = deque([_ROOT])
    while queue and len(walk.came_from) < MAX_SPECS:
        if should_stop():
            raise Cancelled
        id_ = queue.popleft()
        ends = read_ends(catalog, tree, roots if id_ == _ROOT else (id_,), section)
        lines += len(ends)
        if max_lines and lines > max_lines and id_ != _ROOT:
            break
        sort_ends(catalog, ends)
        walk.ends[id_] = ends
        for end in ends:
            if end.id not in walk.came_from and end.id not in roots:
                walk.came_from[end.id] = id_
                queue.append(end.id)
    return walk


def _with_lines(
    catalog: Catalog,
    tree: Tree,
    section: Section,
    walk: _Walk,
    ids: AbstractSet[int],
) -> Tree:
    """Return a tree with the lines of a section that were reached, of the specs with some ids."""
    lines: list[tuple[End, int, bool]] = []
    shown: set[int] = set()
    stack = [(_ROOT, iter(walk.ends.get(_ROOT, ())))]
    while stack:
        parent, ends = stack[-1]
        end = next(ends, None)
        if end is None:
            stack.pop()
            continue
        is_original = walk.came_from.get(end.id) == parent and end.id not in shown
        if end.id not in ids or not (is_original or tree.search == ""):
            continue
        below = [other for other in walk.ends.get(end.id, ()) if other.id in ids]
        is_open = is_original and bool(below) and _has_original(walk, end.id, below, tree)
        lines.append((end, len(stack), is_open))
        if is_original:
            shown.add(end.id)
        if is_open:
            stack.append((end.id, iter(below)))
    head = tree.head(section)
    nodes: list[Node] = read_nodes(catalog, tree, section, lines)
    return tree.fold(head).unfold(head, nodes) if nodes else tree.fold(head)


def _has_original(walk: _Walk, id_: int, below: list[End], tree: Tree) -> bool:
    """Check whether a line has a line below it: of a search only the shortest paths are shown."""
    return not tree.search or any(walk.came_from.get(end.id) == id_ for end in below)
