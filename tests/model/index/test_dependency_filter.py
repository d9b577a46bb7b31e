"""An index of Spack gives Spack's own answers, dependencies and flags among them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.assist.advice import advise
from spackscope.model.core.records import Spec
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.view import View
from spackscope.model.query.ast import Query
from spackscope.model.query.parser import parse
from tests.builders import (
    GCC,
    GLIBC,
    catalog_of,
    database,
    edge,
    hash_of,
    installs,
    leaf,
    node,
    write_index,
)
from tests.evaluator import satisfies
from tests.examples import examples
from tests.model.query import test_spack_answers
from tests.model.query.test_spack_answers import DATA

INDEXES = ("spack0", "spack1")


@pytest.fixture(scope="module")
def catalogs() -> dict[str, Catalog]:
    return {name: catalog_of(DATA / f"{name}.index.json.gz") for name in INDEXES}


@pytest.fixture(scope="module")
def records() -> dict[str, dict[str, Spec]]:
    return {name: test_spack_answers.records(name) for name in INDEXES}


QUERIES = [
    "^zlib-ng", "^zlib-ng@2.2:", "!^zlib-ng", "^mpi", "^[virtuals=mpi] openmpi", "^gcc-runtime",
    "%gcc", "%gcc@12:", "!%gcc", "%c,cxx=gcc", "%cmake", "%[deptypes=build] cmake", "^python %gcc",
    "^openssl ~docs", "++shared", "cflags=-O2", "cflags=*", "builtin.zlib", "^/a | ^/b",
    "hdf5 ^mpi zlib-ng %gcc", "%gcc ^hwloc target=x86_64_v3", "^nothing", "%oneapi", "~~shared",
    "^cmake %gcc", "%[deptypes=link] zlib-ng", "^lapack", "py-numpy ^openblas@0.3", "2 ^zlib-ng",
    "^c,cxx=gcc", "^c,fortran=gcc", "^[virtuals=blas,lapack] openblas", "^[virtuals=c,cxx]",
    "%[virtuals=c]", "%[virtuals=c] @11:", "% ^gmake", "%@11:", "%gcc++x", "%gcc k==v", "%*+pic",
    "% build_system=*", "^nosuch.zlib-ng", "%nosuch.gcc", "%builtin.gcc", "build_type==Release",
    "build_system:=cmake,cmake", "patches:=0", "patches=0", "^mpi@4", "^virtuals,c=gcc", "~~pic",
    "^zlib-ng %zlib-ng", "!^gcc %gcc@13",
    "hdf5 %gcc os=ubuntu22.04 languages=c", "target=zen4:,*", "target=x86_64_v3,", "cflags=''",
]  # fmt: skip


@given(st.sampled_from(INDEXES), st.lists(st.sampled_from(QUERIES), min_size=1, max_size=2))
@examples(60)
def test_sql_finds_what_the_evaluator_finds(
    catalogs: dict[str, Catalog], records: dict[str, dict[str, Spec]], name: str, texts: list[str]
) -> None:
    catalog, known = catalogs[name], records[name]
    query = Query()
    for text in texts:
        parsed_query = parse(text)
        if not (query.specs and parsed_query.specs):
            query = query.plus(parsed_query)
    listing = {spec.hash for spec in catalog.records(catalog.listing(View(query)).ids)}

    # The evaluator is slow, so each example checks another quarter of the records.
    sampled = set(list(known)[len(" ".join(texts)) % 4 :: 4])
    expected = {hash_ for hash_ in sampled if satisfies(known[hash_], query, known.get)}
    if catalog.virtuals.unknown(query):
        expected = set()
    assert listing & sampled == expected
    assert listing <= set(known)


def test_dependency_only_specs_have_no_row_and_match_in_a_dependency(tmp_path: Path) -> None:
    needed = installs(
        leaf(GCC, "gcc", "13.2.0"), leaf(GLIBC, "glibc", "2.39"), in_buildcache=False
    )
    path = tmp_path / "anything"
    path.write_bytes(database(installs(node(name="hdf5")) | needed))
    catalog = catalog_of(path)

    assert [package.name for package in catalog.packages(Query())] == ["hdf5"]
    assert (catalog.total, catalog.count(Query()), catalog.count(parse("gcc"))) == (1, 1, 0)
    for text, count in (("^gcc", 1), ("^gmake", 1), ("^gcc@14:", 0), ("^hdf5", 0), ("!^gcc", 0)):
        assert catalog.count(parse(text)) == count


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("^zlib-mg", "No spec has a dependency ^zlib-mg. Did you mean zlib-ng, zlib or libsm?"),
        ("^zlib-ng@99:", "No spec has a dependency ^zlib-ng@99:"),
        ("hdf5 cflags=-Ofast", "No hdf5 has cflags=-Ofast, only cxxflags=-O2 and cflags=-O2 -g"),
    ],
)
def test_a_dependency_that_nothing_has_is_named(
    catalogs: dict[str, Catalog], text: str, sentence: str
) -> None:
    note = advise(catalogs["spack1"], parse(text))

    assert note is not None
    assert note.sentence.startswith(sentence)


def test_there_may_be_more_kinds_of_edges_than_a_byte_counts(tmp_path: Path) -> None:
    hashes = [hash_of(number) for number in range(1, 301)]
    edges = [edge(f"dep{n}", h, ["link"], [f"virtual{n}"]) for n, h in enumerate(hashes)]
    catalog = catalog_of(write_index(tmp_path, node(hash_of(999), dependencies=edges)))

    assert catalog.count(parse("^[virtuals=virtual299] dep299")) == 1
    assert catalog.count(parse("^[virtuals=virtual298] dep299")) == 0
    assert catalog.count(parse("^virtual7")) == 1
    assert catalog.count(parse(f"^dep7/{hashes[7]}")) == 1
    assert catalog.count(parse(f"^dep7/{hashes[8]}")) == 0


def test_the_name_of_a_virtual_matches_the_packages_that_provide_it(
    catalogs: dict[str, Catalog],
) -> None:
    catalog = catalogs["spack1"]
    count = catalog.count

    assert count(parse("mpi")) == count(parse("mpich | openmpi")) > 0
    assert count(parse("mpi@4")) == count(parse("mpich@4 openmpi@4")) > 0
    assert count(parse("mpi | hdf5")) == count(parse("mpich | openmpi | hdf5"))
    assert count(parse("!mpi")) == catalog.total - count(parse("mpi"))
    assert count(parse("nosuch")) == count(parse("^nosuch.mpich")) == 0
    assert {package.name for package in catalog.packages(parse("mpi +nosuch zlib-ng"))} == {
        "zlib-ng"
    }
    assert catalog.virtuals.sentence(parse("mpi mpich zlib-ng")) == (
        "mpi is a virtual package, provided here by mpich and openmpi"
    )
    assert not catalog.virtuals.sentence(parse("zlib-ng nosuch ^mpi m*"))


def test_a_long_chain_of_dependencies_is_followed_to_its_end(tmp_path: Path) -> None:
    chain = [
        node(hash_of(number), name=f"p{number}", dependencies=[
            edge(f"p{number + 1}", hash_of(number + 1), ["link"])
        ] if number < 5_000 else [])
        for number in range(5_001)
    ]  # fmt: skip
    write_index(tmp_path, *chain)
    catalog = catalog_of(tmp_path / "index.json")

    assert catalog.count(parse("^p2499")) == 2_499
    assert catalog.count(parse("^p5000 !p0")) == 4_999


def test_a_virtual_that_is_known_is_not_taken_for_a_mistake(catalogs: dict[str, Catalog]) -> None:
    for text, guess in (("^mpi+nosuch", False), ("^mpii+nosuch", True)):
        note = advise(catalogs["spack1"], parse(text))
        assert note is not None
        assert ("Did you mean" in note.sentence) is guess
