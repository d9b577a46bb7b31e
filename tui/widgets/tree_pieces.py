"""Draw a line of the dependency tree: deptypes, guide lines, name, remark and hash."""

from __future__ import annotations

from collections.abc import Mapping

from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.text import cell_width, clean, pad, shorten
from spackscope.model.index.tree import Node, Tree
from spackscope.model.report.detail import (
    DIFFERS,
    STATUS_SIGNS,
    STATUS_TEXTS,
    deptypes_letters,
    fold_sign,
    full_name,
    head_text,
    short_hash,
    virtuals_text,
)
from spackscope.tui.widgets.drawing import Piece, highlight

_MIN_NAME_WIDTH = 14
"""Cells that a name keeps even if guide lines would leave it less."""
_MAX_REMARK = 40
_MIN_WIDTH = 30
"""Cells of a line below which there is no room for the hash."""
_GAP = "  "


def tree_pieces(
    tree: Tree, row: int, width: int, differing: Mapping[int, str] | None = None
) -> list[Piece]:
    """Return the pieces of a line of a tree.

    Lines too deep for the width are indented no further, and show their depth as a number.
    `differing` has what a marked spec has in place of a record, "" if that is only below it.
    """
    node, fold = tree.lines[row], fold_sign(tree, row)
    if node.edge is None or node.spec is None:
        return [(f"{fold} ", "accent"), (head_text(node), "strong")]
    differs = (differing or {}).get(node.id) if node.section == "dependencies" else None
    remark, remark_style = _remark(tree, row, differs)
    deptypes = f"{deptypes_letters(node.edge.deptypes)} "
    name = f"×{node.builds:,}" if node.builds > 1 else short_hash(node.spec)
    hash_ = f"{_GAP}{pad(name, SHORT_HASH)}" if width >= _MIN_WIDTH else ""
    guides = _guides(tree, row, width - cell_width(deptypes + hash_) - 3)
    room = width - cell_width(deptypes + guides + hash_) - 2
    name, virtuals = full_name(node.spec), virtuals_text(node)
    if cell_width(name + virtuals) > room:
        virtuals = ""
    name = shorten(name, room - cell_width(virtuals))
    before, after = (virtuals, "") if virtuals.endswith("=") else ("", virtuals)
    room -= cell_width(name + virtuals)
    if cell_width(remark) + 2 > room:
        remark = STATUS_SIGNS[node.spec.status] if differs is None else DIFFERS
    remark = remark if cell_width(remark) + 2 <= room else ""
    is_dim = bool(node.spec.status) or fold == "↑"
    style = "differs" if differs else "dim" if is_dim else ""
    return [
        (deptypes, "dim"),
        (guides, "dim"),
        (f"{fold} ", "accent" if fold in "▸▾" else "dim"),
        (before, "virtual"),
        *_name(tree, name, style),
        (after, "virtual"),
        (f"{_GAP}{remark}" if remark else "", remark_style),
        (" " * (room - (cell_width(remark) + 2 if remark else 0)), ""),
        (hash_, "hash" if node.builds == 1 else "dim"),
    ]


def _name(tree: Tree, name: str, style: str) -> list[Piece]:
    if not tree.search:
        return [(name, style)]
    return [(text, each or style) for text, each in highlight(name, [clean(tree.search)])]


def _guides(tree: Tree, row: int, room: int) -> str:
    guides, depth = tree.guides[row], tree.lines[row].depth
    most = max(6, room - _MIN_NAME_WIDTH)
    if len(guides) <= most:
        return guides
    return pad(f"{depth}·", most - 2) + guides[-2:]


def _remark(tree: Tree, row: int, differs: str | None) -> tuple[str, str]:
    """Return the remark on the spec of a line (repeated, absent, differs), and its style."""
    node = tree.lines[row]
    assert node.spec is not None
    if differs:
        return shorten(f"{DIFFERS} {clean(differs)}", _MAX_REMARK), "differs"
    if node.share:
        return f"in {node.share:,} of {len(tree.members):,}", "differs"
    if differs is not None:
        return f"{DIFFERS} below", "dim"
    return _status(node), "dim"


def _status(node: Node) -> str:
    return STATUS_TEXTS[node.spec.status] if node.spec is not None else ""
