"""The word at the cursor is found, and the query without it."""

from __future__ import annotations

import pytest

from spackscope.model.assist.typed_word import without_word
from spackscope.model.query.ast import query_of
from spackscope.model.query.conditions import Term
from spackscope.model.query.parsed_input import parse_filter_input, parse_input
from spackscope.model.query.parser import parse


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("", ""),
        ("py-b", ""),
        ("hdf5 py-b", "hdf5"),
        ("hdf5 ", "hdf5"),
        ("hdf5@1.2", "hdf5@:"),
        ("hdf5+mpi", "hdf5@:"),
        ("hdf5 os=", "hdf5"),
        ("hdf5 !os=x", "hdf5"),
        ("hdf5 os=x | os=y", "hdf5"),
        ("hdf5 ^zlib+pic", "hdf5 ^zlib"),
        ("hdf5 %gcc@12", "hdf5"),
        ("hdf5@1 zlib@2", "hdf5@1 zlib@:"),
    ],
)
def test_the_word_at_the_cursor_is_left_out(text: str, rest: str) -> None:
    for after in ("", " +shared"):
        parsed = parse_input(text + after, len(text))
        assert without_word(parsed) == parse(rest + after, bare="any")


def test_the_word_of_a_filter_is_left_out() -> None:
    parsed = parse_filter_input("+mpi ~cu", 8, "variants", parse("hdf5 +x"))

    assert without_word(parsed) == query_of(Term("package", "hdf5"), Term("variants", "+mpi"))
