"""What is written to the terminal: little, and the whole screen after all."""

import signal

import pyte
import pytest

from tests.examples import cases, some_and_all
from tests.program import Program, Terminal, for_pyte

pytestmark = pytest.mark.pty

ESCAPE = "\x1b"
TOUR = {
    ("j", "jjj", "2", "jj", "z", "j", "d", ESCAPE, "+"): "unzoom",
    ("+", "v", "jj"): "only this",
    ("v", "?"): "run it",
    ("j", ESCAPE, ":", "sort", ESCAPE, ESCAPE, "/", "mpi +cuda"): "mpi +cuda",
    (ESCAPE, "s", "3", "j", "1"): "all packages",
}
"""Keys that open and close panes and dialogs, and a text that is on the screen after the last."""

BLINK = 0.5
"""Seconds after which a cursor that blinks is drawn again: nothing else is as slow."""


def cells(written: bytes, columns: int, lines: int) -> list[list[tuple[object, ...]]]:
    """Return the cells of a terminal after something was written to it."""
    screen = pyte.Screen(columns, lines)
    pyte.ByteStream(screen).feed(for_pyte(written))
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


@some_and_all(step=2)
def test_a_screen_drawn_step_by_step_is_the_one_that_is_drawn_at_once(
    program: Program, step: int
) -> None:
    columns, lines = 120, 40
    with program.in_terminal(columns=columns, lines=lines) as terminal:
        terminal.at_rest("py-safetensors")
        start = 0
        for keys, text in [*TOUR.items()][: len(TOUR) // step]:
            for key in keys:
                terminal.send(key)
                # What follows Escape at once could be a sequence with it.
                terminal.read_to_rest(0.15 if key == ESCAPE else 0.05)
            terminal.until(text)
            terminal.read_to_rest(0.5 if text in keys else 0.2)
            by_steps = cells(terminal.output[start:], columns, lines)
            start = len(terminal.output)
            # Everything is drawn again after the program was stopped.
            terminal.process.send_signal(signal.SIGCONT)
            assert by_steps == cells(terminal.read_to_rest(), columns, lines), keys
        assert not terminal.read_more(1.2 * BLINK), "nothing happens by itself"


CTRL_L = "\x0c"


def test_the_screen_is_drawn_again_where_something_else_may_be_on_it(program: Program) -> None:
    with program.in_terminal(columns=100, lines=30) as terminal:
        start = 0
        for key, text in (("j", "py-safetensors"), ("?", "run it")):
            terminal.send(key)
            terminal.at_rest(text)
            whole = cells(terminal.output[start:], 100, 30)
            terminal.send(CTRL_L)
            assert cells(terminal.read_to_rest(), 100, 30) == whole, f"others wrote to {text}"
            # The terminal was cut, and is as large again. The last of two new sizes may be the
            # only one that the program gets to know.
            start = len(terminal.output)
            terminal.process.send_signal(signal.SIGWINCH)
            assert cells(terminal.read_to_rest(), 100, 30) == whole, f"{text} was cut"


def bytes_of_steps(terminal: Terminal, keys: str) -> list[int]:
    """Count what each of three steps of the cursor writes after some keys; return it ascending."""
    terminal.send(keys)
    terminal.read_to_rest()
    sizes = []
    for _ in range(3):
        terminal.send("j")
        sizes.append(len(terminal.read_to_rest()))
    return sorted(sizes)


@cases(("columns", "lines"), [(80, 24)], more=[(160, 45)])
def test_a_step_of_the_cursor_writes_little(program: Program, columns: int, lines: int) -> None:
    with program.in_terminal(columns=columns, lines=lines) as terminal:
        terminal.until("py-safetensors")
        assert bytes_of_steps(terminal, "2jj")[-1] < 1500, "rows and detail"
        assert bytes_of_steps(terminal, "+jj")[1] < 2 * (columns + 80), "two rows"


def test_the_cursor_of_the_terminal_is_where_the_user_is(program: Program) -> None:
    with program.in_terminal(columns=100, lines=30) as terminal:
        terminal.at_rest("py-safetensors")
        for keys, text in (
            ("1j", "┃ py-build"),
            ("2", "┃▸4    1.2.2"),
            ("j", "┃▸2    1.2.2"),
            ("33", "┤ jsiqnlg"),
            ("2v", "┃ 1.2.2"),
            ("/gcc", " gcc "),
            ("\r", "┃ gcc@11.4.0"),
            ("\r", "┃▸3"),
            ("?", "›"),
        ):
            terminal.send(keys)
            terminal.read_to_rest(0.5 if keys == "/gcc" else 0.2)
            lines = terminal.lines
            assert text in lines[terminal.screen.cursor.y], (keys, lines)
