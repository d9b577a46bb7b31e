"""A query is read as Spack reads a spec, points at what is none, and comes back as written."""

from __future__ import annotations

import re
from itertools import pairwise
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from spackscope.model.core.errors import (
    QueryError,
)
from spackscope.model.query import lexer
from spackscope.model.query.ast import Query, query_of
from spackscope.model.query.conditions import Depends, Term, exact_term
from spackscope.model.query.format import join_words
from spackscope.model.query.matchers import ANY
from spackscope.model.query.parsed_input import parse_input
from spackscope.model.query.parser import Bare, parse
from spackscope.model.query.validation import MAX_QUERY_LENGTH
from tests.hostile import HOSTILE_TEXT
from tests.query_grammar import random_query

any_text = st.text(st.characters(exclude_categories=[]), min_size=1)
bares = st.sampled_from(["package", "any"])


# What a text means


@pytest.mark.parametrize(
    ("text", "conditions"),
    [
        ("", []),
        ("  \t\n ", []),
        ("hdf5", [Term("package", "hdf5")]),
        ("!hdf5", [Term("package", "hdf5", negated=True)]),
        ("py-*", [Term("package", "py-*")]),
        ("builtin.hdf5", [Term("package", "hdf5"), Term("namespace", "builtin")]),
        ("hdf5@1.14", [Term("package", "hdf5"), Term("version", "1.14")]),
        ("hdf5 @ 1.2, 1.4", [Term("package", "hdf5"), Term("version", "1.2,1.4")]),
        ("@1.2: os=x", [Term("version", "1.2:"), Term("os", "x")]),
        ("+mpi ~cuda", [Term("variants", "+mpi"), Term("variants", "~cuda")]),
        ("hdf5+mpi~cxx -hl", [
            Term("package", "hdf5"),
            Term("variants", "+mpi"), Term("variants", "~cxx"), Term("variants", "~hl"),
        ]),
        ("++mpi --cxx", [Term("variants", "++mpi"), Term("variants", "~~cxx")]),
        ("!+mpi", [Term("variants", "+mpi", negated=True)]),
        ("build_type=Release", [Term("variants", "build_type=Release")]),
        ("libs:=shared,static", [Term("variants", "libs:=shared,static")]),
        ("build_type==Release", [Term("variants", "build_type==Release")]),
        ("cflags='-O2 -g'", [Term("flags", "cflags=-O2 -g")]),
        ("os=ubuntu24.04", [Term("os", "ubuntu24.04")]),
        ("arch=linux-ubuntu24.04-zen4:", [
            Term("platform", "linux"), Term("os", "ubuntu24.04"), Term("target", "zen4:"),
        ]),
        ("arch=-ubuntu24.04-", [Term("os", "ubuntu24.04")]),
        ("arch=x86_64", [Term("target", "x86_64")]),
        ("stacks=e4s stack=e4s", [Term("stack", "e4s")]),
        ("variants=os=none", [Term("variants", "os=none")]),
        ("version==1.2", [Term("version", "=1.2")]),
        ("version=1.2:1.4", [Term("version", "1.2:1.4")]),
        ("hash=abc", [Term("hash", "abc")]),
        ("operating_system=x architecture=a-b-c", QueryError),
        ("operating_system=x", [Term("os", "x")]),
        ("architecture=a-b-c", [
            Term("platform", "a"), Term("os", "b"), Term("target", "c"),
        ]),
        ("os=x@1.2", [Term("os", "x"), Term("version", "1.2")]),
        ("k=a@1.2", [Term("variants", "k=a"), Term("version", "1.2")]),
        ("compiler=gcc@12:", [Term("compiler", "gcc@12:")]),
        ("os='' target='' cflags=\"\" +mpi", [Term("variants", "+mpi")]),
        ("size=10MB:", [Term("size", "10MB:")]),
        ("os='a b'", [Term("os", "a b")]),
        ("os=\"it's\"", [Term("os", "it's")]),
        (r"os='it\'s'", [Term("os", "it's")]),
        (r"os='a\\b'", [Term("os", r"a\\b")]),
        (r"""os='a\"b'""", [Term("os", r'a\"b')]),
        (r"os='a\'", QueryError),
        ("k=''", [Term("variants", "k=''")]),
        ("k==", [Term("variants", "k='='")]),
        ("k='=x'", [Term("variants", "k='=x'")]),
        ("k=='=x'", [Term("variants", "k=='=x'")]),
        ("k='' k=a", QueryError),
        ("'os=a b'", QueryError),
        ("%gcc@13", [Depends(True, (Term("package", "gcc"), Term("version", "13")))]),
        ("^zlib +pic", [Depends(False, (Term("package", "zlib"), Term("variants", "+pic")))]),
        ("%c,cxx=gcc", [Depends(True, (Term("package", "gcc"),), ("c", "cxx"))]),
        ("^[virtuals=mpi deptypes=link,build] openmpi", [
            Depends(False, (Term("package", "openmpi"),), ("mpi",), ("build", "link")),
        ]),
        ("^zlib %gcc", [
            Depends(False, (Term("package", "zlib"), Depends(True, (Term("package", "gcc"),)))),
        ]),
        ("%gcc@12: target=zen4 +graphite", [
            Term("target", "zen4"),
            Depends(True, (
                Term("package", "gcc"), Term("version", "12:"), Term("variants", "+graphite"),
            )),
        ]),
        ("%builtin.gcc", [
            Depends(True, (Term("package", "gcc"), Term("namespace", "builtin"))),
        ]),
        ("%[deptypes=build] c,cxx=gcc", [
            Depends(True, (Term("package", "gcc"),), ("c", "cxx"), ("build",)),
        ]),
        ("^[virtuals=mpi] lapack=openblas", [
            Depends(False, (Term("package", "openblas"),), ("lapack", "mpi")),
        ]),
        ("^[virtuals:='c'] gcc", [Depends(False, (Term("package", "gcc"),), ("c",))]),
        ("^[deptypes=all] gcc", QueryError),
        ("^[deptypes=link,] gcc", QueryError),
        ("^[deptypes='run, link'] gcc", QueryError),
        ("^[deptypes=x deptypes=link] gcc", [
            Depends(False, (Term("package", "gcc"),), (), ("link",)),
        ]),
        ("^[virtuals=c virtuals=mpi] lapack=gcc", [
            Depends(False, (Term("package", "gcc"),), ("lapack", "mpi")),
        ]),
        ("%[ ] gcc", [Depends(True, (Term("package", "gcc"),))]),
        ("+cflags", QueryError),
        ("~os", QueryError),
        ("++architecture", QueryError),
        ("++patches", QueryError),
        ("~~tag", QueryError),
        ("+tag", [Term("variants", "+tag")]),
        ("target=a:b:c,^d", [Term("target", "a:b:c,^d")]),
        ("+\xa0mpi", [Term("variants", "+mpi")]),
        ("builtin.hdf5 namespace=builtin", [
            Term("package", "hdf5"), Term("namespace", "builtin"),
        ]),
        ("builtin.hdf5 namespace=x", QueryError),
        ("@git.main=1.2", [Term("version", "git.main=1.2")]),
        ("@ git.main", [Term("version", "git.main")]),
        ("@ git.main=1.2", QueryError),
        ("^[] gcc", [Depends(False, (Term("package", "gcc"),))]),
        ("%[virtuals=c]", [Depends(True, (), ("c",))]),
        ("%[virtuals=c] @11:", [Depends(True, (Term("version", "11:"),), ("c",))]),
        ("% k=*", [Depends(True, (Term("variants", "k=*"),))]),
        ("% * k=v", [Depends(True, (Term("variants", "k=v"),))]),
        ("% ^zlib", [Depends(True, ()), Depends(False, (Term("package", "zlib"),))]),
        ("^zlib target=zen4", [
            Depends(False, (Term("package", "zlib"), Term("target", "zen4"))),
        ]),
        ("^zlib !+pic", [
            Term("variants", "+pic", negated=True), Depends(False, (Term("package", "zlib"),)),
        ]),
        ("!^zlib", [Depends(False, (Term("package", "zlib"),), negated=True)]),
    ],
)  # fmt: skip
def test_a_spec_is_read_condition_by_condition(
    text: str, conditions: list[Term | Depends] | type[QueryError]
) -> None:
    if isinstance(conditions, list):
        assert parse(text) == query_of(*conditions)
    else:
        with pytest.raises(conditions):
            parse(text)


ZLIB, HDF5 = (Term("package", "zlib"),), (Term("package", "hdf5"),)
MPI, X, Y = (Term("variants", "+mpi"),), Term("os", "x"), Term("os", "y")


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("hdf5 zlib", Query(((*HDF5, *ZLIB),))),
        ("hdf5@: zlib@:", Query(((*HDF5, *ZLIB),))),
        ("package=hdf5 zlib*", Query((HDF5, (Term("package", "zlib*"),)))),
        ("hdf5 +mpi zlib", Query((), ((HDF5, MPI), (ZLIB,)))),
        ("hdf5 +mpi zlib +mpi", Query((MPI, (*HDF5, *ZLIB)))),
        ("hdf5 +mpi zlib +mpi os=x", Query((MPI,), ((HDF5,), (ZLIB, (X,))))),
        ("hdf5 os=x hdf5", Query((HDF5,))),
        ("+mpi hdf5", Query((MPI, HDF5))),
        ("hdf5 | zlib +mpi", Query(((*HDF5, *ZLIB), MPI))),
        ("os=x|os=y", Query(((X, Y),))),
        ("os=x | os=y", Query(((X, Y),))),
        ("!arch=a-b-c", Query(((Term("arch", "a-b-c", negated=True),),))),
        ("arch=a-b-c | os=x", Query(((Term("arch", "a-b-c"), X),))),
        ("os=x | arch=a-b-c", Query(((X, Term("arch", "a-b-c")),))),
        ("os=x | !os=y", Query(((X, Term("os", "y", negated=True)),))),
        ("/abc /abd", Query((), (((Term("hash", "abc"),),), ((Term("hash", "abd"),),)))),
        (
            "^zlib/abc /abd",
            Query(
                (),
                (
                    ((Depends(False, (*ZLIB, Term("hash", "abc"))),),),
                    ((Term("hash", "abd"),),),
                ),
            ),
        ),
    ],
)
def test_names_begin_specs_and_bars_join_alternatives(text: str, query: Query) -> None:
    assert parse(text) == query


def test_a_bare_word_of_a_live_filter_is_looked_for_everywhere() -> None:
    assert parse("mpi", bare="any") == query_of(Term(ANY, "mpi"))
    assert parse("hdf5 zlib", bare="any") == query_of(Term(ANY, "hdf5"), Term(ANY, "zlib"))
    assert parse("'c,c++'", bare="any") == query_of(Term(ANY, "c,c++"))
    assert parse("+mpi os=x", bare="any") == parse("+mpi os=x")
    assert parse("hdf5@1.2 zlib+pic", bare="any") == parse("hdf5@1.2 zlib+pic")


def test_the_words_of_a_command_line_have_lost_the_quotes_of_flags() -> None:
    assert join_words(["hdf5", "cflags=-O2 -g", "+mpi"]) == "hdf5 cflags='-O2 -g' +mpi"
    assert join_words(["hdf5 +mpi", "cflags='-O2 -g'"]) == "hdf5 +mpi cflags='-O2 -g'"


def test_each_condition_knows_its_place() -> None:
    text = "hdf5@1.2 !os=x ^zlib@1 +pic %gcc"
    parsed = parse_input(text, 0)
    query, spans = parsed.query, parsed.spans
    assert query is not None

    assert {text[slice(*spans[c])] for c in query.conditions} == {
        "hdf5", "@1.2", "os=x", "^zlib@1 +pic %gcc",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("os=x 'y", 5, "Unclosed quote"),
        ('hdf5 os="', 8, "Unclosed quote"),
        ("!!hdf5", 1, 'Unexpected "!" after !'),
        ("!hdf5@1", 1, "apply to one condition"),
        ("zlib | hdf5@1", 7, "apply to one condition"),
        ("zlib@1 | hdf5", 7, r"\| joins two single conditions"),
        ("hdf5+mpi|zlib", 8, r"\| joins two single conditions"),
        ("!builtin.hdf5", 1, "this is two. Write hdf5 namespace=builtin"),
        ("builtin.hdf5 | zlib", 0, "this is two"),
        ("^[virtuals=mpi openmpi", 1, "Expected ] and a name"),
        ("size=1GB:1MB", 0, "is an empty range"),
        ("os=x !", 5, "Expected a condition after !"),
        ("a |", 2, r"Expected another condition after \|"),
        ("| a", 0, r"Expected a condition on each side of \|"),
        ("a | | b", 4, r"Expected a condition on each side of \|"),
        ("a +", 2, r"Expected a variant after \+"),
        ("a os=", 4, "Expected a value after os="),
        ("a !build_type=", 13, "Expected a value after build_type="),
        ("a /", 2, "Expected a hash prefix after /"),
        ("a @", 2, "Expected a version after @"),
        ("a ^", 2, r"Expected a dependency after \^"),
        ("a % !b", 2, "Expected a compiler or a direct dependency after %"),
        ("a version=1:2:3", 2, "more than one colon"),
        ("a @3:1", 2, "empty range"),
        ("compiler=gcc@", 0, "Expected a version"),
        ("size=10MB", 0, "not a size range"),
        ("size=big:", 0, "big is not a size"),
        ("+a ~a", 3, r"a is given twice. For either, write \+a \| ~a"),
        ("k=1 k=2", 4, r"k is given twice. For either, write k=1 \| k=2"),
        ("a os=x os=y", 7, "os is given twice"),
        ("@1 @2", 3, "version is given twice"),
        ("a ^b@1@2", 6, "version is given twice"),
        ("+a +a", 3, "a is given twice$"),
        ("a ^b+c+c", 6, "c is given twice$"),
        ("target=a target=a", 9, "target is given twice$"),
        ("os=x arch=zen4", 5, "os is given twice"),
        ("arch=a-b-c target=d", 11, "is given twice"),
        ("hash=abc /abc", 9, "hash is given twice$"),
        ("os==x", 0, "Use = after os"),
        ("patches==0df", 0, "Use = after patches"),
        ("a@1.", 3, 'Unexpected "[.]"'),
        ("a@1.,2", 3, 'Unexpected "[.]"'),
        ("a@1.2-", 5, 'Unexpected "-"'),
        ("a..b", 2, "a..b is not a package name"),
        ("a ^b.", 5, "b. is not a package name"),
        ("zlib-é", 5, 'Unexpected "é"'),
        ("k=é", 2, 'Unexpected "é"'),
        ("^ [virtuals=c] gcc", 2, r'Unexpected "\['),
        ("%c=gcc=x", 6, "Expected a package name, found ="),
        ("!os=''", 1, "is not a condition"),
        ("os='' | os=x", 6, r"Expected a condition on each side of \|"),
        ("^[when=x] a", 2, "Expected virtuals=… or deptypes=…"),
        ("^[deptypes=lnk] a", 11, "lnk is not a dependency type"),
        ("a (b)", 2, r'Unexpected "\(". Quote it, or use \| for or'),
        ("x" * (MAX_QUERY_LENGTH + 1), MAX_QUERY_LENGTH, "at most 50,000 characters"),
        (" ".join(f"p{n}" for n in range(1_001)), 4890, "at most 1,000 terms"),
    ],
)
def test_what_is_no_query_is_pointed_at(text: str, offset: int, message: str) -> None:
    with pytest.raises(QueryError, match=message) as refusal:
        parse(text)

    assert refusal.value.offset == offset


# Tokens


@given(any_text | st.text("ab1!=+~@:*?/'\" ,|^%[]-"))
def test_no_character_of_a_text_is_lost(text: str) -> None:
    assert "".join(token.text for token in lexer.tokens(text)) == text
    pieces = list(lexer.highlights(lexer.tokens(text)))
    assert all(start < end for start, end, _ in pieces)
    assert all(one[1] <= two[0] for one, two in pairwise(pieces))


@pytest.mark.parametrize("text", ["'\\" * 5_000, '"\\' * 5_000, "'\"\\" * 5_000])
def test_quotes_that_are_not_closed_are_looked_at_once(text: str) -> None:
    assert len(list(lexer.tokens(text))) < 10
    with pytest.raises(QueryError, match="Unclosed quote"):
        parse(text)


@given(any_text)
def test_a_quoted_value_is_one_token_and_comes_back(text: str) -> None:
    (token,) = lexer.tokens(f"k={lexer.in_quotes(text)}")

    # Between quotes a backslash at the end would protect the quote.
    back = re.sub(r"\\\Z", "?", text)
    assert lexer.unquoted(token.text.removeprefix("k=")) == back


# Round trips


@given(any_text | st.text("ab1!=+~@:*?/'\" ,|^%[]-c."), bares)
@settings(max_examples=500)
def test_what_is_typed_into_the_query_line_comes_back(text: str, bare: Bare) -> None:
    query, refusal = read_or_refused(text, bare)

    if query is not None:
        assert parse(str(query), bare="any") == query
    elif refusal is not None:
        assert 0 <= refusal.offset <= len(text)
        assert str(refusal)


def read_or_refused(text: str, bare: Bare) -> tuple[Query | None, QueryError | None]:
    try:
        return parse(text, bare=bare), None
    except QueryError as refusal:
        return None, refusal


words = st.sampled_from(
    ["hdf5", "zlib", "hdf5@1.2", "@=1.2:", "+mpi", "~cuda", "k=a", "k:=a,b", "os=x", "target=a:b",
     "arch=linux-x-zen4", "/abc", "/abd", "%gcc", "%gcc@12:", "%c=gcc", "^zlib", "^zlib@1 +pic",
     "^[virtuals=mpi] openmpi", "^/abc", "cflags='-O2 -g'", "stack=e4s", "|", "!", "py-*",
     "builtin.b", "*", "@1.2", "namespace=x", "^a %b", "++m", "k==v", "size=1:", "hash=*a",
     "installed", "cached"]
)  # fmt: skip


@given(st.lists(words, max_size=9), bares)
@settings(max_examples=500)
@example(["%gcc", "hdf5", "@1.2", "|", "%gcc"], "package")
@example(["^zlib", "%gcc", "arch=linux-x-zen4", "|", "hdf5"], "package")
def test_what_is_made_of_real_words_comes_back(chosen: list[str], bare: Bare) -> None:
    try:
        query = parse(" ".join(chosen), bare=bare)
    except QueryError:
        return

    assert parse(str(query), bare="any") == query
    without = [query.minus(part) for part in query.parts()]
    assert all(len(less.parts()) < len(query.parts()) for less in without)


@pytest.mark.parametrize("bare", ["package", "any"])
def test_what_the_grammar_allows_is_spelled_so_that_it_is_read_again(bare: Bare) -> None:
    read_at_all = 0
    for seed in range(3_000):
        text = random_query(Random(seed))
        query, _ = read_or_refused(text, bare)
        if query is not None:
            read_at_all += 1
            assert parse(str(query), bare="any") == query, text
            assert bare == "any" or parse(str(query)) == query, text

    assert read_at_all > 1_000


@given(
    st.sampled_from(["package", "os", "platform", "stack", "tag", "source"]),
    any_text,
    st.booleans(),
)
def test_a_term_of_any_text_is_spelled_so_that_it_is_read_again(
    column: str, text: str, negated: bool
) -> None:
    query = query_of(Term(column, text, negated))

    assert parse(str(query)) == parse(str(query), bare="any") == query


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
@settings(max_examples=400)
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


# The package of a query


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
def test_a_query_names_its_package_and_can_do_without(
    text: str, package: str | None, rest: str
) -> None:
    query = parse(text, bare="package")

    assert query.package == package
    assert query.with_package(None) == parse(rest, bare="package")
    assert query.with_package("zlib").package == "zlib"


@pytest.mark.parametrize("name", ["\x1b[31m", "a b", "", "a*b"])
def test_a_package_of_an_odd_name_can_be_chosen_and_left(name: str) -> None:
    query = parse("os=a", bare="any")

    chosen = query.with_package("zlib").with_package(name)

    assert chosen.package_term == exact_term("package", name)
    assert chosen.with_package(None) == query
