"""Put a document that comes on standard input into a file, where sources are read from."""

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
def spooled(wanted: bool) -> Iterator[str]:
    """Give the path of a file with all of standard input, for as long as the context lasts.

    The path is empty where it is not wanted. Raises Leave where nothing can come, or be kept.
    """
    if not wanted:
        yield ""
        return
    if stdio.is_terminal(sys.stdin):
        usage = "the source - is standard input: spackscope -f - < index.json"
        raise Leave(ExitCode.USAGE, usage)
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
    """Create a file that nobody has to remove; return it with a path that it is opened by.

    On Linux it has no name, and is gone with this process even where that is killed.
    """
    file = tempfile.TemporaryFile()  # noqa: SIM115
    path = f"/proc/self/fd/{file.fileno()}"
    if os.path.exists(path):
        return file, path
    file.close()
    named = tempfile.NamedTemporaryFile(prefix="spackscope-")  # noqa: SIM115
    return named, named.name
