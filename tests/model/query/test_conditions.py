"""The condition for a value shown on the screen is one that the value fits."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from spackscope.model.query.ast import Term, exact_term, query_of
from spackscope.model.query.parser import MAX_QUERY_LENGTH, parse
from tests.examples import examples
from tests.hostile import HOSTILE_TEXT

any_text = st.text(st.characters(exclude_categories=[]), min_size=1)
TEXTS = [text for _, text in HOSTILE_TEXT if text]
SHOWN = ["package", "version", "compiler", "platform", "os", "target", "variants", "stack", "tag"]


@given(
    st.sampled_from(SHOWN),
    any_text
    | st.sampled_from(TEXTS)
    | st.text("ab1+~=:@,.-/*? '\"", min_size=1)
    | st.sampled_from(
        ["x=true", "x=", "+", "+a b", "k:=a,b", "k='a", "gcc@1 2", "a,b", "=1", "1:2"]
    ),
)
@examples(400)
@example("variants", "0=@")
def test_the_term_of_a_shown_value_fits_that_value(column: str, value: str) -> None:
    term = exact_term(column, value)

    assert term.fits(column, (value,) if column in ("variants", "stack") else value)
    if len(str(term)) <= MAX_QUERY_LENGTH:
        assert parse(str(term)) == query_of(term)


def test_the_term_of_a_shown_value_is_exact() -> None:
    assert exact_term("version", "1.2") == Term("version", "=1.2")
    assert exact_term("compiler", "gcc@13.2.0") == Term("compiler", "gcc@=13.2.0")
    assert exact_term("variants", "+mpi") == Term("variants", "+mpi")
    assert exact_term("version", "1 \x1b2") == Term("version", "1??2")
