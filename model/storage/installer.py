"""Name the command that adds a library to the Python that runs the program."""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from shlex import quote


def how_to_install(library: str) -> str:
    """Return a library with the command of the installer that made this environment.

    pipx and uv leave a sign in theirs. Where nobody knows the installer, the Python is named that
    lacks the library: the single file finds there what it does not contain.
    """
    prefix = sys.prefix
    if os.path.exists(f"{prefix}/pipx_metadata.json"):
        return f"{library}: pipx inject {quote(os.path.basename(prefix))} {library}"
    if prefix == sys.base_prefix:
        return f"{library} for {sys.executable}"
    with (
        suppress(OSError),
        open(f"{prefix}/pyvenv.cfg", encoding="utf-8", errors="replace") as file,
    ):
        if re.search("^uv = ", file.read(2**16), re.MULTILINE):
            return f"{library}: uv pip install --python {quote(prefix)} {library}"
    return f"{library}: {quote(f'{prefix}/bin/python')} -m pip install {library}"
