"""Fit the lines of a dependency tree into the width of the detail."""

from __future__ import annotations

from spackscope.model.catalog.dependency_tree import Tree
from spackscope.model.core.cells import SHORT_HASH
from spackscope.model.core.text import cell_width, pad, shorten
from spackscope.model.presentation.dependency_tree import fold_sign, head_text, tree_line
from spackscope.tui.widgets.virtual_list import Piece

_INDENT = 2
_MIN_NAME_WIDTH = 14
"""Cells that a name keeps even if indentation would leave it less."""


def tree_pieces(tree: Tree, row: int, width: int) -> list[Piece]:
    """Return the pieces of a line: deptypes, indentation, name, sign and hash.

    Lines too deep for the width are indented no further, and show their depth as a number.
    """
    node = tree.lines[row]
    if node.edge is None:
        return [(f"{head_text(node)} ", "dim"), (fold_sign(tree, row), "accent")]
    line = tree_line(tree, row)
    ending = f" {line.sign} {pad(line.hash, SHORT_HASH)}"
    room = width - len(line.deptypes) - len(ending) - 3
    indent = " " * (_INDENT * (node.depth - 1))
    max_indent = max(2 * _INDENT, room - _MIN_NAME_WIDTH)
    if len(indent) > max_indent:
        indent = pad(f"{node.depth}·", max_indent)
    room -= len(indent)
    virtuals = line.virtuals if cell_width(line.name + line.virtuals) <= room else ""
    before, after = (virtuals, "") if virtuals.endswith("=") else ("", virtuals)
    name = shorten(line.name, room - cell_width(virtuals))
    return [
        (f"{line.deptypes} ", "dim"),
        (indent, "dim"),
        (f"{line.fold} ", "accent" if line.fold in "▸▾" else "dim"),
        (before, "accent"),
        (name, "dim" if line.status or line.fold == "↑" else ""),
        (after, "accent"),
        (" " * max(0, room - cell_width(name + virtuals)), ""),
        (ending, "dim"),
    ]
