"""The source is read as text: names, and what is imported late."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from tests.documents import ROOT

SHELL = ("app", "cli", "clipboard", "keymap", "process", "settings")
"""The parts of `tui` in which only what is listed here is imported in functions."""

IMPORTED_LATE = {
    "cli.arguments": "what takes no words, as the help, reads nothing of sources",
    "cli.commands.browse": "a line with a mistake ends without Textual",
    "cli.command_line": "few queries match nothing or too much, and few lists are read",
    "cli.run": "a command without sources needs none of what opens them",
    "cli.main": "Ctrl-C at any moment ends without a traceback",
    "process.crash": "a crash is rare",
    "settings": "most users have no file",
    "settings.checks": "themes are those of Textual",
}
"""The modules that import in functions, each with its reason."""


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


@cache
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
    assert twice == {}


def test_an_answer_is_imported_by_its_name_only() -> None:
    names = {name for imported in graph().values() for name in imported}
    answers = {name for name in modules() if name.startswith("spackscope.model.answers.")}
    assert len(answers) > 8
    assert not names & answers


def test_the_shell_imports_at_the_top() -> None:
    late = set()
    for name, module in modules().items():
        part = name.removeprefix("spackscope.tui.")
        if part.split(".")[0] in SHELL:
            functions = [node for node in ast.walk(module) if isinstance(node, ast.FunctionDef)]
            imported = [each for function in functions for each in imports_of(function)]
            late |= {part for each in imported if each.startswith("spackscope.")}
    assert late == IMPORTED_LATE.keys()
