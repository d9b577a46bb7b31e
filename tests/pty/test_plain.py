"""What a screen reader reads: no boxes and bars, one pane at a time, and lines `label: value`."""

import re

import pytest

from tests.program import Program

pytestmark = pytest.mark.pty

DRAWN = re.compile("[\u2500-\u259f\u2800-\u28ff]")
PLAIN = {"SPACKSCOPE_PLAIN": "1"}
ESCAPE = "\x1b"


def test_no_line_block_or_spinner_is_drawn_in_a_session(program: Program) -> None:
    with program.in_terminal("--plain", columns=120, lines=40) as terminal:
        lines = terminal.until("specs: 346 builds of 4 packages")
        assert lines[0].startswith("plain mode")
        # A move, the table, a filter, its values, the detail, an answer, help, palette, a query.
        for keys, text in (
            ("1j\r", "specs: package=py-build, 24 py-build"),
            ("jf", "=py-build"),
            (ESCAPE, "specs: package=py-build, 24 py-build"),
            ("/os=ubuntu22.04 py-build\r", "11 of 24 py-build"),
            ("3", "detail: py-build@"),
            ("v", "values: "),
            ("F", " rows"),
            ("?", "Everywhere"),
            (ESCAPE, "specs: "),
            (":", "commands"),
            (ESCAPE, "specs: "),
            ("/gcc", " gcc"),
        ):
            terminal.send(keys)
            terminal.until(text)
            terminal.read_to_rest(0.15)
        terminal.send(f"{ESCAPE}")
        terminal.read_to_rest(0.15)
        terminal.send("\x03")
        terminal.wait()
        assert not DRAWN.findall(terminal.text)
        assert terminal.output.isascii()
        cursor = re.findall("\x1b\\[\\?25([hl])", terminal.text)
        assert cursor[:2] == ["l", "h"], "Textual hides the cursor, which the reader follows"


def test_the_cursor_and_the_message_are_where_the_text_is(program: Program) -> None:
    with program.in_terminal("py-build", columns=120, lines=30, changes=PLAIN) as terminal:
        terminal.at_rest("24 py-build")
        terminal.send("2")
        lines = terminal.at_rest("specs: package=py-build, 24 py-build")
        cursor = terminal.screen.cursor
        assert lines[cursor.y].startswith("*>4    1.2.2")
        assert not cursor.hidden
        assert "specs:" in lines[-2]
        terminal.send("y")
        assert "specs:" not in terminal.until("opied")[-2], "the message says what changed"
        terminal.send("/os=u")
        line = terminal.at_rest("os=u")[terminal.screen.cursor.y]
        assert line[: terminal.screen.cursor.x].endswith("os=u")


def test_the_detail_has_a_line_for_each_value_and_nothing_is_beside_a_dialog(
    program: Program,
) -> None:
    with program.in_terminal("py-build", columns=120, lines=40, changes=PLAIN) as terminal:
        terminal.at_rest("24 py-build")
        terminal.send("23")
        lines = [line.strip() for line in terminal.at_rest("hash: ", "document: ")]
        assert "build: py-build@1.2.2" in lines
        (shown,) = (line for line in lines if "hash: " in line)
        assert re.fullmatch("hash: [a-z2-7]{32}.*", shown)
        assert "state: cached" in lines
        assert "os: ubuntu22.04" in lines or "os: ubuntu24.04" in lines
        terminal.send("2Y")
        lines = [line.strip() for line in terminal.at_rest("install command")]
    assert next(filter(None, lines)).startswith("copy ")
    assert not any("gcc@" in line for line in lines)


def test_a_command_prints_blocks_on_a_terminal_and_elsewhere_where_asked(program: Program) -> None:
    words = ("stats", "os", "py-build")
    whole = "os: ubuntu24.04\ncount: 13\n\nos: ubuntu22.04\ncount: 11\n"
    assert program(*words, "--plain").stdout == whole
    assert program.on_terminal(*words, changes=PLAIN)[1].endswith(whole)
    assert program(*words, SPACKSCOPE_PLAIN="1").stdout == program(*words).stdout, (
        "scripts stay as they are"
    )
    assert program(*words, "--plain", "--csv").stdout == program(*words, "--csv").stdout


def test_a_long_answer_says_on_a_terminal_how_to_print_all(program: Program) -> None:
    _, text = program.on_terminal("why", "py-safetensors", changes=PLAIN)
    assert text.count("\nhash: ") == 40
    assert text.endswith("spackscope: and 76 more; --limit 0 prints all\n")


def test_show_names_each_value(program: Program) -> None:
    words = ("show", "pfqg2xi", "--plain")
    lines = program(*words).stdout.splitlines()
    assert lines[:2] == ["build: py-build@1.2.1", "hash: pfqg2xienllgkr2rb23fugktb23zwwbr"]
    assert all(": " in line for line in lines)
    assert (
        program(*words, "--columns", "os,target").stdout
        == "os: ubuntu22.04\ntarget: neoverse_v1\n"
    )


def test_the_environment_comes_before_the_file(program: Program) -> None:
    program.configure("plain = true\n")
    words = ("stats", "os", "py-build")
    assert "os: ubuntu22.04" in program.on_terminal(*words)[1]
    assert "os: " not in program.on_terminal(*words, changes={"SPACKSCOPE_PLAIN": "0"})[1]
