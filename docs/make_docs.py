"""Build the tables of the documents from the program itself, and the list of the tour.

Run it after a change of the keys, the language, the packages or the tour:
`.venv/bin/python docs/make_docs.py`
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path

from spackscope.tui.keymap import HEADINGS, KEYS
from spackscope.tui.query_reference import LANGUAGE

sys.path.insert(0, str(Path(__file__).parent))

from make_pictures import TOUR

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent


def key_table() -> str:
    """Return the table of keys in Markdown."""
    lines = ["| where | key | what it does |", "|---|---|---|"]
    for where, heading in HEADINGS.items():
        for key in KEYS:
            if key.where == where:
                shown = " ".join(f"`{part}`" for part in key.shown.split(" "))
                lines.append(f"| {heading.lower()} | {shown} | {key.sentence} |")
                heading = ""
    return "\n".join(lines)


def language_table() -> str:
    """Return the table of the query language in Markdown, with the examples."""
    lines = []
    for heading, forms in LANGUAGE.items():
        lines += [f"### {heading}", "", "| written | meaning | an example |", "|---|---|---|"]
        for form in forms:
            example = f"`{form.example}`" if form.example else ""
            cells = (f"`{form.written}`", form.sentence, example)
            # A bar would end the cell.
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    return "\n".join(lines).strip()


def package_table() -> str:
    """Return the table of the packages in Markdown, in the order in which they import."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    lines = ["| package | what it does |", "|---|---|"]
    for contract in contracts:
        for container in contract.get("containers", ()):
            top = container.removeprefix("spackscope.")
            layers = [layer for text in contract["layers"] for layer in text.split("|")]
            names = [layer.strip(" ()") for layer in reversed(layers)]
            for path in [top, *(f"{top}/{name}" for name in names)]:
                lines += [f"| `{path}` | {_sentence(path)} |"] if _file(path).exists() else []
    return "\n".join(lines)


def tour_list() -> str:
    """Return the steps of the tour as a list in Markdown."""
    steps = [step for step in TOUR if step.written]
    return "\n".join(f"{n}. `{step.written}` {step.sentence}" for n, step in enumerate(steps, 1))


def _file(path: str) -> Path:
    """Return the file with the docstring of a package or a module."""
    folder = ROOT / path
    return folder / "__init__.py" if folder.is_dir() else folder.with_suffix(".py")


def _sentence(path: str) -> str:
    """Return the first sentence of a docstring."""
    docstring = ast.get_docstring(ast.parse(_file(path).read_text("utf-8"))) or ""
    return docstring.partition("\n")[0]


TABLES: dict[str, tuple[Path, Callable[[], str]]] = {
    "keys": (ROOT / "README.md", key_table),
    "language": (ROOT / "docs" / "query-language.md", language_table),
    "tour": (ROOT / "README.md", tour_list),
    "packages": (ROOT / "CONTRIBUTING.md", package_table),
}
"""The tables by their names: the document that has it, and what builds it."""


def with_table(text: str, name: str, table: str) -> str:
    """Replace the table between the marks of its name."""
    begin, end = f"<!-- {name}: made by docs/make_docs.py -->", f"<!-- end of {name} -->"
    before, rest = text.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n{table}\n{end}{after}"


def main() -> None:
    """Write the tables."""
    for name, (page, build) in TABLES.items():
        page.write_text(with_table(page.read_text("utf-8"), name, build()), encoding="utf-8")


if __name__ == "__main__":
    main()
