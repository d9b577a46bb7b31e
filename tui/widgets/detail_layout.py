"""Lay out the detail of a spec: its lines wrapped to a width, with the dependency tree between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from spackscope.model.catalog.dependency_tree import Node, Tree
from spackscope.model.core.cells import SHORT_HASH
from spackscope.model.core.text import cell_width, pad, shorten, wrap
from spackscope.model.presentation.dependency_tree import (
    STATUS_SIGNS,
    deptypes_sign,
    fold_sign,
    full_name,
    head_text,
    short_hash,
    virtuals_text,
)
from spackscope.model.presentation.detail import DIFFERS, DetailLine
from spackscope.model.query.conditions import Term
from spackscope.tui.widgets.drawing import Piece

_LABEL_WIDTH, _WIDE_LABEL_WIDTH = 10, 13
"""Cells of the labels: as few as most need, or where there is room as many as all need."""
_WIDE = 50
_INDENT = 2
_MIN_NAME_WIDTH = 14
"""Cells that a name keeps even if indentation would leave it less."""
_STYLES = {
    "title": "strong",
    "hash": "accent",
    "head": "dim",
    "differs": "strong",
    "same": "dim",
    "good": "good",
}


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
        margin = _margin(width) if line.label or line.is_continued else 0
        label = f"{line.label:<{margin - 1}} " if line.label else " " * margin
    # A label longer than the margin takes cells of the first part.
    over = len(label) - margin
    for number, part in enumerate(wrap("x" * over + line.text, width - margin)):
        if number:
            yield [(" " * margin, "dim"), (part, style)]
        else:
            yield [(label, "dim"), (part[over:], style)]


def _margin(width: int) -> int:
    return _WIDE_LABEL_WIDTH if width >= _WIDE else min(_LABEL_WIDTH, width // 3)


def tree_pieces(tree: Tree, row: int, width: int) -> list[Piece]:
    """Return the pieces of a line: deptypes, sign of folding, name, sign of the status, hash.

    Lines too deep for the width are indented no further, and show their depth as a number.
    """
    node, fold = tree.lines[row], fold_sign(tree, row)
    if node.edge is None or node.spec is None:
        return [(f"{head_text(node)} ", "dim"), (fold, "accent")]
    deptypes, status = deptypes_sign(node.edge.deptypes), node.spec.status
    ending = f" {STATUS_SIGNS[status]} {pad(short_hash(node.spec), SHORT_HASH)}"
    room = width - len(deptypes) - len(ending) - 3
    indent = " " * (_INDENT * (node.depth - 1))
    max_indent = max(2 * _INDENT, room - _MIN_NAME_WIDTH)
    if len(indent) > max_indent:
        indent = pad(f"{node.depth}·", max_indent)
    room -= len(indent)
    name, virtuals = full_name(node.spec), virtuals_text(node)
    if cell_width(name + virtuals) > room:
        virtuals = ""
    before, after = (virtuals, "") if virtuals.endswith("=") else ("", virtuals)
    name = shorten(name, room - cell_width(virtuals))
    return [
        (f"{deptypes} ", "dim"),
        (indent, "dim"),
        (f"{fold} ", "accent" if fold in "▸▾" else "dim"),
        (before, "accent"),
        (name, "dim" if status or fold == "↑" else ""),
        (after, "accent"),
        (" " * max(0, room - cell_width(name + virtuals)), ""),
        (ending, "dim"),
    ]
