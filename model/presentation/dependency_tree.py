"""Turn dependencies into plain, clean strings: the lines of a tree, and the way between two."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

from spackscope.model.catalog.dependency_graph import DEPTYPES, Edge
from spackscope.model.catalog.dependency_tree import Node, Section, Tree
from spackscope.model.catalog.rows import Row
from spackscope.model.core.cells import (
    SHORT_HASH,
)
from spackscope.model.core.text import clean

Standing = Literal["", "external", "unlisted", "absent"]
"""How a spec stands to the rows of the table: among them, or why it is not."""

STANDINGS: dict[Standing, str] = {
    "": "",
    "external": "external",
    "unlisted": "dependency only",
    "absent": "not in this index",
}
"""What is said of how a spec stands to the rows of the table."""

_SIGNS: dict[Standing, str] = {"external": "e", "unlisted": "-", "absent": "?", "": " "}
_HEADS: dict[Section, tuple[str, str]] = {
    "dependencies": ("depends on", "depends on nothing"),
    "dependents": ("used by", "used by nothing"),
}


@dataclass(frozen=True, slots=True)
class TreeLine:
    """Hold the parts of a line of the tree.

    `fold` is `▸` folded, `▾` unfolded, `↑` repeated, or a blank; `sign` is `e` for external ones,
    `-` for those that are in the index as a dependency only, `?` for absent ones, or a blank.
    `virtuals` is what the dependency provides to the one above, or what the dependent takes the
    one above as.
    """

    deptypes: str
    fold: str
    virtuals: str
    name: str
    sign: str
    hash: str
    standing: Standing


def deptypes_sign(deptypes: Collection[str]) -> str:
    """Spell deptypes as Spack's trees do: a letter or a blank each for build, link, run, test."""
    return f"[{''.join(name[0] if name in deptypes else ' ' for name in DEPTYPES)}]"


def head_text(node: Node) -> str:
    """Say how many dependencies or dependents a spec has."""
    text, nothing = _HEADS[node.section]
    return f"{text} {node.count:,}" if node.count else nothing


def fold_sign(tree: Tree, node: Node) -> str:
    """Tell whether a line is unfolded, can be, or is repeated."""
    if node.edge is not None and tree.is_repeated(node):
        return "↑"
    if not node.count:
        return " "
    return "▸" if node.below is None else "▾"


def tree_line(tree: Tree, node: Node) -> TreeLine:
    """Describe a line that an edge leads to."""
    assert node.edge is not None
    name, hash_, standing = _of(tree, node)
    virtuals = ",".join(node.edge.virtuals)
    if virtuals:
        virtuals = f"{virtuals}=" if node.section == "dependencies" else f" as {virtuals}"
    return TreeLine(
        deptypes_sign(node.edge.deptypes),
        fold_sign(tree, node),
        clean(virtuals),
        name,
        _SIGNS[standing],
        hash_[:SHORT_HASH],
        standing,
    )


def line_said(tree: Tree, node: Node) -> str:
    """Say in words what the letters and signs of a line mean."""
    if node.edge is None:
        return ""
    _, _, standing = _of(tree, node)
    virtuals = ", ".join(node.edge.virtuals)
    verb = "provides" if node.section == "dependencies" else "takes it as"
    parts = [
        ", ".join(node.edge.deptypes),
        f"{verb} {virtuals}" if virtuals else "",
        STANDINGS[standing],
        "shown elsewhere" if tree.is_repeated(node) else "",
    ]
    return clean(" · ".join(part for part in parts if part))


def dependency_text(edge: Edge, row: Row | None, absent: tuple[str, str] | None) -> str:
    """Spell a dependency in one line; `row` or `absent` tells what it is."""
    name, hash_, standing = _named(row, absent)
    virtuals = clean(",".join(edge.virtuals))
    said = f" ({STANDINGS[standing]})" if standing else ""
    provided = f"{virtuals}=" if virtuals else ""
    return f"{deptypes_sign(edge.deptypes)} {provided}{name} /{hash_[:SHORT_HASH]}{said}"


@dataclass(frozen=True, slots=True)
class Step:
    """Hold one line of the way between two specs: a spec, and the edge that led to it.

    `deptypes` and `virtuals` are empty for the first one.
    """

    deptypes: str
    virtuals: str
    name: str
    hash: str
    standing: Standing


def way_steps(
    way: Sequence[Edge], rows: Sequence[Row | None], absent: Sequence[tuple[str, str] | None]
) -> list[Step]:
    """Describe a way: the specs that it leads through, one more than its edges.

    `rows` and `absent` tell of each spec what it is, as those of a tree do.
    """
    steps = []
    for number, (row, name_and_hash) in enumerate(zip(rows, absent, strict=True)):
        name, hash_, standing = _named(row, name_and_hash)
        edge = way[number - 1] if number else None
        steps.append(
            Step(
                deptypes_sign(edge.deptypes) if edge else "",
                clean(", ".join(edge.virtuals)) if edge else "",
                name,
                hash_,
                standing,
            )
        )
    return steps


def _of(tree: Tree, node: Node) -> tuple[str, str, Standing]:
    name, hash_, standing = _named(tree.row(node), tree.absent(node))
    return name, hash_, "external" if tree.is_external(node) else standing


def _named(row: Row | None, absent: tuple[str, str] | None) -> tuple[str, str, Standing]:
    """Give the name with the version, the hash, and how the spec stands to the table."""
    if absent is not None:
        return clean(absent[0]) or "(no name)", clean(absent[1]), "absent"
    if row is None:
        return "", "", "absent"
    spec = row.spec
    standing: Standing = "" if spec.in_cache else "unlisted"
    version = f"@{spec.version}" if spec.version else ""
    return clean(f"{spec.package}{version}"), clean(spec.hash), standing
