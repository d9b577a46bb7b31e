"""Where the value of a setting comes from, and what is wrong with one."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.redaction import shown_url, without_secrets
from spackscope.model.core.text import clean
from spackscope.tui.process.exit_codes import ExitCode, Leave

_MAX_PRINTED = 10
"""Mistakes that are printed before a command ends."""


class Origin(Frozen):
    """A file and a line of it, counted from 1, or where else a value comes from.

    `name` is the path of the file, the name of a variable, or `command line`. Without a `line` the
    value is in no file, or it is the file as a whole that is meant.
    """

    name: str
    line: int = 0

    def __str__(self) -> str:
        # A variable that is to name a file may hold a URL with a password.
        name = shown_url(self.name)
        return clean(f"{name}:{self.line}" if self.line else name)


DEFAULT = Origin("default")
COMMAND_LINE = Origin("command line")


class Mistake(Frozen):
    """What is wrong in a configuration file, and where."""

    origin: Origin
    sentence: str

    def __str__(self) -> str:
        # A name or a value may be a URL with a password.
        return f"{self.origin}: {clean(without_secrets(self.sentence))}"


class WrongSettings(Leave):
    """End a command because of mistakes in configuration files; each is printed with its place."""

    def __init__(self, mistakes: Sequence[Mistake]) -> None:
        rest = len(mistakes) - _MAX_PRINTED
        more = [f"and {rest:,} more; `spackscope config --check` lists all"] if rest > 0 else []
        super().__init__(ExitCode.USAGE, *map(str, mistakes[:_MAX_PRINTED]), *more)
        self.mistakes = tuple(mistakes)
