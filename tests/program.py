"""Run the real program, in a pipe or in a terminal.

A command runs in the process of the tests, which is fifteen times as fast as to start one.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import locale
import os
import pty
import re
import select
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import pyte
import pytest

import spackscope.model
from spackscope.tui.cli.main import main
from tests.builders.pages import SAMPLE_PAGES

COMMAND = (sys.executable, "-m", "spackscope.tui.cli.main")
GOLDEN = Path(__file__).parents[0] / "data" / "cli"
PATIENCE = 120.0
"""Seconds after which something that should happen is taken for something that does not.

Beside ten busy programs a start that takes half a second takes five.
"""

READ_AT_START = ("PYTHON", "LC_", "TMPDIR")
"""How variables begin that Python reads once, so that a process of its own needs to be started."""

_TAKE_TERMINAL = (
    "import fcntl, os, sys, termios;"
    "fcntl.ioctl(int(sys.argv[1]), termios.TIOCSCTTY, 0);"
    "os.execv(sys.argv[2], sys.argv[2:])"
)


def environment(home: Path, **changes: str) -> dict[str, str]:
    """Return an environment without settings of the user."""
    inherited = {name: os.environ[name] for name in os.environ if not name.startswith("SPACK")}
    path = inherited.get("PATH", "").split(os.pathsep)
    settings = {
        "PATH": os.pathsep.join(part for part in path if not os.path.exists(f"{part}/spack")),
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_CONFIG_DIRS": str(home / "xdg"),
        "XDG_CONFIG_HOME": str(home / "config"),
        "XDG_STATE_HOME": str(home / "state"),
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color",
    }
    if not any(name.startswith("SPACK_") for name in changes):
        settings["SPACKSCOPE_FROM"] = str(SAMPLE_PAGES)
    return inherited | settings | changes


def open_terminal(columns: int, lines: int) -> tuple[int, int]:
    """Open a terminal of a size; return the descriptors of both its ends."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    return master, slave


@contextlib.contextmanager
def _as_a_process(
    words: Sequence[str], environ: Mapping[str, str], home: Path, streams: Sequence[int]
) -> Iterator[None]:
    """Give this process what another one would be started with, and take it back."""
    names = ("argv", "stdin", "stdout", "stderr", "excepthook", "unraisablehook")
    of_sys = {name: getattr(sys, name) for name in names}
    hook, variables, directory = threading.excepthook, dict(os.environ), os.getcwd()
    language, copies = locale.setlocale(locale.LC_CTYPE), [os.dup(number) for number in range(3)]
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    try:
        with contextlib.suppress(locale.Error):
            locale.setlocale(locale.LC_CTYPE, environ["LC_ALL"])
        os.chdir(home)
        os.environ.clear()
        os.environ.update(environ)
        sys.argv = ["spackscope", *words]
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", 1, "utf-8", closefd=False)  # noqa: SIM115
        yield
        sys.stdout.flush()
    finally:
        for name, value in of_sys.items():
            setattr(sys, name, value)
        os.environ.clear()
        os.environ.update(variables)
        os.chdir(directory)
        locale.setlocale(locale.LC_CTYPE, language)
        threading.excepthook = hook
        for number, copy in enumerate(copies):
            os.dup2(copy, number)
            os.close(copy)


def _run(
    words: Sequence[str], environ: Mapping[str, str], home: Path, streams: Sequence[int]
) -> int:
    """Run the program in this process, with three descriptors as its streams."""
    with _as_a_process(words, environ, home, streams):
        try:
            return main(words)
        except SystemExit as end:
            return int(end.code or 0)


def _is_read_at_start(changes: Mapping[str, str]) -> bool:
    return any(name.startswith(READ_AT_START) for name in changes)


class Program:
    """The program with a home of its own."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def __call__(
        self,
        *words: str,
        stdin: Path | None = None,
        code: object = None,
        stdout: str | None = None,
        stderr: str | None = None,
        prints: str | tuple[str, ...] = (),
        says: str | tuple[str, ...] = (),
        **changes: str,
    ) -> subprocess.CompletedProcess[str]:
        """Run the program, with a file as its standard input or an empty one.

        Check what is given of its exit code, of all that it writes, and of what is in that.
        """
        environ, command = environment(self.home, **changes), [*COMMAND, *words]
        with (
            (stdin or Path(os.devnull)).open("rb") as file,
            tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as out,
            tempfile.TemporaryFile("w+", encoding="utf-8", newline="") as err,
        ):
            streams = [stream.fileno() for stream in (file, out, err)]
            if _is_read_at_start(changes):
                process = subprocess.Popen(
                    command, stdin=file, stdout=out, stderr=err, env=environ, cwd=self.home
                )
                returned = process.wait(PATIENCE)
            else:
                returned = _run(words, environ, self.home, streams)
            for stream in (out, err):
                stream.seek(0)
            result = subprocess.CompletedProcess(command, returned, out.read(), err.read())
        for expected, found in (
            (code, result.returncode),
            (stdout, result.stdout),
            (stderr, result.stderr),
        ):
            assert expected is None or found == expected, result
        for texts, written in ((prints, result.stdout), (says, result.stderr)):
            for text in (texts,) if isinstance(texts, str) else texts:
                assert text in written, result
        return result

    def refused(self, *words: str, code: int, **options: Any) -> str:
        """Run the program, which ends with a code and prints nothing; return its message."""
        return self(*words, code=code, stdout="", **options).stderr

    def run(
        self, *command: str | Path, variables: Mapping[str, str] | None = None, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Run any command in the home, in a process of its own."""
        return subprocess.run(
            command,
            env=environment(self.home, **(variables or {})),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            **{"cwd": self.home, **options},
        )

    def rows(self, *words: str, **changes: str) -> list[dict[str, Any]]:
        """Run a command with --json, and return the objects that it prints."""
        result = self(*words, "--json", stdin=None, **changes)
        rows: list[dict[str, Any]] = json.loads(result.stdout)
        return rows

    def write(self, name: str, text: str) -> Path:
        """Write a file in the home, and return its path."""
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def configure(self, text: str) -> Path:
        """Write the configuration of the user, and return its path."""
        return self.write("config/spackscope/config.toml", text)

    def start(self, *words: str, **changes: str) -> subprocess.Popen[str]:
        """Start the program without waiting for it."""
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
        """Run the program in a terminal; return its exit code and what it wrote."""
        if not _is_read_at_start(changes or {}):
            return self._on_terminal(words, environment(self.home, **(changes or {})), columns)
        with self.in_terminal(*words, columns=columns, changes=changes) as terminal:
            code = terminal.wait()
            return code, terminal.text.replace("\r\n", "\n")

    def _on_terminal(
        self, words: Sequence[str], environ: Mapping[str, str], columns: int
    ) -> tuple[int, str]:
        master, slave = open_terminal(columns, 40)
        output = []

        def read() -> None:
            # The terminal ends, by an error on Linux, once nobody has its other end.
            with contextlib.suppress(OSError):
                while data := os.read(master, 65536):
                    output.append(data)

        reader = threading.Thread(target=read)
        reader.start()
        try:
            code = _run(words, environ, self.home, [slave] * 3)
        finally:
            os.close(slave)
            reader.join(PATIENCE)
            os.close(master)
        return code, b"".join(output).decode().replace("\r\n", "\n")

    def cache(self) -> list[str]:
        """List the files in the cache directory."""
        cache = self.home / "cache"
        return sorted(path.name for path in cache.rglob("*") if path.is_file())


class Terminal:
    """A pseudo-terminal that controls the program in it, and what it shows."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str],
        home: Path,
        size: tuple[int, int],
        streams: Mapping[str, IO[str]],
    ) -> None:
        self._master, slave = open_terminal(*size[::-1])
        self._show(*size[::-1])
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
    def output(self) -> bytes:
        """Everything written to the terminal so far."""
        return self._output

    @property
    def text(self) -> str:
        """Everything written so far as text, without an incomplete character at the end."""
        return self._output.decode(errors="ignore")

    @property
    def tail(self) -> str:
        """The last text written to the terminal."""
        return self._output[-400:].decode(errors="replace")

    def attributes(self) -> list[object]:
        """Return the mode of the terminal."""
        return termios.tcgetattr(self._master)

    def _show(self, columns: int, lines: int) -> None:
        """Begin with an empty screen."""
        self._output, self._fed = b"", 0
        self.screen = pyte.Screen(columns, lines)
        self._stream = pyte.ByteStream(self.screen)

    @property
    def lines(self) -> list[str]:
        """What is on the screen, line by line."""
        self._stream.feed(for_pyte(self._output[self._fed :]))
        self._fed = len(self._output)
        return [line.rstrip() for line in self.screen.display]

    def until(self, *wanted: str) -> list[str]:
        """Wait until some texts are on the screen."""
        self.until_holds(lambda: all(any(t in line for line in self.lines) for t in wanted))
        return self.lines

    def until_holds(self, condition: Callable[[], object]) -> None:
        """Wait until something holds of what is on the screen."""

        def step() -> None:
            assert self.read(), "it has ended"

        wait_until(condition, step=step, message=lambda: "\n".join(self.lines))

    def at_rest(self, *wanted: str) -> list[str]:
        """Return the lines after some texts are on the screen and nothing follows."""
        self.until(*wanted)
        self.read_to_rest()
        return self.lines

    def resize(self, columns: int, lines: int) -> None:
        """Change the size of the terminal, and forget what was written before."""
        self._show(columns, lines)
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def hang_up(self) -> None:
        """Close the terminal under the program."""
        os.close(self._master)
        self._master = os.open(os.devnull, os.O_RDWR)

    def send(self, keys: str | bytes, *wanted: str) -> None:
        """Type, and wait until some texts are on the screen."""
        os.write(self._master, keys.encode() if isinstance(keys, str) else keys)
        if wanted:
            self.until(*wanted)

    def end(self, keys: str = "q", code: int = 0, *, after: str = "") -> None:
        """Type what ends the program, once a text is written, and check its exit code."""
        self.read_until(after)
        self.send(keys)
        assert self.wait() == code

    def read(self, seconds: float = 0.05) -> bool:
        """Read what is written within a moment; return whether there may be more."""
        if not select.select([self._master], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self._master, 65536)
        except OSError:
            return False
        self._output += data
        return bool(data)

    def read_more(self, seconds: float = 0.2) -> bool:
        """Read what is written within some seconds; return whether anything was."""
        before = len(self._output)
        return self.read(seconds) and len(self._output) > before

    def read_to_rest(self, seconds: float = 0.2) -> bytes:
        """Read until the program did nothing for some seconds, or ended; return what it wrote.

        Between keys less will do, after a text is typed half a second: the columns follow it then.
        It has to be seen asleep so many times: on a busy machine a moment passes unseen.
        """
        before, activity, calm = len(self._output), self._activity(), 0.0
        end = time.monotonic() + PATIENCE
        while calm < (seconds if activity else max(seconds, 0.4)) and self.process.poll() is None:
            assert time.monotonic() < end, f"it is never at rest: {self.tail!r}"
            is_written, latest = self.read_more(0.02), self._activity()
            if is_written or latest[:1] != activity[:1]:
                calm = 0
            elif True not in latest:
                calm += 0.02
            activity = latest
        return self._output[before:]

    def _activity(self) -> tuple[object, ...]:
        """Return times of the program's work, and whether it wants to work, where systems tell."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        try:
            main = Path(tasks, str(self.process.pid), "schedstat").read_text()
            # The thread that reads keys wakes up ten times a second, for less than a millisecond.
            times = {
                path.parent.name: int(path.read_text().split()[0]) // 1_000_000
                for path in tasks.glob("*/schedstat")
            }
            states = [
                path.read_text().rpartition(")")[2].split()[0] for path in tasks.glob("*/stat")
            ]
        except OSError:
            return ()
        return (main, times), not set(states) <= {"S"}

    def read_until(self, text: str) -> None:
        """Wait until a text is written."""

        def step() -> None:
            assert self.read() or text in self.tail, f"it ended without {text!r}: {self.tail!r}"

        def message() -> str:
            return f"{text!r} was not written: {self.tail!r}"

        wait_until(lambda: text in self.text, step=step, message=message)

    def wait(self) -> int:
        """Wait for the end, and return the exit code."""
        wait_until(
            lambda: self.process.poll() is not None,
            step=self.read,
            message=lambda: f"it does not end: {self.tail!r}",
        )
        while self.read(0.01) and select.select([self._master], [], [], 0)[0]:
            pass
        return self.process.returncode

    def close(self) -> None:
        """Kill the program if it still runs."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)


def link_program(directory: Path) -> Path:
    """Make a copy of the program, by links, which is imported from a directory; return it."""
    (model,) = spackscope.model.__path__
    top = Path(model).resolve().parent
    for part in ("model", "tui", "sample_data"):
        for path in (top / part).rglob("*"):
            if path.is_file() and path.suffix != ".pyc":
                link = directory / "spackscope" / path.relative_to(top)
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(path)
    return directory / "spackscope"


def write_script(path: Path, text: str) -> Path:
    """Write a program, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def edit(path: Path, old: str, new: str) -> None:
    """Replace a text that a linked file has once by another one, in a copy of the file."""
    text = path.read_text("utf-8")
    assert text.count(old) == 1, path
    path.unlink()
    path.write_text(text.replace(old, new), "utf-8")


def for_pyte(written: bytes) -> bytes:
    """Leave out the sequences of the Kitty keyboard protocol, which pyte takes for text."""
    return re.sub(rb"\x1b\[[<>=][\d;]*[a-z]", b"", written)


def repeat_for(seconds: float, step: Callable[[], object]) -> None:
    """Run steps for some seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        step()


def wait_until(
    condition: Callable[[], object],
    *,
    step: Callable[[], object] = lambda: time.sleep(0.01),
    message: Callable[[], str] = lambda: "it never became true",
) -> None:
    """Run steps until something is true; fail with a message after PATIENCE seconds."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, message()
        step()


def assert_golden(name: str, text: str) -> None:
    """Compare a text with the one that is kept; SPACKSCOPE_WRITE_GOLDEN=1 keeps this one."""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("SPACKSCOPE_WRITE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    if not path.exists():
        pytest.fail(f"there is no {path}")
    assert text == path.read_text(encoding="utf-8")
