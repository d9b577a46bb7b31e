"""The process around the program: streams, signals, exit codes, crashes."""

from __future__ import annotations

from enum import IntEnum

from spackscope.model.core.errors import SpackscopeError


class ExitCode(IntEnum):
    """Exit codes, on which scripts rely; a signal gives 128 and its number, as usual."""

    FOUND = 0
    NOTHING = 1
    """No spec matches."""
    NOT_GOOD = 1
    """An answer found something missing, wrong, different, or there twice."""
    USAGE = 2
    """The command line or the query is wrong, or there is no terminal."""
    UNREADABLE = 3
    """A source cannot be read, or the output cannot be written."""
    UNEXPECTED = 70
    """A bug; EX_SOFTWARE of sysexits.h."""
    INTERRUPTED = 130
    """Ctrl-C, or `pick` without a choice."""


class Leave(SpackscopeError):
    """End a command early with an exit code and lines to print on stderr."""

    def __init__(self, code: ExitCode, *lines: str) -> None:
        super().__init__(*lines)
        self.code, self.lines = code, lines
