"""What is written to the terminal: little, and the whole screen after all."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pyte
import pytest

from tests.program import Program, Terminal
from tests.pty.test_screens import Shown

pytestmark = pytest.mark.pty

TOUR = {
    ("j", "jjj", "2", "jj", "z", "j", "d", "\x1b", "+"): "unzoom",
    ("+", "v", "jj", "v", "?"): "run it",
    ("j", "\x1b", ":", "sort", "\x1b", "\x1b", "/", "mpi +cuda"): "mpi +cuda",
    ("\x1b", "s", "3", "j", "1"): "all packages",
}
"""Keys that open and close panes and dialogs, and a text that is on the screen after the last."""


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


def read_all(terminal: Terminal, quiet: float = 0.4) -> bytes:
    """Read until nothing was written for a while; return what was."""
    before = len(terminal.output)
    while terminal.read_more(quiet):
        pass
    return terminal.output[before:]


def cells(written: bytes, columns: int, lines: int) -> list[list[tuple[object, ...]]]:
    """Return the cells of a terminal after something was written to it."""
    screen = pyte.Screen(columns, lines)
    # pyte takes the private sequences of the Kitty keyboard protocol for text.
    pyte.ByteStream(screen).feed(re.sub(rb"\x1b\[[<>=][\d;]*[a-z]", b"", written))
    rows = ([screen.buffer[y][x] for x in range(columns)] for y in range(lines))
    return [
        [
            (cell.data, cell.bg, cell.reverse, cell.underscore)
            if cell.data == " " and not cell.reverse
            else tuple(cell)
            for cell in row
        ]
        for row in rows
    ]


def test_a_screen_drawn_step_by_step_is_the_one_that_is_drawn_at_once(program: Program) -> None:
    columns, lines = 120, 40
    with program.in_terminal(columns=columns, lines=lines) as terminal:
        shown = Shown(terminal, columns, lines)
        shown.until("py-safetensors")
        start = 0
        for keys, text in TOUR.items():
            for key in keys:
                read_all(terminal, 0.2)
                terminal.send(key)
            shown.until(text)
            by_steps = cells(terminal.output[start:], columns, lines)
            start = len(terminal.output)
            # Everything is drawn again after the program was stopped.
            terminal.process.send_signal(signal.SIGCONT)
            assert by_steps == cells(read_all(terminal), columns, lines), keys


CTRL_L = "\x0c"


def test_the_screen_is_drawn_again_when_others_wrote_to_it(program: Program) -> None:
    with program.in_terminal(columns=100, lines=30) as terminal:
        shown, start = Shown(terminal, 100, 30), 0
        for key, text in (("", "py-safetensors"), ("?", "run it")):
            terminal.send(key)
            shown.until(text)
            whole = cells(terminal.output[start:], 100, 30)
            start = len(terminal.output)
            terminal.send(CTRL_L)
            assert cells(read_all(terminal), 100, 30) == whole, text


def test_a_terminal_that_was_cut_and_is_as_large_again_is_drawn_again(program: Program) -> None:
    with program.in_terminal(columns=100, lines=30) as terminal:
        Shown(terminal, 100, 30).until("py-safetensors")
        whole = cells(terminal.output, 100, 30)
        # The last of two new sizes may be the only one that the program gets to know.
        terminal.process.send_signal(signal.SIGWINCH)
        assert cells(read_all(terminal), 100, 30) == whole


def test_nothing_is_written_while_nothing_happens(program: Program) -> None:
    with program.in_terminal(columns=120, lines=40) as terminal:
        Shown(terminal, 120, 40).until("py-safetensors")
        for keys in ("2j", "v", "/tar", "\x1b", "?"):
            terminal.send(keys)
            read_all(terminal, 0.5)
            assert read_all(terminal, 1) == b"", keys


def bytes_of_steps(terminal: Terminal, keys: str, steps: int = 3) -> list[int]:
    """Count what each step of the cursor writes after some keys; return it ascending."""
    terminal.send(keys)
    read_all(terminal)
    sizes = []
    for _ in range(steps):
        terminal.send("j")
        sizes.append(len(read_all(terminal)))
    return sorted(sizes)


@pytest.mark.parametrize(("columns", "lines"), [(80, 24), (160, 45)])
def test_a_step_of_the_cursor_writes_little(program: Program, columns: int, lines: int) -> None:
    with program.in_terminal(columns=columns, lines=lines) as terminal:
        Shown(terminal, columns, lines).until("py-safetensors")
        assert bytes_of_steps(terminal, "2jj")[-1] < 1500, "rows and detail"


def test_a_step_without_another_detail_writes_two_rows(program: Program) -> None:
    with program.in_terminal(columns=120, lines=40) as terminal:
        Shown(terminal, 120, 40).until("py-safetensors")
        assert bytes_of_steps(terminal, "2+jj")[1] < 400
