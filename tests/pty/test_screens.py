"""Whole screens of the real program, as a terminal shows them.

SPACKSCOPE_WRITE_GOLDEN=1 writes them again; look at the difference before it is committed.
"""

import os
import re
from pathlib import Path

import pytest

from tests.examples import cases, some_and_all
from tests.program import Program

pytestmark = pytest.mark.pty

SCREENS = Path(__file__).parents[1] / "data" / "screens"
COLOURS = re.compile(r"\x1b\[([\d;]*)m")


def test_the_first_screen_is_the_one_that_was_looked_at(program: Program) -> None:
    host = {"SPACKSCOPE_HOST": "target=zen3 glibc=2.35"}
    host["SPACKSCOPE_FROM"] = "sample"
    with program.in_terminal(columns=160, lines=45, changes=host) as terminal:
        for columns, lines in ((160, 45), (120, 40), (80, 24), (50, 20)):
            terminal.resize(columns, lines)
            shown = "\n".join(terminal.at_rest("adios2")) + "\n"
            golden = SCREENS / f"first-{columns}x{lines}.txt"
            if os.environ.get("SPACKSCOPE_WRITE_GOLDEN"):
                golden.write_text(shown, encoding="utf-8")
            assert shown == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize(("words", "changes"), [([], {"NO_COLOR": "1"}), (["--no-color"], {})])
def test_no_color_leaves_no_colour_at_all(
    program: Program, words: list[str], changes: dict[str, str]
) -> None:
    with program.in_terminal(*words, changes=changes) as terminal:
        terminal.until("py-safetensors")
        terminal.send("1j\r")
        terminal.at_rest("24 py-build")
        codes = {code for sgr in COLOURS.findall(terminal.text) for code in sgr.split(";") if code}
    # 39 and 49 are the terminal's own colours; the others here are bold, dim, underline, reverse.
    assert codes <= {"0", "1", "2", "4", "7", "39", "49"}
    assert "7" in codes


def test_an_empty_no_color_means_nothing(program: Program) -> None:
    with program.in_terminal(changes={"NO_COLOR": ""}) as terminal:
        terminal.at_rest("py-safetensors")
        assert "36" in {code for sgr in COLOURS.findall(terminal.text) for code in sgr.split(";")}


@cases("term", ["dumb", ""], more=["linux", "xterm-mono"])
def test_it_draws_on_every_kind_of_terminal(program: Program, term: str) -> None:
    with program.in_terminal(changes={"TERM": term}) as terminal:
        terminal.until("py-safetensors", "346 builds")
        terminal.end()
        # It has its size from the first frame on: the screen is cleared for each.
        assert terminal.output.count(b"\x1b[2J") == 1 or term != "dumb"


def test_a_size_that_no_terminal_has_is_bounded(program: Program) -> None:
    with program.in_terminal(changes={"COLUMNS": "9" * 30, "LINES": "100000"}) as terminal:
        terminal.end(after="py-safetensors")


@some_and_all(step=3)
def test_the_c_locale_has_letters_for_signs(program: Program, step: int) -> None:
    with program.in_terminal(changes={"LC_ALL": "C", "LANG": ""}) as terminal:
        terminal.until("py-build")
        # Tree, users, comparison, values, help, palette, completions, and nothing that matches.
        for keys in ("jj\r", "z\r", "tu", "d", "v", "?", ":", "/tar", "/nosuch\r")[2::step]:
            terminal.send(keys)
            terminal.read_to_rest(0.15)
            terminal.send("\x1b")
            # What follows Escape at once could be a sequence with it.
            terminal.read_to_rest(0.15)
        assert terminal.output.isascii(), {c for c in terminal.text if not c.isascii()}


@cases("keys", ["/"], more=[""])
def test_a_paste_is_text_whatever_is_in_it(program: Program, keys: str) -> None:
    coloured = "hdf5 \x1b[31mq\r\x1b q\r\x1b[200~ q \x1b[20"
    pasted = coloured * (1_000_000 // len(coloured))
    with program.in_terminal(columns=100, lines=30) as terminal:
        terminal.until("py-safetensors")
        text = f"{keys}\x1b[200~{pasted}\x1b[201~"
        for start in range(0, len(text), 1000):
            terminal.send(text[start : start + 1000])
            terminal.read(0)
        terminal.send("\x1b")
        terminal.read_to_rest()
        terminal.send("/\x15py-pip\r")
        terminal.until("Unknown package py-pip")
        terminal.end()
