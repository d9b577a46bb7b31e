from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.answers import doubles as search
from spackscope.model.answers.doubles import DoubledBuild, doubles
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.records import is_run
from spackscope.model.core.tasks import cancelled_when
from spackscope.model.index.catalog import Catalog
from spackscope.model.report.sheet import Sheet
from tests.builders import catalog_of, database, installs, record, write_page
from tests.model.analysis.cases import made_lock
from tests.model.analysis.lock_files import Made, made, write_lock

OLD, NEW = made("zlib", "1.2"), made("zlib", "1.3")


def doubles_of(tmp_path: Path, *roots: Made) -> Sheet[DoubledBuild]:
    return doubles(catalog_of(write_lock(tmp_path / "spack.lock", *roots)))


def causes_of(
    rows: Iterable[DoubledBuild],
) -> list[tuple[str | None, tuple[str, ...], bool | None]]:
    """Return each cause with its packages, and whether it is a deepest one."""
    packages: dict[tuple[str | None, str, bool | None], dict[str, None]] = defaultdict(dict)
    for row in rows:
        packages[row.cause, row.heading, row.is_deepest][row.package] = None
    return [(cause, tuple(names), deepest) for (cause, _, deepest), names in packages.items()]


def hdf5s(old: dict[str, Any], new: dict[str, Any]) -> list[Made]:
    """Build hdf5 with an old and a new zlib."""
    return [made("hdf5", links=[zlib], variants=its) for zlib, its in ((OLD, old), (NEW, new))]


def on(*systems: str) -> list[Made]:
    """Build an app and what it links for several systems."""
    arches = [{"platform": "linux", "platform_os": os, "target": "zen3"} for os in systems]
    return [made("app", arch=arch, links=[made("zlib", arch=arch)]) for arch in arches]


ZLIB = "zlib 1.2 ≠ 1.3"
CASES = [
    (hdf5s({}, {}), [(ZLIB, ("zlib", "hdf5"), True)]),
    # Own differences come before those below.
    (
        hdf5s({"mpi": False}, {"mpi": True}),
        [(ZLIB, ("zlib",), True), ("hdf5 ~mpi ≠ +mpi", ("hdf5",), False)],
    ),
    # An equal difference of many packages is one cause, with the lower value first.
    (on("ubuntu22.04", "rocky9"), [("os rocky9 ≠ ubuntu22.04", ("app", "zlib"), True)]),
]


@pytest.mark.parametrize(("roots", "causes"), CASES)
def test_doubles_are_grouped_by_their_first_cause(
    tmp_path: Path, roots: list[Made], causes: list[object]
) -> None:
    rows = doubles_of(tmp_path, *roots).rows
    assert causes_of(rows) == causes
    assert all(row.heading.startswith(f"{row.cause}: ") for row in rows)


def test_builds_are_explained_by_the_nearest_other(tmp_path: Path) -> None:
    plain, newer = made("hdf5", links=[OLD]), made("hdf5", links=[NEW])
    other = made("hdf5", links=[NEW], variants={"mpi": True})
    users = [made(f"app{n}", links=[plain]) for n in range(3)]
    rows = doubles_of(tmp_path, *users, newer, other).rows
    cause = "hdf5 - ≠ +mpi"
    assert (cause, ("hdf5",), True) in causes_of(rows)
    values = {row.hash: row.value for row in rows if row.cause == cause}
    assert values == {newer.hash: "-", other.hash: "+mpi"}


def test_what_is_used_for_building_only_is_told_apart(tmp_path: Path) -> None:
    zlib = made("zlib", "1.1")
    cmake = made("cmake", links=[OLD])
    roots = [made("app", links=[NEW], builds=[cmake]), made("tool", builds=[zlib])]
    sheet = doubles_of(tmp_path, *roots)
    assert sheet.title.endswith(": 1 only to build")
    runs = {row.hash: row.is_run for row in sheet.rows}
    assert runs == {NEW.hash: True, OLD.hash: False, zlib.hash: False}
    assert doubles_of(tmp_path, *roots, OLD).title.endswith(": 1 at run time")


def test_each_build_names_the_users_from_a_root(tmp_path: Path) -> None:
    hdf5 = made("hdf5", links=[OLD])
    roots = [
        made("both", links=[hdf5, NEW]),
        made("app", links=[hdf5]),
        made("other", links=[NEW]),
    ]
    rows = doubles_of(tmp_path, *roots).rows
    uses = {row.version: (row.roots, row.users) for row in rows if row.package == "zlib"}
    # A path from a root that needs one build says more than one from a root that needs both.
    assert uses == {"1.2": (2, ("app", "hdf5")), "1.3": (2, ("other",))}


def test_what_is_too_large_is_not_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roots = [made("app", links=[made("hdf5", links=[zlib])]) for zlib in (OLD, NEW)]
    monkeypatch.setattr(search, "MAX_STEPS", 1)
    sheet = doubles_of(tmp_path, *roots)
    rows = sheet.rows

    assert {row.hash for row in rows} == {each.hash for root in roots for each in root.all()}
    unexplained = [row for row in rows if row.cause == "not searched"]
    assert sheet.remarks == ["the causes of 4 of 6 builds are not searched"]
    assert {row.package for row in unexplained} == {"hdf5", "zlib"}
    assert {row.heading for row in unexplained} == {"causes not searched: too many builds"}


def test_builds_that_differ_too_much_are_not_all_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    builds = [
        made("app", variants={f"v{name}": str(number) for name in range(300)})
        for number in range(4)
    ]
    monkeypatch.setattr(search, "MAX_STEPS", 700 * search.DIFFERENCE_STEPS)
    progress = list[tuple[str, int, int | None]]()
    catalog = catalog_of(write_lock(tmp_path / "spack.lock", *builds))
    sheet = doubles(catalog, on_progress=lambda *done: progress.append(done))
    # The second build is compared with the first, the third with both.
    assert sum(row.cause == "not searched" for row in sheet.rows) == 1
    assert progress == [("builds compared", 0, 3), ("builds compared", 1, 3)]

    with pytest.raises(Cancelled), cancelled_when(lambda: len(progress) > 2):
        doubles(catalog, on_progress=lambda *done: progress.append(done))
    assert len(progress) == 3


def test_a_leftover_in_an_install_tree_is_a_root(tmp_path: Path) -> None:
    app, leftover = made("app", links=[NEW]), made("old-app", links=[OLD])
    nodes = [spec.node for root in (app, leftover) for spec in root.all()]
    records = installs(*nodes, installed=True) | installs(app.node, installed=True, explicit=True)
    (tmp_path / "index.json").write_bytes(database(records))
    sheet = doubles(catalog_of(tmp_path / "index.json"))
    assert sheet.title.endswith(": 1 at run time")
    assert [(row.package, row.roots) for row in sheet.rows] == [("zlib", 1), ("zlib", 1)]


def test_pages_tell_what_differs_but_not_what_is_below(tmp_path: Path) -> None:
    records = [record(1), record(2), record(3, versions=["1.2"])]
    catalog = catalog_of(write_page(tmp_path, records))
    assert [cause[:2] for cause in causes_of(doubles(catalog).rows)] == [
        ("zlib 1.2 ≠ 1.3.1", ("zlib",)),
        (None, ("zlib",)),
    ]


def test_a_hash_in_two_tags_is_no_double(tmp_path: Path) -> None:
    for tag in ("one", "two"):
        write_page(tmp_path, [record(1)], tag=tag)
    catalog = catalog_of(tmp_path)
    assert (catalog.total, doubles(catalog).rows) == (2, [])


def test_all_doubles_of_a_real_lock_are_found(made_catalog: Catalog) -> None:
    lock = json.loads(made_lock())
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

    sheet = doubles(made_catalog)

    assert f" of {len(names):,} packages have" in sheet.title
    builds = defaultdict(set)
    for row in sheet.rows:
        builds[row.package].add(row.hash)
        assert row.is_run == (row.hash in by_name[row.package]), row
        assert row.roots
        assert row.users is not None
        assert row.cause
    assert {name: len(hashes) for name, hashes in builds.items()} == {
        name: count for name, count in names.items() if count > 1
    }
    of_run = sum(len(by_name[name]) > 1 for name in builds)
    assert f" {of_run:,} at run time" in sheet.title
