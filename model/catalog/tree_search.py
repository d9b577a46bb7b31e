"""Unfold a whole tree of dependencies, or only to what has a name: for a worker thread."""

from __future__ import annotations

from collections import deque
from collections.abc import Set as AbstractSet

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_tree import SECTIONS, Node, Section, Tree
from spackscope.model.catalog.tree_reader import End, read_ends, read_nodes, sort_ends
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, field, replace
from spackscope.model.core.progress import ShouldStop, never
from spackscope.model.index.damage import reads_index

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
