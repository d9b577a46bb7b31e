"""The filter under a column is another form of the query, and the two never contradict."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.columns import BY_NAME
from spackscope.model.core.errors import QueryError
from spackscope.model.query.ast import Query, Term
from spackscope.model.query.column_filter import column_groups, column_text, parse_filter_input
from spackscope.model.query.parser import MAX_TERMS, parse
from tests.examples import examples

any_text = st.text(st.characters(exclude_categories=[]), min_size=1)


@pytest.mark.parametrize(
    ("column", "text", "meaning"),
    [
        ("os", "ubuntu !24", "os=*ubuntu* !os=*24*"),
        ("os", "=centos7", "os=centos7"),
        ("os", "'a b'", "os='*a b*'"),
        ("os", "u*4", "os=u*4"),
        ("fits", "no glibc", "fits=no fits=*glibc*"),
        ("fits", "!yes", "!fits=yes"),
        ("version", "1.2", "version=*1.2*"),
        ("version", "1.2:", "@1.2:"),
        ("version", "@1.2", "@1.2"),
        ("version", "=1.2", "@1.2"),
        ("version", "==1.2", "@=1.2"),
        ("compiler", "gcc@13:", "compiler='gcc@13:'"),
        ("compiler", "gcc", "compiler=*gcc*"),
        ("compiler", "%gcc@13:", "%gcc@13:"),
        ("target", "x86", "target=*x86*"),
        ("target", "x86_64_v3:", "target=x86_64_v3:"),
        ("target", "zen4,zen5", "target=zen4,zen5"),
        ("variants", "+mpi", "+mpi"),
        ("variants", "mpi", "variants=*mpi*"),
        ("variants", "libs=shared", "libs=shared"),
        ("variants", "libs=", "variants=*libs=*"),
        ("variants", "os=none", "variants=os=none"),
        ("hash", "abc", "hash=abc"),
        ("hash", "/abc", "hash=/abc"),
        ("size", "10MB:", "size=10MB:"),
        ("os", "! = + ~ @ !=", ""),
        ("os", "| ubuntu |", "os=*ubuntu*"),
        ("os", "=x | 24 !y", "os=x | os=*24* !os=*y*"),
        ("variants", "+ ~ !+ !~", ""),
        ("version", "@ !@ !", ""),
        ("+hl", "+", "+hl"),
        ("+hl", "~hl", "~hl"),
        ("+hl", "!~ =", "!~hl"),
        ("+fabrics", "of", "fabrics=*of*"),
        ("+fabrics", "=ofi", "fabrics=ofi"),
        ("+fabrics", "fabrics=ofi", "fabrics=ofi"),
    ],
)
def test_a_filter_is_parsed_word_by_word(column: str, text: str, meaning: str) -> None:
    assert Query(column_groups(column, text)[0]) == parse(meaning, packages=())


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
    parsed = parse_filter_input(text, 0, column, Query())

    assert parsed.query is None
    assert parsed.error is not None
    assert parsed.error.offset == offset


def test_a_filter_replaces_the_conditions_on_its_column() -> None:
    query = parse("hdf5 os=centos7 +mpi")

    changed = parse_filter_input("ubuntu !24", 0, "os", query).query
    assert changed is not None

    assert str(changed) == "package=hdf5 +mpi os=*ubuntu* !os=*24*"
    assert column_text(changed, "os") == "ubuntu !24"
    assert column_text(query, "os") == "=centos7"
    assert parse_filter_input("", 0, "os", query).query == parse("hdf5 +mpi")
    assert parse_filter_input("!24", 3, "os", query).others == parse("hdf5 +mpi")
    twice = parse_filter_input("1: 2:", 0, "version", query).error
    assert str(twice).startswith("version is given twice")


def test_a_filter_has_the_groups_that_are_on_its_column_alone() -> None:
    query = parse("+hl ~mpi | +hl fabrics=ofi !fabrics=*u* os=x | os=*24* target=zen4 | +x")

    shown = {
        name: column_text(query, name) for name in ("+hl", "+fabrics", "+mpi", "os", "target")
    }
    assert shown == {"+hl": "+hl", "+fabrics": "fabrics=ofi !u", "+mpi": "", "os": "=x | 24",
                     "target": ""}  # fmt: skip
    assert parse_filter_input("~", 0, "+hl", query).query == query.without_column("+hl").plus(
        parse("~hl")
    )


@pytest.mark.parametrize(("column", "text"), [("+x", "+x"), ("+x", "x=a"), ("+", "+")])
def test_the_filter_of_a_variant_is_written_and_parsed_again(column: str, text: str) -> None:
    """A damaged record may have a variant without a name."""
    query = Query(((Term("variants", text),),))
    assert column_groups(column, column_text(query, column))[0] == query.groups


@pytest.mark.parametrize("column", ["compiler", "version", "tag", "stack"])
def test_a_filter_has_a_word_for_no_value(column: str) -> None:
    for negated in (False, True):
        text = column_text(Query(((Term(column, "", negated),),)), column)
        assert column_groups(column, text)[0] == ((Term(column, "?*", not negated),),)


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
    parsed = parse_filter_input(text, 0, column, Query())

    if parsed.error is not None:
        assert 0 <= parsed.error.offset <= len(text)
    query = parsed.query or Query()
    assert column_groups(column, column_text(query, column))[0] == query.groups
    assert parse(str(query), packages=()) == query
    for condition, (start, end) in parsed.spans.items():
        assert column_groups(column, text[start:end])[0] == ((condition,),)


def test_a_filter_has_as_many_words_as_a_query() -> None:
    words = [*map(str, range(MAX_TERMS))]
    groups, _ = column_groups("os", " ".join(words))
    assert len(groups) == MAX_TERMS
    with pytest.raises(QueryError, match="A filter has at most 1,000 words"):
        column_groups("os", " ".join([*words, "a"]))
