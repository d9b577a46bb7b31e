"""A text is split into tokens without losing a character."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.errors import QueryError
from spackscope.model.query import lexer
from spackscope.model.query.parser import parse

any_text = st.text(st.characters(exclude_categories=[]), min_size=1)


@given(any_text | st.text("ab1!=+~@:*?/'\" ,|^%[]-"))
def test_no_character_of_a_text_is_lost(text: str) -> None:
    assert "".join(token.text for token in lexer.tokens(text)) == text
    pieces = list(lexer.highlights(lexer.tokens(text)))
    assert all(start < end for start, end, _ in pieces)
    assert all(one[1] <= two[0] for one, two in pairwise(pieces))


@pytest.mark.parametrize("text", ["'\\" * 5_000, '"\\' * 5_000, "'\"\\" * 5_000])
def test_an_unclosed_quote_is_searched_once(text: str) -> None:
    assert len(list(lexer.tokens(text))) < 10
    with pytest.raises(QueryError, match="Unclosed quote"):
        parse(text)


@given(any_text)
def test_a_quoted_value_is_one_token_and_is_unquoted_again(text: str) -> None:
    (token,) = lexer.tokens(f"k={lexer.in_quotes(text)}")

    # Between quotes a backslash at the end would protect the quote.
    back = re.sub(r"\\\Z", "?", text)
    assert lexer.unquoted(token.text.removeprefix("k=")) == back
