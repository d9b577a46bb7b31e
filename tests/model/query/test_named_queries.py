"""A named query stands for its conditions, as if they were in parentheses."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import example, given, reject
from hypothesis import strategies as st

from spackscope.model.core.errors import QueryError
from spackscope.model.core.records import Spec
from spackscope.model.query.ast import Query, Term
from spackscope.model.query.parser import NamedQueries, parse, parse_input
from tests.evaluator import satisfies
from tests.examples import examples
from tests.model.query.test_ast import read_or_none, words

VIEWS = NamedQueries(
    {
        "mine": "os=rhel9 target=:zen3 +mpi",
        "either": "os=a | os=b",
        "mpi": "mpich openmpi",
        "two": "hdf5@1.14 +mpi zlib@1.3 os=a",
        "dep": "^zlib@1.3 +pic",
        "nested": "view=mine ~cuda",
        "all": "*",
        "wrong": "hdf5@",
        "inner": "view=wrong",
        "a": "view=b os=x",
        "b": "view=a",
        "self": "view=self",
    },
    {"wrong": "config.toml:12"},
)

VALUES = product(["hdf5", "zlib"], ["1.14.3", "1.3"], ["a", "rhel9", "x"], ["+mpi", "~mpi"])
SPECS = [
    Spec(package, f"{number:032}", version, "gcc@13.2.0", "linux", os, "zen3", (mpi, "~cuda"),
         (), None, "", "")
    for number, (package, version, os, mpi) in enumerate(VALUES)
]  # fmt: skip
EVERY = {spec.hash for spec in SPECS}


def read(text: str) -> Query:
    return parse(text, named=VIEWS)


def found(query: Query) -> set[str]:
    return {spec.hash for spec in SPECS if satisfies(spec, query)}


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("view=mine", "os=rhel9 target=:zen3 +mpi"),
        ("hdf5 view=mine ~cuda", "hdf5 os=rhel9 target=:zen3 +mpi ~cuda"),
        ("view='mine'", "os=rhel9 target=:zen3 +mpi"),
        ("view=mine +mpi", "os=rhel9 target=:zen3 +mpi"),
        ("view=mine view=mine", "os=rhel9 target=:zen3 +mpi"),
        ("view=nested", "os=rhel9 target=:zen3 +mpi ~cuda"),
        ("view=either +x", "os=a | os=b +x"),
        ("!view=either", "!os=a !os=b"),
        ("!view=mine", "!os=rhel9 | !target=:zen3 | !+mpi"),
        ("view=either | os=c", "os=a | os=b | os=c"),
        ("os=c | view=mine", "os=c | os=rhel9 os=c | target=:zen3 os=c | +mpi"),
        ("view=mpi +x", "mpich | openmpi +x"),
        ("zlib view=dep", "zlib ^zlib@1.3+pic"),
        ("^cmake view=mine", "os=rhel9 target=:zen3 +mpi ^cmake"),
        ("view=all hdf5", "hdf5"),
    ],
)
def test_a_view_is_its_conditions(text: str, meaning: str) -> None:
    assert read(text) == parse(meaning)
    assert parse(str(read(text)), packages=()) == read(text)


def test_a_name_after_a_view_with_names_begins_another_spec() -> None:
    assert found(read("view=two")) == found(parse("hdf5@1.14 +mpi zlib@1.3 os=a"))
    assert found(read("view=two ~cuda")) == found(read("view=two"))
    assert found(read("view=two target=zen3")) == found(read("view=two"))
    assert read("view=two os=a").specs
    assert str(read("arch=linux-a-zen3 view=two")) == str(read("view=two arch=linux-a-zen3"))
    assert found(read("view=two zlib@1.14")) == found(read("view=two")) | found(parse("zlib@1.14"))
    assert found(read("!view=two")) == EVERY - found(read("view=two"))


@pytest.mark.parametrize(
    ("text", "sentence", "offset"),
    [
        ("hdf5 view=mnie", "Unknown view mnie. Did you mean mine?", 5),
        ("view=", "Expected a value after view=", 4),
        ("view==mine", "Use = after view, not ==", 0),
        ("view:=mine", "Use = after view, not :=", 0),
        ("+x view=wrong", "view=wrong (config.toml:12): Expected a version after @", 3),
        ("view=inner", "view=inner: view=wrong (config.toml:12): Expected a version after @", 0),
        ("view=self", "view=self: view=self needs itself: self → self", 0),
        ("view=a", "view=a: view=b: view=a needs itself: a → b → a", 0),
        ("os=ubuntu view=mine", "os is given twice: here and in a view", 10),
        ("view=mine os=ubuntu", "os is given twice: here and in a view", 0),
        ("! view=all", "view=all is not a condition", 2),
    ],
)
def test_what_is_wrong_is_said_where_the_view_is_named(
    text: str, sentence: str, offset: int
) -> None:
    with pytest.raises(QueryError) as caught:
        read(text)
    assert (str(caught.value), caught.value.offset) == (sentence, offset)
    parsed = parse_input(text, 0, named=VIEWS)
    assert parsed.error is not None
    assert str(parsed.error) == sentence


def test_other_views_are_named_where_none_is_near() -> None:
    views = NamedQueries({"b": "+x", "a": "+y"})
    with pytest.raises(QueryError, match=r"^Unknown view zzzz; there are a, b$"):
        parse("view=zzzz", named=views)


def test_views_nest_to_a_limit() -> None:
    texts = {f"v{n}": f"view=v{n + 1} view=v{n + 1}" for n in range(30)} | {"v30": "+x"}
    assert str(parse("view=v12", named=NamedQueries(texts))) == "+x"
    with pytest.raises(QueryError, match="More than 20 views are used in each other"):
        parse("view=v0", named=NamedQueries(texts))


def test_a_view_that_would_have_too_many_conditions_is_refused() -> None:
    pairs = [f"os=a{n} | k{n}=x" for n in range(12)]
    texts = {"twelve": " ".join(pairs), "eight": " ".join(pairs[:8]), "v": "view=long"}
    views = NamedQueries({**texts, "long": " ".join(f"v{n}=x" for n in range(600))})
    assert len(parse("view=twelve", named=views).groups) == 12
    for text in ("!view=twelve", "!view=eight", "view=long view=v"):
        with pytest.raises(QueryError, match=r"too many conditions|at most 1,000 terms"):
            parse(text, named=views)


def test_a_variant_may_be_called_view() -> None:
    query = parse("hdf5 view=x")
    assert query.groups[1] == (Term("variants", "view=x"),)
    assert parse(str(query), named=VIEWS) == query


def test_the_conditions_of_a_view_are_where_it_is_named() -> None:
    parsed = parse_input("hdf5 !view=either", 0, named=VIEWS)
    assert parsed.spans[Term("os", "a", negated=True)] == (6, 17)
    assert parse_input("view=mine", 0, named=VIEWS).spans[Term("os", "rhel9")] == (0, 9)


PARTS = ["+mpi", "~cuda", "os=a", "os=x", "|", "!", "@1.14", "@1.3:", "target=:zen3"]
plain = st.lists(st.sampled_from(PARTS), min_size=1, max_size=5).map(" ".join)
names = ["hdf5", "zlib", "+mpi", "os=a", "@1.3", "|", "!os=x"]
named = st.lists(st.sampled_from(names), min_size=1, max_size=6).map(" ".join)


@given(plain, plain | named)
@examples(250)
def test_a_view_selects_what_its_text_selects(text: str, view: str) -> None:
    first, second, views = read_or_none(text), read_or_none(view), NamedQueries({"v": view})
    if first is None or second is None:
        reject()
    both = read_or_none(f"view=v {text}", views)
    if both is not None:
        assert found(both) == found(first) & found(second)
    for combined, holds in (
        ("!view=v", EVERY - found(second)),
        ("view=v | +mpi", found(second) | found(parse("+mpi"))),
        ("os=a | !view=v", (EVERY - found(second)) | found(parse("os=a"))),
    ):
        query = read_or_none(combined, views)
        if query is not None:
            assert found(query) == holds
            assert parse(str(query), packages=()) == query


@given(
    st.lists(words, max_size=6), st.lists(words, max_size=6), st.sampled_from(["", "!", "os=x | "])
)
@examples(500)
@example(["/abc"], ["/abd"], "")
def test_a_query_with_a_view_is_written_and_parsed_again(
    view: list[str], around: list[str], before: str
) -> None:
    views = NamedQueries({"v": " ".join(view)})
    for text in (" ".join([f"{before}view=v", *around]), " ".join([*around, f"{before}view=v"])):
        query = read_or_none(text, views)
        if query is not None:
            assert parse(str(query), packages=()) == query
