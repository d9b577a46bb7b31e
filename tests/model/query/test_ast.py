"""A query is written as a text that parses back to it, and its conditions fit what is shown."""

from random import Random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from spackscope.model.query.ast import Term, exact_term, join_words, query_of
from spackscope.model.query.parser import (
    MAX_QUERY_LENGTH,
    Packages,
    format_for_shell,
    parse,
    parse_input,
)
from tests.examples import examples
from tests.hostile import HOSTILE_TEXT
from tests.random_queries import random_query

any_text = st.text(st.characters(exclude_categories=[]), min_size=1)
packages = st.sampled_from([None, (), ("hdf5", "zlib")])


words = st.sampled_from(
    ["hdf5", "zlib", "hdf5@1.2", "@=1.2:", "+mpi", "~cuda", "k=a", "k:=a,b", "os=x", "target=a:b",
     "arch=linux-x-zen4", "/abc", "/abd", "%gcc", "%gcc@12:", "%c=gcc", "^zlib", "^zlib@1 +pic",
     "^[virtuals=mpi] openmpi", "^/abc", "cflags='-O2 -g'", "stack=e4s", "|", "!", "py-*",
     "builtin.b", "*", "@1.2", "namespace=x", "^a %b", "++m", "k==v", "size=1:", "hash=*a",
     "installed", "cached"]
)  # fmt: skip
signs = st.text("ab1!=+~@:*?/'\" ,|^%[]-c.")


grammar = st.integers(0, 1 << 30).map(lambda seed: random_query(Random(seed)))


@given(any_text | signs | st.lists(words, max_size=9).map(" ".join) | grammar | grammar, packages)
@examples(2000)
@example("%gcc hdf5 @1.2 | %gcc", None)
@example("^zlib %gcc arch=linux-x-zen4 | hdf5", None)
def test_any_text_that_parses_is_written_and_parsed_again(text: str, packages: Packages) -> None:
    parsed = parse_input(text, 0, packages=packages)
    query, error = parsed.query, parsed.error
    if query is None:
        assert error is not None
        assert 0 <= error.offset <= len(text)
        assert str(error)
        return
    assert parse(str(query), packages=()) == query
    assert packages is not None or parse(str(query)) == query
    assert parse(format_for_shell(query)) == query
    without = [query.minus(part) for part in query.parts()]
    assert all(len(less.parts()) < len(query.parts()) for less in without)


@given(
    st.sampled_from(["package", "os", "platform", "stack", "tag", "source"]),
    any_text,
    st.booleans(),
)
def test_a_term_of_any_text_is_written_and_parsed_again(
    column: str, text: str, negated: bool
) -> None:
    query = query_of(Term(column, text, negated))

    assert parse(str(query)) == parse(str(query), packages=()) == query


def test_flags_of_a_command_line_get_their_quotes_back() -> None:
    assert join_words(["hdf5", "cflags=-O2 -g", "+mpi"]) == "hdf5 cflags='-O2 -g' +mpi"
    assert join_words(["hdf5 +mpi", "cflags='-O2 -g'"]) == "hdf5 +mpi cflags='-O2 -g'"


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("mpi", "any=mpi"),
        ("!mpi", "!any=mpi"),
        ("'a b' | os=x", "any='a b' | os=x"),
        ("größe", "any='größe'"),
        ("hdf5@1.14 shared", "hdf5@1.14 any=shared"),
        ("'cached'", "any=cached"),
        ("shared ^zlib+pic", "any=shared ^zlib +pic"),
        ("os='größe'", "os='größe'"),
        *(("/abc | /abd hash=abe +x", "/abc | /abd hash=abe +x"), ("+x /abc", "/abc +x")),
    ],
)
def test_what_is_typed_in_the_browser_can_be_written_in_the_shell(
    typed: str, written: str
) -> None:
    query = parse(typed, packages=())
    assert parse(format_for_shell(query)) == query
    assert format_for_shell(query) == written


TEXTS = [text for _, text in HOSTILE_TEXT if text]
SHOWN = ["package", "version", "compiler", "platform", "os", "target", "variants", "stack", "tag"]


@given(
    st.sampled_from(SHOWN),
    any_text
    | st.sampled_from(TEXTS)
    | st.text("ab1+~=:@,.-/*? '\"", min_size=1)
    | st.sampled_from(["x=true", "x=", "+", "+a b", "k:=a,b", "k='a", "gcc@1 2", "a,b", "=1"]),
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
    assert exact_term("flags", "cflags=-DX=?") == Term("flags", "cflags=-DX=?")


@pytest.mark.parametrize(
    ("text", "package", "rest"),
    [
        ("hdf5 +mpi", "hdf5", "+mpi"),
        ("+mpi os=a", None, "+mpi os=a"),
        ("hdf5 | zlib", None, "hdf5 | zlib"),
        ("hdf5*", None, "hdf5*"),
        ("!hdf5", None, "!hdf5"),
    ],
)
def test_the_package_of_a_query_is_named_and_removed(
    text: str, package: str | None, rest: str
) -> None:
    query = parse(text)

    assert query.package == package
    assert query.with_package(None) == parse(rest)
    assert query.with_package("zlib").package == "zlib"
    for name in ("\x1b[31m", "a b", "", "a*b"):
        chosen = query.with_package("zlib").with_package(name)
        assert chosen.package_term == exact_term("package", name)
        assert chosen.with_package(None) == parse(rest)


def test_the_words_of_a_query_are_those_that_must_all_be_found() -> None:
    query = parse("mpi !lib cuda | hip os=x 'a b'", packages=())

    assert query.words == {"mpi", "a b"}
