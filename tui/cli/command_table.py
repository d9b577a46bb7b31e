"""The table of commands: a module with an entry, `COMMAND`, for each.

A module of `model/answers` has a function `answer`, whose sheet is printed; a module of `commands`
has a function `run`. A module is imported when its command is asked for: no command needs another.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any

from spackscope.model.core.commands import BROWSE, GROUPS, Command


def _names(package: str) -> list[str]:
    # Not by pkgutil, which imports inspect: half as much again as a `find`.
    (folder,) = import_module(package).__path__
    files = [name for name in os.listdir(folder) if name.endswith(".py")]
    return [name.removesuffix(".py") for name in files if name != "__init__.py"]


_OF_ANSWERS, _OF_OTHERS = "spackscope.model.answers", "spackscope.tui.cli.commands"
ANSWERS = frozenset(_names(_OF_ANSWERS))
"""The names of the commands that print an answer."""


class _Commands(Mapping[str, Command]):
    """The entries of the commands by their names, in the order of the alphabet."""

    def __init__(self) -> None:
        self._names = sorted([*ANSWERS, *_names(_OF_OTHERS)])

    def __getitem__(self, name: str) -> Command:
        if name not in self._names:
            raise KeyError(name)
        command: Command = module_of(name).COMMAND
        return command

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


COMMANDS = _Commands()


def module_of(name: str) -> Any:
    """Import the module of a command."""
    return import_module(f"{_OF_ANSWERS if name in ANSWERS else _OF_OTHERS}.{name}")


def listed() -> list[Command]:
    """Return the commands that the help lists, by their groups."""
    commands = [each for each in COMMANDS.values() if each.summary and each.name != BROWSE]
    return sorted(commands, key=lambda command: GROUPS.index(command.group))


def with_help() -> list[str]:
    """Return the names of the commands that have a help of their own."""
    return [name for name, command in COMMANDS.items() if command.description]
