"""The tree of the dependencies and the dependents of the selected spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from textual import on

from spackscope.model.report.report import Piece
from spackscope.tui.keymap import TREE, bindings
from spackscope.tui.widgets.virtual_list import Browse, VirtualList

if TYPE_CHECKING:
    from spackscope.model.index.tree import Tree, TreeNode, TreeSection

    ReadTree = Callable[[], Tree]


class TreeRows(VirtualList):
    """The lines of a tree; a change is a request for another tree, which `take_tree` shows."""

    BINDINGS = bindings(TREE)

    dependency_tree: Tree | None = None
    # Whether lines are being read.
    is_waiting = False
    differing: Mapping[int, str] = {}
    _place = 0, 0

    @property
    def node(self) -> TreeNode | None:
        """The line under the cursor."""
        tree = self.dependency_tree
        return tree.lines[self.cursor] if tree is not None and self.length else None

    def show_tree(
        self,
        tree: Tree | None,
        differing: Mapping[int, str],
        at: tuple[int, int] | None = None,
        *,
        is_same: bool = False,
    ) -> None:
        """Show a tree; `at` is the line of the cursor and the line at the top.

        Without `at` the cursor stays if the spec of the tree is the same, even after a reload.
        """
        if tree is self.dependency_tree and at is None:
            if differing != self.differing:
                self.differing = differing
                self.refresh()
            return
        if self.dependency_tree is not None:
            # While another catalog is read there is no tree.
            self._place = self.cursor, self.top
        self.is_waiting &= tree is self.dependency_tree
        self.dependency_tree, self.differing = tree, differing
        if not is_same:
            self._place = 0, 0
        cursor, self.top = at or self._place
        self.show(len(tree.lines) if tree is not None else 0, cursor)

    def take_tree(self, old: Tree, new: Tree) -> None:
        """Show a tree in place of the tree it was read from, if its spec is still shown.

        The tree on the screen may be from an older request: a search is typed while trees are
        read. If nothing could be read, `new` is the old tree.
        """
        shown = self.dependency_tree
        ids = old.catalog, old.id, old.members
        if shown is None or ids != (shown.catalog, shown.id, shown.members):
            return
        self.is_waiting = False
        if new is old:
            return
        is_filtered = new.search != old.search or new.run_only != old.run_only
        self.dependency_tree = new
        self.show(len(new.lines), _first_match(new) if is_filtered else self.cursor)
        self.post_message(Browse("take_tree", new))
        self._put_at_top(_top_of_children(self, new))
        self.refresh()

    def go_to(self, section: TreeSection) -> None:
        """Move the cursor to the head of a section, and unfold it."""
        if (tree := self.dependency_tree) is not None:
            self.move_to(tree.head(section))
            if self._put_at_top(_top_of_children(self, tree)):
                self.refresh()
            if tree.can_unfold(tree.head(section)):
                self.action_unfold()

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the pieces of a line."""
        if self.dependency_tree is None:
            return []
        from spackscope.tui.widgets.detail_layout import tree_pieces

        return [(" ", ""), *tree_pieces(self.dependency_tree, row, width - 2, self.differing)]

    @on(VirtualList.Chosen)
    def _choose(self, event: VirtualList.Chosen) -> None:
        """Choose the spec of a line; unfold or fold the head of a section."""
        event.stop()
        if (node := self.node) is None:
            return
        if node.edge is not None:
            self.post_message(Browse("jump_to", node))
        elif node.is_unfolded:
            self.action_fold()
        else:
            self.action_unfold()

    def _request(self, read: ReadTree) -> None:
        if self.dependency_tree is not None:
            self.is_waiting = True
            self.post_message(Browse("read_tree", self.dependency_tree, read))

    def action_unfold(self) -> None:
        """Unfold the line, or move to the unfolded line of its spec, or to its first child."""
        row, tree = self.cursor, self.dependency_tree
        if tree is None:
            return
        if tree.can_unfold(row):
            self._request(lambda: tree.read_unfolded(row))
        elif tree.is_repeated(row):
            self.move_to(tree.original(row))
        elif tree.lines[row].is_unfolded:
            self.move_to(row + 1)

    def action_fold(self) -> None:
        """Fold the line, or move to its parent; leave the tree from a folded head."""
        row, tree = self.cursor, self.dependency_tree
        if tree is None:
            return
        if tree.lines[row].is_unfolded:
            self.take_tree(tree, tree.fold(row))
        elif (parent := tree.parent(row)) is not None:
            self.move_to(parent)
        else:
            self.post_message(Browse("close_tree"))

    def action_fold_all(self) -> None:
        """Unfold all lines of the section, or fold all lines but the direct dependencies."""
        tree, node = self.dependency_tree, self.node
        if tree is None or node is None:
            return
        section = node.section
        head = tree.head(section)
        lines = tree.lines[head + 1 : tree.end(head)]
        self.move_to(head)
        if any(line.is_unfolded for line in lines):
            folded = tree.fold(head)
            self._request(lambda: folded.read_unfolded(head))
        else:
            self._request(lambda: tree.read_all_unfolded(section))

    def action_run_only(self) -> None:
        """Show run-time dependencies only, or again all dependencies."""
        if (tree := self.dependency_tree) is not None:
            self._request(lambda: tree.read_again(run_only=not tree.run_only))

    def action_close(self) -> None:
        """Remove the search; without a search, leave the tree."""
        tree = self.dependency_tree
        self.post_message(
            (search_request(tree, "") if tree is not None else None) or Browse("close_tree")
        )


def search_request(tree: Tree, text: str) -> Browse | None:
    """Return the request for the lines whose names contain a text, or for all lines.

    None if the tree has this search already.
    """
    if text == tree.search:
        return None
    if text:
        return Browse("read_tree", tree, lambda: tree.read_matching(text))
    return Browse("read_tree", tree, lambda: tree.read_again(run_only=tree.run_only))


def _first_match(tree: Tree) -> int:
    """Return the number of the first line that matches the search; 0 if none does."""
    wanted = tree.search.casefold()
    names = ((n, line.spec.name) for n, line in enumerate(tree.lines) if line.spec is not None)
    return next((n for n, name in names if wanted and wanted in name.casefold()), 0)


def _top_of_children(rows: TreeRows, tree: Tree) -> int:
    """Return the top line that brings the children of the line under the cursor into view."""
    if rows.cursor >= len(tree.lines):
        return rows.top
    last = tree.end(rows.cursor) - 1
    return min(rows.cursor, max(rows.top, last + 1 - max(1, rows.size.height)))
