"""Read from the help of a command what each of its options does, for shells and manual pages."""

from __future__ import annotations

import re

from spackscope.model.core.frozen import Frozen
from spackscope.tui.cli.arguments import options_of
from spackscope.tui.cli.help import BROWSE, COMMANDS

_COMMANDS, _HEADING = "commands:\n", "options:\n"
_BEGIN = re.compile(r"  (-\S.*?)(?:  +(.*))?")
_MORE = re.compile(r" {3,}(\S.*)")


def command_sentences() -> dict[str, str]:
    """Return what each command does, on one line, as the help without a command lists them."""
    _, _, commands = COMMANDS[BROWSE].partition(_COMMANDS)
    lines = commands.partition(_HEADING)[0].splitlines()
    described = (re.fullmatch(r"  ([a-z]+) {2,}(\S.*)", line) for line in lines)
    return {match[1]: match[2] for match in described if match}


class OptionHelp(Frozen):
    """An option as the help of its command describes it.

    `names` are those of the option, and `metavar` is what the help writes for its value, or an
    empty text. `sentence` is the description on one line, in lower case and without a full stop.
    """

    names: tuple[str, ...]
    metavar: str
    sentence: str


def option_help(command: str) -> list[OptionHelp]:
    """Return what the help of a command says about its options, in the order of the help.

        option_help("index")[0].sentence  # read all files again, even unchanged ones

    An option that the help does not describe is not among them.
    """
    known = {name for option in options_of(command) for name in option.names}
    described = list[OptionHelp]()
    for heading, text in _entries(COMMANDS[command]):
        words = heading.replace(",", "").split()
        names = tuple(word for word in words if word in known)
        metavar = words[-1] if words[-1] not in names else ""
        if names:
            described.append(OptionHelp(names, metavar, text))
    return described


def _entries(help_text: str) -> list[tuple[str, str]]:
    """Return the headings of the options in a help, such as `--by NAME`, each with its text."""
    _, _, options = help_text.partition(_HEADING)
    entries = list[tuple[str, str]]()
    for line in options.split("\n\n")[0].splitlines():
        if begin := _BEGIN.fullmatch(line):
            entries.append((begin[1], begin[2] or ""))
        elif (more := _MORE.fullmatch(line)) and entries:
            heading, text = entries[-1]
            entries[-1] = heading, f"{text} {more[1]}".strip()
    return entries
