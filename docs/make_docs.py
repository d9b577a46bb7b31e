"""Make the picture of the screen, and the key table of the README, from the program itself.

Run it after a change of the screen or the keys: `.venv/bin/python docs/make_docs.py`
"""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from spackscope.tui.app import SpackscopeApp
from spackscope.tui.keys import HEADINGS, KEYS

ROOT = Path(__file__).parent.parent
MARKS = "<!-- keys: made by docs/make_docs.py -->", "<!-- end of keys -->"


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


def with_key_table(readme: str) -> str:
    """Put the present table of keys into a README."""
    before, rest = readme.split(MARKS[0])
    _, after = rest.split(MARKS[1])
    return f"{before}{MARKS[0]}\n{key_table()}\n{MARKS[1]}{after}"


async def picture() -> str:
    """Draw the screen on the sample after the first keys of the tour."""
    app = SpackscopeApp(["sample_data"], "py-safetensors", environ={})
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
    readme = ROOT / "README.md"
    text = readme.read_text(encoding="utf-8")
    readme.write_text(with_key_table(text), encoding="utf-8")


if __name__ == "__main__":
    main()
