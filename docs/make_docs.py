"""Make the picture of the screen and the tables of the documents from the program itself.

Run it after a change of the screen, the keys or the language: `.venv/bin/python docs/make_docs.py`
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from spackscope.model.sources.session import Session
from spackscope.tui.app import SpackscopeApp
from spackscope.tui.keymap import HEADINGS, KEYS
from spackscope.tui.query_reference import LANGUAGE

ROOT = Path(__file__).parent.parent
README, LANGUAGE_PAGE = ROOT / "README.md", ROOT / "docs" / "query-language.md"


def key_table() -> str:
    """Spell the table of keys in Markdown."""
    lines = ["| where | key | what it does |", "|---|---|---|"]
    for where, heading in HEADINGS.items():
        for key in KEYS:
            if key.where == where:
                shown = " ".join(f"`{part}`" for part in key.shown.split(" "))
                lines.append(f"| {heading.lower()} | {shown} | {key.sentence} |")
                heading = ""
    return "\n".join(lines)


def language_table() -> str:
    """Spell the table of the query language in Markdown, with the examples."""
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


def with_table(text: str, name: str, table: str) -> str:
    """Put a present table between the marks of its name."""
    begin, end = f"<!-- {name}: made by docs/make_docs.py -->", f"<!-- end of {name} -->"
    before, rest = text.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n{table}\n{end}{after}"


async def picture() -> str:
    """Draw the screen on the sample after the first keys of the tour."""
    app = SpackscopeApp(["sample_data"], "py-safetensors", session=Session({}))
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
    """Write the picture and the README."""
    (ROOT / "docs" / "screen.svg").write_text(asyncio.run(picture()), encoding="utf-8")
    for page, name, table in (
        (README, "keys", key_table()),
        (LANGUAGE_PAGE, "language", language_table()),
    ):
        page.write_text(with_table(page.read_text("utf-8"), name, table), encoding="utf-8")


if __name__ == "__main__":
    main()
