"""Where the value of a setting comes from, and what is wrong with one."""

from __future__ import annotations

from collections.abc import Iterable

from spackscope.model.core.errors import SpackscopeError
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import clean


class Origin(Frozen):
    """A file and a line of it, counted from 1, or where else a value comes from.

    `name` is the path of the file, the name of a variable, or `command line`. Without a `line` the
    value is in no file, or it is the file as a whole that is meant.
    """

    name: str
    line: int = 0

    def __str__(self) -> str:
        return clean(f"{self.name}:{self.line}" if self.line else self.name)


DEFAULT = Origin("default")
COMMAND_LINE = Origin("command line")


class Mistake(Frozen):
    """What is wrong in a configuration file, and where."""

    origin: Origin
    sentence: str

    def __str__(self) -> str:
        return f"{self.origin}: {clean(self.sentence)}"


class WrongSettings(SpackscopeError):
    """The configuration has mistakes, each with its place."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("; ".join(map(str, self.mistakes)))
