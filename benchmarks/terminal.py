"""Measure the browser in a pseudo-terminal, and a reference program in another."""

from __future__ import annotations

import signal
import statistics
import sys
import time
from collections.abc import Mapping, Sequence

import pexpect
import pyte

from benchmarks.measurements import BYTES, MEGABYTES, MILLISECONDS, Figures
from benchmarks.processes import SPACKSCOPE, Cost, peak_of

_MINIMAL = "a minimal Textual program"
_IDLE_SECONDS = 10

_BARE = """
from textual.app import App
from textual.widgets import Static

class Bare(App):
    def compose(self):
        yield Static("hello-world")

Bare().run()
"""

_DATA_TABLE = """
from textual.app import App
from textual.widgets import DataTable

class Table(App):
    def compose(self):
        yield DataTable(cursor_type="row")

    def on_mount(self):
        table = self.query_one(DataTable)
        table.add_columns("hash", "package", "version", "compiler", "os", "target", "variants")
        for row in range(500):
            table.add_row(f"hash{row:03d}", "package", "1.2", "gcc@13.2.0", "ubuntu24.04",
                          "x86_64_v3", "build_system=cmake")

Table(ansi_color=True).run()
"""


class _Program:
    """A program in a pseudo-terminal of 120x40, whose output is read as it comes."""

    def __init__(self, arguments: Sequence[str], environ: Mapping[str, str]) -> None:
        clean = {key: value for key, value in environ.items() if key not in ("TMUX", "NO_COLOR")}
        self.started = time.perf_counter()
        self._child = pexpect.spawn(
            arguments[0],
            list(arguments[1:]),
            env={**clean, "TERM": "xterm-256color"},
            dimensions=(40, 120),
            timeout=120,
        )
        # pexpect waits 50 ms before it sends anything, unless that is turned off.
        self._child.delaybeforesend = None

    def __enter__(self) -> _Program:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill(signal.SIGKILL)
        self._child.wait()
        self._child.close()

    def until(self, text: bytes) -> float:
        """Wait for a text; return the seconds since the start of the program."""
        self._child.expect_exact(text)
        return time.perf_counter() - self.started

    def send(self, keys: str) -> None:
        """Type keys."""
        self._child.send(keys)

    def read(self, seconds: float) -> bytes:
        """Return what is written first, or nothing if that takes longer."""
        try:
            data: bytes = self._child.read_nonblocking(65536, timeout=seconds)
        except (pexpect.TIMEOUT, pexpect.EOF):
            return b""
        return data

    def settle(self, quiet: float = 1.5) -> bytes:
        """Return what is written until nothing is for some seconds."""
        data = self.read(20)
        while more := self.read(quiet):
            data += more
        return data

    @property
    def peak(self) -> float:
        """The peak of memory so far, in bytes."""
        return peak_of(self._child.pid)


def _ours(source: str) -> list[str]:
    return [SPACKSCOPE, "-f", source]


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def measure_start(figures: Figures, source: str, environ: Mapping[str, str], pairs: int) -> None:
    """Compare the start until the packages are shown with that of a minimal Textual program."""
    costs = [
        (
            _start(_ours(source), environ, b"lib-0"),
            _start(_python(_BARE), environ, b"hello-world"),
        )
        for _ in range(pairs + 1)
    ][1:]
    times = [(ours.seconds, theirs.seconds) for ours, theirs in costs]
    figures.add("start to the package list", _MINIMAL, times, MILLISECONDS)
    peaks = [(ours.peak, theirs.peak) for ours, theirs in costs]
    figures.add("browser: peak of memory", _MINIMAL, peaks, MEGABYTES)


def _start(arguments: Sequence[str], environ: Mapping[str, str], text: bytes) -> Cost:
    """Start a program; its peak of memory is that until it is silent."""
    with _Program(arguments, environ) as program:
        took = program.until(text)
        program.settle()
        return Cost(took, program.peak)


_INPUT = """
from textual.app import App
from textual.widgets import Input

class Line(App):
    def compose(self):
        line = Input(compact=True)
        # A cursor that blinks is never silent.
        line.cursor_blink = False
        yield line

Line(ansi_color=True).run()
"""

_TYPED = "hdf5 mpi gcc"


def _echo(arguments: Sequence[str], environ: Mapping[str, str], keys: str) -> float:
    """Type a query slowly; return the mean seconds until a letter is shown."""
    screen = pyte.Screen(120, 40)
    stream = pyte.ByteStream(screen)
    took = 0.0
    with _Program(arguments, environ) as program:
        stream.feed(program.settle())
        program.send(keys)
        stream.feed(program.settle() if keys else b"")
        for length in range(1, len(_TYPED) + 1):
            typed = _TYPED[:length]
            started = time.perf_counter()
            program.send(typed[-1])
            while not any(line.lstrip(" ›").startswith(typed) for line in screen.display[:3]):
                stream.feed(program.read(60))
            took += time.perf_counter() - started
            end = time.perf_counter() + 0.15
            while (left := end - time.perf_counter()) > 0:
                stream.feed(program.read(left))
    return took / len(_TYPED)


def measure_echo(figures: Figures, source: str, environ: Mapping[str, str], pairs: int) -> None:
    """Compare the time until a typed letter is shown with that of a program of one Input."""
    measured = [
        (_echo(_ours(source), environ, "/"), _echo(_python(_INPUT), environ, ""))
        for _ in range(max(1, pairs // 3))
    ]
    figures.add("echo of a letter", "Textual's `Input`", measured, MILLISECONDS)


_DOWN = "\x1b[B"
_STEPS = 12
_HELD = 40
_HELD_SECONDS = 0.033


def _bytes_of_steps(arguments: Sequence[str], environ: Mapping[str, str], keys: str) -> float:
    """Return the median of the bytes that a step down sends."""
    with _Program(arguments, environ) as program:
        _press(program, keys)
        counts = []
        for _ in range(_STEPS):
            program.send(_DOWN)
            counts.append(len(program.settle(0.8)))
    return statistics.median(counts)


def _bytes_of_held_key(arguments: Sequence[str], environ: Mapping[str, str], keys: str) -> float:
    """Return the bytes for each of the steps of a key that is held for over a second."""
    count = 0
    with _Program(arguments, environ) as program:
        _press(program, keys)
        for _ in range(_HELD):
            program.send(_DOWN)
            end = time.perf_counter() + _HELD_SECONDS
            while (left := end - time.perf_counter()) > 0:
                count += len(program.read(left))
        count += len(program.settle())
    return count / _HELD


def _press(program: _Program, keys: str) -> None:
    program.settle()
    for key in keys:
        program.send(key)
        program.settle()


def measure_bytes(figures: Figures, source: str, environ: Mapping[str, str]) -> None:
    """Compare the bytes of steps of the cursor with those of a DataTable, and count idle ones."""
    theirs = _bytes_of_steps(_python(_DATA_TABLE), environ, "\t")
    steps = {
        "step of the cursor, table only": "2+j",
        "step of the cursor, with another detail": "2jj",
    }
    for name, keys in steps.items():
        ours = _bytes_of_steps(_ours(source), environ, keys)
        figures.add(name, "Textual's `DataTable`", [(ours, theirs)], BYTES)
    held = (
        _bytes_of_held_key(_ours(source), environ, "2jj"),
        _bytes_of_held_key(_python(_DATA_TABLE), environ, "\t"),
    )
    figures.add("a step of a held key", "Textual's `DataTable`", [held], BYTES)
    with _Program(_ours(source), environ) as program:
        _press(program, "2j")
        idle = len(program.read(_IDLE_SECONDS))
    figures.add(f"{_IDLE_SECONDS} s without a key", "", [(float(idle), 0.0)], BYTES)
