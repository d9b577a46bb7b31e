from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from spackscope.tui.cli.command_table import BROWSE, WITH_HELP
from spackscope.tui.cli.commands.man import PAGES, man_page
from spackscope.tui.keymap import KEYS
from spackscope.tui.process import ExitCode
from spackscope.tui.query_reference import LANGUAGE
from spackscope.tui.settings.table import SETTINGS
from tests.documents import make_manual
from tests.program import Program, wait_until

INSTALLED = Path(__file__).parents[3] / "tui" / "cli" / "man_pages"
needs_mandoc = pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is missing")


def shown(page: Path) -> str:
    """Return what mandoc shows on a terminal of 80 columns, without bold and italics."""
    result = subprocess.run(
        ["mandoc", "-Tutf8", "-Owidth=80", str(page)],
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    return re.sub(".\b", "", result.stdout)


@pytest.mark.parametrize("topic", PAGES)
def test_the_installed_page_is_up_to_date_and_ascii(topic: str) -> None:
    installed = (INSTALLED / PAGES[topic]).read_text("utf-8")
    assert installed == make_manual.man_page(topic), "run docs/make_docs.py"
    assert installed.isascii()


@pytest.mark.parametrize("name", PAGES.values())
@pytest.mark.parametrize(
    "command", ["mandoc -Tlint -Wwarning", "groff -man -Tutf8 -ww -z"], ids=str.split
)
def test_no_formatter_has_a_warning(name: str, command: str) -> None:
    if shutil.which(command.split()[0]) is None:
        pytest.skip("it is missing")
    result = subprocess.run(
        [*command.split(), str(INSTALLED / name)], capture_output=True, encoding="utf-8"
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_each_exit_code_is_explained() -> None:
    assert {str(code.value) for code in ExitCode} <= {code for code, _ in make_manual.EXIT_CODES}


@needs_mandoc
@pytest.mark.parametrize("topic", PAGES)
def test_what_the_tables_say_is_shown_letter_by_letter(topic: str) -> None:
    text = shown(INSTALLED / PAGES[topic])
    assert max(map(len, text.splitlines())) <= 80
    if topic == BROWSE:
        sentences = [f"spackscope {name}" for name in WITH_HELP if name != BROWSE]
        sentences += [sentence for _, sentence in make_manual.EXIT_CODES]
        sentences += [key.sentence for key in KEYS]
        sentences += [f"{each.name} = {each.example} {each.sentence}" for each in SETTINGS]
    else:
        forms = [form for forms in LANGUAGE.values() for form in forms]
        sentences = [f" {form.written} {form.sentence}" for form in forms]
        sentences += [f"Example: {form.example} " for form in forms if form.example]
    words = " ".join(text.split())
    for sentence in sentences:
        assert sentence.replace("`", "").replace("…", "...") in words


def test_letters_that_roff_would_change_are_shown_as_they_are() -> None:
    assert make_manual.literal(r"a\b") == r"a\eb"
    assert make_manual.literal("~x ^y 'z' `w`") == r"\(tix \(hay \(aqz\(aq \(gaw\(ga"
    assert make_manual.literal(".so x") == r"\&.so x"
    assert make_manual.example(["'x", ".y"]) == [".PP", ".EX", r"\(aqx", r"\&.y", ".EE"]
    assert make_manual.marked("look-alikes by `--all-of`") == r"look-alikes by \fB\-\-all\-of\fR"


def test_a_synopsis_tells_names_from_what_stands_for_something() -> None:
    assert make_manual.synopsis("spackscope find [--json] [QUERY...]") == (
        r"\fBspackscope find\fR [\fB\-\-json\fR] [\fIQUERY\fR\&...]"
    )


@pytest.mark.parametrize("words", [[], ["query"]])
def test_a_page_is_printed_for_another_program(program: Program, words: list[str]) -> None:
    result = program("man", *words)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == man_page(words[0] if words else BROWSE)


@pytest.mark.skipif(shutil.which("man") is None, reason="man is missing")
@pytest.mark.parametrize(("words", "name"), [([], "SPACKSCOPE(1)"), (["query"], "SPACKSCOPE-QUE")])
def test_a_page_is_shown_on_a_terminal(program: Program, words: list[str], name: str) -> None:
    changes = {"MANPAGER": "cat", "PAGER": "cat", "MANWIDTH": "80"}
    code, text = program.on_terminal("man", *words, changes=changes)
    assert code == 0
    assert name in re.sub(".\b|\x1b\\[[0-9;]*m", "", text)


@pytest.mark.skipif(not (shutil.which("man") and shutil.which("less")), reason="less is missing")
def test_ctrl_c_belongs_to_the_pager(program: Program) -> None:
    changes = {"MANPAGER": "less -+F"}
    with program.in_terminal("man", lines=24, columns=80, changes=changes) as terminal:

        def leave() -> None:
            # less may drop what is typed while it handles the interrupt.
            terminal.send("q")
            terminal.read_more()

        terminal.read_until("SYNOPSIS")
        terminal.read_to_rest()
        terminal.send("\x03")
        terminal.read_to_rest()
        assert terminal.process.poll() is None
        wait_until(lambda: terminal.process.poll() is not None, step=leave)
        assert terminal.wait() == 0


def test_without_a_man_that_works_the_help_is_named(program: Program) -> None:
    changes = {"PATH": str(program.home)}
    assert program.on_terminal("man", "query", changes=changes) == (
        ExitCode.UNREADABLE,
        "spackscope: man is not on PATH; see `spackscope help query`\n",
    )
    man = program.home / "man"
    man.write_text("#!/bin/sh\nexit 16\n")
    man.chmod(0o755)
    assert program.on_terminal("man", changes=changes) == (
        ExitCode.UNREADABLE,
        "spackscope: man ended with exit code 16; see `spackscope help`\n",
    )
    message = program.refused("man", "qurey", code=ExitCode.USAGE)
    assert "no manual page on qurey. Did you mean query?" in message
