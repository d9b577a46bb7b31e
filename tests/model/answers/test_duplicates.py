import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.answers.duplicates import DuplicatedPackage, duplicates
from spackscope.model.core.errors import Cancelled
from spackscope.model.core.tasks import cancelled_when
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.parser import parse
from spackscope.model.report.sheet import Sheet
from tests.builders.catalogs import catalog_of
from tests.builders.pages import record, write_page
from tests.model.analysis.cases import made_lock
from tests.model.analysis.lock_files import Made, made, write_lock

OLD, NEW = made("zlib", "1.2"), made("zlib", "1.3")


def of_query(catalog: Catalog, query: str = "", **options: Any) -> Sheet[DuplicatedPackage]:
    return duplicates(catalog, catalog.match(parse(query)).ids(), options)


def of_lock(tmp_path: Path, *roots: Made, **options: Any) -> Sheet[DuplicatedPackage]:
    return of_query(catalog_of(write_lock(tmp_path / "spack.lock", *roots)), **options)


def hdf5s() -> list[Made]:
    """Build hdf5 with two zlibs, and two users of the older one."""
    plain, newer = made("hdf5", links=[OLD]), made("hdf5", links=[NEW])
    return [made("app", links=[plain]), made("tool", links=[plain]), newer]


def test_each_package_says_what_makes_its_builds_and_who_uses_them(tmp_path: Path) -> None:
    sheet = of_lock(tmp_path, *hdf5s())
    assert sheet.title == "2 of 4 packages have several builds for one OS and target"
    assert sheet.notes == ["Of 6 builds 5 differ by their own fields"]
    zlib, hdf5 = sheet.rows
    assert (hdf5.package, hdf5.builds, zlib.package, zlib.builds) == ("hdf5", 2, "zlib", 2)
    assert hdf5.causes == zlib.causes == ["zlib:version"]
    assert (hdf5.users, zlib.users) == (["app", "tool"], ["hdf5"])
    assert hdf5.hash == hdf5s()[0].dependencies[0].hash
    assert not sheet.is_good


def test_the_most_builds_come_first_then_what_makes_most_others_differ(tmp_path: Path) -> None:
    libs = [made("lib", version) for version in ("1", "2", "3")]
    tools = [made("both", links=[lib, zlib]) for lib, zlib in zip(libs, (OLD, NEW), strict=False)]
    rows = of_lock(tmp_path, *hdf5s(), *libs, *tools).rows
    assert [row.package for row in rows] == ["lib", "zlib", "both", "hdf5"]
    assert rows[2].causes == ["zlib:version", "lib:version"]


def test_ignored_packages_are_not_listed(tmp_path: Path) -> None:
    sheet = of_lock(tmp_path, *hdf5s(), ignored=["zlib"])
    assert [row.package for row in sheet.rows] == ["hdf5"]
    good = of_lock(tmp_path, *hdf5s(), ignored=["*"])
    assert (good.is_good, good.title) == (
        True,
        "none of 4 packages has several builds for one OS and target",
    )


def test_of_a_query_the_matching_builds_and_what_they_need_count(tmp_path: Path) -> None:
    catalog = catalog_of(write_lock(tmp_path / "spack.lock", *hdf5s()))
    assert [row.package for row in of_query(catalog, "hdf5").rows] == ["zlib", "hdf5"]
    assert [row.package for row in of_query(catalog, "app").rows] == []


def test_the_search_can_be_stopped(tmp_path: Path) -> None:
    with pytest.raises(Cancelled), cancelled_when(lambda: True):
        of_lock(tmp_path, *hdf5s())


def test_builds_of_pages_may_differ_in_more(tmp_path: Path) -> None:
    records = [record(n) for n in (1, 2, 3)]
    records[2]["versions"] = ["1.2"]
    sheet = of_query(catalog_of(write_page(tmp_path, records)))
    (row,) = sheet.rows
    assert (row.builds, row.causes) == (3, ["zlib:version"])
    assert (sheet.notes, sheet.remarks) == (
        [],
        ["No source lists the dependencies of 3 builds: they may differ in more"],
    )


def test_a_hash_in_two_tags_is_one_build(tmp_path: Path) -> None:
    for tag in ("one", "two"):
        write_page(tmp_path, [record(1)], tag=tag)
    catalog = catalog_of(tmp_path)
    assert (catalog.total, of_query(catalog).rows) == (2, [])


def test_all_duplicates_of_a_real_lock_are_found(made_catalog: Catalog) -> None:
    nodes = json.loads(made_lock())["concrete_specs"].values()
    builds = defaultdict[str, list[tuple[str, str]]](list)
    for node in nodes:
        arch = node["arch"]
        target = arch["target"] if isinstance(arch["target"], str) else arch["target"]["name"]
        builds[node["name"]].append((arch["platform_os"], target))
    several = {name: len(its) for name, its in builds.items() if len(its) > len(set(its))}
    sheet = of_query(made_catalog)
    assert {row.package: row.builds for row in sheet.rows} == several
    assert f"{len(several)} of {len(builds)} packages have" in sheet.title
    for row in sheet.rows:
        assert row.users, row
        assert row.causes, row
