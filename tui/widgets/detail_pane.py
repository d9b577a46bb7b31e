"""All that is known of the selected spec, line by line; a line is a filter in waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.message import Message

from spackscope.model.catalog.dependency_tree import Node, Section, Tree
from spackscope.model.core.text import wrap
from spackscope.model.presentation.dependency_tree import line_said
from spackscope.model.presentation.detail import DIFFERS, DetailLine
from spackscope.model.query.ast import Term
from spackscope.tui.keymap import DETAIL, TREE, bindings
from spackscope.tui.widgets.tree_lines import tree_pieces
from spackscope.tui.widgets.virtual_list import Piece, VirtualList

_LABEL = 10
_STYLES = {"title": "strong", "hash": "accent", "head": "dim", "differs": "strong", "same": "dim"}


class DetailPane(VirtualList):
    """Show the detail of one spec, and between its lines the tree of its dependencies."""

    BINDINGS = bindings(DETAIL, TREE)

    @dataclass
    class TermChosen(Message):
        """Tell which value the user wants as a filter; None where a line stands for none."""

        term: Term | None

    @dataclass
    class SpecChosen(Message):
        """Tell to which spec of the tree the user wants to go."""

        node: Node

    @dataclass
    class Unfolded(Message):
        """Tell that the tree was unfolded or folded, and which sections of it are unfolded."""

        sections: frozenset[Section]

    @dataclass
    class HintsChanged(Message):
        """Tell that the cursor came from a line of the tree to another one, or the other way."""

    @dataclass
    class Left(Message):
        """Tell that the user goes back to the specs."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._lines: Sequence[DetailLine] = ()
        self.dependency_tree: Tree | None = None
        self._laid_out: list[tuple[DetailLine | Node, list[Piece]]] = []
        self._was_in_tree = False
        self.border_title = Content("detail")

    @property
    def _line(self) -> DetailLine | Node | None:
        return self._laid_out[self.cursor][0] if self.cursor < len(self._laid_out) else None

    @property
    def term(self) -> Term | None:
        """The filter that the line under the cursor stands for, or None."""
        line = self._line
        return line.term if isinstance(line, DetailLine) else None

    @property
    def node(self) -> Node | None:
        """The line of the tree that is under the cursor, or None."""
        line = self._line
        return line if isinstance(line, Node) else None

    def show_spec(
        self, lines: Sequence[DetailLine], tree: Tree | None, at: tuple[int, int] | None = None
    ) -> None:
        """Show another spec, the cursor staying where it is.

        `at` puts the cursor elsewhere, and another row at the top.
        """
        self._lines, self.dependency_tree = lines, tree
        if at is not None:
            self.cursor, self.top = at
            self._laid_out = []
        self._lay_out()

    def go_to(self, section: Section) -> None:
        """Unfold a section of the tree, and put the cursor on its head."""
        if self.dependency_tree is None:
            return
        head = self.dependency_tree.heads[section]
        if self.dependency_tree.unfold(head):
            self._unfolded()
        row, height = self._row_of(head), max(1, self.size.height)
        last = row + sum(node.section == section for node in self.dependency_tree.lines) - 1
        # What hangs on the head is to be seen too, as far as it goes.
        self.top = min(row, max(self.top, last + 1 - height))
        self.cursor = row
        self._scroll_to_cursor()
        self.refresh()
        self._say()

    def on_resize(self) -> None:
        """Fold the lines to the new width, the cursor staying on its line."""
        line, below_top = self._line, self.cursor - self.top
        self._laid_out = []
        self._lay_out()
        row = next((row for row, (other, _) in enumerate(self._laid_out) if other is line), None)
        if row is not None and row != self.cursor:
            self.top = max(0, row - below_top)
            self.move_to(row)

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Give the pieces of a line, with the mark of the cursor in front."""
        mark = "▸" if row == self.cursor and self.has_focus else " "
        line, pieces = self._laid_out[row]
        if isinstance(line, Node) and self.dependency_tree is not None:
            pieces = tree_pieces(self.dependency_tree, line, width - 1)
        return [(mark, "accent"), *pieces]

    def on_virtual_list_highlighted(self, event: VirtualList.Highlighted) -> None:
        """Say what the line under the cursor means."""
        event.stop()
        self._say()

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        """Turn a chosen line into its filter, or go to its spec."""
        event.stop()
        line, _ = self._laid_out[event.row]
        if isinstance(line, DetailLine):
            self.post_message(self.TermChosen(line.term))
        elif line.edge is not None:
            self.post_message(self.SpecChosen(line))
        elif self.dependency_tree is not None and (
            self.dependency_tree.fold(line) or self.dependency_tree.unfold(line)
        ):
            self._unfolded()

    def action_unfold(self) -> None:
        """Unfold the line, or go to where its spec is unfolded, or into what is unfolded."""
        node, tree = self.node, self.dependency_tree
        if node is None or tree is None:
            return
        if tree.unfold(node):
            self._unfolded()
        elif tree.is_repeated(node):
            self.move_to(self._row_of(tree.place(node)))
        elif node.below:
            self.move_to(self.cursor + 1)

    def action_fold(self) -> None:
        """Fold the line, or go to the one it hangs on; elsewhere leave the pane."""
        node, tree = self.node, self.dependency_tree
        if node is None or tree is None:
            self.post_message(self.Left())
        elif tree.fold(node):
            self._unfolded()
        elif node.above is not None:
            self.move_to(self._row_of(node.above))
        else:
            self.post_message(self.Left())

    def _row_of(self, node: Node) -> int:
        return next(row for row, (line, _) in enumerate(self._laid_out) if line is node)

    def _unfolded(self) -> None:
        assert self.dependency_tree is not None
        self._laid_out = []
        self._lay_out()
        self.post_message(self.Unfolded(self.dependency_tree.opened))

    def _say(self) -> None:
        node, tree = self.node, self.dependency_tree
        said = line_said(tree, node) if node is not None and tree is not None else ""
        self.border_subtitle = Content(said)
        if (node is not None) != self._was_in_tree:
            self._was_in_tree = node is not None
            self.post_message(self.HintsChanged())

    def _lay_out(self) -> None:
        """Fold the lines, and draw anew only those that changed: a terminal may be far away."""
        width, before = max(8, self.size.width - 1), self._laid_out
        after: list[tuple[DetailLine | Node, list[Piece]]] = []
        tree = self.dependency_tree
        for line in self._lines:
            if line.kind == "head" and tree is not None:
                after += _of_tree(tree)
                tree = None
            after += [(line, pieces) for pieces in _folded(line, width)]
        if tree is not None:
            after += _of_tree(tree)
        self._laid_out = after
        if len(after) != len(before) or self.cursor >= len(after):
            self.show(len(after), self.cursor)
        else:
            self.refresh_rows(*(row for row, line in enumerate(after) if line != before[row]))
        self._say()


def _of_tree(tree: Tree) -> list[tuple[DetailLine | Node, list[Piece]]]:
    """Give the lines of a tree, which are drawn only when they are seen, with blanks between."""
    laid_out: list[tuple[DetailLine | Node, list[Piece]]] = []
    before: Node | None = None
    for node in tree.lines:
        if before is None or (node.edge is None and before.edge is not None):
            laid_out.append((DetailLine(""), []))
        laid_out.append((node, []))
        before = node
    return laid_out


def _folded(line: DetailLine, width: int) -> list[list[Piece]]:
    """Fold a line to the width; the label stands in front of its first part."""
    style = _STYLES.get(line.kind, "")
    if line.kind == "head":
        return [[], [(line.text, style)]]
    if line.kind in ("differs", "same"):
        margin, first = 2, f"{DIFFERS} " if line.kind == "differs" else "  "
    else:
        margin = min(_LABEL, width // 3) if line.label or line.is_continued else 0
        first = f"{line.label:<{margin}}"
    parts = wrap(line.text, width - margin)
    return [
        [(first if number == 0 else " " * margin, "dim"), (part, style)]
        for number, part in enumerate(parts)
    ]
