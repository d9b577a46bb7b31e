"""Measure the browser in a pseudo-terminal, and a reference program in another."""

from __future__ import annotations

import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import pexpect
import pyte

from benchmarks.measurements import BYTES, MEGABYTES, MILLISECONDS, Figures
from benchmarks.processes import SPACKSCOPE, peak_of

_MINIMAL, _OWN = "a minimal Textual program", "Textual's own list, table and input"
_IDLE_SECONDS = 10
_SETTLED = 0.7
"""Seconds in which nothing is written once all is shown."""

_BARE = """
from textual.app import App
from textual.widgets import Input, Static

class Bare(App):
    def compose(self):
        line = Input()
        # A cursor that blinks is never silent.
        line.cursor_blink = False
        yield line
        yield Static("hello-world")

Bare().run()
"""

_OWN_WIDGETS = """
from textual.app import App
from textual.containers import Horizontal, Vertical
from textual.widgets import DataTable, Footer, Input, OptionList, Static

class Panes(App):
    def compose(self):
        line = Input(compact=True)
        # A cursor that blinks is never silent.
        line.cursor_blink = False
        yield line
        with Horizontal():
            yield OptionList(*(f"lib-{number:05d}" for number in range(500)))
            with Vertical():
                yield DataTable(cursor_type="row")
                yield Static("detail")
        yield Footer()

    def on_mount(self):
        table = self.query_one(DataTable)
        table.add_columns("package", "version", "compiler", "os", "target", "hash", "variants")
        for row in range(500):
            table.add_row(f"lib-{row:05d}", "1.2", "gcc@13.2.0", "ubuntu24.04", "x86_64_v3",
                          f"hash{row:03d}", "build_system=cmake")

Panes(ansi_color=True).run()
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

    def record(self, quiet: float) -> list[tuple[float, bytes]]:
        """Return what is written until nothing is, with the seconds since the start of each."""
        written, wait = list[tuple[float, bytes]](), 20.0
        while data := self.read(wait):
            written.append((time.perf_counter() - self.started, data))
            wait = quiet
        return written

    @property
    def peak(self) -> float:
        """The peak of memory so far, in bytes."""
        return peak_of(self._child.pid)


def _ours(source: str) -> list[str]:
    return [SPACKSCOPE, "-f", source]


def _python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


class _Start(NamedTuple):
    """A start: seconds until rows are shown, and until all is; and its peak of memory in bytes."""

    rows: float
    whole: float
    peak: float


def measure_start(
    figures: Figures, source: str, environ: Mapping[str, str], pairs: int, what: str = ""
) -> None:
    """Compare a start, until rows and until all is shown, with starts of Textual programs.

    `what` says which source that is, unless it is the pages of the column.
    """
    ours, row = list[_Start](), _first_row(source, environ)
    references: dict[str, list[_Start]] = {_MINIMAL: [], _OWN: []}
    for _ in range(pairs + 1):
        ours.append(_start(_ours(source), environ, row))
        references[_MINIMAL].append(_start(_python(_BARE), environ, "hello-world"))
        references[_OWN].append(_start(_python(_OWN_WIDGETS), environ, "gcc@13.2.0"))
    for reference, theirs in references.items():
        # The first starts warm up.
        both = list(zip(ours, theirs, strict=True))[1:]
        shown = [(our.rows, their.rows) for our, their in both]
        figures.add(f"start to the first rows{what}", reference, shown, MILLISECONDS)
        # What is shown first by a reference is all.
        whole = [(our.whole, their.rows) for our, their in both]
        figures.add(f"start until all is shown{what}", reference, whole, MILLISECONDS)
        if reference == _MINIMAL and not what:
            peaks = [(our.peak, their.peak) for our, their in both]
            figures.add("browser: peak of memory", reference, peaks, MEGABYTES)


def measure_start_peer(
    figures: Figures, source: str, lines: Path, environ: Mapping[str, str], pairs: int
) -> None:
    """Compare a start with that of VisiData on one line a spec, where that is installed."""
    if shutil.which("vd") is None:
        print("vd is not installed: not compared")
        return
    viewed, row = ["vd", "--filetype=txt", str(lines)], _first_row(source, environ)
    measured = [
        (_start(_ours(source), environ, row).rows, _start(viewed, environ, "lib-0").rows)
        for _ in range(pairs + 1)
    ]
    figures.add("start to the first rows", "`vd` on one line a spec", measured[1:], MILLISECONDS)


def _first_row(source: str, environ: Mapping[str, str]) -> str:
    """Return the short hash in the first row of the browser, which `find` lists first."""
    words = ["find", "-f", source, "--hashes", "--limit", "1"]
    found = subprocess.run([SPACKSCOPE, *words], env=dict(environ), capture_output=True, text=True)
    return found.stdout[:7]


def _start(arguments: Sequence[str], environ: Mapping[str, str], text: str) -> _Start:
    """Start a program until it is silent; rows are shown once a text is on the screen."""
    screen = pyte.Screen(120, 40)
    stream = pyte.ByteStream(screen)
    rows = last = 0.0
    with _Program(arguments, environ) as program:
        # A slow machine may pause before it shows rows.
        while not rows and (written := program.record(_SETTLED)):
            for last, data in written:
                stream.feed(data)
                if not rows and any(text in line for line in screen.display):
                    rows = last
        peak = program.peak
    if not rows:
        raise ChildProcessError(f"{arguments[0]} never showed {text}: {arguments}")
    return _Start(rows, last, peak)


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
