import os
import re
from pathlib import Path

import pyte
import pytest

from tests.builders.spack import SpackRoot
from tests.examples import cases
from tests.program import COMMAND, Program, Terminal, for_pyte

pytestmark = pytest.mark.pty

CHOSEN = "pfqg2xienllgkr2rb23fugktb23zwwbr"
LEAVE_ALTERNATE_SCREEN = "\x1b[?1049l"


def choose(terminal: Terminal) -> int:
    """Pick the only row, with one Enter or two."""
    terminal.read_until(CHOSEN[:7])
    terminal.send("\r")
    terminal.read_to_rest()
    if terminal.process.poll() is None:
        terminal.send("\r")
    return terminal.wait()


@cases("piped", [["stdin", "stdout"]], more=[["stdout"], ["stdout", "stderr"]])
def test_the_choice_goes_to_stdout_whatever_the_other_streams_are(
    program: Program, piped: list[str]
) -> None:
    out = program.home / "out"
    with (
        open(out, "w") as stdout,
        open(program.home / "err", "w+") as stderr,
        open(os.devnull) as stdin,
    ):
        other = {"stdin": stdin, "stdout": stdout, "stderr": stderr}
        streams = {name: other[name] for name in piped}
        with program.in_terminal("pick", f"/{CHOSEN}", streams=streams) as terminal:
            assert choose(terminal) == 0
            assert LEAVE_ALTERNATE_SCREEN in terminal.text
        assert out.read_text() == f"{CHOSEN}\n"
        assert (program.home / "err").read_text() == ""


def test_the_choice_is_the_last_line_where_stdout_is_the_terminal(program: Program) -> None:
    with program.in_terminal("pick", f"/{CHOSEN}") as terminal:
        assert choose(terminal) == 0
        left = terminal.text.rpartition(LEAVE_ALTERNATE_SCREEN)[2]
        assert re.sub(r"\x1b\[[?<]?[0-9;]*[a-zA-Z]", "", left).split() == [CHOSEN]


@pytest.mark.parametrize(("key", "shown"), [("q", CHOSEN[:7]), ("\x03", "346 builds")])
def test_leaving_without_a_choice_gives_130(program: Program, key: str, shown: str) -> None:
    words = [f"/{CHOSEN}"] if key == "q" else []
    with (
        open(program.home / "out", "w+") as out,
        program.in_terminal("pick", *words, columns=133, streams={"stdout": out}) as terminal,
    ):
        terminal.end(key, 130, after=shown)
        assert LEAVE_ALTERNATE_SCREEN in terminal.text
        assert out.read() == ""
        browser = pyte.Screen(columns=150, lines=24)
        pyte.ByteStream(browser).feed(for_pyte(terminal.output))
        # Cells inserted in the last line move its end out of a narrower screen.
        widths = [len(line.rstrip()) for line in browser.display[:-1]]
        assert 130 <= max(widths) <= 133, "it was as wide as the terminal"


@pytest.mark.parametrize("words", [["pick"], []])
def test_without_any_terminal_there_is_one_sentence(program: Program, words: list[str]) -> None:
    process = program.run(*COMMAND, *words, start_new_session=True)
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr == (
        "spackscope: the browser needs a terminal; `spackscope find` works without one\n"
    )


def test_beside_a_spack_without_binaries_the_browser_says_that_it_shows_the_sample(
    program: Program, tmp_path: Path
) -> None:
    changes = {"SPACK_ROOT": str(SpackRoot(tmp_path / "spack").root)}
    with program.in_terminal(changes=changes) as terminal:
        terminal.read_until("Your Spack has no mirror")
    with program.in_terminal("pick", changes=changes) as terminal:
        terminal.read_until("reads the public cache")
        assert terminal.wait() == 3
