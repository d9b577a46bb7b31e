"""What caches have of an environment is what Spack itself would fetch, build and miss."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.analysis import cover as nearest_missing
from spackscope.model.analysis import nearest
from spackscope.model.analysis.cover import (
    Coverage,
    Location,
    candidates,
    cover,
    environments,
    find_nearest,
)
from spackscope.model.answers.cover import coverage_doubts, reasons_of
from spackscope.model.index.catalog import Catalog
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import edge, leaf, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import database, environment, installs, whole_index, write_index
from tests.model.analysis.cases import ranked, spack_answers

CASES = spack_answers("cover")
GCC, ZLIB, CMAKE, HDF5, VTK = (hash_of(number) for number in range(1, 6))


@pytest.fixture(scope="module")
def caches(
    tmp_path_factory: pytest.TempPathFactory, whole_catalogs: dict[str, Catalog]
) -> dict[str, Catalog]:
    """Index the caches of the cases; one of them records much that it does not have."""
    path = tmp_path_factory.mktemp("incomplete") / "index.json"
    document = json.loads(whole_index("spack1"))
    for hash_, spec in document["database"]["installs"].items():
        spec["in_buildcache"] = spec["in_buildcache"] and hash_[0] not in "abcdefgh"
    path.write_text(json.dumps(document))
    return {**whole_catalogs, "spack1 without hashes that begin with a-h": catalog_of(path)}


_MAX_NEAREST = 3
"""Candidates that the cases have."""


def covered(wanted: Catalog, caches: Catalog) -> Coverage:
    return find_nearest(cover(wanted, caches))


def locations(coverage: Coverage) -> dict[str, Location]:
    return {hit.hash: hit.location for hit in coverage.hits}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_coverage_is_that_of_spack(
    case: dict[str, Any], made_catalog: Catalog, caches: dict[str, Catalog]
) -> None:
    coverage = covered(made_catalog, caches[case["cache"]])

    hits = {hit.hash for hit in coverage.hits}
    assert sorted(hits) == case["hits"]
    assert len(coverage.externals) == case["externals"]
    assert len(hits) + len(coverage.missing) + len(coverage.externals) == case["specs"]
    assert sorted(coverage.fetch) == case["plan_fetch_hashes"]
    assert sorted(coverage.build) == case["plan_build_hashes"]
    assert (
        sum(spec.role != "build" for spec in coverage.missing) == case["need"] - case["need_hit"]
    )
    assert [spec.hash for spec in coverage.missing if spec.is_needed] == list(coverage.build)
    recorded = [spec.hash for spec in coverage.missing if spec.is_recorded]
    assert sorted(recorded) == case["record_only"]
    roots = {spec.hash: spec for spec in coverage.missing if spec.role == "root"}
    assert sorted(roots) == sorted(root["hash"] for root in case["missed_roots"])
    for root in case["missed_roots"]:
        missing = roots[root["hash"]]
        assert (missing.package, missing.version) == (root["name"], root["version"])
        assert missing.nearest.total == root["same_package"]
        nearest = [(each["hash"], each["attributes"]) for each in root.get("nearest", [])]
        rest = candidates(coverage.graph.catalog, missing.package)
        assert ranked(coverage.graph, missing.id, rest, _MAX_NEAREST) == nearest, root["spec"]
        assert missing.nearest.tied == root.get("tied", 0)


def test_what_is_missing_is_in_build_order(
    made_catalog: Catalog, caches: dict[str, Catalog]
) -> None:
    coverage = covered(made_catalog, caches["spack0"])

    assert len(coverage.missing) == 132
    graph, place = coverage.graph, {s.hash: n for n, s in enumerate(coverage.missing)}
    for spec in coverage.missing:
        below = graph.hashes(child for child, _ in graph.links(spec.id))
        assert all(place[hash_] < place[spec.hash] for hash_ in below if hash_ in place)
    assert [s.hash for s in coverage.missing] == list(coverage.build)
    holding = {spec.package for spec in coverage.missing if spec.needed_by}
    assert holding == {"ca-certificates-mozilla", "compiler-wrapper", "gcc-runtime"}


def nodes() -> list[dict[str, Any]]:
    """Build vtk, which links hdf5, which links zlib and is built with cmake."""
    by_gcc = edge("gcc", GCC, ["build"], ["c"])
    of_hdf5 = [by_gcc, edge("cmake", CMAKE, ["build"]), edge("zlib", ZLIB, ["build", "link"])]
    return [
        leaf(GCC, "gcc", "13.2.0") | {"external": {"path": "/usr"}},
        node(ZLIB, dependencies=[by_gcc]),
        node(CMAKE, name="cmake", dependencies=[by_gcc, edge("zlib", ZLIB, ["link"])]),
        node(HDF5, name="hdf5", dependencies=of_hdf5),
        node(VTK, name="vtk", dependencies=[edge("hdf5", HDF5, ["link", "run"])]),
    ]


def lock(path: Path, *roots: str) -> Path:
    """Write a lock file of `nodes`."""
    path.write_bytes(environment(nodes(), *roots))
    return path


def index(path: Path, *hashes: str, **fields: Any) -> Path:
    """Write an index with all `nodes`, of which a cache has some."""
    records = installs(*nodes(), in_buildcache=False)
    records |= installs(*(node for node in nodes() if node["hash"] in hashes), **fields)
    path.write_bytes(database(records))
    return path


def of_lock(tmp_path: Path, *hashes: str, roots: Sequence[str] = (VTK,)) -> Coverage:
    caches = catalog_of(index(tmp_path / "index.json", *hashes))
    return covered(catalog_of(lock(tmp_path / "spack.lock", *roots)), caches)


@pytest.mark.parametrize(
    ("cached", "missing", "fetch", "build"),
    [
        # What only builds something cached is not needed.
        ((VTK, HDF5), [("zlib", "run", True, True), ("cmake", "build", False, False)],
         (HDF5, VTK), (ZLIB,)),
        # What is built needs what builds it.
        ((VTK, ZLIB), [("cmake", "build", True, True), ("hdf5", "run", True, False)],
         (ZLIB, VTK), (CMAKE, HDF5)),
        # Vtk waits for zlib, although hdf5 is there.
        ((HDF5, CMAKE), [("zlib", "run", True, True), ("vtk", "root", True, False)],
         (HDF5,), (ZLIB, VTK)),
        ((ZLIB, CMAKE, HDF5, VTK), [], (ZLIB, HDF5, VTK), ()),
    ],
)  # fmt: skip
def test_what_is_missing_is_built_if_it_is_needed(
    cached: Sequence[str],
    missing: list[object],
    fetch: Sequence[str],
    build: Sequence[str],
    tmp_path: Path,
) -> None:
    coverage = of_lock(tmp_path, *cached)

    assert [hit.hash for hit in coverage.hits] == [
        h for h in (ZLIB, CMAKE, HDF5, VTK) if h in cached
    ]
    assert {hit.location.is_cached for hit in coverage.hits} == {True}
    assert [(s.package, s.role, s.is_needed, s.needed_by) for s in coverage.missing] == missing
    assert (coverage.fetch, coverage.build) == (fetch, build)
    assert [external.hash for external in coverage.externals] == [GCC]
    assert coverage.total == 4


def test_without_roots_they_are_what_nothing_depends_on(tmp_path: Path) -> None:
    assert of_lock(tmp_path, roots=()).build == of_lock(tmp_path, roots=(VTK,)).build


def test_the_environment_may_be_a_source_of_the_same_catalog(tmp_path: Path) -> None:
    locked, cached = lock(tmp_path / "spack.lock", VTK), index(tmp_path / "index.json", ZLIB, HDF5)
    both = catalog_of(locked, cached)

    with_both, apart = (
        covered(catalog_of(locked), catalog) for catalog in (both, catalog_of(cached))
    )
    assert locations(with_both) == locations(apart)
    assert [s.hash for s in with_both.missing] == [s.hash for s in apart.missing] == [CMAKE, VTK]
    assert (with_both.fetch, with_both.build) == (apart.fetch, apart.build)
    # What any environment lists is not there for that.
    assert environments(both) == [str(locked)]


def test_an_absent_dependency_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "spack.lock"
    document = json.loads(lock(path, VTK).read_text())
    del document["concrete_specs"][ZLIB]
    path.write_text(json.dumps(document))
    empty = catalog_of(write_page(tmp_path / "pages", [record(77)]))
    recorded = catalog_of(index(tmp_path / "index.json", VTK))

    for caches, version in ((empty, ""), (recorded, "1.3.1")):
        coverage = covered(catalog_of(path), caches)
        (zlib,) = (s for s in coverage.missing if s.hash == ZLIB)
        assert (zlib.package, zlib.version, zlib.role) == ("zlib", version, "run")


def test_another_compiler_is_no_other_dependency(tmp_path: Path) -> None:
    other = hash_of(20)
    gcc, llvm = leaf(GCC, "gcc", "13.2.0"), leaf(CMAKE, "llvm", "18.1.0")
    wanted = node(ZLIB, dependencies=[edge("gcc", GCC, ["build"], ["c"])])
    cached = node(other, dependencies=[edge("llvm", CMAKE, ["build"], ["c"])])
    (tmp_path / "spack.lock").write_bytes(environment([wanted, gcc], ZLIB))
    write_index(tmp_path, cached, llvm, gcc)
    coverage = covered(catalog_of(tmp_path / "spack.lock"), catalog_of(tmp_path / "index.json"))

    assert list(reasons_of(coverage.missing)) == ["compiler only: gcc@13.2.0 ≠ llvm@18.1.0"]


def test_of_a_cycle_without_roots_all_is_needed(tmp_path: Path) -> None:
    zlib = leaf(ZLIB, "zlib", "1") | {"dependencies": [edge("zlib", ZLIB, ["link"])]}
    (tmp_path / "spack.lock").write_bytes(environment([zlib]))
    write_page(tmp_path / "cache", [record(100)])
    coverage = covered(catalog_of(tmp_path / "spack.lock"), catalog_of(tmp_path / "cache"))

    assert [(s.hash, s.role, s.is_needed) for s in coverage.missing] == [(ZLIB, "root", True)]


@pytest.mark.parametrize(
    ("limited", "is_left_out"),
    # After so many candidates only the first ones of each spec are searched.
    [(nearest_missing, [False, True]), (nearest, [False, False])],
)
def test_very_large_comparisons_are_left_out(
    limited: Any, is_left_out: list[bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = [leaf(ZLIB, "zlib", "1"), leaf(GCC, "gcc", "1")]
    cached = [leaf(hash_of(20), "zlib", "2"), leaf(hash_of(21), "gcc", "2")]
    (tmp_path / "spack.lock").write_bytes(environment(missing, ZLIB, GCC))
    wanted, cache = catalog_of(tmp_path / "spack.lock"), catalog_of(write_index(tmp_path, *cached))
    assert {missing.nearest.total for missing in cover(wanted, cache).missing} == {0}
    monkeypatch.setattr(limited, "MAX_COMPARED", 1)
    coverage = covered(wanted, cache)

    assert [missing.differences is None for missing in coverage.missing] == is_left_out
    assert coverage.is_cut
    notes = list(coverage_doubts(coverage))
    assert "There are too many dependencies to compare all" in notes
