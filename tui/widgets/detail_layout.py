"""Lay out the detail of a spec: its lines wrapped to a width, with the dependency tree between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from spackscope.model.catalog.dependency_tree import Node, Tree
from spackscope.model.core.text import wrap
from spackscope.model.presentation.detail import DIFFERS, DetailLine
from spackscope.model.query.conditions import Term
from spackscope.tui.widgets.pieces import Piece

_LABEL_WIDTH = 10
_STYLES = {"title": "strong", "hash": "accent", "head": "dim", "differs": "strong", "same": "dim"}


class LayoutRow(NamedTuple):
    """One row of the pane: a part of a line with its pieces, or a line of the tree.

    `tree_row` is the number of a node in the tree, whose pieces are made when it is drawn.
    """

    line: DetailLine | Node
    pieces: Sequence[Piece] = ()
    tree_row: int | None = None

    @property
    def term(self) -> Term | None:
        """The filter for the line, or None if it has none."""
        return self.line.term if isinstance(self.line, DetailLine) else None


def layout(lines: Sequence[DetailLine], tree: Tree | None, width: int) -> list[LayoutRow]:
    """Return the rows of the pane; the tree comes before the first head, or last."""
    first_head = (number for number, line in enumerate(lines) if line.kind == "head")
    split = next(first_head, len(lines))
    return [
        *_wrapped(lines[:split], width),
        *(_tree_rows(tree) if tree is not None else ()),
        *_wrapped(lines[split:], width),
    ]


def _tree_rows(tree: Tree) -> Iterator[LayoutRow]:
    """Return the lines of a tree, with a blank row before each head that follows a line."""
    for row, node in enumerate(tree.lines):
        if not row or (node.edge is None and tree.lines[row - 1].edge is not None):
            yield LayoutRow(DetailLine(""))
        yield LayoutRow(node, tree_row=row)


def _wrapped(lines: Sequence[DetailLine], width: int) -> Iterator[LayoutRow]:
    for line in lines:
        for pieces in _line_pieces(line, width):
            yield LayoutRow(line, pieces)


def _line_pieces(line: DetailLine, width: int) -> Iterator[list[Piece]]:
    """Wrap a line to the width; the label is before its first part."""
    style = _STYLES.get(line.kind, "")
    if line.kind == "head":
        yield []
        yield [(line.text, style)]
        return
    if line.kind in ("differs", "same"):
        margin, label = 2, f"{DIFFERS} " if line.kind == "differs" else "  "
    else:
        margin = min(_LABEL_WIDTH, width // 3) if line.label or line.is_continued else 0
        label = f"{line.label:<{margin}}"
    for number, part in enumerate(wrap(line.text, width - margin)):
        yield [(" " * margin if number else label, "dim"), (part, style)]
