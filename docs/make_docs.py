"""Build tables of the documents from the program, and the list of the tour.

Run it after a change of the keys, the language, the commands, the packages or the tour:
`.venv/bin/python docs/make_docs.py`
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterator
from itertools import dropwhile
from pathlib import Path

from spackscope.model.core.commands import BROWSE, Command
from spackscope.model.core.rules import RULES
from spackscope.tui.cli.command_table import ANSWERS, COMMANDS, listed
from spackscope.tui.cli.commands.help import QUERY_SECTION
from spackscope.tui.dialogs.help import WORDS
from spackscope.tui.keymap import HEADINGS, KEYS, with_keys
from spackscope.tui.query_reference import LANGUAGE
from spackscope.tui.settings.table import SETTINGS

sys.path.insert(0, str(Path(__file__).parent))

from make_answers import answer_table
from make_drawing import drawing
from make_pictures import TOUR

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

DOCS = Path(__file__).parent
ROOT = DOCS.parent


def key_table() -> str:
    """Return the table of keys in Markdown."""
    lines = ["| where | key | what it does | name |", "|---|---|---|---|"]
    for where, heading in HEADINGS.items():
        for key in KEYS:
            if key.where == where:
                shown = " ".join(f"`{part}`" for part in key.shown.split(" "))
                lines.append(f"| {heading.lower()} | {shown} | {key.sentence} | `{key.name}` |")
                heading = ""
    return "\n".join(lines)


def word_table() -> str:
    """Return the table of the words on the screens in Markdown."""
    lines = ["| word | meaning |", "|---|---|"]
    return "\n".join(
        [*lines, *(f"| {word} | {with_keys(text)} |" for word, text in WORDS.items())]
    )


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


def command_list() -> str:
    """Return a table of the commands, and the help of each under a heading in Markdown.

    What an earlier command has too is not described again.
    """
    lines = ["| command | what it does |", "|---|---|"]
    commands = (COMMANDS[BROWSE], *listed())
    for command in commands:
        name = command.called
        anchor = name.replace(" ", "-") if command.description else "spackscope"
        lines.append(f"| [`{name}`](#{anchor}) | {command.summary} |")
    described: set[object] = set()
    for command in commands:
        if command.description:
            lines += ["", f"## {command.called}", *_command_lines(command, described)]
    return "\n".join(lines)


_OF_ALL = ("-f", "--no-color", "-h")
"""Options of nearly all commands, which the page names once."""

_OUTPUT = ("format", "template", "columns", "sort", "limit")
"""The fields of the options that usages call OUTPUT."""


def _command_lines(command: Command, described: set[object]) -> Iterator[str]:
    yield "<br>".join(
        f"`usage: {usage}`" for usage in (f"{command.called} {each}" for each in command.usages)
    )
    for paragraph in command.description.split("\n\n"):
        yield from ("", *_paragraph(paragraph))
    if own := [option for option in command.options if option not in described]:
        yield from ("", "| option | |", "|---|---|")
        for option in own:
            names = " ".join(filter(None, [", ".join(option.names), option.metavar]))
            yield f"| `{names}` | {_marked(option.sentence)} |"
    known = [
        f"`{option.names[-1]}`"
        for option in command.options
        if option in described
        and option.names[0] not in _OF_ALL
        and not (command.name in ANSWERS and option.field in _OUTPUT)
    ]
    ends = [f"Also {', '.join(known)}."] if known else []
    if command.words == "query" and QUERY_SECTION not in described:
        ends += _paragraph(f"Query: {QUERY_SECTION}")
        described.add(QUERY_SECTION)
    if command.codes:
        codes = " · ".join(f"{code} {meaning}" for code, meaning in command.codes.items())
        ends.append(f"Exit codes: {codes}")
    yield from ("", *ends) if ends else ()
    if command.examples:
        yield from ("", "```sh", command.examples, "```")
    described.update(command.options)


def _paragraph(text: str) -> Iterator[str]:
    """Yield a paragraph of a help on one line, and from its first indented line on as code."""
    lines = text.split("\n")
    code = [*dropwhile(lambda line: not line.startswith("  "), lines)]
    yield _marked(" ".join(lines[: len(lines) - len(code)]))
    if code:
        language = "sh" if any("spackscope " in line for line in code) else "text"
        shown = [line[2:] if line.startswith("  ") else f"# {line}" for line in code]
        yield from ("", f"```{language}", *shown, "```")


def _marked(text: str) -> str:
    """Escape what is plain in a help, and would be markup in a page."""
    parts = re.split(r"(`[^`]*`)", text)
    return "".join(
        part if part.startswith("`") else re.sub(r"([|*<_])", r"\\\1", part) for part in parts
    )


def settings_table() -> str:
    """Return the table of what a configuration file can set in Markdown."""
    lines = ["| name | what it sets | by default | also set by |", "|---|---|---|---|"]
    for setting in SETTINGS:
        also = " ".join(f"`{name}`" for name in (setting.variable, setting.option) if name)
        name = f"`[{setting.name}]`" if setting.is_table else f"`{setting.name}`"
        lines.append(f"| {name} | {setting.sentence} | {setting.shown_default} | {also} |")
    return "\n".join(lines)


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


def rule_table() -> str:
    """Return the table of rules on running and reuse in Markdown."""
    lines = ["| rule | breaks | label |", "|---|---|---|"]
    for rule in RULES:
        breaks = " and ".join(["running"] * rule.is_run + ["reuse"] * rule.is_reuse) or "neither"
        lines.append(f"| `{rule.name}` | {breaks} | {rule.label} |")
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
    "tour": (DOCS / "tour.md", tour_list),
    "language": (DOCS / "query-language.md", language_table),
    "commands": (DOCS / "reference" / "commands.md", command_list),
    "keys": (DOCS / "reference" / "keys.md", key_table),
    "words": (DOCS / "reference" / "screen.md", word_table),
    "settings": (DOCS / "reference" / "configuration.md", settings_table),
    "columns": (DOCS / "reference" / "output.md", answer_table),
    "rules": (DOCS / "reference" / "output.md", rule_table),
    "drawing": (DOCS / "architecture.md", drawing),
    "packages": (ROOT / "CONTRIBUTING.md", package_table),
}
"""The tables by their names: the document that has it, and what builds it."""


def with_table(text: str, name: str, table: str) -> str:
    """Replace the table between the marks of its name."""
    begin, end = f"<!-- {name}: made by docs/make_docs.py -->", f"<!-- end of {name} -->"
    before, rest = text.split(begin)
    _, after = rest.split(end)
    return f"{before}{begin}\n{table}\n{end}{after}"


def with_count(text: str) -> str:
    """Replace the number of questions that the how-to answers."""
    how_to = (DOCS / "how-to.md").read_text("utf-8")
    count = len(re.findall(r"^## \d+ ", how_to, re.MULTILINE))
    return re.sub(r"\d+(?= questions)", str(count), text)


COUNTED = ROOT / "README.md", DOCS / "how-to.md", DOCS / "tour.md"
"""The pages that count the questions of the how-to."""


def main() -> None:
    """Write the tables."""
    for name, (page, build) in TABLES.items():
        page.write_text(with_table(page.read_text("utf-8"), name, build()), encoding="utf-8")
    for page in COUNTED:
        page.write_text(with_count(page.read_text("utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
