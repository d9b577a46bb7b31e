"""Masks of a whole index and the evaluator of single records give the same answers."""

from functools import lru_cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.errors import QueryError, Unanswerable
from spackscope.model.core.records import Spec
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.evaluate import source_term, unique_end, with_full_name
from spackscope.model.index.order import View
from spackscope.model.query.ast import Condition, Depends, Query, Term, exact_term, query_of_specs
from spackscope.model.query.matchers import ANY
from spackscope.model.query.parser import MAX_TERMS, parse
from tests.builders.catalogs import all_records, catalog_of, read
from tests.builders.nodes import GCC, GLIBC, edge, leaf, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import SPACK_DATA, write_index
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
    "stack": ["root", "e4s", "*root", "h*", "x", ""],
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
    if mixed.virtuals.unknown(query):
        expected = set()

    listing = mixed.listing(View(query))

    assert set(listing.ids) == expected
    assert listing.shown == len(listing) == len(expected) == mixed.count(query)
    by_package = {package.name: package.shown for package in mixed.packages(query)}
    assert list(by_package) == sorted({specs[number].package for number in expected})
    for name, shown in by_package.items():
        assert shown == sum(specs[number].package == name for number in expected)
    for package in mixed.packages(Query()):
        within = mixed.listing(View(query.also(exact_term("package", package.name))))
        assert {specs[number].package for number in within.ids} <= {package.name}
        assert len(within) == by_package.get(package.name, 0)
        assert package.total == sum(spec.package == package.name for spec in specs)


DEPENDENCIES = [
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


@lru_cache
def records_of(name: str) -> dict[str, Spec]:
    """Read the records of one of Spack's indexes, dependency-only ones too."""
    specs, _ = read((SPACK_DATA / f"{name}.index.json.gz").read_bytes())
    return {spec.hash: spec for spec in specs}


@given(
    st.sampled_from(["spack0", "spack1"]),
    st.lists(st.sampled_from(DEPENDENCIES), min_size=1, max_size=2),
)
@examples(60)
def test_the_graph_finds_what_the_evaluator_finds(
    small_catalogs: dict[str, Catalog], name: str, texts: list[str]
) -> None:
    catalog, known, query = small_catalogs[name], records_of(name), Query()
    for text in texts:
        parsed_query = parse(text)
        if not (query.specs and parsed_query.specs):
            query = query.plus(parsed_query)
    found = set(catalog.hashes.of(catalog.match(query)))

    # The evaluator is slow, so each example checks another part of the records.
    sampled = set(list(known)[len(" ".join(texts)) % 24 :: 24])
    expected = {hash_ for hash_ in sampled if satisfies(known[hash_], query, known.get)}
    if catalog.virtuals.unknown(query):
        expected = set()
    assert found & sampled == expected
    assert found <= set(known)


def test_dependency_only_specs_have_no_row_and_match_in_a_dependency(tmp_path: Path) -> None:
    needed = leaf(GCC, "gcc", "13.2.0"), leaf(GLIBC, "glibc", "2.39")
    paths = (
        write_index(tmp_path / "anything", node(name="hdf5")),
        write_index(tmp_path / "needed", *needed, in_buildcache=False),
    )
    catalog = catalog_of(*paths)

    assert [package.name for package in catalog.packages(Query())] == ["hdf5"]
    assert (catalog.total, catalog.count(Query()), catalog.count(parse("gcc"))) == (1, 1, 0)
    for text, count in (("^gcc", 1), ("^gmake", 1), ("^gcc@14:", 0), ("^hdf5", 0), ("!^gcc", 0)):
        assert catalog.count(parse(text)) == count
    everything = catalog_of(*paths, dependency_only=True)
    assert (everything.total, everything.count(parse("cached"))) == (3, 1)


def test_there_may_be_more_kinds_of_edges_than_a_byte_counts(tmp_path: Path) -> None:
    hashes = [hash_of(number) for number in range(1, 301)]
    edges = [edge(f"dep{n}", h, ["link"], [f"virtual{n}"]) for n, h in enumerate(hashes)]
    catalog = catalog_of(write_index(tmp_path, node(hash_of(999), dependencies=edges)))

    assert catalog.count(parse("^[virtuals=virtual299] dep299")) == 1
    assert catalog.count(parse("^[virtuals=virtual298] dep299")) == 0
    assert catalog.count(parse("^virtual7")) == 1
    assert catalog.count(parse(f"^dep7/{hashes[7]}")) == 1
    assert catalog.count(parse(f"^dep7/{hashes[8]}")) == 0


def test_a_long_chain_of_dependencies_is_followed_to_its_end(tmp_path: Path) -> None:
    chain = [
        node(hash_of(number), name=f"p{number}", dependencies=[
            edge(f"p{number + 1}", hash_of(number + 1), ["link"])
        ] if number < 1_500 else [])
        for number in range(1_501)
    ]  # fmt: skip
    catalog = catalog_of(write_index(tmp_path, *chain))

    assert catalog.count(parse("^p700")) == 700
    assert catalog.count(parse("^p1500 !p0")) == 1_499


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
        " | ".join(f"os=u*{number}" for number in numbers),
        " ".join(f"!/{hash_of(number)}" for number in numbers),
        " ".join(f"zlib@{number}" for number in range(MAX_TERMS // 2)),
    ):
        assert mixed.count(parse(text)) >= 0


def test_an_index_of_very_many_values_can_be_asked(tmp_path: Path) -> None:
    records = [record(number, variants=[f"value={number}"]) for number in range(4_000)]
    catalog = catalog_of(write_page(tmp_path, records))

    assert catalog.count(parse("value=*7*")) == sum("7" in str(n) for n in range(4_000))
    assert catalog.count(parse("!value=*7")) == 3_600


NAMES = ["/a/site.json", "/a/old-site.json", "/b/x/index.json", "/b/y/index.json", "public:v1"]


@pytest.mark.parametrize(
    ("patterns", "name"),
    [
        (["/a/site.json", "site.json", "…/site.json"], "/a/site.json"),
        (["old-site.json"], "/a/old-site.json"),
        (["y/index.json"], "/b/y/index.json"),
        (["v1"], "public:v1"),
        *(([odd], odd) for odd in ("nowhere", "*.json", "")),
    ],
)
@pytest.mark.parametrize("is_negated", [False, True])
def test_the_end_of_a_name_is_enough(patterns: list[str], name: str, is_negated: bool) -> None:
    for pattern in patterns:
        term = with_full_name(Term("source", pattern, is_negated), NAMES)
        assert term == Term("source", name, is_negated)


def test_an_end_of_several_names_lists_them() -> None:
    told = "^2 sources end in index.json: /b/x/index.json and /b/y/index.json$"
    with pytest.raises(Unanswerable, match=told):
        with_full_name(Term("source", "index.json"), NAMES)


def test_a_query_has_the_records_of_the_source(tmp_path: Path) -> None:
    for number, name in enumerate(("one", "two")):
        write_page(tmp_path / name, [record(number)])
    catalog = catalog_of(tmp_path / "one", tmp_path / "two")
    assert list(catalog.match(parse("source=one"))) == [0]
    assert list(catalog.match(parse("!source=one"))) == [1]


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("/a/site/derecho.lock", "derecho.lock"),
        ("/a/one/spack.lock", "one/spack.lock"),
        ("https://mirror.example/build/", "build/"),
        ("spack:site", "spack:site"),
    ],
)
def test_a_source_is_shown_by_the_end_that_no_other_has(name: str, shown: str) -> None:
    others = ["/a/two/spack.lock", "/a/one/spack.lock", "/b/x_derecho.lock"]
    assert unique_end(name, [*others, name]) == shown
    assert with_full_name(source_term(name, others), {*others, name}).pattern == name


def test_a_spec_whose_compiler_is_unknown_matches_no_condition_on_it(tmp_path: Path) -> None:
    write_page(tmp_path / "specs.md", [record(1), record(2, compiler="")])
    catalog = catalog_of(tmp_path)

    def hashes(query: str) -> list[str]:
        return catalog.hashes.of(list(catalog.match(parse(query)).ids()))

    assert hashes("%gcc") == [hash_of(1)]
    assert hashes("!%gcc") == hashes("!compiler=gcc") == hashes("compiler=none") == []
    assert hashes("!%clang") == [hash_of(1)]
    assert hashes("compiler=''") == [hash_of(2)]
