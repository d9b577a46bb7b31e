"""What the word at the cursor is follows from the words before it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.tui.cli.arguments import options_of
from spackscope.tui.cli.completion.places import find_place
from spackscope.tui.cli.help import COMMANDS


@pytest.mark.parametrize(
    ("before", "current", "kind", "head"),
    [
        ("", "hd", "query", ""),
        ("find", "hd", "query", ""),
        ("find -f", "spack:", "source", ""),
        ("find -f -f", "x", "query", ""),
        ("-f a find hdf5", "os=", "query", ""),
        ("find", "--from=spack:", "source", "--from="),
        ("find", "-fspack:", "source", "-f"),
        ("find", "--js", "option", ""),
        ("find", "--json=", "option", ""),
        ("find --", "--js", "query", ""),
        ("find -- -f", "x", "query", ""),
        ("show", "abc", "spec", ""),
        ("diff abc", "d", "spec or source", ""),
        ("stats --by", "o", "axis", ""),
        ("stats --by os", "h", "query", ""),
        ("stats --by os --by", "t", "axis", ""),
        ("find --host", "target=", "host", ""),
        ("doubles --ignore", "c", "package", ""),
        ("doubles", "s", "source", ""),
        ("cover", "c", "environment", ""),
        ("cover a", "b", "", ""),
        ("index", "h", "", ""),
        ("help", "s", "topic", ""),
        ("completion", "b", "shell", ""),
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
    assert place.fields == {"sources": ["a", "b"], "all": True}


@pytest.mark.parametrize(
    ("before", "is_possible"), [("", True), ("-f a", True), ("hdf5", False), ("--", False)]
)
def test_a_command_is_the_first_word(before: str, is_possible: bool) -> None:
    assert find_place(before.split(), "f").may_be_command == is_possible


@pytest.mark.parametrize("command", COMMANDS)
def test_the_value_of_each_option_is_known(command: str) -> None:
    for option in options_of(command):
        if option.has_value:
            words = [] if command == "browse" else [command]
            assert find_place([*words, option.names[0]], "").kind not in ("", "query", "spec")


@given(st.lists(st.sampled_from(["find", "-f", "--", "-", "a", "--json", "--csv", "-h=1", ""])))
def test_no_line_is_too_odd(words: list[str]) -> None:
    place = find_place(words, "x")
    assert place.head + place.text == "x"
