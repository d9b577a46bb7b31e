"""Virtuals are answered by what records provide, as Spack 1.3 does, and older ones by edges."""

from itertools import permutations
from pathlib import Path

import pytest

from spackscope.model.assist.advice import relaxations
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.parser import parse
from tests.builders.catalogs import all_records, catalog_of
from tests.builders.nodes import Node, edge, in_format, in_format_6, node
from tests.builders.pages import hash_of
from tests.builders.spack import database, environment, installs, write_index

ZLIB, ZLIB_NG, NO_COMPAT, RUNTIME, NEW, OLD = (hash_of(number) for number in range(20, 26))


def package(hash_: str, name: str, version: str, *edges: Node) -> Node:
    return node(hash_, name=name, version=version, dependencies=list(edges))


OLD_NODES = [
    package(ZLIB, "zlib", "1.3.1"),
    package(OLD, "hdf5", "1.14", edge("zlib", ZLIB, ["link"], ["zlib-api"])),
]
USED = (
    edge("zlib-ng", ZLIB_NG, ["link"], ["zlib-api"]),
    edge("gcc-runtime", RUNTIME, ["link"], ["libgfortran"]),
)
NEW_NODES = [
    in_format_6(package(ZLIB_NG, "zlib-ng", "2.3.3"), "zlib-api"),
    in_format_6(package(NO_COMPAT, "zlib-ng", "2.0")),
    in_format_6(package(RUNTIME, "gcc-runtime", "14.2"), "libgfortran@5", "fortran-rt"),
    in_format_6(package(NEW, "hdf5", "2.0", *USED)),
]
NAMES = {ZLIB: "zlib", OLD: "old hdf5", ZLIB_NG: "zlib-ng", NO_COMPAT: "zlib-ng without"}
NAMES |= {RUNTIME: "gcc-runtime", NEW: "hdf5"}


@pytest.fixture
def catalog(tmp_path: Path) -> Catalog:
    write_index(tmp_path / "old.json", *OLD_NODES)
    (tmp_path / "spack.lock").write_bytes(environment(NEW_NODES, NEW, version=8))
    return catalog_of(tmp_path / "spack.lock", tmp_path / "old.json")


def found(catalog: Catalog, query: str) -> set[str]:
    ids = catalog.match(parse(query)).ids()
    return {NAMES[spec.hash] for spec in catalog.records(ids)}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("zlib-api", {"zlib", "zlib-ng"}),
        ("!zlib-api", {"old hdf5", "hdf5", "zlib-ng without", "gcc-runtime"}),
        ("zlib-api | hdf5", {"zlib", "zlib-ng", "hdf5", "old hdf5"}),
        ("!zlib-api | os=none", {"old hdf5", "hdf5", "zlib-ng without", "gcc-runtime"}),
        ("!zlib-api | @1.3.1", {"old hdf5", "hdf5", "zlib-ng without", "gcc-runtime", "zlib"}),
        ("zlib-api | @1.14", {"zlib", "zlib-ng", "old hdf5"}),
        # Older records have their own version only, and this one provides any.
        ("zlib-api@1.3", {"zlib", "zlib-ng"}),
        ("zlib-api@2", {"zlib-ng"}),
        ("zlib-api | hdf5 @2", {"zlib-ng", "hdf5"}),
        ("zlib-api@1.3 hdf5@2", {"zlib", "zlib-ng", "hdf5"}),
        ("zlib-api !@1.3", set()),
        ("libgfortran", {"gcc-runtime"}),
        ("libgfortran@5:", {"gcc-runtime"}),
        ("libgfortran@5.0", {"gcc-runtime"}),
        ("libgfortran@6:", set()),
        ("libgfortran@14.2", set()),
        ("libgfortran !@6:", {"gcc-runtime"}),
        ("libgfortran@4 libgfortran@5", {"gcc-runtime"}),
        ("fortran-rt@9", {"gcc-runtime"}),
        ("none", set()),
        ("^zlib-api", {"hdf5", "old hdf5"}),
        ("%zlib-api", {"hdf5", "old hdf5"}),
        ("^zlib-api@1.3", {"hdf5", "old hdf5"}),
        ("^zlib-api@2", {"hdf5"}),
        ("^libgfortran", {"hdf5"}),
        ("^libgfortran@5:", {"hdf5"}),
        ("%libgfortran@:4", set()),
        ("^libgfortran@14", set()),
        ("^gcc-runtime@14", {"hdf5"}),
        # On edges it is what is used.
        ("^fortran-rt", set()),
        ("provides=zlib-api", {"zlib-ng"}),
        ("provides=libgfortran@5", {"gcc-runtime"}),
        ("provides=libgfortran@6:", set()),
        ("provides=*rt*", {"gcc-runtime"}),
        ("provides=none", {"zlib-ng without", "hdf5"}),
        ("!provides=*", {"zlib", "old hdf5"}),
        ("^* provides=zlib-api", {"hdf5"}),
    ],
)
def test_a_query_for_a_virtual_finds_what_provides_it(
    query: str, expected: set[str], catalog: Catalog
) -> None:
    assert found(catalog, query) == expected
    assert found(catalog, str(parse(query))) == expected


def test_the_name_of_a_package_is_no_virtual_with_a_version(catalog: Catalog) -> None:
    query = parse("package=hdf5@.Y+")
    assert not catalog.match(query)
    assert [str(term) for term in catalog.virtuals.unknown(query)] == ["package='hdf5@.Y+'"]


def test_the_providers_are_named(catalog: Catalog) -> None:
    assert catalog.virtuals.sentence(parse("zlib-api libgfortran")) == (
        "libgfortran is a virtual package, provided here by gcc-runtime;"
        " zlib-api is a virtual package, provided here by zlib and zlib-ng"
    )
    assert not catalog.virtuals.sentence(parse("zlib nosuch ^zlib-api z*"))


def test_a_compiler_that_is_only_stated_tells_no_virtuals(
    catalog: Catalog, tmp_path: Path
) -> None:
    old = [in_format(4, node) for node in OLD_NODES]
    (tmp_path / "stated.json").write_bytes(database(installs(*old), "7"))
    stated = catalog_of(tmp_path / "stated.json")
    for query, is_asked in (("%zlib-api", True), ("^zlib-api", False), ("%zlib-*", False)):
        assert ("needs the recipe" in stated.virtuals.sentence(parse(query))) is is_asked
        assert "needs the recipe" not in catalog.virtuals.sentence(parse(query))
    (first, *_) = relaxations(stated, parse("hdf5 %zlib-api"))
    assert (first.label, first.count) == ("^zlib-api instead of %zlib-api", 1)


def test_what_one_document_tells_of_a_hash_counts_in_all_orders(tmp_path: Path) -> None:
    old = package(ZLIB_NG, "zlib-ng", "2.3.3")
    new = in_format_6(old, "zlib-api@1.3", converted=True)
    documents = {
        "v8.json": database(installs(old)),
        "v9.json": database(installs(new), "9"),
        "v7.lock": environment([old], ZLIB_NG, version=7),
        "v8.lock": environment([new], ZLIB_NG, version=8),
    }
    for name, data in documents.items():
        (tmp_path / name).write_bytes(data)
    for names in permutations(documents):
        catalog = catalog_of(*(tmp_path / name for name in names))

        assert catalog.problems == []
        (spec,) = all_records(catalog)
        assert spec.provided_virtuals == ("zlib-api@1.3",)
        assert spec.spec_format == 0 or spec.spec_format == 5
        assert catalog.count(parse("zlib-api@1.3")) == 1
        assert catalog.count(parse("zlib-api@2")) == 0
