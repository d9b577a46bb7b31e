"""Name the exit codes of the program, which scripts rely on."""

from __future__ import annotations

from enum import IntEnum

from spackscope.model.core.errors import SpackscopeError


class ExitCode(IntEnum):
    """Tell how a command ended; a signal other than Ctrl-C gives 128 and its number, as usual."""

    FOUND = 0
    NOTHING = 1
    """No spec matches; what is wrong with nothing but the question."""
    USAGE = 2
    """The command line, the query or the place it is used in is not right."""
    UNREADABLE = 3
    """A source cannot be read, or the output cannot be written."""
    UNEXPECTED = 70
    """A mistake in the program; EX_SOFTWARE of sysexits.h."""
    INTERRUPTED = 130
    """Ctrl-C, or a browser that was left without the choice it was opened for."""


class Leave(SpackscopeError):
    """End a command early with an exit code, and with lines to say on stderr."""

    def __init__(self, code: ExitCode, *lines: str) -> None:
        super().__init__(*lines)
        self.code = code
        self.lines = lines
