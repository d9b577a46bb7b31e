"""Draw the lines of a tree of dependencies in the cells there are."""

from __future__ import annotations

from spackscope.model.catalog.dependency_tree import Node, Tree
from spackscope.model.core.cells import (
    SHORT_HASH,
)
from spackscope.model.core.text import cell_width, pad, shorten
from spackscope.model.presentation.dependency_tree import fold_sign, head_text, tree_line
from spackscope.tui.widgets.virtual_list import Piece

_INDENT = 2
_LEAST_NAME = 14
"""Cells that a name keeps where indentation would leave it less."""


def tree_pieces(tree: Tree, node: Node, width: int) -> list[Piece]:
    """Give the pieces of a line: deptypes, indentation, name, sign and hash.

    What is too deep for the width is indented no further, and says how deep it is.
    """
    if node.edge is None:
        return [(f"{head_text(node)} ", "dim"), (fold_sign(tree, node), "accent")]
    line = tree_line(tree, node)
    room = width - len(line.deptypes) - 1
    behind = f" {line.sign} {pad(line.hash, SHORT_HASH)}"
    room -= len(behind) + 2
    indent = " " * (_INDENT * (node.depth - 1))
    most = max(2 * _INDENT, room - _LEAST_NAME)
    if len(indent) > most:
        indent = pad(f"{node.depth}·", most)
    room -= len(indent)
    style = "dim" if line.standing or line.fold == "↑" else ""
    before, after = _virtuals(line.virtuals, room - cell_width(line.name))
    name = shorten(line.name, room - cell_width(before + after))
    return [
        (f"{line.deptypes} ", "dim"),
        (indent, "dim"),
        (f"{line.fold} ", "accent" if line.fold in "▸▾" else "dim"),
        (before, "accent"),
        (name, style),
        (after, "accent"),
        (" " * max(0, room - cell_width(before + name + after)), ""),
        (behind, "dim"),
    ]


def _virtuals(text: str, room: int) -> tuple[str, str]:
    """Give what stands before the name, and what behind, as far as there is room for it."""
    if cell_width(text) > room:
        text = ""
    return (text, "") if text.endswith("=") else ("", text)
