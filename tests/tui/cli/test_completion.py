"""What the word at the cursor is follows from those before it; scripts ask the program for it."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.tui.cli.command_table import BROWSE, COMMANDS, Command
from spackscope.tui.cli.commands.complete import find_place
from spackscope.tui.cli.commands.completion import SHELLS
from tests.documents import ROOT
from tests.program import Program


@pytest.mark.parametrize(
    ("before", "current", "kind", "head"),
    [
        ("find -f", "spack:", "source", ""),
        ("find -f -f", "x", "query", ""),
        ("-f a find hdf5", "os=", "query", ""),
        ("find", "--from=spack:", "source", "--from="),
        ("find", "-fspack:", "source", "-f"),
        ("find", "--js", "option", ""),
        ("find", "--json=", "option", ""),
        ("help", "--", "option", ""),
        ("find --", "--js", "query", ""),
        ("find -- -f", "x", "query", ""),
        ("show", "abc", "spec", ""),
        ("diff abc", "d", "spec or source", ""),
        ("stats --by os", "h", "query", ""),
        ("stats --by os --by", "t", "axis", ""),
        ("doubles", "s", "source", ""),
        ("cover a", "b", "", ""),
        ("hdf5", "find", "query", ""),
    ],
)
def test_a_word_is_known_by_those_before_it(
    before: str, current: str, kind: str, head: str
) -> None:
    place = find_place(before.split(), current)
    assert (place.kind, place.head, place.head + place.text) == (kind, head, current)


def test_a_place_has_the_words_and_options_before_it() -> None:
    place = find_place(["-f", "a", "find", "hdf5", "--all", "-fb", "+mpi"], "os=")
    assert (place.command, place.words) == ("find", ("hdf5", "+mpi"))
    assert place.fields == {"sources": ["a", "b"], "dependency_only": True}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=lambda command: command.name)
def test_only_an_option_with_a_value_has_a_word_for_it(command: Command) -> None:
    for option in command.options:
        assert option.has_value == bool(option.metavar) == bool(option.takes)
        if option.has_value:
            words = [] if command.name == BROWSE else [command.name]
            assert find_place([*words, option.names[0]], "").kind == option.takes


@given(st.lists(st.sampled_from(["find", "-f", "--", "-", "a", "--json", "--csv", "-h=1", ""])))
def test_no_line_is_too_odd(words: list[str]) -> None:
    place = find_place(words, "x")
    assert place.head + place.text == "x"


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_is_printed_and_the_shell_can_read_it(shell: str, program: Program) -> None:
    result = program("completion", shell)

    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == (ROOT / "tui" / "cli" / "scripts" / SHELLS[shell]).read_text("utf-8")
    if (path := shutil.which(shell)) is None:
        pytest.skip(f"{shell} is not installed")
    check = subprocess.run(
        [path, "-n"], input=result.stdout, capture_output=True, encoding="utf-8"
    )
    assert (check.returncode, check.stderr) == (0, "")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ([], "completion needs one shell, bash, zsh or fish; see `spackscope completion --help`"),
        (["fsh"], "completion needs one shell, bash, zsh or fish: fsh. Did you mean"),
        (["bash", "zsh"], "completion needs one shell, bash, zsh or fish: bash zsh"),
    ],
)
def test_another_shell_is_refused(program: Program, words: list[str], sentence: str) -> None:
    result = program("completion", *words)

    assert result.returncode == 2
    assert result.stderr.startswith(f"spackscope: {sentence}")
