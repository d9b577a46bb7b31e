from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.answers.duplicates import NOT_SOLVED, Duplicates
from spackscope.model.core.errors import Cancelled, WrongQuestion
from spackscope.model.core.tasks import cancelled_when, progress_to
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.parser import parse
from spackscope.model.report.sheet import Sheet
from tests.builders import catalog_of, record, write_page
from tests.model.analysis.cases import made_lock
from tests.model.analysis.lock_files import Made, made, write_lock

OLD, NEW = made("zlib", "1.2"), made("zlib", "1.3")


def duplicates(catalog: Catalog, query: str = "", **options: Any) -> Duplicates:
    return Duplicates(catalog, catalog.match(parse(query)).ids(), options)


def of_lock(tmp_path: Path, *roots: Made, **options: Any) -> Duplicates:
    return duplicates(catalog_of(write_lock(tmp_path / "spack.lock", *roots)), **options)


def hdf5s() -> list[Made]:
    """Build hdf5 with two zlibs, and two users of the older one."""
    plain, newer = made("hdf5", links=[OLD]), made("hdf5", links=[NEW])
    return [made("app", links=[plain]), made("tool", links=[plain]), newer]


def test_each_package_says_what_its_pin_saves_and_what_makes_its_builds(tmp_path: Path) -> None:
    sheet = of_lock(tmp_path, *hdf5s()).all()
    assert sheet.title == "2 of 4 packages have several builds for one OS and target"
    assert sheet.notes == ["Of 6 builds 5 differ by their own fields"]
    hdf5, zlib = sorted(sheet.rows, key=lambda row: row.package)
    assert (hdf5.builds, hdf5.differ, hdf5.inherit, hdf5.would_go, hdf5.left) == (2, 1, 1, 1, 5)
    assert (zlib.builds, zlib.differ, zlib.inherit, zlib.would_go, zlib.left) == (2, 2, 0, 2, 4)
    assert hdf5.causes == zlib.causes == ["zlib:version"]
    assert (hdf5.users, zlib.users) == (["app", "tool"], ["hdf5"])
    assert hdf5.hash == hdf5s()[0].dependencies[0].hash
    assert not sheet.is_good


def test_pins_are_found_one_after_the_other(tmp_path: Path) -> None:
    other = [made("lib", version) for version in ("1", "2")]
    found = list[Sheet[Any]]()
    sheet = of_lock(tmp_path, *hdf5s(), *other).best(9, found.append)
    assert [(row.package, row.would_go, row.left) for row in sheet.rows] == [
        ("zlib", 2, 6),
        ("lib", 1, 5),
    ]
    assert sheet.title == "2 pins leave 5 of 8 builds"
    assert [len(part.rows) for part in found] == [1, 2]
    assert NOT_SOLVED in sheet.notes


def test_a_package_lists_the_values_in_conflict_and_their_users(tmp_path: Path) -> None:
    old, new = made("zlib", "1.2", variants={"pic": True}), made("zlib", "1.3")
    roots = [made("hdf5", links=[zlib], variants={"mpi": zlib is old}) for zlib in (old, new)]
    users = [made(f"app{number}", links=[roots[0]]) for number in range(2)]
    sheet = of_lock(tmp_path, *users, roots[1]).conflicts_of("hdf5")
    assert sheet.title == "hdf5: 2 builds; with one for each OS and target 1 build would go"
    assert [(*row[:5], row.is_pinned) for row in sheet.rows] == [
        ("hdf5", "mpi", "+mpi", 1, 2, True),
        ("hdf5", "mpi", "~mpi", 1, 0, False),
        ("zlib", "version", "1.2", 1, 1, True),
        ("zlib", "version", "1.3", 1, 1, False),
    ]
    assert sheet.rows[0].users == ["app0", "app1"]
    assert [*sheet.exports["require"]()] == [
        f"# {NOT_SOLVED}",
        "packages:",
        "  hdf5:",
        "    require:",
        '    - "+mpi"',
        "  zlib:",
        "    require:",
        '    - "@=1.2"',
    ]
    assert "    prefer:" in sheet.exports["prefer"]()
    with pytest.raises(WrongQuestion, match="Did you mean hdf5"):
        of_lock(tmp_path, *roots).conflicts_of("hdf")


def test_what_packages_yaml_cannot_choose_is_named(tmp_path: Path) -> None:
    roots = [made("zlib", package_hash=digest * 8) for digest in "ab"]
    exports = of_lock(tmp_path, *roots).all().exports
    lines = [*exports["require"]()]
    assert [*exports["require"]()] == lines
    assert lines[1:] == ["# zlib: packages.yaml cannot choose its recipe"]


def test_ignored_packages_are_not_pinned(tmp_path: Path) -> None:
    sheet = of_lock(tmp_path, *hdf5s(), ignored=["zlib"]).all()
    assert [row.package for row in sheet.rows] == ["hdf5"]
    assert not [line for line in sheet.exports["require"]() if "zlib" in line]
    good = of_lock(tmp_path, *hdf5s(), ignored=["*"]).all()
    assert (good.is_good, good.title) == (
        True,
        "none of 4 packages has several builds for one OS and target",
    )


def test_of_a_query_only_the_matching_builds_go(tmp_path: Path) -> None:
    catalog = catalog_of(write_lock(tmp_path / "spack.lock", *hdf5s()))
    rows = duplicates(catalog, "hdf5").all().rows
    assert [(row.package, row.would_go, row.left) for row in rows] == [
        ("hdf5", 1, 1),
        ("zlib", 1, 1),
    ]
    assert [row.package for row in duplicates(catalog, "app").all().rows] == []


def test_the_search_reports_its_progress_and_can_be_stopped(tmp_path: Path) -> None:
    progress = list[tuple[str, int, int | None]]()
    found = of_lock(tmp_path, *hdf5s())
    assert [row.would_go for row in found.sheet().rows] == [None, None]
    with progress_to(lambda *done: progress.append(done)):
        found.all()
    assert progress[0] == ("packages tried", 0, 2)
    found = of_lock(tmp_path, *hdf5s())
    with pytest.raises(Cancelled), cancelled_when(lambda: True):
        found.all()


def test_what_goes_above_builds_of_pages_is_not_known(tmp_path: Path) -> None:
    records = [record(n, size=size) for n, size in ((1, 100), (2, 100), (3, "-"))]
    records[2]["versions"] = ["1.2"]
    sheet = duplicates(catalog_of(write_page(tmp_path, records))).all()
    (row,) = sheet.rows
    assert (row.builds, row.differ, row.inherit, row.would_go) == (3, 2, None, 2)
    assert sheet.remarks == [
        "What would go above 3 builds is not known: no source lists their dependencies",
        "The size of 1 build is not known",
    ]
    assert row.size == 200


def test_a_hash_in_two_tags_is_one_build(tmp_path: Path) -> None:
    for tag in ("one", "two"):
        write_page(tmp_path, [record(1)], tag=tag)
    catalog = catalog_of(tmp_path)
    assert (catalog.total, duplicates(catalog).all().rows) == (2, [])


def test_all_duplicates_of_a_real_lock_are_found(made_catalog: Catalog) -> None:
    nodes = json.loads(made_lock())["concrete_specs"].values()
    builds = defaultdict[str, list[tuple[str, str]]](list)
    for node in nodes:
        arch = node["arch"]
        target = arch["target"] if isinstance(arch["target"], str) else arch["target"]["name"]
        builds[node["name"]].append((arch["platform_os"], target))
    several = {name: len(its) for name, its in builds.items() if len(its) > len(set(its))}
    sheet = duplicates(made_catalog).all()
    assert {row.package: row.builds for row in sheet.rows} == several
    assert f"{len(several)} of {len(builds)} packages have" in sheet.title
    for row in sheet.rows:
        own = len(builds[row.package]) - len(set(builds[row.package]))
        assert (row.would_go or 0) >= own, row
        assert row.users, row
        assert row.causes, row
