"""Turn dependencies into plain, clean strings."""

from __future__ import annotations

from collections.abc import Collection

from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.catalog.tree import MAX_CHILDREN, GraphSpec, Node, Section, Status, Tree
from spackscope.model.core.columns import SHORT_HASH
from spackscope.model.core.records import DEPTYPES
from spackscope.model.core.text import clean

STATUS_TEXTS: dict[Status, str] = {
    "": "",
    "external": "external",
    "unlisted": "dependency only",
    "absent": "not in this index",
}
STATUS_SIGNS: dict[Status, str] = {"external": "e", "unlisted": "-", "absent": "?", "": " "}
"""Why a spec has no row in the table: in words, and as a sign in the tree."""
_HEADS: dict[Section, tuple[str, str]] = {
    "dependencies": ("depends on", "depends on nothing"),
    "dependents": ("used by", "used by nothing"),
}


def deptypes_sign(deptypes: Collection[str]) -> str:
    """Spell deptypes as Spack's trees do: a letter or a blank each for build, link, run, test."""
    return f"[{''.join(name[0] if name in deptypes else ' ' for name in DEPTYPES)}]"


def deptypes_letters(deptypes: Collection[str]) -> str:
    """Spell deptypes as `deptypes_sign` does, without brackets."""
    return deptypes_sign(deptypes)[1:-1]


def head_text(node: Node) -> str:
    """Return how many dependencies or dependents a spec has."""
    text, nothing = _HEADS[node.section]
    if node.is_unfolded and node.count > MAX_CHILDREN:
        return f"{text} {node.count:,}, first {MAX_CHILDREN:,} shown"
    return f"{text} {node.count:,}" if node.count else nothing


def fold_sign(tree: Tree, row: int) -> str:
    """Return the sign of a line that is unfolded, can be, or is repeated."""
    node = tree.lines[row]
    if node.edge is not None and tree.is_repeated(row):
        return "↑"
    if not node.count:
        return " "
    return "▾" if node.is_unfolded else "▸"


def virtuals_text(node: Node) -> str:
    """Spell what a dependency provides to the spec above, or what a dependent uses it as."""
    virtuals = clean(",".join(node.edge.virtuals)) if node.edge is not None else ""
    if not virtuals:
        return ""
    return f"{virtuals}=" if node.section == "dependencies" else f" as {virtuals}"


def dependency_text(edge: Edge, spec: GraphSpec) -> str:
    """Spell a dependency in one line."""
    virtuals = clean(",".join(edge.virtuals))
    provided = f"{virtuals}=" if virtuals else ""
    status = f" ({STATUS_TEXTS[spec.status]})" if spec.status else ""
    return (
        f"{deptypes_sign(edge.deptypes)} {provided}{full_name(spec)} /{short_hash(spec)}{status}"
    )


def full_name(spec: GraphSpec) -> str:
    """Return the name of a spec with its version."""
    version = f"@{spec.version}" if spec.version else ""
    return clean(f"{spec.name}{version}") or "(no name)"


def short_hash(spec: GraphSpec) -> str:
    """Return the beginning of the hash of a spec."""
    return clean(spec.hash)[:SHORT_HASH]
