"""A tmux server of its own, with the default settings of tmux."""

import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.program import PATIENCE, environment, wait_until

SIZE = ("-x", "120", "-y", "40")


class Tmux:
    """A tmux server with one window, which runs a command."""

    def __init__(self, directory: Path, home: Path, *command: str, **variables: str) -> None:
        self.command = ["tmux", "-S", str(directory / "socket"), "-f", "/dev/null"]
        # A user whom no shell is given, as nobody, has a pane that ends at once.
        self.environ = environment(home, SHELL="/bin/sh", **variables)
        self("new-session", "-d", "-s", "main", *SIZE, shlex.join(command))

    def __call__(self, *words: str) -> str:
        return subprocess.run(
            [*self.command, *words],
            env=self.environ,
            check=True,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        ).stdout

    @property
    def screen(self) -> str:
        return self("capture-pane", "-p")

    def until(self, text: str) -> str:
        """Wait until a text is on the screen, and return the screen."""
        screens: list[str] = []

        def is_shown() -> bool:
            screens.append(self.screen)
            return text in screens[-1]

        wait_until(is_shown, message=lambda: screens[-1])
        return screens[-1]

    def type(self, *keys: str, shows: str = "") -> None:
        """Type, and wait until a text is on the screen."""
        self("send-keys", *keys)
        if shows:
            self.until(shows)


@contextmanager
def running_tmux(home: Path, *command: str, **variables: str) -> Iterator[Tmux]:
    """Run a command in a tmux server for as long as it is needed."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    # The path of a socket has to stay under about 100 bytes.
    with tempfile.TemporaryDirectory(prefix="scope") as directory:
        server = Tmux(Path(directory), home, *command, **variables)
        try:
            yield server
        finally:
            server("kill-server")
