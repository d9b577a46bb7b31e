"""A query means what Spack means, comes back as it was written, and finds what it should."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spackscope.model.catalog import Catalog
from spackscope.model.columns import BY_NAME
from spackscope.model.listing import View
from spackscope.model.query.match import ANY, size_range, split_variant
from spackscope.model.query.syntax import (
    LONGEST,
    MOST_TERMS,
    QueryError,
    column_terms,
    column_text,
    parse,
    parse_words,
    with_column,
)
from spackscope.model.query.terms import Query, Term, exact_term
from spackscope.model.records import Spec
from tests.hostile import HOSTILE_TEXT
from tests.model.building import catalog_of, everything, hash_of, record, write_page

Bare = Literal["package", "any"]

SPEC = Spec(
    package="hdf5",
    hash=hash_of(123_456_789),
    version="1.14.5",
    compiler="gcc@13.2.0/5o2zn6v",
    platform="linux",
    os="ubuntu24.04",
    target="x86_64_v3",
    variants=("api=default", "+cxx", "~mpi", "libs:=shared,static", "cflags='-O2 -g'", "os=none"),
    stacks=("e4s", "root"),
    size=5_100_000,
    tag="develop",
    origin="mirror/specs.md",
    source="mirror",
)

BARE: tuple[Bare, Bare] = ("package", "any")

any_text = st.text(st.characters(exclude_categories=[]), min_size=1)


# What a word means


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("", []),
        ("  \t\n ", []),
        ("hdf5", [Term("package", "hdf5")]),
        ("hdf5 py-*", [Term("package", "hdf5"), Term("package", "py-*")]),
        ("hdf5 hdf5", [Term("package", "hdf5")]),
        ("!hdf5", [Term("package", "hdf5", negated=True)]),
        ("+mpi ~cuda", [Term("variants", "+mpi"), Term("variants", "~cuda")]),
        ("!+mpi", [Term("variants", "+mpi", negated=True)]),
        ("build_type=Release", [Term("variants", "build_type=Release")]),
        ("libs:=shared,static", [Term("variants", "libs:=shared,static")]),
        ("os=ubuntu24.04", [Term("os", "ubuntu24.04")]),
        ("stacks=e4s stack=e4s", [Term("stack", "e4s")]),
        ("variants=os=none", [Term("variants", "os=none")]),
        ("version=1.2:1.4", [Term("version", "1.2:1.4")]),
        ("version==1.2", [Term("version", "=1.2")]),
        ("hash=abc /abc", [Term("hash", "abc")]),
        ("size=10MB:", [Term("size", "10MB:")]),
        ("os='a b'", [Term("os", "a b")]),
        ("'os=a b'", [Term("os", "a b")]),
        ('os=it"\'"s', [Term("os", "it's")]),
        ('source="my mirror"', [Term("source", "my mirror")]),
        ("os=\u2028", QueryError),
    ],
)
def test_a_line_is_read_word_by_word(text: str, terms: list[Term] | type[QueryError]) -> None:
    if isinstance(terms, list):
        assert parse(text) == Query(tuple(terms))
    else:
        with pytest.raises(terms):
            parse(text)


def test_a_bare_word_of_a_live_filter_is_looked_for_everywhere() -> None:
    assert parse("mpi", bare="any").terms == (Term(ANY, "mpi"),)
    assert parse("+mpi os=x", bare="any") == parse("+mpi os=x")


def test_the_words_of_a_command_line_have_lost_their_quotes() -> None:
    assert parse_words(["cflags=-O2 -g", "it's"]).terms == (
        Term("variants", "cflags=-O2 -g"),
        Term("package", "it's"),
    )


@pytest.mark.parametrize(
    ("text", "offset", "message"),
    [
        ("os=x 'y", 5, "the quote is not closed"),
        ('hdf5 os="', 8, "the quote is not closed"),
        ("os=x !", 5, "! wants a term behind it"),
        ("a +", 2, r"\+ wants the name of a variant"),
        ("~ a", 0, "~ wants the name of a variant"),
        ("+a=b", 0, r"\+ wants the name of a variant"),
        ("a os=", 2, "os= wants a value behind it"),
        ("a !build_type=", 2, "build_type= wants a value behind it"),
        ("a /", 2, "/ wants the beginning of a hash behind it"),
        ("a /ABC", 2, "ABC is no beginning of a hash"),
        ("hash=0189", 0, "0189 is no beginning of a hash"),
        ("hash=" + "a" * 65, 0, "is no beginning of a hash"),
        ("a version=1:2:3", 2, "more than one colon"),
        ("version=3:1", 0, "empty range"),
        ("compiler=gcc@", 0, "A version is missing"),
        ("size=10MB", 0, "no range of sizes"),
        ("size=big:", 0, "big is no size"),
        ("x" * (LONGEST + 1), LONGEST, "characters at most"),
        (" ".join(f"p{n}" for n in range(1_000)), 390, "100 terms at most"),
    ],
)
def test_a_word_that_is_no_term_is_named_by_its_place(
    text: str, offset: int, message: str
) -> None:
    with pytest.raises(QueryError, match=message) as refusal:
        parse(text)

    assert refusal.value.offset == offset


@pytest.mark.parametrize(
    "text",
    [
        "hdf5",
        "h*5",
        "HDF?",
        "zlib hdf5",
        "!zlib",
        "hash={hash}",
        "/{start}",
        "!/zzz",
        "hash=*{end}",
        "version=1.14",
        "version=1.14:",
        "version=:1.14",
        "version=1.2,1.14.5",
        "version==1.14.5",
        "version=1.1?.5",
        "compiler=gcc",
        "compiler=gcc@13",
        "compiler=gcc@=13.2.0",
        "compiler=gcc@12:",
        "compiler=gcc/5o2",
        "compiler=gcc@13/5o2",
        "compiler=*13*",
        "os=ubuntu24.04",
        "os=UBUNTU*",
        "target=x86_64_v3",
        "+cxx",
        "~mpi",
        "!+mpi",
        "cxx=true",
        "mpi=False",
        "cxx=*",
        "api=default",
        "api=d*",
        "libs=shared",
        "libs=static,shared",
        "libs:=static,shared",
        "libs=s*",
        "!libs:=shared",
        "libs=*",
        "cflags='-O2 -g'",
        "variants=os=none",
        "variants=cfl*",
        "stack=e4s",
        "!stack=hep",
        "tag=dev*",
        "size=1MB:10MB",
        "size=5MiB:5.2MB",
        "size=:",
        "source=mirror",
    ],
)
def test_a_query_that_a_record_fulfils(text: str) -> None:
    text = text.format(hash=SPEC.hash, start=SPEC.hash[:9], end=SPEC.hash[-5:])
    text = text.replace("5MiB:", "4MiB:")

    assert parse(text).matches(SPEC)
    assert not Query(
        tuple(Term(term.column, term.pattern, not term.negated) for term in parse(text).terms[-1:])
    ).matches(SPEC)


@pytest.mark.parametrize(
    "text",
    [
        "hdf",
        "HDF5",
        "!hdf5",
        "hdf5 !h*",
        "hdf5 +mpi",
        "version=1.1",
        "version==1.14",
        "compiler=gc",
        "compiler=gcc@12",
        "compiler=gcc@=13",
        "compiler=gcc/6",
        "os=ubuntu",
        "cxx=false",
        "api=DEFAULT",
        "libs:=shared",
        "libs=static,none",
        "os=none",
        "nothing=*",
        "stack=e4",
        "size=6MB:",
        "size=5MiB:",
        "platform=Linux",
    ],
)
def test_a_query_that_a_record_does_not_fulfil(text: str) -> None:
    assert not parse(text).matches(SPEC)


@pytest.mark.parametrize(
    "word", ["hd", "HDF5", "14.5", "ubuntu", "v3", "api", "root", "mirr", "r"]
)
def test_a_bare_word_is_found_in_any_column(word: str) -> None:
    assert parse(word, bare="any").matches(SPEC)
    assert parse(SPEC.hash[:3].upper(), bare="any").matches(SPEC)
    assert not parse(SPEC.hash[3:], bare="any").matches(SPEC)
    assert not parse("5100000", bare="any").matches(SPEC)


def test_a_record_without_a_size_is_in_no_range() -> None:
    unknown = Spec(**{name: getattr(SPEC, name) for name in SPEC.__slots__} | {"size": None})

    assert not parse("size=:").matches(unknown)
    assert parse("!size=:").matches(unknown)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        (":", 0, float("inf")),
        ("10:20", 10, 20),
        ("1kB:2KiB", 1_000, 2_048),
        ("1.5mb:2 Gi", 1_500_000, 2**31),
        (":1GB", 0, 10**9),
        ("9" * 5_000 + ":", float("inf"), float("inf")),
    ],
)
def test_sizes_are_read_in_bytes(text: str, low: float, high: float) -> None:
    assert size_range(text) == (low, high)


@pytest.mark.parametrize(
    ("variant", "parts"),
    [
        ("+mpi", ("mpi", ("+",))),
        ("~mpi", ("mpi", ("~",))),
        ("libs=shared,static", ("libs", ("shared", "static"))),
        ("libs:=shared", ("libs", ("shared",))),
        ("cflags='-O2 -g'", ("cflags", ("-O2 -g",))),
        ("patches=", ("patches", ("",))),
        ("plain", ("plain", ())),
        ("", ("", ())),
    ],
)
def test_a_variant_is_split_into_name_and_values(variant: str, parts: object) -> None:
    assert split_variant(variant) == parts


def test_many_stars_take_no_time_on_a_long_text() -> None:
    long = "a" * 100_000

    assert not Term("os", "*a" * 30 + "*b").fits("os", long)
    assert Term("os", "*" * 50 + "a").fits("os", long)
    assert not parse("*".join("abcdefgh"), bare="any").matches(SPEC)


def test_brackets_in_a_glob_are_brackets() -> None:
    assert Term("os", "[a]*").fits("os", "[a]b")
    assert not Term("os", "[a]*").fits("os", "ab")


# The filter input of a column


@pytest.mark.parametrize(
    ("column", "text", "terms"),
    [
        ("os", "ubuntu", [Term("os", "*ubuntu*")]),
        ("os", "ubuntu !24", [Term("os", "*ubuntu*"), Term("os", "*24*", negated=True)]),
        ("os", "=centos7", [Term("os", "centos7")]),
        ("os", "'a b'", [Term("os", "*a b*")]),
        ("os", "u*4", [Term("os", "u*4")]),
        ("version", "1.2", [Term("version", "*1.2*")]),
        ("version", "1.2:", [Term("version", "1.2:")]),
        ("version", "@1.2", [Term("version", "1.2")]),
        ("version", "=1.2", [Term("version", "1.2")]),
        ("version", "==1.2", [Term("version", "=1.2")]),
        ("compiler", "gcc@13:", [Term("compiler", "gcc@13:")]),
        ("compiler", "gcc", [Term("compiler", "*gcc*")]),
        ("variants", "+mpi", [Term("variants", "+mpi")]),
        ("variants", "mpi", [Term("variants", "*mpi*")]),
        ("variants", "libs=shared", [Term("variants", "libs=shared")]),
        ("variants", "libs=", [Term("variants", "*libs=*")]),
        ("variants", "os=none", [Term("variants", "os=none")]),
        ("hash", "abc", [Term("hash", "abc")]),
        ("hash", "/abc", [Term("hash", "/abc")]),
        ("size", "10MB:", [Term("size", "10MB:")]),
        ("os", "! = + ~ @ !=", []),
        ("variants", "+ ~ !+ !~", []),
        ("version", "@ !@ !", []),
    ],
)
def test_a_filter_input_is_read_word_by_word(column: str, text: str, terms: list[Term]) -> None:
    assert column_terms(column, text) == tuple(terms)


@pytest.mark.parametrize(
    ("column", "text", "offset"),
    [("hash", "abc ABC", 4), ("version", "1: 3:1", 3), ("size", "10MB", 0), ("os", "a 'b", 2)],
)
def test_a_wrong_word_of_a_filter_input_is_named_by_its_place(
    column: str, text: str, offset: int
) -> None:
    with pytest.raises(QueryError) as refusal:
        column_terms(column, text)

    assert refusal.value.offset == offset


def test_a_filter_input_replaces_the_terms_of_its_column() -> None:
    query = parse("hdf5 os=centos7 +mpi")

    changed = with_column(query, "os", "ubuntu !24")

    assert str(changed) == "package=hdf5 +mpi os=*ubuntu* !os=*24*"
    assert column_text(changed, "os") == "ubuntu !24"
    assert column_text(query, "os") == "=centos7"
    assert with_column(query, "os", "") == parse("hdf5 +mpi")


@pytest.mark.parametrize(
    "pattern",
    ["*=x*", "*+mpi*", "*1:2*", "*@x*", "*!x*", "*+*", "*abc*", "a*", "**", "*?*", "'\""],
)
@pytest.mark.parametrize("column", ["os", "version", "compiler", "variants", "hash"])
def test_a_pattern_is_spelled_so_that_it_is_read_again(column: str, pattern: str) -> None:
    query = Query((Term(column, pattern), Term(column, "a*", negated=True)))
    try:
        query.matches(SPEC)
    except ValueError:
        return

    assert column_terms(column, column_text(query, column)) == query.terms


def read_or_refused(read: Callable[[], tuple[Term, ...]], text: str) -> tuple[Term, ...]:
    """Read what was typed; a refusal names a place in it."""
    try:
        return read()
    except QueryError as error:
        refusal = error
    assert 0 <= refusal.offset <= len(text)
    assert str(refusal)
    return ()


@given(st.sampled_from(sorted(BY_NAME)), any_text | st.text("ab1!=+~@:*?/'\" ,"))
@settings(deadline=None, max_examples=300)
def test_what_is_typed_into_a_filter_input_comes_back(column: str, text: str) -> None:
    terms = read_or_refused(lambda: column_terms(column, text), text)

    assert column_terms(column, column_text(Query(terms), column)) == terms
    assert parse(str(Query(terms))).terms == terms


# Round trips


@given(any_text | st.text("ab1!=+~@:*?/'\" ,"), st.sampled_from(["package", "any"]))
@settings(deadline=None, max_examples=300)
def test_what_is_typed_into_the_query_line_comes_back(text: str, bare: Bare) -> None:
    query = Query(read_or_refused(lambda: parse(text, bare=bare).terms, text))

    assert parse(str(query), bare=bare) == query


@given(
    st.sampled_from(["package", "os", "target", "stack", "tag", "source"]), any_text, st.booleans()
)
@settings(deadline=None)
def test_a_term_of_any_text_is_spelled_so_that_it_is_read_again(
    column: str, text: str, negated: bool
) -> None:
    query = Query((Term(column, text, negated),))

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
@settings(deadline=None, max_examples=400)
def test_the_term_of_a_shown_value_fits_that_value(column: str, value: str) -> None:
    term = exact_term(column, value)

    assert term.fits(column, (value,) if column in ("variants", "stack") else value)
    if len(str(term)) <= LONGEST:
        assert parse(str(term)).terms == (term,)


def test_the_term_of_a_shown_value_is_exact() -> None:
    assert exact_term("version", "1.2") == Term("version", "=1.2")
    assert exact_term("compiler", "gcc@13.2.0") == Term("compiler", "gcc@=13.2.0")
    assert exact_term("variants", "+mpi") == Term("variants", "+mpi")
    assert exact_term("version", "1 \x1b2") == Term("version", "1??2")


# SQL and the evaluator for one record


PATTERNS = {
    "package": ["zlib", "py-zlib", "HDF5", "hdf5", "*zlib", "p*", "?lib", "nothing"],
    "version": ["1.9", "1.10", "1.9:", ":1.10", "1.10rc1", "=1.10", "1.9,develop", "*1*"],
    "compiler": ["gcc", "gcc@9", "gcc@=13.2.0", "gcc@:12", "gcc/5o2", "none", "*gcc*", "*\x1b*"],
    "os": ["linux", "centos7", "*u*", "UBUNTU*", "x"],
    "platform": ["linux", "l*", "x"],
    "target": ["aarch64", "*64*", "x86_64_v?"],
    "variants": [
        "+shared", "~shared", "+mpi", "libs=shared", "libs=static", "libs:=shared,static",
        "libs=s*", "libs=*", "shared=true", "mpi=false", "os=linux", "cflags=-O2 -g", "*red*",
        "build_type=release", "linux", "+x",
    ],
    "stack": ["root", "e4s", "*root", "h*", "x"],
    "tag": ["develop", "*v*", "x"],
    "source": ["*one*", "*two", "*mirrors*"],
    "size": [":", "1:", ":1", "1MB:2MB", "0:0", "12MB:", ":1.5MB", "5:2"],
    "hash": ["2", "3", "a", "22", "*2", "2*a", "?2*", "z", "2" * 32, "*"],
    ANY: [
        "l", "li", "lib", "linux", "2", "a", "e", "root", "-", "1.1", "*o*", "1?9", "LINUX",
        "\x1b", "日本", "2*", "py", "%s", "z" * 40, "é", "\ud800", "{", "64", "HD", "it's",
    ],
}  # fmt: skip

terms = st.one_of(
    [
        st.builds(Term, st.just(column), st.sampled_from(patterns), st.booleans())
        for column, patterns in PATTERNS.items()
    ]
)
queries = st.lists(terms, max_size=4, unique=True).map(lambda found: Query(tuple(found)))


@given(queries, st.integers(0, 10_000), st.integers(1, 32))
@settings(deadline=None, max_examples=300)
def test_sql_finds_what_the_evaluator_finds(
    mixed: Catalog, query: Query, chosen: int, length: int
) -> None:
    specs = everything(mixed)
    if chosen % 3 == 0:
        column = ANY if chosen % 2 else "hash"
        query = query.also(Term(column, specs[chosen % len(specs)].hash[:length]))
    expected = {number for number, spec in enumerate(specs) if query.matches(spec)}

    listing = mixed.listing(View(query))

    assert set(listing.ids) == expected
    assert listing.shown == len(listing) == len(expected) == mixed.count(query)
    by_package = {package.name: package.shown for package in mixed.packages(query)}
    assert by_package == {
        name: sum(specs[number].package == name for number in expected)
        for name in {specs[number].package for number in expected}
    }
    for package in mixed.packages(Query()):
        within = mixed.listing(View(query, package.id))
        assert {specs[number].package for number in within.ids} <= {package.name}
        assert len(within) == by_package.get(package.name, 0)


@given(queries)
@settings(deadline=None)
def test_a_generated_query_comes_back(query: Query) -> None:
    assert parse(str(query), bare="any") == query
    for column in BY_NAME:
        text = column_text(query, column)
        assert column_terms(column, text) == tuple(t for t in query.terms if t.column == column)


@given(st.text(max_size=3) | st.text("abcdefghijklmnopqrstuvwxyz234567", min_size=1, max_size=4))
@settings(deadline=None)
def test_every_keystroke_finds_what_the_evaluator_finds(mixed: Catalog, text: str) -> None:
    specs = everything(mixed)
    for typed in (text[: length + 1] for length in range(len(text))):
        for bare in BARE:
            try:
                query = parse(typed, bare=bare)
            except QueryError:
                continue
            assert mixed.count(query) == sum(map(query.matches, specs))


def test_as_many_terms_as_a_query_may_have_can_be_asked(mixed: Catalog) -> None:
    stars = ["*" * number for number in range(1, MOST_TERMS + 1)]

    for text in (
        " ".join(f"z{star}" for star in stars),
        " ".join(f"!z{star}" for star in stars),
        " ".join(f"+{'x' * len(star)}" for star in stars),
        " ".join(f"os=u{star}" for star in stars),
        " ".join(f"!2{star}" for star in stars),
        " ".join(f"!/{hash_of(number)}" for number in range(MOST_TERMS)),
        " ".join(f"size={number}:" for number in range(MOST_TERMS)),
    ):
        assert mixed.count(parse(text)) >= 0
        assert mixed.count(parse(text, bare="any")) >= 0


def test_an_index_of_very_many_values_can_be_asked(tmp_path: Path) -> None:
    records = [record(number, variants=[f"value={number}"]) for number in range(4_000)]
    write_page(tmp_path, records)
    catalog = catalog_of(tmp_path)

    assert catalog.count(parse("value=*7*")) == sum("7" in str(n) for n in range(4_000))
    assert catalog.count(parse("!value=*7")) == 3_600


def test_words_that_are_no_term_are_never_asked(mixed: Catalog) -> None:
    with pytest.raises(QueryError):
        mixed.count(parse("hash=\ud800"))
    assert not mixed.dictionaries.hashes("\ud800", limit=5)
    assert not mixed.by_hash("\ud800")
    assert not mixed.dictionaries.has_hash("2" * 33)


@pytest.mark.parametrize("word", ["hdf5@1.14", "hdf5%gcc", "'hdf5 +mpi'", "hdf5^zlib"])
def test_what_spack_would_take_for_a_spec_is_refused_with_advice(word: str) -> None:
    with pytest.raises(QueryError, match="no package name; write versions as version="):
        parse(word)
