"""The data of cache.spack.io is found by either of its two files, and read as one source."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.index.build import build
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.index_file import Columns
from spackscope.model.index.load import load
from spackscope.model.query.parser import parse
from spackscope.model.sources.discover import discover
from spackscope.model.sources.session import Session
from tests.builders import (
    GCC,
    ZLIB,
    catalog_of,
    discover_one,
    problem_text,
    serve_files,
    under,
    write_files,
    write_index,
    zlib_index,
    zlib_nodes,
)
from tests.builders.site import PACKAGES, SPECS, site_data

INDEX = zlib_index()
FILES = site_data({"develop": {"e4s": INDEX}, "v1": {"e4s": INDEX}})


def hashes(catalog: Catalog, query: str) -> set[str]:
    ids = catalog.match(parse(query)).ids()
    return {*catalog.hashes.of(list(ids))}


@pytest.mark.parametrize(
    ("folder", "source"),
    [
        ("", ""),
        ("", f"/{SPECS}"),
        ("", f"/{PACKAGES}"),
        ("api", ""),
        ("_data", ""),
        ("_build/api", ""),
        ("site/api", ""),
    ],
)
def test_both_files_are_one_source(tmp_path: Path, folder: str, source: str) -> None:
    write_files(tmp_path / folder, FILES)

    discovered = discover_one(f"{tmp_path}{source}")

    (document,) = discovered.documents
    assert (discovered.kind, discovered.failure, discovered.problems) == ("site", "", ())
    assert document.path == str(tmp_path / folder / SPECS)
    assert document.packages is not None
    assert document.packages.origin == str(tmp_path / folder / PACKAGES)


def test_a_checkout_with_a_copy_of_its_data_is_read_once(tmp_path: Path) -> None:
    write_files(tmp_path, under("_data", FILES) | under("_build/api", FILES))

    assert len(discover_one(tmp_path).documents) == 1


def test_specs_without_names_are_named_by_another_source(tmp_path: Path) -> None:
    site = write_files(tmp_path / "site", {SPECS: FILES[SPECS]})
    index = write_index(tmp_path / "index.json", *zlib_nodes())
    for sources in ([site, index], [index, site]):
        catalog = catalog_of(*sources)

        named = sorted((row.spec.tag, row.spec.package) for row in catalog.by_hash(ZLIB))
        assert named == [("develop", "zlib"), ("v1", "zlib")]
        assert not any("another spec" in problem.reason for problem in catalog.problems)


def test_each_file_alone_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    write_files(tmp_path / "specs", {SPECS: FILES[SPECS]})
    write_files(tmp_path / "packages", {PACKAGES: FILES[PACKAGES]})

    catalog = catalog_of(tmp_path / "specs", tmp_path / "packages")

    (specs, packages) = catalog.sources
    assert (specs.specs, specs.failure, packages.specs) == (8, "", 0)
    assert "specs_data.json.gz, which has the specs, is needed next to it" in packages.failure


@pytest.mark.parametrize("name", [f"api/{SPECS}", f"api/{PACKAGES}", "api/", "api"])
def test_a_url_of_a_file_or_of_the_folder_reads_both(name: str) -> None:
    with serve_files(under("api", FILES)) as server:
        catalog = load([f"{server.url}/{name}"], Session({}))

    (source,) = catalog.sources
    assert (source.kind, source.specs, source.problems) == ("site", 8, 0)
    assert source.checked is not None
    assert set(catalog.texts("package")) == {"zlib", "gcc", "glibc", "gmake"}


def test_a_url_without_the_other_file_reads_the_specs() -> None:
    with serve_files({SPECS: FILES[SPECS], PACKAGES: b"<html>"}) as server:
        broken = discover_one(f"{server.url}/{SPECS}")
    with serve_files({SPECS: FILES[SPECS]}) as server:
        alone = discover_one(f"{server.url}/{SPECS}")

    assert [len(alone.documents), len(broken.documents)] == [1, 1]
    assert problem_text(alone) == ""
    assert PACKAGES in problem_text(broken)


def test_the_specs_of_a_release_depend_on_each_other(tmp_path: Path) -> None:
    catalog = catalog_of(write_files(tmp_path, FILES))

    edges = catalog.edges
    tags = [
        (catalog.text("tag", id_), catalog.text("tag", edge.child))
        for id_ in range(edges.count)
        for edge in edges.of(id_)
    ]
    assert sorted(tags) == [("develop", "develop")] * 3 + [("v1", "v1")] * 3


def test_an_unchanged_file_is_not_read_again(tmp_path: Path) -> None:
    session = Session({})
    write_files(tmp_path, under("site", FILES))
    write_index(tmp_path / "other.json", *zlib_nodes(version="9")[1:2])
    first = Columns(build(discover([str(tmp_path / "site")], session), session))
    discovered = discover([str(tmp_path / "site")], session)
    (document,) = discovered[0].documents
    Path(document.path).write_bytes(b"")

    again = Catalog(Columns(build(discovered, session, old=first)))

    assert hashes(again, "tag=v1") == hashes(again, "tag=develop") == hashes(again, "")
    assert len(again.edges.down.nodes) == 6


def test_what_may_have_any_compiler_matches_no_condition_on_it(tmp_path: Path) -> None:
    catalog = catalog_of(write_files(tmp_path, FILES))

    assert hashes(catalog, "%gcc") == {ZLIB}
    assert hashes(catalog, "!%gcc") == hashes(catalog, "!compiler=gcc") == set()
    assert hashes(catalog, "compiler=none") == set()
    assert hashes(catalog, "!%clang") == {ZLIB}
    assert GCC in hashes(catalog, "compiler=''")
    assert GCC in hashes(catalog, "!%gmake")
    assert hashes(catalog, "%gmake") == {ZLIB}
