"""Measure the program in a pseudo-terminal, and a reference program in another."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Mapping, Sequence

import pexpect
import pyte

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


def _spawn(arguments: Sequence[str], environ: Mapping[str, str]) -> pexpect.spawn[bytes]:
    clean = {key: value for key, value in environ.items() if key not in ("TMUX", "NO_COLOR")}
    child = pexpect.spawn(
        sys.executable,
        list(arguments),
        env={**clean, "TERM": "xterm-256color"},
        dimensions=(40, 120),
        timeout=60,
    )
    # pexpect waits 50 ms before it sends anything, unless that is turned off.
    child.delaybeforesend = None
    return child


def _until(arguments: Sequence[str], environ: Mapping[str, str], text: bytes) -> float:
    started = time.perf_counter()
    child = _spawn(arguments, environ)
    child.expect_exact(text)
    took = time.perf_counter() - started
    child.close(force=True)
    return took


def starts(source: str, environ: Mapping[str, str], many: int) -> list[tuple[float, float]]:
    """Time starts until the packages are on the screen, and those of a minimal Textual program."""
    ours = ["-m", "spackscope.tui.cli.main", "-f", source]
    return [
        (
            _until(ours, environ, b"lib-0"),
            _until(["-c", _BARE], environ, b"hello-world"),
        )
        for _ in range(many + 1)
    ][1:]


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
    child = _spawn(arguments, environ)
    screen = pyte.Screen(120, 40)
    stream = pyte.ByteStream(screen)
    stream.feed(_drain(child))
    child.send(keys)
    stream.feed(_drain(child))
    took = 0.0
    for length in range(1, len(_TYPED) + 1):
        typed = _TYPED[:length]
        started = time.perf_counter()
        child.send(typed[-1])
        while not any(line.lstrip(" ›").startswith(typed) for line in screen.display[:2]):
            stream.feed(child.read_nonblocking(65536, timeout=60))
        took += time.perf_counter() - started
        end = time.perf_counter() + 0.15
        while (left := end - time.perf_counter()) > 0:
            with contextlib.suppress(pexpect.TIMEOUT):
                stream.feed(child.read_nonblocking(65536, timeout=left))
    child.close(force=True)
    return took / len(_TYPED)


def echoes(source: str, environ: Mapping[str, str], many: int) -> list[tuple[float, float]]:
    """Time until typed letters are shown, and that of a Textual program of one Input."""
    ours = ["-m", "spackscope.tui.cli.main", "-f", source]
    return [
        (_echo(ours, environ, "/"), _echo(["-c", _INPUT], environ, ""))
        for _ in range(max(1, many // 3))
    ]


def _bytes_of_step(arguments: Sequence[str], environ: Mapping[str, str], keys: str) -> float:
    child = _spawn(arguments, environ)
    _drain(child)
    for key in keys:
        child.send(key)
        _drain(child)
    child.send("\x1b[B")
    count = len(_drain(child))
    child.close(force=True)
    return float(count)


def _drain(child: pexpect.spawn[bytes]) -> bytes:
    """Read until the program has written nothing for a while."""
    read = b""
    try:
        while True:
            read += child.read_nonblocking(65536, timeout=1.5 if read else 20)
    except (pexpect.TIMEOUT, pexpect.EOF):
        return read


def steps(source: str, environ: Mapping[str, str], many: int) -> list[tuple[float, float]]:
    """Count the bytes of one step of the cursor, and those of a DataTable."""
    ours = ["-m", "spackscope.tui.cli.main", "-f", source]
    return [
        (
            _bytes_of_step(ours, environ, "2jj"),
            _bytes_of_step(["-c", _DATA_TABLE], environ, "\t"),
        )
        for _ in range(max(1, many // 3))
    ]
