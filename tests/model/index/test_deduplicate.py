"""What several documents list under one hash is one record, with all that any of them has."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.view import View
from spackscope.model.core.files import read_file
from spackscope.model.core.records import Dependency
from spackscope.model.loader.load import load
from spackscope.model.query.parser import parse
from spackscope.model.sources import document
from spackscope.model.sources.session import Session
from tests.builders import (
    GCC,
    GLIBC,
    INDEX_OF_1_2,
    INSTALL_TREE,
    SPACK_DATA,
    ZLIB,
    catalog_of,
    database,
    edge,
    hash_of,
    installs,
    leaf,
    node,
    record,
    write_page,
    zlib_index,
    zlib_nodes,
)

ROW = {"os": "ubuntu24.04", "target": "x86_64_v3", "versions": ["1.3.1"]}


def write(path: Path, data: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def found(catalog: Catalog, query: str) -> list[str]:
    return [spec.hash for spec in catalog.specs(catalog.listing(View(parse(query))))]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """Write the index of a build cache of zlib and all it needs."""
    return write(tmp_path / "cache.json", zlib_index())


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Write the database of an install tree with zlib, which was installed by name, and glibc."""
    records = installs(
        node(dependencies=[edge("glibc", GLIBC, ["link"])]),
        leaf(GLIBC, "glibc", "2.39"),
        path="/opt/zlib",
        installed=True,
        explicit=True,
        installation_time=1_700_000_000.5,
    )
    return write(tmp_path / "tree.json", database(records))


def test_a_hash_in_a_mirror_and_an_install_tree_is_one_row_with_both_marks(
    cache: Path, tree: Path
) -> None:
    catalog = catalog_of(cache, tree)

    (row,) = catalog.by_hash(ZLIB)
    assert row.spec.states == ("cached", "installed", "explicit")
    assert row.spec.sources == (str(cache), str(tree))
    provenance = catalog.provenance(row.id)
    assert (provenance.path, provenance.installed_at) == ("/opt/zlib", 1_700_000_000.5)
    assert provenance.package_hash == "abc===="
    assert catalog.total == 4
    assert catalog.problems == []


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("installed", {ZLIB, GLIBC}),
        ("!installed", {GCC, hash_of(4)}),
        ("cached", {ZLIB, GCC, GLIBC, hash_of(4)}),
        ("explicit zlib", {ZLIB}),
        ("source=*tree.json", {ZLIB, GLIBC}),
        ("source=*tree.json source=*cache.json", {ZLIB, GLIBC}),
        ("!source=*tree.json", {GCC, hash_of(4)}),
        ("state=inst*", {ZLIB, GLIBC}),
        ("installed | gcc", {ZLIB, GLIBC, GCC}),
    ],
)
def test_sources_and_states_can_be_asked_for(
    query: str, expected: set[str], cache: Path, tree: Path
) -> None:
    assert set(found(catalog_of(cache, tree), query)) == expected


def test_edges_lead_to_the_record_that_stays(cache: Path, tree: Path) -> None:
    for sources in ((cache, tree), (tree, cache)):
        catalog = catalog_of(*sources)

        assert set(found(catalog, "^glibc")) == {ZLIB}
        assert set(found(catalog, "^glibc installed")) == {ZLIB}
        (row,) = catalog.by_hash(ZLIB)
        children = [edge.child for edge in catalog.edges.of(row.id)]
        assert len(children) == len(set(children))


def test_what_one_source_lacks_is_found_in_another(tmp_path: Path) -> None:
    pushed = write(tmp_path / "cache.json", database(installs(node())))
    others = write(tmp_path / "tree.json", database(installs(*zlib_nodes()[1:], installed=True)))

    assert found(catalog_of(pushed, others), "^glibc@2.39") == [ZLIB]
    assert found(catalog_of(pushed), "^glibc@2.39") == []


def test_the_record_that_tells_the_version_of_the_compiler_stays(tmp_path: Path) -> None:
    alone = write(tmp_path / "tree.json", database(installs(node(), installed=True)))
    whole = write(tmp_path / "cache.json", zlib_index())

    (row,) = catalog_of(alone, whole).by_hash(ZLIB)

    assert row.spec.compiler == "gcc@13.2.0"


def test_what_no_source_describes_stays_absent(tmp_path: Path) -> None:
    needing = database(installs(node(dependencies=[edge("glibc", GLIBC, ["link"])])))
    sources = [write(tmp_path / f"{name}.json", needing) for name in ("first", "second")]

    catalog = catalog_of(*sources)

    (row,) = catalog.by_hash(ZLIB)
    (dependency,) = catalog.edges.of(row.id)
    assert catalog.edges.absent_at(dependency.child) == Dependency(GLIBC, "glibc")


def test_a_record_that_one_source_only_depends_on_is_listed_for_the_other(tmp_path: Path) -> None:
    needed = write(tmp_path / "a.json", database(installs(node(), in_buildcache=False)))
    pushed = write(tmp_path / "b.json", database(installs(node())))

    catalog = catalog_of(needed, pushed)

    (row,) = catalog.by_hash(ZLIB)
    assert (catalog.total, row.spec.in_cache, row.spec.cached) == (1, True, True)
    assert row.spec.sources == (str(pushed),)
    assert "source" not in catalog.listing(View()).values.varying_columns


def test_a_page_and_an_index_make_one_record_with_tag_stacks_and_dependencies(
    tmp_path: Path, cache: Path
) -> None:
    write_page(tmp_path / "site", [record(1, stacks=["e4s"])])

    catalog = catalog_of(tmp_path / "site", cache)

    (row,) = catalog.by_hash(ZLIB)
    assert (row.spec.tag, row.spec.stacks) == ("develop", ("e4s",))
    assert found(catalog, "tag=develop ^glibc") == [ZLIB]


def test_what_names_no_tag_is_seen_in_every_tag(tmp_path: Path, tree: Path) -> None:
    write_page(tmp_path / "site", [record(1)])
    write_page(tmp_path / "site", [record(1)], tag="v1.0")

    rows = catalog_of(tmp_path / "site", tree).by_hash(ZLIB)

    assert sorted(row.spec.tag for row in rows) == ["develop", "v1.0"]
    assert all(row.spec.installed and row.spec.cached for row in rows)


@pytest.mark.parametrize("field", [{"version": "1.2"}, {"name": "zlib-ng"}, {"arch": "other"}])
def test_a_hash_that_is_another_spec_elsewhere_stays_apart_and_is_a_problem(
    field: dict[str, Any], tmp_path: Path, cache: Path
) -> None:
    if field.get("arch"):
        field = {"arch": {"platform": "linux", "platform_os": "rocky9", "target": "zen4"}}
    other = write(tmp_path / "other.json", database(installs(node(**field))))

    catalog = catalog_of(cache, other)

    assert len(catalog.by_hash(ZLIB)) == 2
    assert f"hash {ZLIB} is another spec in {other}" in [p.reason for p in catalog.problems]


def test_real_indexes_of_a_mirror_and_an_install_tree_become_one(tmp_path: Path) -> None:
    both = catalog_of(INDEX_OF_1_2, INSTALL_TREE)
    mirror, tree = catalog_of(INDEX_OF_1_2), catalog_of(INSTALL_TREE)

    def hashes(catalog: Catalog, query: str = "*") -> set[str]:
        return set(found(catalog, query))

    assert hashes(both) == hashes(mirror) | hashes(tree)
    assert both.total == len(hashes(both))
    assert hashes(both, "cached") == hashes(mirror)
    assert hashes(both, "installed") == hashes(tree)
    assert hashes(both, "cached installed") == hashes(mirror) & hashes(tree) != set()


def test_a_source_that_cannot_be_read_hides_no_other(cache: Path, tmp_path: Path) -> None:
    catalog = catalog_of(tmp_path / "gone", cache)

    assert catalog.total == 4
    assert [str(problem) for problem in catalog.problems] == [
        f"the source {tmp_path}/gone does not exist"
    ]
    assert [bool(source.failure) for source in catalog.sources] == [True, False]


def test_what_others_depend_on_is_listed_where_everything_is_asked_for(tmp_path: Path) -> None:
    records = installs(node()) | installs(*zlib_nodes()[1:], in_buildcache=False)
    path = str(write(tmp_path / "index.json", database(records)))

    everything = load([path], Session({}, include_dependency_only=True))
    assert [load([path], Session({})).total, everything.total] == [1, 4]
    assert set(found(everything, "cached")) == {ZLIB}


# Reading again what changed only


def indexed(tmp_path: Path, *sources: Path, rebuild: bool = False) -> Catalog:
    environ = {"XDG_CACHE_HOME": str(tmp_path / "xdg")}
    return load([str(source) for source in sources], Session(environ), keep=True, rebuild=rebuild)


def contents_by_hash(catalog: Catalog) -> dict[str, object]:
    """Return all records of an index, by hash."""
    rows = catalog.rows(range(catalog.first[-1]))
    hashes = [row.spec.hash for row in rows]

    def edges(id_: int) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
        dependencies = catalog.edges.of(id_)
        names = [*hashes, *["absent"] * len(dependencies)]
        return sorted(
            (names[min(e.child, len(hashes))], e.deptypes, e.virtuals) for e in dependencies
        )

    return {
        f"{row.spec.hash} {row.spec.tag}": (row.spec, catalog.provenance(row.id), edges(row.id))
        for row in rows
    }


def test_a_refresh_gives_the_same_as_a_rebuild(tmp_path: Path, tree: Path) -> None:
    whole = SPACK_DATA / "spack1.index.json.gz"
    data = gzip.decompress(whole.read_bytes())
    site, mirror = tmp_path / "site", write(tmp_path / "index.json", data)
    for number in range(5):
        write_page(site, [record(number)], title=f"p{number}")
    write_page(site, [record(7), "junk"], title="broken")
    indexed(tmp_path, site, mirror, tree)
    write_page(site, [record(2, os="rocky9"), record(20)], title="p2")

    refreshed = indexed(tmp_path, site, mirror, tree)

    rebuilt = indexed(tmp_path, site, mirror, tree, rebuild=True)
    assert contents_by_hash(refreshed) == contents_by_hash(rebuilt)
    assert set(refreshed.problems) == set(rebuilt.problems) != set()
    assert [source.specs for source in refreshed.sources] == [
        source.specs for source in rebuilt.sources
    ]
    assert refreshed.by_hash(hash_of(20))


def test_a_refresh_reads_no_document_that_did_not_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "site"
    pages = [write_page(site, [record(number)], title=f"p{number}") for number in range(5)]
    indexed(tmp_path, site)
    write_page(site, [record(20)], title="p2")
    read: list[str] = []

    def watched(path: str, *options: Any) -> bytes:
        read.append(path)
        return read_file(path, *options)

    monkeypatch.setattr(document, "read_file", watched)

    catalog = indexed(tmp_path, site)

    assert read == [str(pages[2])]
    assert catalog.total == 5
