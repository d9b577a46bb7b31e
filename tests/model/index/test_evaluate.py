"""Masks of a whole index and the evaluator of single records give the same answers."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.view import View
from spackscope.model.query.ast import Condition, Depends, Query, Term, exact_term, query_of_specs
from spackscope.model.query.matchers import ANY
from spackscope.model.query.parser import MAX_TERMS, parse
from tests.builders import all_records, catalog_of, hash_of, record, write_page
from tests.evaluator import satisfies
from tests.examples import examples

PATTERNS = {
    "package": ["zlib", "py-zlib", "HDF5", "hdf5", "*zlib", "p*", "?lib", "nothing"],
    "version": ["1.9", "1.10", "1.9:", ":1.10", "1.10rc1", "=1.10", "1.9,develop", "*1*"],
    "compiler": ["gcc", "gcc@9", "gcc@=13.2.0", "gcc@:12", "gcc/5o2", "none", "*gcc*", "*\x1b*"],
    "os": ["linux", "centos7", "*u*", "UBUNTU*", "x"],
    "platform": ["linux", "l*", "x"],
    "arch": ["linux-centos7-", "-linux-x86_64:", "linux-ubuntu24.04-aarch64", "aarch64", "--"],
    "namespace": ["builtin", "other", "b*"],
    "target": ["aarch64", "*64*", "x86_64_v?"],
    "variants": [
        "+shared", "~shared", "+mpi", "libs=shared", "libs=static", "libs:=shared,static",
        "libs=s*", "libs=*", "shared=true", "mpi=false", "os=linux", "cflags=-O2 -g", "*red*",
        "build_type=release", "linux", "+x",
    ],
    "stack": ["root", "e4s", "*root", "h*", "x"],
    "tag": ["develop", "*v*", "x"],
    "source": ["*one*", "*two", "*mirrors*"],
    "size": [":", "1:", ":1", "1MB:2MB", "0:0", "12MB:", ":1.5MB"],
    "hash": ["2", "3", "a", "22", "*2", "2*a", "?2*", "z", "2" * 32, "*"],
    ANY: [
        "l", "li", "lib", "linux", "2", "a", "e", "root", "-", "1.1", "*o*", "1?9", "LINUX",
        "\x1b", "日本", "2*", "py", "%s", "z" * 40, "é", "\ud800", "{", "64", "HD", "it's",
    ],
}  # fmt: skip

COMPILERS = [
    Depends(True, (Term("package", "gcc"),)),
    Depends(True, (Term("package", "gcc"), Term("version", "12:"))),
    Depends(True, (Term("package", "gcc"), Term("version", "=13.2.0")), ("c", "cxx")),
    Depends(True, (Term("package", "gcc"), Term("hash", "5o2")), negated=True),
    Depends(True, (Term("package", "nag"),)),
]
NOT_ASKED = [
    Depends(False, (Term("package", "zlib"),)),
    Depends(True, (Term("package", "cmake"),)),
    Depends(True, (Term("package", "gcc"), Term("variants", "+binutils"))),
    Depends(True, (Term("package", "c"),)),
    Term("flags", "cflags=-O2"),
    Term("variants", "++shared"),
]

terms: st.SearchStrategy[Condition] = st.one_of(
    [
        st.builds(Term, st.just(column), st.sampled_from(patterns), st.booleans())
        for column, patterns in PATTERNS.items()
    ]
) | st.sampled_from(COMPILERS)
groups = st.lists(terms, min_size=1, max_size=2, unique=True).map(tuple)
drafts = st.lists(groups, max_size=3, unique=True)
queries = st.builds(Query, drafts.map(tuple)) | st.lists(drafts, min_size=1, max_size=3).map(
    query_of_specs
)


@given(queries, st.integers(0, 10_000), st.integers(1, 32))
@examples(300)
def test_masks_find_what_the_evaluator_finds(
    mixed: Catalog, query: Query, chosen: int, length: int
) -> None:
    specs = all_records(mixed)
    if chosen % 3 == 0:
        column = ANY if chosen % 2 else "hash"
        query = query.also(Term(column, specs[chosen % len(specs)].hash[:length]))
    expected = {number for number, spec in enumerate(specs) if satisfies(spec, query)}

    listing = mixed.listing(View(query))

    assert set(listing.ids) == expected
    assert listing.shown == len(listing) == len(expected) == mixed.count(query)
    by_package = {package.name: package.shown for package in mixed.packages(query)}
    assert by_package == {
        name: sum(specs[number].package == name for number in expected)
        for name in {specs[number].package for number in expected}
    }
    for package in mixed.packages(Query()):
        within = mixed.listing(View(query.also(exact_term("package", package.name))))
        assert {specs[number].package for number in within.ids} <= {package.name}
        assert len(within) == by_package.get(package.name, 0)


@pytest.mark.parametrize("condition", NOT_ASKED, ids=str)
def test_what_no_page_records_is_refused_rather_than_none(
    mixed: Catalog, condition: Condition
) -> None:
    for query in (Query(((condition,),)), Query(((Term("os", "linux"), condition),))):
        with pytest.raises(Unanswerable) as refusal:
            mixed.listing(View(query))
        assert refusal.value.condition == condition
        with pytest.raises(Unanswerable):
            mixed.packages(query)


@given(st.text(max_size=3) | st.text("abcdefghijklmnopqrstuvwxyz234567", min_size=1, max_size=4))
def test_every_keystroke_finds_what_the_evaluator_finds(mixed: Catalog, text: str) -> None:
    specs = all_records(mixed)
    for typed in (text[: length + 1] for length in range(len(text))):
        for packages in (None, ()):
            try:
                query = parse(typed, packages=packages)
                count = mixed.count(query)
            except (QueryError, Unanswerable):
                continue
            assert count == sum(satisfies(spec, query) for spec in specs)


def test_as_many_terms_as_a_query_may_have_can_be_asked(mixed: Catalog) -> None:
    numbers = range(MAX_TERMS)

    for text in (
        " ".join(f"z*{number}" for number in numbers),
        " ".join(f"!z*{number}" for number in numbers),
        " ".join(f"+x{number}" for number in numbers),
        " ".join(f"os=u*{number}" for number in numbers),
        " | ".join(f"os=u*{number}" for number in numbers),
        " | ".join(f"/{hash_of(number)}" for number in numbers),
        " ".join(f"/{hash_of(number)}" for number in numbers),
        " ".join(f"!/{hash_of(number)}" for number in numbers),
        " ".join(f"size={number}:" for number in numbers),
        " ".join(f"zlib@{number}" for number in range(MAX_TERMS // 2)),
    ):
        assert mixed.count(parse(text)) >= 0
        if "z" in text:
            assert mixed.count(parse(text, packages=())) >= 0, "a bare word is looked for anywhere"


def test_an_index_of_very_many_values_can_be_asked(tmp_path: Path) -> None:
    records = [record(number, variants=[f"value={number}"]) for number in range(4_000)]
    write_page(tmp_path, records)
    catalog = catalog_of(tmp_path)

    assert catalog.count(parse("value=*7*")) == sum("7" in str(n) for n in range(4_000))
    assert catalog.count(parse("!value=*7")) == 3_600
