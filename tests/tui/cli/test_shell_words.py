"""A command line is split into words as bash does it."""

from __future__ import annotations

import shlex
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.tui.cli.commands.complete import ShellWords, split_line, unquoted


@pytest.mark.parametrize(
    ("line", "before", "current", "quote", "replaced"),
    [
        ("spackscope ", [], "", "", ""),
        ("spackscope find hd", ["find"], "hd", "", "hd"),
        ("spackscope find os=ub", ["find"], "os=ub", "", "ub"),
        ("spackscope find target=:ze", ["find"], "target=:ze", "", "ze"),
        ("spackscope find hdf5@1.1", ["find"], "hdf5@1.1", "", "@1.1"),
        ("spackscope find 'hdf5 os=ub", ["find"], "hdf5 os=ub", "'", "hdf5 os=ub"),
        ('spackscope find "hdf5 os=ub', ["find"], "hdf5 os=ub", '"', "hdf5 os=ub"),
        ("spackscope find 'hdf5 '+m", ["find"], "hdf5 +m", "", "'hdf5 '+m"),
        ("spackscope find hdf5\\ +m", ["find"], "hdf5 +m", "", "hdf5\\ +m"),
        ("spackscope find hdf5 ", ["find", "hdf5"], "", "", ""),
        ("spackscope find '' ", ["find", ""], "", "", ""),
        ("A=1 B='2 3' spackscope find h", ["find"], "h", "", "h"),
        ("ls | spackscope cover s", ["cover"], "s", "", "s"),
        ("spack install /$(spackscope pick h", ["pick"], "h", "", "h"),
        ("spackscope find hdf5 2>/dev/null o", ["find", "hdf5"], "o", "", "o"),
        ("spackscope find hdf5 &>/dev/null o", ["find", "hdf5"], "o", "", "o"),
        ("spackscope find hdf5 '|' o", ["find", "hdf5", "|"], "o", "", "o"),
        ("spackscope -f spack:si", ["-f"], "spack:si", "", "si"),
        ('spackscope find "a\\"b', ["find"], 'a"b', '"', 'a\\"b'),
        ("spackscope find 'a\\", ["find"], "a\\", "'", "a\\"),
        ("spackscope find a\\", ["find"], "a", "", "a\\"),
        ("spackscope \\\n find a", ["find"], "a", "", "a"),
    ],
)
def test_words_are_split_at_the_cursor(
    line: str, before: list[str], current: str, quote: str, replaced: str
) -> None:
    assert split_line(line) == ShellWords(tuple(before), current, quote, replaced)


def test_the_target_of_a_redirection_is_no_word() -> None:
    words = split_line("spackscope find hdf5 > o")
    assert (words.before, words.current, words.is_redirection) == (("find", "hdf5"), "o", True)
    assert not split_line("spackscope find hdf5 > o ").is_redirection


def test_word_breaks_are_those_of_the_shell() -> None:
    assert split_line("spackscope find os=ub", " ").replaced == "os=ub"


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)))
def test_words_are_what_they_were_before_they_were_quoted(words: list[str]) -> None:
    assert split_line(f"spackscope {shlex.join(words)} ").before == tuple(words)


@pytest.mark.parametrize("typed", ["x", "'x", '"x', "'a b'x"])
@given(rest=st.text(st.characters(codec="utf-8", exclude_characters="\0\n")))
def test_what_is_inserted_is_the_text_once_more(typed: str, rest: str) -> None:
    line = f"spackscope find {typed}"
    words = split_line(line)
    inserted = line[: len(line) - len(words.replaced)] + words.insertion(words.current + rest)

    again = split_line(inserted)
    assert again.current == words.current + rest
    assert again.quote == words.quote


@pytest.mark.parametrize("typed", ['"$', '"a $', '"\\\\$', "$", '"\\$'])
def test_a_name_is_not_inserted_as_a_command(typed: str) -> None:
    words = split_line(f"spackscope find {typed}")
    inserted = words.insertion(f"{words.current}(echo run)")

    printed = subprocess.run(
        ["bash", "-c", f'printf %s "{inserted}"' if words.quote else f"printf %s {inserted}"],
        capture_output=True, encoding="utf-8", check=True,
    )  # fmt: skip
    assert printed.stdout == f"{words.current}(echo run)"


@pytest.mark.parametrize(
    ("typed", "is_command"),
    [('"$(ec', True), ('"a `ec', True), ("'$(ec", False), ('"\\$(ec', False), ('"\\`ec', False)],
)
def test_a_command_in_quotes_is_noticed(typed: str, is_command: bool) -> None:
    assert split_line(f"spackscope find {typed}").is_command is is_command


@pytest.mark.parametrize(
    ("typed", "word", "quote"), [("'hdf5 +m", "hdf5 +m", "'"), ("a\\ b", "a b", ""), ("", "", "")]
)
def test_a_word_loses_its_quotes(typed: str, word: str, quote: str) -> None:
    assert unquoted(typed) == (word, quote)
