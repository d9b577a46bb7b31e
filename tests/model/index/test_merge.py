"""What several documents list under one hash is one record, with all that any of them has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spackscope.model.core.records import Dependency
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.view import View
from spackscope.model.query.parser import parse
from tests.builders import (
    GLIBC,
    ZLIB,
    catalog_of,
    database,
    edge,
    installs,
    leaf,
    node,
    record,
    write_page,
    zlib_index,
    zlib_nodes,
)


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def found(catalog: Catalog, query: str) -> list[str]:
    return [spec.hash for spec in catalog.records(catalog.listing(View(parse(query))).ids)]


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
    provenance = catalog.with_provenance(row.id, row.spec)
    assert (provenance.path, provenance.installed_at) == ("/opt/zlib", 1_700_000_000.5)
    assert provenance.package_hash == "abc===="
    assert catalog.total == 4
    assert catalog.problems == []


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
    # Where everything is asked for, both list it, and it is not only needed.
    (row,) = catalog_of(needed, pushed, dependency_only=True).by_hash(ZLIB)
    assert row.spec.sources == (str(needed), str(pushed))
    assert (row.spec.in_cache, row.spec.states) == (True, ("cached",))
    again = write(tmp_path / "c.json", needed.read_bytes())
    (row,) = catalog_of(needed, again).by_hash(ZLIB)
    assert (row.spec.in_cache, row.spec.states) == (False, ("needed",))


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


ARCH = {"platform": "linux", "platform_os": "rocky9", "target": "zen4"}


@pytest.mark.parametrize("field", [{"version": "1.2"}, {"name": "zlib-ng"}, {"arch": ARCH}])
def test_a_hash_that_is_another_spec_elsewhere_stays_apart_and_is_a_problem(
    field: dict[str, Any], tmp_path: Path, cache: Path
) -> None:
    other = write(tmp_path / "other.json", database(installs(node(**field))))

    catalog = catalog_of(cache, other)

    assert len(catalog.by_hash(ZLIB)) == 2
    assert f"hash {ZLIB} is another spec in {other}" in [p.reason for p in catalog.problems]
