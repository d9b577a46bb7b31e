"""The detail of the selected spec line by line; a line can be added to the query as a filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import on
from textual.content import Content
from textual.message import Message

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.dependency_tree import Node, Section, Tree, read_unfolded
from spackscope.model.presentation.dependency_tree import explain_line
from spackscope.model.presentation.detail import DetailLine
from spackscope.model.query.conditions import Term
from spackscope.tui.keymap import DETAIL, TREE, bindings
from spackscope.tui.widgets.detail_layout import LayoutRow, layout, tree_pieces
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.virtual_list import VirtualList


class DetailPane(VirtualList):
    """The detail of one spec, and between its lines the tree of its dependencies.

    The children of a line of the tree are requested with UnfoldRequested, and `take_tree` shows
    the unfolded tree.
    """

    BINDINGS = bindings(DETAIL, TREE)

    @dataclass
    class TermChosen(Message):
        """Posted when the user chooses a line; `term` is its filter, if it has one."""

        term: Term | None

    @dataclass
    class SpecChosen(Message):
        """Posted when the user chooses a spec of the tree."""

        node: Node

    @dataclass
    class UnfoldRequested(Message):
        """Posted when the user unfolds a line whose children are not read yet."""

        tree: Tree
        row: int

        def read(self, catalog: Catalog) -> Tree:
            """Read the unfolded tree: for a worker thread. Raises IndexDamaged."""
            return read_unfolded(catalog, self.tree, self.row)

    @dataclass
    class Unfolded(Message):
        """Posted when the tree was unfolded or folded; `sections` are those unfolded now."""

        sections: frozenset[Section]

    @dataclass
    class HintsChanged(Message):
        """Posted when the cursor enters or leaves the tree, where keys do other things."""

    @dataclass
    class Left(Message):
        """Posted when the user goes back to the specs."""

    dependency_tree: Tree | None = None
    # Whether a line is being unfolded.
    is_waiting = False
    _lines: Sequence[DetailLine] = ()
    _rows: Sequence[LayoutRow] = ()
    _was_in_tree = False

    @property
    def current(self) -> LayoutRow:
        """The row under the cursor; a blank one if there is none."""
        return self._rows[self.cursor] if self._rows else LayoutRow(DetailLine(""))

    def show_spec(
        self, lines: Sequence[DetailLine], tree: Tree | None, at: tuple[int, int] | None = None
    ) -> None:
        """Show another spec; the cursor stays, or `at` puts it on a row and another row on top."""
        if at is None and tree is self.dependency_tree and lines == self._lines:
            return
        self.is_waiting &= tree is self.dependency_tree
        is_same = bool(lines) and self._lines[:1] == lines[:1] and tree is self.dependency_tree
        line, below_top = self.current.line, self.cursor - self.top
        self._lines, self.dependency_tree = lines, tree
        if at is not None:
            self.cursor, self.top = at
            self._rows = []
        self._lay_out()
        if at is None and is_same:
            self._stay_on(line, below_top)

    def take_tree(self, tree: Tree, unfolded: Tree) -> None:
        """Show a tree with a line unfolded or folded, unless another spec is shown by now.

        Where nothing could be read `unfolded` is the same tree.
        """
        if tree is not self.dependency_tree:
            return
        self.is_waiting = False
        if unfolded is not tree:
            self.dependency_tree = unfolded
            self._lay_out()
            self.post_message(self.Unfolded(unfolded.unfolded_sections))
            self._show_children(unfolded)

    def _show_children(self, tree: Tree) -> None:
        """Scroll to the children of the line under the cursor, as far as there is room."""
        if (row := self.current.tree_row) is not None:
            last = self.cursor + tree.end(row) - row - 1
            top = min(self.cursor, max(self.top, last + 1 - max(1, self.size.height)))
            if self._put_at_top(top):
                self.refresh()

    def go_to(self, section: Section) -> None:
        """Move the cursor to the head of a section of the tree, and unfold it."""
        if (tree := self.dependency_tree) is not None:
            self._move_to_line(tree.head(section))
            self._show_children(tree)
            if tree.can_unfold(tree.head(section)):
                self.action_unfold()

    def _move_to_line(self, tree_row: int) -> None:
        """Move the cursor to a line of the tree."""
        self.move_to(next(n for n, row in enumerate(self._rows) if row.tree_row == tree_row))

    def on_resize(self) -> None:
        """Wrap the lines to the new width; the cursor stays on its line."""
        line = self.current.line
        below_top = self.cursor - self.top
        self._rows = []
        self._lay_out()
        self._stay_on(line, below_top)

    def _stay_on(self, line: DetailLine | Node, below_top: int) -> None:
        """Move the cursor to where its line is now, as far below the top as before."""
        number = next((number for number, row in enumerate(self._rows) if row.line is line), None)
        if number is not None and number != self.cursor:
            self.top = max(0, number - below_top)
            self.move_to(number)

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the pieces of a line, with the mark of the cursor before it."""
        mark = "▸" if row == self.cursor and self.has_focus else " "
        _, pieces, tree_row = self._rows[row]
        if tree_row is not None and self.dependency_tree is not None:
            pieces = tree_pieces(self.dependency_tree, tree_row, width - 1)
        return [(mark, "accent"), *pieces]

    @on(VirtualList.Chosen)
    def _choose(self, event: VirtualList.Chosen) -> None:
        """Choose the filter or the spec of a line; unfold or fold the head of a section."""
        line = self._rows[event.row].line
        if isinstance(line, DetailLine):
            self.post_message(self.TermChosen(line.term))
        elif line.edge is not None:
            self.post_message(self.SpecChosen(line))
        elif line.is_unfolded:
            self.action_fold()
        else:
            self.action_unfold()

    def action_unfold(self) -> None:
        """Unfold the line, or go to where its spec is unfolded, or into what is unfolded."""
        row, tree = self.current.tree_row, self.dependency_tree
        if row is None or tree is None:
            return
        if tree.can_unfold(row):
            self.is_waiting = True
            self.post_message(self.UnfoldRequested(tree, row))
        elif tree.is_repeated(row):
            self._move_to_line(tree.original(row))
        elif tree.lines[row].is_unfolded:
            self.move_to(self.cursor + 1)

    def action_fold(self) -> None:
        """Fold the line, or go to its parent; elsewhere leave the pane."""
        row, tree = self.current.tree_row, self.dependency_tree
        if row is None or tree is None:
            self.post_message(self.Left())
        elif tree.lines[row].is_unfolded:
            self.take_tree(tree, tree.fold(row))
        elif (parent := tree.parent(row)) is not None:
            self._move_to_line(parent)
        else:
            self.post_message(self.Left())

    @on(VirtualList.Highlighted)
    def _explain(self) -> None:
        """Explain the line under the cursor in the border."""
        row, tree = self.current.tree_row, self.dependency_tree
        text = explain_line(tree, row) if row is not None and tree is not None else ""
        self.border_subtitle = Content(text)
        if (row is not None) != self._was_in_tree:
            self._was_in_tree = row is not None
            self.post_message(self.HintsChanged())

    def _lay_out(self) -> None:
        """Lay out the lines, and draw only those that changed: a terminal may be far away."""
        before = self._rows
        self._rows = layout(self._lines, self.dependency_tree, max(8, self.size.width - 1))
        if len(self._rows) != len(before) or self.cursor >= len(self._rows):
            self.show(len(self._rows), self.cursor)
        else:
            changed = (n for n, row in enumerate(self._rows) if row != before[n])
            self.refresh_rows(*changed)
        self._explain()
