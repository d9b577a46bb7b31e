"""The filter under a column is another form of the query, and the two never contradict."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.errors import QueryError
from spackscope.model.query.ast import Depends, Query, Term
from spackscope.model.query.column_filter import apply_filter, column_groups, column_text
from spackscope.model.query.parser import parse
from tests.examples import examples

any_text = st.text(st.characters(exclude_categories=[]), min_size=1)
GCC = Depends(True, (Term("package", "gcc"), Term("version", "13:")))


@pytest.mark.parametrize(
    ("column", "text", "terms"),
    [
        ("os", "ubuntu", [Term("os", "*ubuntu*")]),
        ("os", "ubuntu !24", [Term("os", "*ubuntu*"), Term("os", "*24*", negated=True)]),
        ("os", "=centos7", [Term("os", "centos7")]),
        ("os", "'a b'", [Term("os", "*a b*")]),
        ("os", "u*4", [Term("os", "u*4")]),
        ("fits", "no glibc", [Term("fits", "no"), Term("fits", "*glibc*")]),
        ("fits", "!yes", [Term("fits", "yes", negated=True)]),
        ("version", "1.2", [Term("version", "*1.2*")]),
        ("version", "1.2:", [Term("version", "1.2:")]),
        ("version", "@1.2", [Term("version", "1.2")]),
        ("version", "=1.2", [Term("version", "1.2")]),
        ("version", "==1.2", [Term("version", "=1.2")]),
        ("compiler", "gcc@13:", [Term("compiler", "gcc@13:")]),
        ("compiler", "gcc", [Term("compiler", "*gcc*")]),
        ("compiler", "%gcc@13:", [GCC]),
        ("target", "x86", [Term("target", "*x86*")]),
        ("target", "x86_64_v3:", [Term("target", "x86_64_v3:")]),
        ("target", "zen4,zen5", [Term("target", "zen4,zen5")]),
        ("variants", "+mpi", [Term("variants", "+mpi")]),
        ("variants", "mpi", [Term("variants", "*mpi*")]),
        ("variants", "libs=shared", [Term("variants", "libs=shared")]),
        ("variants", "libs=", [Term("variants", "*libs=*")]),
        ("variants", "os=none", [Term("variants", "os=none")]),
        ("hash", "abc", [Term("hash", "abc")]),
        ("hash", "/abc", [Term("hash", "/abc")]),
        ("size", "10MB:", [Term("size", "10MB:")]),
        ("os", "! = + ~ @ !=", []),
        ("os", "| ubuntu |", [Term("os", "*ubuntu*")]),
        ("variants", "+ ~ !+ !~", []),
        ("version", "@ !@ !", []),
        ("+hl", "+", [Term("variants", "+hl")]),
        ("+hl", "~hl", [Term("variants", "~hl")]),
        ("+hl", "!~ =", [Term("variants", "~hl", negated=True)]),
        ("+fabrics", "of", [Term("variants", "fabrics=*of*")]),
        ("+fabrics", "=ofi", [Term("variants", "fabrics=ofi")]),
        ("+fabrics", "fabrics=ofi", [Term("variants", "fabrics=ofi")]),
    ],
)
def test_a_filter_is_parsed_word_by_word(column: str, text: str, terms: list[Term]) -> None:
    assert column_groups(column, text)[0] == tuple((term,) for term in terms)


@pytest.mark.parametrize(
    ("column", "text", "offset"),
    [
        ("hash", "abc A-C", 4),
        ("version", "1: 3:1", 3),
        ("version", "1: 3:", 3),
        ("hash", "abc abd", 4),
        ("size", "10MB", 0),
        ("os", "a 'b", 2),
        ("+hl", "+hl ~mpi", 4),
    ],
)
def test_an_error_of_a_filter_has_its_offset(column: str, text: str, offset: int) -> None:
    with pytest.raises(QueryError) as refusal:
        apply_filter(Query(), column, text)

    assert refusal.value.offset == offset


def test_a_filter_replaces_the_conditions_on_its_column() -> None:
    query = parse("hdf5 os=centos7 +mpi")

    changed = apply_filter(query, "os", "ubuntu !24")[0]

    assert str(changed) == "package=hdf5 +mpi os=*ubuntu* !os=*24*"
    assert column_text(changed, "os") == "ubuntu !24"
    assert column_text(query, "os") == "=centos7"
    assert apply_filter(query, "os", "")[0] == parse("hdf5 +mpi")


def test_the_filter_of_a_variant_leaves_other_variants_alone() -> None:
    query = parse("hdf5 +hl ~mpi | +hl fabrics=ofi !fabrics=*u*")

    assert column_text(query, "+hl") == "+hl"
    assert column_text(query, "+fabrics") == "fabrics=ofi !u"
    assert column_text(query, "+mpi") == "", "the alternatives are on two variants"
    assert apply_filter(query, "+hl", "~")[0] == parse(f"{query.without_column('+hl')} ~hl")


def test_alternatives_are_in_the_filter_of_their_column() -> None:
    query = parse("os=x | os=*24* target=zen4 | +mpi %gcc@13:")

    assert column_text(query, "os") == "=x | 24"
    assert column_text(query, "target") == column_text(query, "variants") == ""
    assert column_text(query, "compiler") == "%gcc@13:"
    assert apply_filter(query, "os", "=x | 24 !y")[0] == parse(f"{query} !os=*y*")


def test_a_filter_cannot_name_twice_what_a_spec_has_once() -> None:
    with pytest.raises(QueryError, match="is given twice"):
        apply_filter(parse("os=x | target=y"), "version", "1: 2:")


@pytest.mark.parametrize("text", ["%gcc@12/abc", "%c,cxx=gcc@12/abc", "%[virtuals='c=x'] gcc"])
def test_a_compiler_is_one_word_of_its_filter_or_none(text: str) -> None:
    query = parse(text)
    (condition,) = query.conditions

    shown = column_text(query, "compiler")

    assert " " not in shown
    assert bool(shown) == (condition.column == "compiler")
    assert Query(column_groups("compiler", shown)[0]) == (query if shown else Query())


@pytest.mark.parametrize(
    "pattern",
    ["*=x*", "*+mpi*", "*1:2*", "*@x*", "*!x*", "*+*", "*abc*", "a*", "**", "*?*", "'\"", "|"],
)
@pytest.mark.parametrize("column", ["os", "version", "compiler", "variants", "target"])
def test_a_pattern_is_written_and_parsed_again(column: str, pattern: str) -> None:
    term = Term(column, pattern)
    query = Query(((term,), (Term(column, "a*", negated=True),)))
    try:
        term.fits(column, "1")
    except ValueError:
        return

    assert column_groups(column, column_text(query, column))[0] == query.groups


@given(st.sampled_from([*sorted(BY_NAME), "+hl"]), any_text | st.text("ab1!=+~@:*?/'\" ,|%"))
@examples(400)
def test_any_filter_is_written_and_parsed_again(column: str, text: str) -> None:
    groups, refusal = filtered_or_refused(column, text)
    query = Query(groups)

    if refusal is not None:
        assert 0 <= refusal.offset <= len(text)
    assert column_groups(column, column_text(query, column))[0] == query.groups
    assert parse(str(query), packages=()) == query


def filtered_or_refused(
    column: str, text: str
) -> tuple[tuple[tuple[Term | Depends, ...], ...], QueryError | None]:
    try:
        return apply_filter(Query(), column, text)[0].groups, None
    except QueryError as refusal:
        return (), refusal
