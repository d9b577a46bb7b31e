"""Turn dependencies into plain, clean strings: the lines of a tree, and a path between specs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.catalog.dependency_tree import GraphSpec, Node, Section, Status, Tree
from spackscope.model.core.cells import SHORT_HASH
from spackscope.model.core.records import DEPTYPES
from spackscope.model.core.text import clean

STATUS_TEXTS: dict[Status, str] = {
    "": "",
    "external": "external",
    "unlisted": "dependency only",
    "absent": "not in this index",
}
"""Why a spec has no row in the table."""

_SIGNS: dict[Status, str] = {"external": "e", "unlisted": "-", "absent": "?", "": " "}
_HEADS: dict[Section, tuple[str, str]] = {
    "dependencies": ("depends on", "depends on nothing"),
    "dependents": ("used by", "used by nothing"),
}


@dataclass(frozen=True, slots=True)
class TreeLine:
    """The parts of a line of the tree.

    `fold` is `▸` folded, `▾` unfolded, `↑` repeated, or a blank; `sign` is `e` for external specs,
    `-` for those that are in the index as a dependency only, `?` for absent ones, or a blank.
    `virtuals` is what the dependency provides to the spec above, or what the dependent uses the
    spec above as.
    """

    deptypes: str
    fold: str
    virtuals: str
    name: str
    sign: str
    hash: str
    status: Status


def deptypes_sign(deptypes: Collection[str]) -> str:
    """Spell deptypes as Spack's trees do: a letter or a blank each for build, link, run, test."""
    return f"[{''.join(name[0] if name in deptypes else ' ' for name in DEPTYPES)}]"


def head_text(node: Node) -> str:
    """Return how many dependencies or dependents a spec has."""
    text, nothing = _HEADS[node.section]
    return f"{text} {node.count:,}" if node.count else nothing


def fold_sign(tree: Tree, row: int) -> str:
    """Return the sign of a line that is unfolded, can be, or is repeated."""
    node = tree.lines[row]
    if node.edge is not None and tree.is_repeated(row):
        return "↑"
    if not node.count:
        return " "
    return "▾" if node.is_unfolded else "▸"


def tree_line(tree: Tree, row: int) -> TreeLine:
    """Describe a line that an edge leads to."""
    node = tree.lines[row]
    assert node.edge is not None
    assert node.spec is not None
    virtuals = ",".join(node.edge.virtuals)
    if virtuals:
        virtuals = f"{virtuals}=" if node.section == "dependencies" else f" as {virtuals}"
    return TreeLine(
        deptypes_sign(node.edge.deptypes),
        fold_sign(tree, row),
        clean(virtuals),
        _full_name(node.spec),
        _SIGNS[node.spec.status],
        clean(node.spec.hash)[:SHORT_HASH],
        node.spec.status,
    )


def explain_line(tree: Tree, row: int) -> str:
    """Explain the letters and signs of a line in words; nothing is said of a head."""
    node = tree.lines[row]
    if node.edge is None or node.spec is None:
        return ""
    virtuals = ", ".join(node.edge.virtuals)
    verb = "provides" if node.section == "dependencies" else "takes it as"
    parts = [
        ", ".join(node.edge.deptypes),
        f"{verb} {virtuals}" if virtuals else "",
        STATUS_TEXTS[node.spec.status],
        "shown elsewhere" if tree.is_repeated(row) else "",
    ]
    return clean(" · ".join(part for part in parts if part))


def dependency_text(edge: Edge, spec: GraphSpec) -> str:
    """Spell a dependency in one line."""
    virtuals = clean(",".join(edge.virtuals))
    provided = f"{virtuals}=" if virtuals else ""
    status = f" ({STATUS_TEXTS[spec.status]})" if spec.status else ""
    hash_ = clean(spec.hash)[:SHORT_HASH]
    return f"{deptypes_sign(edge.deptypes)} {provided}{_full_name(spec)} /{hash_}{status}"


@dataclass(frozen=True, slots=True)
class Step:
    """One spec on a path between two specs, and the edge that led to it.

    `deptypes` and `virtuals` are empty for the first one.
    """

    deptypes: str
    virtuals: str
    name: str
    hash: str
    status: Status


def path_steps(edges: Sequence[Edge], specs: Sequence[GraphSpec]) -> list[Step]:
    """Describe a path: the specs that it leads through, one more than its edges."""
    return [
        Step(
            deptypes_sign(edge.deptypes) if edge else "",
            clean(", ".join(edge.virtuals)) if edge else "",
            _full_name(spec),
            clean(spec.hash),
            spec.status,
        )
        for edge, spec in zip((None, *edges), specs, strict=True)
    ]


def _full_name(spec: GraphSpec) -> str:
    version = f"@{spec.version}" if spec.version else ""
    return clean(f"{spec.name}{version}") or "(no name)"
