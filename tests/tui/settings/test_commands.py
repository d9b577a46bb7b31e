"""The user's own commands in the configuration."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.tui.settings import Origin
from spackscope.tui.settings.checks import mistakes_of
from spackscope.tui.settings.commands import filled_command, own_problem
from tests.tui.settings.test_settings import Home


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


NEEDS = "needs key, name, command and nothing else, in tables [[run]]"
GOOD = """\
[[run]]
key = "D"
name = "du"
command = "du -sh /{hashes}"

[[run]]
# another
key = "."
name = "mine"
command = "echo {spec} {source} '{hash}' ${HOME}"
"""


def test_each_command_has_its_key_and_the_line_of_its_table(home: Home) -> None:
    home.system_file.write_text('run = [{key = "D", name = "all", command = "a"}]')
    settings = home.read(GOOD)
    assert settings.run == {
        "D": ("du", "du -sh /{hashes}"),
        ".": ("mine", "echo {spec} {source} '{hash}' ${HOME}"),
    }
    assert settings.origin("run..") == Origin(str(home.file), 6)
    assert mistakes_of(settings) == []
    assert home.read("").run == {"D": ("all", "a")}


@pytest.mark.parametrize(
    ("table", "mistake"),
    [
        ('key = "x"\nname = "n"', f"run {NEEDS}"),
        ('key = "x"\nname = "n"\ncommand = "c"\nold = "o"', f"run {NEEDS}"),
        ('key = 1\nname = "n"\ncommand = "c"', "run has a value that is not a text in quotes"),
        ('key = "x"\nname = ""\ncommand = "c"', "run has a name that is empty"),
        ('key = "D"\nname = "n"\ncommand = "c"', "run has the key D twice"),
        (
            'key = "^x"\nname = "n"\ncommand = "c"',
            "run n: the key ^x is not one character",
        ),
        (
            'key = "x"\nname = "n"\ncommand = "c {hsh}"',
            "run n: unknown name {hsh}. Did you mean hash or hashes?",
        ),
        (
            'key = "x"\nname = "n"\ncommand = "c {zz}"',
            "run n: unknown name {zz}; there are hash, hashes, spec, source",
        ),
        (
            'key = "x"\nname = "n"\ncommand = "c \'"',
            "run n: the command has no closing quotation",
        ),
    ],
)
def test_a_mistake_is_named_with_its_place_and_the_other_commands_work(
    home: Home, table: str, mistake: str
) -> None:
    settings = home.read(f"{GOOD}[[run]]\n{table}\n")
    assert [str(each) for each in mistakes_of(settings)] == [f"{home.file}:11: {mistake}"]
    assert all(each.is_unknown for each in mistakes_of(settings)), "the browser starts"
    assert {*settings.run} >= {"D", "."}


def test_what_is_not_a_table_of_commands_is_named(home: Home) -> None:
    for text in ("'x'", "{}", "['x']"):
        assert home.mistakes(f"\nrun = {text}") == [f"FILE:2: run {NEEDS}"]


@pytest.mark.parametrize(
    "command",
    [
        *("echo '{source}'", 'echo "a {spec}"', 'echo "$(cat "{source}")"', "echo `cat {spec}`"),
        r'echo "\"{spec}"',
    ],
)
def test_a_value_that_may_be_any_text_is_not_put_into_other_quotes(command: str) -> None:
    assert "must be outside of others" in own_problem("x", command)


TEXTS = st.text("a b'\"$`\\;|&<>(){}*?!#~\n-=", min_size=1)
ARGUMENTS = {
    "echo": "echo",
    "'a b'": "a b",
    '"$HOME;"': "/home;",
    r"\{hash}": "{hash}",
    "{spec}": "{spec}",
    "x={spec}": "x={spec}",
    "a{spec}b": "a{spec}b",
}
"""Words of a command, each with the argument that it is."""


@given(st.lists(st.sampled_from([*ARGUMENTS]), min_size=1), TEXTS)
def test_each_value_is_one_argument_of_sh(words: list[str], value: str) -> None:
    command = " ".join(["printf '%s\\0'", *words])
    assert own_problem("x", command) == ""
    filled = filled_command(command, {"spec": [value]})
    done = subprocess.run(
        ["/bin/sh", "-c", filled], capture_output=True, env={"HOME": "/home"}, check=True
    )
    arguments = [ARGUMENTS[word].replace("{spec}", value) for word in words]
    assert done.stdout.decode().split("\0")[:-1] == arguments


def test_a_slash_is_put_before_each_hash_and_one_value_is_asked_for_where_there_are_more() -> None:
    values = {"hash": ["a", "b"], "hashes": ["a", "b", "a"], "source": ["s", "s"]}
    assert filled_command("c /{hashes} {hashes} {source}", values) == "c /a /b a b s"
    with pytest.raises(ValueError, match=r"^There is no page$"):
        filled_command("c {page}", {"page": []})
    with pytest.raises(ValueError, match=r"^Takes one hash, not 2$"):
        filled_command("c {hash}", values)
