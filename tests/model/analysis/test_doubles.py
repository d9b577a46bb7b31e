from __future__ import annotations

import json
import lzma
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.analysis import doubles as search
from spackscope.model.analysis.dag import dag_of
from spackscope.model.analysis.doubles import DoubleCause, Doubles, find_doubles
from spackscope.model.answers.doubles import doubles
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.records import is_run
from tests.builders import SPACK_DATA, catalog_of, database, hash_of, record, write_page
from tests.model.analysis.lock_files import Made, made, write_lock

OLD, NEW = made("zlib", "1.2"), made("zlib", "1.3")


def doubles_of(tmp_path: Path, *roots: Made) -> Doubles:
    return find_doubles(catalog_of(write_lock(tmp_path / "spack.lock", *roots)))


def described(cause: DoubleCause) -> tuple[list[tuple[str, Any, Any]], tuple[str, ...]]:
    changes = [
        (f"{change.package} {change.attribute}".strip(), *values)
        for change in cause.changes
        for values in [(change.a, change.b)]
    ]
    return changes, tuple(cause.packages)


def hdf5s(*variants: dict[str, Any]) -> list[Made]:
    """Build hdf5 with an old and a new zlib."""
    return [
        made("hdf5", links=[zlib], variants=its)
        for zlib, its in zip((OLD, NEW), variants or ({}, {}), strict=True)
    ]


def on(*systems: str) -> list[Made]:
    """Build an app and what it links for several systems."""
    arches = [{"platform": "linux", "platform_os": os, "target": "zen3"} for os in systems]
    return [made("app", arch=arch, links=[made("zlib", arch=arch)]) for arch in arches]


ZLIB = ("zlib version", "1.2", "1.3")
CASES = [
    (hdf5s(), [([ZLIB], ("zlib", "hdf5"), True)]),
    # Own differences come before those below.
    (
        hdf5s({"mpi": False}, {"mpi": True}),
        [([ZLIB], ("zlib",), True), ([("hdf5 variant:mpi", False, True)], ("hdf5",), False)],
    ),
    # An equal difference of many packages is one cause, with the lower value first.
    (on("ubuntu22.04", "rocky9"), [([("os", "rocky9", "ubuntu22.04")], ("app", "zlib"), True)]),
]


@pytest.mark.parametrize(("roots", "causes"), CASES)
def test_doubles_are_grouped_by_their_first_cause(
    tmp_path: Path, roots: list[Made], causes: list[object]
) -> None:
    found = doubles_of(tmp_path, *roots)
    assert [(*described(cause), cause.deepest) for cause in found.causes] == causes
    assert sorted(found.builds) == sorted(
        {name for cause in found.causes for name in cause.packages}
    )


def test_builds_are_explained_by_the_nearest_other(tmp_path: Path) -> None:
    plain, newer = made("hdf5", links=[OLD]), made("hdf5", links=[NEW])
    other = made("hdf5", links=[NEW], variants={"mpi": True})
    users = [made(f"app{n}", links=[plain]) for n in range(3)]
    doubles = doubles_of(tmp_path, *users, newer, other)
    (cause,) = [each for each in doubles.causes if each.packages == ["hdf5"]]
    assert described(cause)[0] == [("hdf5 variant:mpi", None, True)]
    (pair,) = cause.pairs
    graph = dag_of(catalog_of(tmp_path / "spack.lock"))
    assert graph.hashes((pair.a, pair.b)) == [newer.hash, other.hash]


def test_what_is_used_for_building_only_is_told_apart(tmp_path: Path) -> None:
    zlib = made("zlib", "1.1")
    cmake = made("cmake", links=[OLD])
    roots = [made("app", links=[NEW], builds=[cmake]), made("tool", builds=[zlib])]
    doubles = doubles_of(tmp_path, *roots)
    assert not doubles.run
    assert [build.is_run for build in doubles.builds["zlib"]] == [True, False, False]
    assert doubles_of(tmp_path, *roots, OLD).run == {"zlib"}


def test_each_build_names_the_roots_that_need_it(tmp_path: Path) -> None:
    hdf5 = made("hdf5", links=[OLD])
    roots = [
        made("both", links=[hdf5, NEW]),
        made("app", links=[hdf5]),
        made("other", links=[NEW]),
    ]
    doubles = doubles_of(tmp_path, *roots)
    graph = dag_of(catalog_of(tmp_path / "spack.lock"))
    uses = {
        graph.version(build.id): (
            build.use.count,
            {graph.name(root) for root in build.use.roots},
            [graph.name(id_) for id_ in build.use.path],
        )
        for build in doubles.builds["zlib"]
    }
    # A path from a root that needs one build says more than one from a root that needs both.
    assert uses == {
        "1.2": (2, {"both", "app"}, ["app", "hdf5", "zlib"]),
        "1.3": (2, {"both", "other"}, ["other", "zlib"]),
    }


def test_what_is_too_large_is_not_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = [made("app", links=[made("hdf5", links=[zlib])]) for zlib in (OLD, NEW)]
    monkeypatch.setattr(search, "MAX_STEPS", 1)
    found = doubles_of(tmp_path, *roots)

    assert found.unexplained == 2
    graph = dag_of(catalog_of(tmp_path / "spack.lock"))
    rows = doubles(graph, found).rows
    assert {row.hash for row in rows} == {each.hash for root in roots for each in root.all()}
    assert {row.heading for row in rows if row.cause is None} == {
        "causes not searched, as there are too many builds"
    }


def test_builds_that_differ_too_much_are_not_all_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds = [
        made("app", variants={f"v{name}": str(number) for name in range(300)})
        for number in range(4)
    ]
    monkeypatch.setattr(search, "MAX_STEPS", 700)
    progress = list[tuple[str, int, int | None]]()
    catalog = catalog_of(write_lock(tmp_path / "spack.lock", *builds))
    found = find_doubles(catalog, on_progress=lambda *done: progress.append(done))
    # The second build is compared with the first, the third with both.
    assert found.unexplained == 1
    assert progress == [("builds compared", 0, 3), ("builds compared", 1, 3)]

    with pytest.raises(Cancelled):
        find_doubles(
            catalog,
            should_stop=lambda: len(progress) > 2,
            on_progress=lambda *done: progress.append(done),
        )
    assert len(progress) == 3


def test_a_leftover_in_an_install_tree_is_a_root(tmp_path: Path) -> None:
    app, leftover = made("app", links=[NEW]), made("old-app", links=[OLD])
    records = {
        spec.hash: {"spec": spec.node, "installed": True, "explicit": spec is app}
        for root in (app, leftover)
        for spec in root.all()
    }
    (tmp_path / "index.json").write_bytes(database(records))
    doubles = find_doubles(catalog_of(tmp_path / "index.json"))
    assert doubles.run == {"zlib"}
    assert [build.use.count for build in doubles.builds["zlib"]] == [1, 1]


def test_pages_tell_what_differs_but_not_what_is_below(tmp_path: Path) -> None:
    records = [record(1), record(2), record(3, versions=["1.2"])]
    catalog = catalog_of(write_page(tmp_path, records))
    doubles = find_doubles(catalog)
    assert list(map(described, doubles.causes)) == [
        ([("zlib version", "1.2", "1.3.1")], ("zlib",)),
        ([], ("zlib",)),
    ]


def test_a_hash_in_two_tags_is_no_double(tmp_path: Path) -> None:
    for tag in ("one", "two"):
        write_page(tmp_path, [record(1)], tag=tag)
    catalog = catalog_of(tmp_path)
    assert catalog.by_hash(hash_of(1))[0].id != catalog.by_hash(hash_of(1))[1].id
    assert find_doubles(catalog).builds == {}


def test_all_doubles_of_a_real_lock_are_found(tmp_path: Path) -> None:
    data = lzma.decompress((SPACK_DATA / "analysis" / "made.lock.xz").read_bytes())
    (tmp_path / "spack.lock").write_bytes(data)
    lock = json.loads(data)
    nodes = lock["concrete_specs"]
    names = Counter(node["name"] for node in nodes.values())
    run, stack = set(), [root["hash"] for root in lock["roots"]]
    while stack:
        if (hash_ := stack.pop()) not in run:
            run.add(hash_)
            edges = nodes[hash_].get("dependencies", [])
            stack += [e["hash"] for e in edges if is_run(e["parameters"]["deptypes"])]
    by_name = defaultdict(set)
    for hash_ in run:
        by_name[nodes[hash_]["name"]].add(hash_)

    catalog = catalog_of(tmp_path / "spack.lock")
    doubles, graph = find_doubles(catalog), dag_of(catalog)

    assert doubles.packages == len(names)
    assert {name: len(builds) for name, builds in doubles.builds.items()} == {
        name: count for name, count in names.items() if count > 1
    }
    for name, builds in doubles.builds.items():
        hashes = graph.hashes(build.id for build in builds if build.is_run)
        assert set(hashes) == by_name[name], name
        assert (name in doubles.run) == (len(hashes) > 1)
        assert all(build.use.count and build.use.path for build in builds)
    assert {name for cause in doubles.causes for name in cause.packages} == {*doubles.builds}
    assert all(cause.changes for cause in doubles.causes)
