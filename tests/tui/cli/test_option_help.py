"""What an option does is read from the help of its command."""

from __future__ import annotations

import pytest

from spackscope.tui.cli.arguments import options_of
from spackscope.tui.cli.help import COMMANDS
from spackscope.tui.cli.option_help import option_help


@pytest.mark.parametrize("command", COMMANDS)
def test_each_option_of_a_command_is_in_its_help(command: str) -> None:
    described = [name for option in option_help(command) for name in option.names]
    unlisted = {"--version"} if command != "browse" else set()
    assert {*described} == {n for o in options_of(command) for n in o.names} - unlisted
    assert len(described) == len({*described})


@pytest.mark.parametrize("command", COMMANDS)
def test_only_an_option_with_a_value_has_a_word_for_it(command: str) -> None:
    with_value = {
        name for option in options_of(command) if option.has_value for name in option.names
    }
    for option in option_help(command):
        assert bool(option.metavar) == (option.names[0] in with_value)
        assert option.sentence
        assert "\n" not in option.sentence


def test_the_lines_of_a_description_are_joined() -> None:
    all_, _, help_ = [o for o in option_help("sources") if "--json" not in o.names][-3:]
    (source,) = [option for option in option_help("sources") if "-f" in option.names]

    assert source.metavar == "SOURCE"
    assert source.sentence.startswith(
        "read this source; may be repeated: a page, index.json, spack.lock"
    )
    assert source.sentence.endswith("; without a Spack the sample")
    assert all_.sentence == "also list dependency-only specs"
    assert help_.names == ("-h", "--help")
