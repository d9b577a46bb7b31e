"""Copy standard input to a file, from which the source `-` is read."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import IO

from spackscope.model.core.bounded_files import copy_stream
from spackscope.tui.process import stdio
from spackscope.tui.process.exit_codes import ExitCode, Leave


@contextlib.contextmanager
def copy_stdin() -> Iterator[str]:
    """Copy standard input to a file that exists as long as the context; return its path.

    Raises Leave where standard input is a terminal, or cannot be copied.
    """
    if stdio.is_terminal(sys.stdin):
        message = "the source - reads standard input: spackscope -f - < index.json"
        raise Leave(ExitCode.USAGE, message)
    with contextlib.ExitStack() as stack:
        try:
            file, path = _temporary_file()
            stack.enter_context(file)
            copy_stream(sys.stdin.buffer, file)
            file.flush()
        except OSError as error:
            reason = error.strerror or error
            raise Leave(ExitCode.UNREADABLE, f"standard input cannot be read: {reason}") from None
        yield path


def _temporary_file() -> tuple[IO[bytes], str]:
    """Create a file that is removed when it is closed; return it with a path to open it by.

    On Linux it has no name, and disappears with this process even where that is killed.
    """
    file = tempfile.TemporaryFile()  # noqa: SIM115
    path = f"/proc/self/fd/{file.fileno()}"
    if os.path.exists(path):
        return file, path
    file.close()
    named = tempfile.NamedTemporaryFile(prefix="spackscope-")  # noqa: SIM115
    return named, named.name
