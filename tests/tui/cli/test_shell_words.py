"""A command of bash is split into words as bash does it."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.tui.cli.commands.complete import quoted, split_line
from tests.program import Program


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
    again = split_line(f"spackscope find {typed}{quoted(rest, quote)}")
    assert again == (["find"], current + rest, quote, False)


@pytest.mark.parametrize("typed", ["$", '"$', '"a $', '"\\\\$', '"$(', '"`', '"a $(', "'$(", "'`"])
def test_a_name_is_not_inserted_as_a_command(program: Program, typed: str) -> None:
    quote = typed[0].replace("$", "")
    (program.home / f"{typed.lstrip(quote)}(touch it)`touch it`".replace("\\\\", "\\")).touch()
    words = ("complete", "bash", "--", f"spackscope cover {typed}", typed.lstrip(quote))
    _, *inserted = program(*words).stdout.splitlines()
    assert bool(inserted) == (quote != '"')
    for text in inserted:
        assert shlex.split(f"{quote}{text}{quote}")[0].endswith("(touch it)`touch it`")
