"""Write again what the console examples of the documents print, where that has changed.

After a change of messages or answers: `.venv/bin/python -m tests.refresh_examples`. Lines before a
`…` stay as many as they are.
"""

import re
import tempfile
from pathlib import Path

from tests.builders.sample import unpack_examples
from tests.documents import ROOT, Command, examples, pattern_of
from tests.test_documentation import run


def refreshed(printed: str, command: Command) -> list[str]:
    """Return the lines that a page is to show."""
    if re.fullmatch(pattern_of(command.printed), printed):
        return command.printed
    lines, shown = printed.splitlines(), [line.strip() for line in command.printed]
    most = shown.index("…") if "…" in shown else len(lines)
    return lines if len(lines) <= most else [*lines[:most], "…"]


def main() -> None:
    """Run the examples of all pages, and write the pages."""
    with tempfile.TemporaryDirectory() as directory:
        homes = [Path(directory, name) for name in ("examples", "empty")]
        unpack_examples(homes[0])
        homes[1].mkdir()
        for example in examples():
            page, text = example.block.page, ""
            preparation = [*example.preparation]
            for command in example.commands:
                _, printed = run(homes[page == ROOT / "README.md"], command.typed, preparation)
                typed = command.typed.replace("\n", "\n> ")
                text += "\n".join([f"$ {typed}", *refreshed(printed, command), ""])
                preparation += [command.typed] if command.prepares else []
            if text != example.block.text:
                print(example.block)
                page.write_text(page.read_text("utf-8").replace(example.block.text, text), "utf-8")


if __name__ == "__main__":
    main()
