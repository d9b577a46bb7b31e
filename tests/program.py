"""Run the real program, in a pipe or in a terminal."""

from __future__ import annotations

import atexit
import contextlib
import fcntl
import functools
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import pytest

COMMAND = (sys.executable, "-m", "spackscope.tui.cli.main")
GOLDEN = Path(__file__).parents[0] / "data" / "cli"
PATIENCE = 30.0

_TAKE_TERMINAL = (
    "import fcntl, os, sys, termios;"
    "fcntl.ioctl(int(sys.argv[1]), termios.TIOCSCTTY, 0);"
    "os.execv(sys.argv[2], sys.argv[2:])"
)


def environment(home: Path, **changes: str) -> dict[str, str]:
    """Make an environment in which nothing of the user's own has a say."""
    ours = ("NO_COLOR", "COLUMNS", "LINES", "PYTHONUNBUFFERED", "TMUX")
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ours and not name.startswith("SPACK")
    }
    path = kept.get("PATH", "").split(os.pathsep)
    settings = {
        "PATH": os.pathsep.join(part for part in path if not Path(part, "spack").exists()),
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_STATE_HOME": str(home / "state"),
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color",
    }
    return kept | settings | changes


class ProgramServer:
    """The process that runs the program in its forks."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("program_server.py"))],
            env=environment(Path("/")),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            encoding="utf-8",
            start_new_session=True,
        )
        atexit.register(self.end)

    def end(self) -> None:
        """End the process, and what runs in its forks."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()

    def run(
        self, words: Sequence[str], environ: Mapping[str, str], home: Path, stdin: Path
    ) -> subprocess.CompletedProcess[str]:
        """Run the program to its end."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        with tempfile.TemporaryDirectory() as directory:
            stdout, stderr = Path(directory, "stdout"), Path(directory, "stderr")
            for path in (stdout, stderr):
                path.touch()
            streams = [str(path) for path in (stdin, stdout, stderr)]
            request = {
                "words": words,
                "environ": environ,
                "directory": str(home),
                "streams": streams,
            }
            print(json.dumps(request), file=self.process.stdin, flush=True)
            if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
                program_server.cache_clear()
                self.end()
                raise subprocess.TimeoutExpired([*COMMAND, *words], PATIENCE)
            code = int(self.process.stdout.readline())
            return subprocess.CompletedProcess(
                [*COMMAND, *words], code, stdout.read_text("utf-8"), stderr.read_text("utf-8")
            )


@functools.cache
def program_server() -> ProgramServer:
    """Start the server, once in each process of the tests."""
    return ProgramServer()


class Program:
    """The program with a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def __call__(
        self, *words: str, given: Path | None = None, **changes: str
    ) -> subprocess.CompletedProcess[str]:
        """Run the program, with a file as its standard input if one is `given`."""
        environ, stdin = environment(self.home, **changes), given or Path(os.devnull)
        if not any(name.startswith("PYTHON") for name in changes):
            return program_server().run(words, environ, self.home, stdin)
        # Python reads these variables when it starts.
        with stdin.open("rb") as file:
            return subprocess.run(
                [*COMMAND, *words],
                env=environ,
                cwd=self.home,
                stdin=file,
                capture_output=True,
                encoding="utf-8",
                timeout=PATIENCE,
            )

    def start(self, *words: str, **changes: str) -> subprocess.Popen[str]:
        """Start the program and do not wait for it."""
        return subprocess.Popen(
            [*COMMAND, *words],
            env=environment(self.home, **changes),
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    @contextlib.contextmanager
    def in_terminal(
        self,
        *words: str,
        columns: int = 100,
        lines: int = 40,
        streams: Mapping[str, IO[str]] | None = None,
        changes: Mapping[str, str] | None = None,
        command: Sequence[str] = COMMAND,
    ) -> Iterator[Terminal]:
        """Start the program in a terminal; `streams` names those that are something else."""
        terminal = Terminal(
            [*command, *words],
            environment(self.home, **(changes or {})),
            self.home,
            (lines, columns),
            streams or {},
        )
        try:
            yield terminal
        finally:
            terminal.close()

    def on_terminal(
        self, *words: str, columns: int = 100, changes: Mapping[str, str] | None = None
    ) -> tuple[int, str]:
        """Run the program in a terminal; give its exit code and what the terminal got."""
        with self.in_terminal(*words, columns=columns, changes=changes) as terminal:
            code = terminal.wait()
            return code, terminal.text.replace("\r\n", "\n")

    def cache(self) -> list[str]:
        """List the files in the cache directory."""
        cache = self.home / "cache"
        return sorted(path.name for path in cache.rglob("*") if path.is_file())


class Terminal:
    """A pseudo-terminal that controls the program in it."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        home: Path,
        size: tuple[int, int],
        streams: Mapping[str, IO[str]],
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        self._got = b""
        # The program gets the terminal from a process of its own: forking here, where pytest
        # may run threads, is what Python warns of.
        start = [sys.executable, "-S", "-c", _TAKE_TERMINAL, str(slave), *command]
        self.process = subprocess.Popen(
            start,
            env=dict(env),
            cwd=home,
            start_new_session=True,
            pass_fds=(slave,),
            stdin=streams.get("stdin", slave),
            stdout=streams.get("stdout", slave),
            stderr=streams.get("stderr", slave),
        )
        os.close(slave)

    @property
    def got(self) -> bytes:
        """Give all that the terminal got so far."""
        return self._got

    @property
    def text(self) -> str:
        """Give all that the terminal got so far as text; a character cut in two waits."""
        return self._got.decode(errors="ignore")

    @property
    def end(self) -> str:
        """Give the last of what the terminal got."""
        return self._got[-400:].decode(errors="replace")

    def attributes(self) -> list[object]:
        """Give the mode of the terminal."""
        return termios.tcgetattr(self._master)

    def hang_up(self) -> None:
        """Close the terminal under the program."""
        os.close(self._master)
        self._master = os.open(os.devnull, os.O_RDWR)

    def send(self, keys: str) -> None:
        """Type."""
        os.write(self._master, keys.encode())

    def read(self, seconds: float = 0.05) -> bool:
        """Take what comes within a moment; tell whether there may be more."""
        if not select.select([self._master], [], [], seconds)[0]:
            return True
        try:
            got = os.read(self._master, 65536)
        except OSError:
            return False
        self._got += got
        return bool(got)

    def read_more(self, seconds: float = 0.2) -> bool:
        """Take what comes within a while; tell whether anything came."""
        before = len(self._got)
        return self.read(seconds) and len(self._got) > before

    def read_until(self, text: str) -> None:
        """Wait until the terminal got a text."""
        deadline = time.monotonic() + PATIENCE
        while text not in self._got.decode(errors="ignore"):
            assert time.monotonic() < deadline, f"{text!r} never came: {self.end!r}"
            assert self.read() or text in self.end, f"it ended without {text!r}: {self.end!r}"

    def wait(self) -> int:
        """Wait for the end; give the exit code."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, f"it does not end: {self.end!r}"
            self.read()
        while self.read(0.01) and select.select([self._master], [], [], 0)[0]:
            pass
        return self.process.returncode

    def close(self) -> None:
        """End what may still run."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)


def wait_for(condition: Any) -> None:
    """Wait until something is true."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never came true"
        time.sleep(0.005)


def assert_golden(name: str, text: str) -> None:
    """Compare a text with the one that is kept; SPACKSCOPE_WRITE_GOLDEN=1 keeps this one."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("SPACKSCOPE_WRITE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if not path.exists():
        pytest.fail(f"there is no {path}")
    assert text == path.read_text(encoding="utf-8")
