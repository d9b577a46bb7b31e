"""Command lines are read as shells read them, and what is put into them is never run."""

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.tui.cli.shell_words import shell_quoted, split_line, split_spec


@pytest.mark.parametrize(
    ("line", "before", "current", "quote"),
    [
        ("spackscope ", [], "", ""),
        ("spackscope find target=:ze", ["find"], "target=:ze", ""),
        ("spackscope find 'hdf5 os=ub", ["find"], "hdf5 os=ub", "'"),
        ('spackscope find "hdf5 os=ub', ["find"], "hdf5 os=ub", '"'),
        ("spackscope find 'hdf5 '+m", ["find"], "hdf5 +m", ""),
        ("spackscope find hdf5\\ +m", ["find"], "hdf5 +m", ""),
        ("spackscope find hdf5 ", ["find", "hdf5"], "", ""),
        ("spackscope find '' ", ["find", ""], "", ""),
        ("spackscope find hdf5 2>/dev/null o", ["find", "hdf5"], "o", ""),
        ("spackscope find hdf5 >/dev/null o", ["find", "hdf5"], "o", ""),
        ("spackscope find hdf5 '|' o", ["find", "hdf5", "|"], "o", ""),
        ("spackscope find '>' o", ["find", ">"], "o", ""),
        ('spackscope find "a\\"b', ["find"], 'a"b', '"'),
        ("spackscope find 'a\\", ["find"], "a\\", "'"),
        ("spackscope find a\\", ["find"], "a", ""),
    ],
)
def test_words_are_split_at_the_cursor(
    line: str, before: list[str], current: str, quote: str
) -> None:
    assert split_line(line) == (before, current, quote, False)


def test_the_target_of_a_redirection_is_no_word() -> None:
    assert split_line("spackscope find hdf5 > o") == (["find", "hdf5"], "o", "", True)
    assert split_line("spackscope find hdf5 2>o") == (["find", "hdf5"], "o", "", True)
    assert split_line("spackscope find hdf5 > o ") == (["find", "hdf5"], "", "", False)


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1)))
def test_words_are_what_they_were_before_they_were_quoted(words: list[str]) -> None:
    assert split_line(f"spackscope {shlex.join(words)} ")[0] == words


@pytest.mark.parametrize("typed", ["x", "'x", '"x', "'a b'x"])
@given(rest=st.text(st.characters(codec="utf-8", exclude_characters="\0\n")))
def test_what_is_inserted_is_the_text_once_more(typed: str, rest: str) -> None:
    _, current, quote, _ = split_line(f"spackscope find {typed}")
    again = split_line(f"spackscope find {typed}{shell_quoted(rest, quote)}")
    assert again == (["find"], current + rest, quote, False)


@pytest.mark.parametrize(
    ("before", "typed", "words"),
    [
        ("", "hdf5", ["hdf5"]),
        ("spack install ", "hdf5", ["hdf5"]),
        ("spack install ", "hdf5@1 +mpi  ^zlib os=x", ["hdf5@1", "+mpi", "^zlib", "os=x"]),
        ("spack install ", "'hdf5 +mpi", ["hdf5 +mpi"]),
        ("spack install ", 'hdf5" +mpi', ["hdf5 +mpi"]),
        ("spack install ", '"', [""]),
        ("spack install cmake ", "hdf5 /ab", ["hdf5", "/ab"]),
        ("spack install /ab ", "/cd", ["/cd"]),
        ("spack install ", "hdf5 \\\n  +mpi", ["hdf5", "", "+mpi"]),
        ("spack find ", "^zlib", ["^zlib"]),
        ("spackscope find ", "+mpi", ["+mpi"]),
        ("cd x\n", "hdf5", ["hdf5"]),
        ("cd x\n", "+mpi", ["+mpi"]),
        ("cd x && spack install ", "hdf5", ["hdf5"]),
        ("spack install ", "$(touch\\ x)", ["$(touch x)"]),
        ("", "", []),
        ("spack install ", "", []),
        ("spack install hdf5 ", "", []),
        ("spack install", "", []),
        ("spackscope show", "", []),
        ("spack install --fresh", "", []),
        ("spack find >", "", []),
        ("spack find >hdf5", "", []),
    ],
)
def test_the_spec_at_the_end_of_a_line_is_found(before: str, typed: str, words: list[str]) -> None:
    assert split_spec(before + typed)[:2] == (before, words)


@given(st.text("ab +~%^/@='\"\\\n<>;$-"))
def test_no_line_is_too_odd(line: str) -> None:
    before, words, quote = split_spec(line)
    assert line.startswith(before)
    assert quote == split_line(line)[2]
    assert words or before == line
