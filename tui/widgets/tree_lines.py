"""Fit the lines of a dependency tree into the width of the detail."""

from __future__ import annotations

from spackscope.model.catalog.dependency_tree import Tree
from spackscope.model.core.cells import SHORT_HASH
from spackscope.model.core.text import cell_width, pad, shorten
from spackscope.model.presentation.dependency_tree import (
    STATUS_SIGNS,
    deptypes_sign,
    fold_sign,
    full_name,
    head_text,
    short_hash,
    virtuals_text,
)
from spackscope.tui.widgets.pieces import Piece

_INDENT = 2
_MIN_NAME_WIDTH = 14
"""Cells that a name keeps even if indentation would leave it less."""


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
