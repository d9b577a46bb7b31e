"""Build the picture of the screen and the tables of the documents from the program itself.

Run it after a change of the screen, the keys, the language or the packages:
`.venv/bin/python docs/make_docs.py`
"""

from __future__ import annotations

import ast
import asyncio
import re
import sys
from collections.abc import Callable
from pathlib import Path

from spackscope.model.sources.session import Session
from spackscope.tui.app import SpackscopeApp
from spackscope.tui.keymap import HEADINGS, KEYS
from spackscope.tui.query_reference import LANGUAGE

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parent.parent
HOST = "target=zen3 glibc=2.35"
"""The host of the picture, which is not to depend on the machine it is drawn on."""


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
    "packages": (ROOT / "CONTRIBUTING.md", package_table),
}
"""The tables by their names: the document that has it, and what builds it."""


def with_table(text: str, name: str, table: str) -> str:
    """Replace the table between the marks of its name."""
    begin, end = f"<!-- {name}: made by docs/make_docs.py -->", f"<!-- end of {name} -->"
    before, rest = text.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n{table}\n{end}{after}"


async def picture() -> str:
    """Draw the screen on the sample after the first keys of the tour."""
    app = SpackscopeApp(["sample_data"], "py-safetensors", session=Session({}, host=HOST))
    async with app.run_test(size=(132, 34)) as pilot:
        for key in ("enter", "z", "j", "j", ""):
            await pilot.pause(0.2)
            while not all(worker.is_finished for worker in app.workers):
                await pilot.pause(0.05)
            if key:
                await pilot.press(key)
        await pilot.pause(0.5)
        svg = app.export_screenshot(title="spackscope")
    # A picture in a README loads no font from elsewhere.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def main() -> None:
    """Write the picture and the tables."""
    (ROOT / "docs" / "screen.svg").write_text(asyncio.run(picture()), encoding="utf-8")
    for name, (page, build) in TABLES.items():
        page.write_text(with_table(page.read_text("utf-8"), name, build()), encoding="utf-8")


if __name__ == "__main__":
    main()
