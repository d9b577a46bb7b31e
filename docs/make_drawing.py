"""Draw how the packages import each other, and the ways of a record and of a key, as Mermaid."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).parents[1]

_WAYS = {
    "a record": (
        *("model/storage/base", "model/sources/discover", "model/index/build"),
        *("model/readers/formats", "model/index/staged", "model/index/index_file"),
        *("model/index/catalog", "model/index/rows", "tui/widgets/table_rows"),
    ),
    "a key": (
        *("tui/app", "tui/browser/screen", "tui/browser/search"),
        *("model/index/catalog", "tui/browser/state"),
        *("tui/browser/panes", "tui/widgets/spec_table"),
    ),
}
"""Through which modules each goes: of two that follow, one imports the other, or one both."""

Graph = Mapping[str, set[str]]


def drawing() -> str:
    """Return the drawing. Raises ValueError where no import links two modules of a way."""
    modules = _modules()
    packages: dict[str, set[str]] = {}
    for name, imported in modules.items():
        its = packages.setdefault(_package(name), set())
        its.update({_package(other) for other in imported} - {_package(name)})
    packages = {name: its for name, its in packages.items() if "/" in name}
    lines = ["```mermaid", "flowchart TD"]
    for top in ("model", "tui"):
        lines.append(f"  subgraph {top}")
        for name in sorted(packages, key=lambda name: (len(_closure(packages, name)), name)):
            near = sorted(_direct(packages, name))
            if name.startswith(top):
                lines.append(f"    {_node(name)}" + " --> " * bool(near) + " & ".join(near))
        lines.append("  end")
    lines += ["```", ""]
    for what, way in _WAYS.items():
        for first, second in pairwise(way):
            if not any({first, second} <= {name, *its} for name, its in modules.items()):
                raise ValueError(f"no module imports both {first} and {second}")
        lines.append(f"- The way of {what}: " + " → ".join(f"`{name}`" for name in way))
    return "\n".join(lines)


def _modules() -> Graph:
    """Return what each module imports of the program, by paths such as model/index/rows."""
    paths = {
        path.relative_to(ROOT).with_suffix("").as_posix().removesuffix("/__init__"): path
        for top in ("model", "tui")
        for path in (ROOT / top).rglob("*.py")
        if "spack-scope" not in path.parts
    }
    return {
        name: {other for other in _imports(path) if other in paths} for name, path in paths.items()
    }


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("spackscope."):
            name = (node.module or "").removeprefix("spackscope.").replace(".", "/")
            yield from (name, *(f"{name}/{alias.name}" for alias in node.names))


def _package(name: str) -> str:
    """Return the package of a module, which in `tui` may be the module itself."""
    return "/".join(name.split("/")[:2])


def _closure(graph: Graph, name: str) -> set[str]:
    """Return everything that a node imports, directly or not."""
    found, pending = set[str](), [name]
    while pending:
        new = graph.get(pending.pop(), set()) - found
        found |= new
        pending += new
    return found


def _direct(graph: Graph, name: str) -> Iterable[str]:
    """Yield the nodes that a package imports, but those that these import, too."""
    others = {other for other in graph[name] if other in graph}
    implied = {far for other in others for far in _closure(graph, other)}
    return (_node(other) for other in others - implied)


def _node(name: str) -> str:
    return name.rpartition("/")[2]
