"""Split the help of a command, which is written for a terminal, into its parts."""

from __future__ import annotations

import re

from spackscope.model.core.frozen import Frozen
from spackscope.tui.cli.help import COMMANDS

_HEADING = re.compile(r"([a-z ]+):\n")
_USAGE = "usage: "


class Paragraph(Frozen):
    """Lines to be filled, or `literal` ones, which are printed as they are."""

    lines: tuple[str, ...]
    is_literal: bool = False


class CommandHelp(Frozen):
    """The help of a command.

    `usages` are its forms, each on one line, `paragraphs` say what it does, and `sections` have
    the lines under their headings, such as `examples`, without indentation.
    """

    usages: tuple[str, ...]
    paragraphs: tuple[Paragraph, ...]
    sections: dict[str, tuple[str, ...]]


def command_help(command: str) -> CommandHelp:
    """Return the parts of the help of a command.

    command_help("index").usages  # ("spackscope index [-f SOURCE]... [--rebuild]",)
    """
    usage, *blocks = COMMANDS[command].rstrip("\n").split("\n\n")
    paragraphs, sections = list[Paragraph](), dict[str, tuple[str, ...]]()
    for block in blocks:
        if heading := _HEADING.match(block):
            lines = block[heading.end() :].split("\n")
            sections[heading[1]] = tuple(line.removeprefix("  ") for line in lines)
        else:
            paragraphs += _paragraphs(block)
    return CommandHelp(_usages(usage), tuple(paragraphs), sections)


def _usages(text: str) -> tuple[str, ...]:
    """Return the forms of a usage; what continues one is indented further."""
    usages = list[str]()
    for line in text.removeprefix(_USAGE).split("\n"):
        if line.strip().startswith("spackscope"):
            usages.append(line.strip())
        else:
            usages[-1] += f" {line.strip()}"
    return tuple(usages)


def _paragraphs(block: str) -> list[Paragraph]:
    """Return what is filled and what is literal in a block; the latter is indented."""
    paragraphs = list[Paragraph]()
    for line in block.split("\n"):
        is_literal = line.startswith("  ")
        continues = paragraphs and paragraphs[-1].is_literal is is_literal
        lines = paragraphs.pop().lines if continues else ()
        paragraphs.append(Paragraph((*lines, line.removeprefix("  ")), is_literal))
    return paragraphs
