"""A program that keeps what is copied: the user's own copy command."""

import shlex
from pathlib import Path

from tests.program import write_script


class Clipboard:
    """The copy command and the environment that names it."""

    def __init__(self, directory: Path) -> None:
        self.stored = directory / "stored"
        text = f"#!/bin/sh\ncat > {shlex.quote(str(self.stored))}\n"
        script = write_script(directory / "copy-it", text)
        self.environ = {"SPACKSCOPE_COPY": shlex.quote(str(script)), "PATH": "/usr/bin:/bin"}

    @property
    def text(self) -> str:
        """What was copied, byte for byte."""
        return self.stored.read_bytes().decode()

    def take(self) -> str | None:
        """Return what was copied since the last call; None if nothing was."""
        if not self.stored.exists():
            return None
        text = self.text
        self.stored.unlink()
        return text
