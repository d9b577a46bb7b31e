"""The source is read as text: a name is defined once, and no modules import each other."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]

DEFINED_TWICE = {
    "Cell": "that of a comparison is values, that of a report is text",
    "Column": "that of the index is typed, that of a report is a head",
    "Host": "the machine; and the browser, as its controllers see it",
    "Row": "that of the index is a spec, that of a report is cells",
}
"""Names of public types that two modules define, each with what they are."""


@cache
def modules() -> dict[str, ast.Module]:
    """Return the modules of the program by their names."""
    paths = [path for folder in ("model", "tui") for path in (ROOT / folder).rglob("*.py")]
    names = [".".join(("spackscope", *p.relative_to(ROOT).with_suffix("").parts)) for p in paths]
    trees = [ast.parse(path.read_text("utf-8")) for path in paths]
    return dict(zip([name.removesuffix(".__init__") for name in names], trees, strict=True))


def types_of(module: ast.Module) -> Iterator[str]:
    """Yield the public classes of a module, and its aliases of types."""
    for node in module.body:
        if isinstance(node, ast.ClassDef):
            name = node.name
        elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            is_alias = isinstance(node.value, (ast.Subscript, ast.BinOp, ast.Name))
            name = node.targets[0].id if is_alias else ""
        else:
            continue
        if name[:1].isupper() and not name.isupper():
            yield name


def imports_of(node: ast.AST) -> Iterator[str]:
    """Yield the modules and names that are imported, in functions too, but for types only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom):
            yield from (f"{child.module}.{each.name}" for each in child.names)
        elif isinstance(child, ast.Import):
            yield from (each.name for each in child.names)
        elif isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        else:
            yield from imports_of(child)


def graph() -> dict[str, set[str]]:
    """Return the modules that each module imports."""
    imports = {}
    for name, module in modules().items():
        # What is imported is a module, or a name of one.
        either = [(each, each.rpartition(".")[0]) for each in imports_of(module)]
        imported = {each if each in modules() else parent for each, parent in either}
        imports[name] = imported & modules().keys() - {name}
    return imports


def test_a_type_is_defined_once() -> None:
    where = defaultdict(list)
    for name, module in modules().items():
        for type_ in types_of(module):
            where[type_].append(name)
    twice = {type_: names for type_, names in where.items() if len(names) > 1}
    assert len(where) > 300
    assert {t: names for t, names in twice.items() if t not in DEFINED_TWICE} == {}
    assert DEFINED_TWICE.keys() - twice.keys() == set(), "they are defined once by now"


def test_no_modules_import_each_other() -> None:
    TopologicalSorter(graph()).prepare()
