"""The program as users run it: from a shell, in a terminal that is to be left as it was found."""

import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.builders.pages import record, write_page
from tests.program import COMMAND, Program, Terminal, repeat_for, wait_until
from tests.pty.test_signals import left_on, unchanged

pytestmark = [
    pytest.mark.pty,
    pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed"),
]


class Shell:
    """A shell in a terminal."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal, self._start = terminal, 0
        self.send, self.until = terminal.send, terminal.until
        self.until("ready 0>")

    @property
    def lines(self) -> list[str]:
        return self.terminal.lines

    @property
    def written(self) -> bytes:
        """What was written since the program was started, or since `forget`."""
        return self.terminal.output[self._start :]

    def forget(self) -> None:
        self._start = len(self.terminal.output)

    def ask(self, command: str) -> str:
        """Run a command of the shell, and return what it prints."""
        end = f"end-{uuid4().hex[:8]}"
        self.send(f"clear; {command}; echo {end[:3]}''{end[3:]}\n")
        lines = self.until(end)
        return "\n".join(lines[: next(n for n, line in enumerate(lines) if end in line)]).strip()

    def start(self, *words: str) -> None:
        self.forget()
        self.send(shlex.join([*COMMAND, *words]) + "\n")

    def modes_left_on(self) -> set[str]:
        """Name what was switched on in the terminal last, and not off again."""
        # The shell itself switches its pasting on when it is ready again.
        return left_on(self.written.decode(errors="ignore")) - {"2004"}


@pytest.fixture
def shell(program: Program) -> Iterator[Shell]:
    bash = ("/usr/bin/env", "bash", "--norc", "--noprofile", "-i")
    changes = {"PS1": "ready $?> "}
    with program.in_terminal(columns=100, lines=30, command=bash, changes=changes) as terminal:
        yield Shell(terminal)


@pytest.mark.parametrize(("end", "code"), [("\x03", 130), ("\x11", 0)], ids=["Ctrl-C", "Ctrl-Q"])
def test_the_terminal_is_left_as_it_was_found(shell: Shell, end: str, code: int) -> None:
    before = shell.ask("stty -g")
    shell.start()
    shell.until("py-safetensors")
    shell.send(end, f"ready {code}>")
    assert shell.modes_left_on() == set()
    assert shell.ask("stty -g") == before


def test_control_z_leads_to_the_shell_and_fg_back(shell: Shell) -> None:
    before = shell.ask("stty -g")
    shell.start("py-build")
    shell.until("1/11")
    shell.send("jj", "3/11")
    shell.send("\x1a", "Stopped")
    assert shell.modes_left_on() == set()
    assert shell.ask("stty -g") == before
    assert "Stopped" in shell.ask("jobs")
    shell.send("fg\n", "3/11")
    shell.send("j", "4/11")
    assert any("24 py-build" in line for line in shell.lines), "the whole screen is drawn again"
    shell.send("q", "ready 0>")
    assert shell.modes_left_on() == set()
    assert shell.ask("stty -g") == before


def test_a_program_in_the_background_waits_until_it_has_the_terminal(shell: Shell) -> None:
    shell.send(f"{shlex.join([*COMMAND, 'py-build'])} &\n")
    wait_until(lambda: "Stopped" in shell.ask("jobs"))
    assert b"\x1b[?1049h" not in shell.written
    shell.send("fg\n", "1/11")
    shell.send("q", "ready 0>")
    assert shell.modes_left_on() == set()


def test_the_screen_follows_the_size_of_the_terminal(shell: Shell) -> None:
    shell.start("py-build")
    shell.until("1/11")
    for columns, lines in ((50, 20), (140, 40), (20, 5), (100, 30)):
        shell.terminal.resize(columns, lines)
        # The last line is drawn anew at its end, wherever the one before was cut.
        shell.terminal.until_holds(lambda: shell.lines[-1].endswith("1/11"))
    shell.until("pfqg2xi")
    shell.send("q", "ready 0>")


def test_thousands_of_moves_typed_ahead_are_worked_off_together(
    shell: Shell, tmp_path: Path
) -> None:
    page = write_page(tmp_path / "develop" / "zlib", [record(n) for n in range(3000)])
    shell.start("-f", str(page), "zlib")
    shell.until("3,000 zlib")
    shell.send("z", "1/3,000")
    shell.forget()
    # No letter of it is in a path: a row that matches would be the first one.
    shell.send("j" * 2000 + "/ñß")
    shell.terminal.until_holds(lambda: "zlib ñß" in shell.lines[1])
    # A terminal far away would have to be sent each of the rows on the way.
    assert len(shell.written) < 2000 * 30
    shell.until("2,001/3,000")
    shell.send("\x1b")
    shell.terminal.until_holds(lambda: "ñ" not in shell.lines[1])
    shell.send("q", "ready 0>")


def test_a_sequence_that_comes_in_pieces_does_no_harm(shell: Shell) -> None:
    shell.start("py-build")
    shell.until("1/11")
    for piece in ("\x1b", "[", "B", "\x1b[", "B", "\x1b[B"):
        shell.send(piece)
        repeat_for(0.25, shell.terminal.read)
    shell.until("? help")
    shell.send("q", "ready 0>")


def test_bytes_that_are_no_keys_do_no_harm(program: Program) -> None:
    with unchanged(program, "py-build") as terminal:
        terminal.read_until("1/11")
        for junk in (
            b"\xff\xfe\x80 \xe9",
            b"\x1b[<35;10;10M\x1b[<0;500;500M\x1b[<0;500;500m",
            b"\x1b[M \xf0\xf1\x1b[M#!!",
            b"\x1b[?1;2c\x1b[?2026;2$y",
            b"\x1b[99~\x1b[57399u\x1b[I\x1b[O",
            b"\x00",
        ):
            terminal.send(junk)
            terminal.read()
        terminal.send("\x1b")
        # What follows Escape at once could be a sequence with it.
        terminal.read_to_rest()
        terminal.end("\x03", 130)
