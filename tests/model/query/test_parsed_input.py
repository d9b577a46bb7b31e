"""What is typed in an input is parsed once, and serves colours, rows, errors and completion."""

from __future__ import annotations

import re
from random import Random

import pytest

from spackscope.model.assist.completion import without_word
from spackscope.model.core.errors import QueryError
from spackscope.model.query.ast import Query, Term
from spackscope.model.query.column_filter import apply_filter, parse_filter_input
from spackscope.model.query.parser import parse, parse_input
from tests.parse_counts import ParseCounts
from tests.random_queries import random_query


def test_the_line_means_what_its_text_means() -> None:
    for seed in range(1_000):
        text = random_query(Random(seed))
        parsed = parse_input(text, len(text))
        if parsed.error is None:
            assert parsed.query == parse(text, packages=())
        else:
            assert parsed.query is None
            with pytest.raises(QueryError, match=re.escape(str(parsed.error))) as raised:
                parse(text, packages=())
            assert raised.value.offset == parsed.error.offset
        assert "".join(token.text for token in parsed.tokens) == text


@pytest.mark.parametrize("text", ["", "24", "!24 =x", "a | b", "'", "a !", "=a =b"])
def test_a_filter_means_what_its_text_means(text: str) -> None:
    query = parse("hdf5 os=x +mpi")
    parsed = parse_filter_input(text, len(text), "os", query)

    assert parsed.others == parse("hdf5 +mpi")
    if parsed.error is None:
        assert (parsed.query, parsed.spans) == apply_filter(query, "os", text)
    else:
        assert parsed.query is None
        with pytest.raises(QueryError, match=re.escape(str(parsed.error))):
            apply_filter(query, "os", text)


def test_a_condition_of_a_filter_has_its_offset() -> None:
    parsed = parse_filter_input("24 !'a b'", 0, "os", Query())

    assert parsed.spans == {
        Term("os", "*24*"): (0, 2),
        Term("os", "*a b*", negated=True): (3, 9),
    }


def test_each_condition_has_its_offset() -> None:
    text = "hdf5@1.2 !os=x ^zlib@1 +pic %gcc"
    parsed = parse_input(text, 0)
    query, spans = parsed.query, parsed.spans
    assert query is not None

    assert {text[slice(*spans[c])] for c in query.conditions} == {
        "hdf5", "@1.2", "os=x", "^zlib@1 +pic %gcc",
    }  # fmt: skip


@pytest.mark.parametrize("text", ["py-b", "hdf5+mpi os=ubuntu24.04 ta", "a !b | c ", "%gcc"])
def test_a_text_is_lexed_and_parsed_once(text: str, parse_counts: ParseCounts) -> None:
    parsed = parse_input(text, len(text))
    without_word(parsed)
    str(parsed.query)

    assert (parse_counts.parses, parse_counts.lexer_runs) == (1, 1)


@pytest.mark.parametrize("text", ["os=", "hdf5 ^zlib +p", "a@1 b@"])
def test_the_rest_of_an_unfinished_text_is_parsed_once_more(
    text: str, parse_counts: ParseCounts
) -> None:
    without_word(parse_input(text, len(text)))

    assert parse_counts.parses <= 3
    assert parse_counts.lexer_runs == parse_counts.parses
