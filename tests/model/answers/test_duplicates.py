import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.analysis.dag import Dag, dag_of
from spackscope.model.analysis.kinds import run_kinds
from spackscope.model.answers.duplicates import Builds, Causes, DuplicatedPackage, duplicates
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.parser import parse
from spackscope.model.report.sheet import Sheet
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import edge, leaf, node
from tests.builders.pages import hash_of, record, write_page
from tests.builders.spack import write_index
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
    for each in nodes:
        arch = each["arch"]
        target = arch["target"] if isinstance(arch["target"], str) else arch["target"]["name"]
        builds[each["name"]].append((arch["platform_os"], target))
    several = {name: len(its) for name, its in builds.items() if len(its) > len(set(its))}
    sheet = of_query(made_catalog)
    assert {row.package: row.builds for row in sheet.rows} == several
    assert f"{len(several)} of {len(builds)} packages have" in sheet.title
    for row in sheet.rows:
        assert row.users, row
        assert row.causes, row


@pytest.mark.parametrize("name", ["spack0", "spack1"])
def test_all_different_builds_of_a_whole_cache_are_counted(
    name: str, whole_catalogs: dict[str, Catalog]
) -> None:
    catalog = whole_catalogs[name]
    graph = dag_of(catalog)
    builds = Builds(graph, map(graph.identity, range(catalog.total)))
    assert len(builds.counted) == len(set(map(graph.identity, range(catalog.total))))


def test_builds_that_run_the_same_are_one_where_only_run_time_counts(
    whole_catalogs: dict[str, Catalog],
) -> None:
    catalog = whole_catalogs["spack1"]
    graph, ids = dag_of(catalog), catalog.match(parse("hdf5")).ids()
    builds = Builds(graph, map(graph.identity, ids), run_only=True)
    assert len(builds.counted) == len(run_kinds(graph, ids)) < len(ids)


def builds_of(tmp_path: Path, *roots: Made, **options: bool) -> tuple[Builds, Causes]:
    catalog = catalog_of(write_lock(tmp_path / "spack.lock", *roots))
    graph = dag_of(catalog)
    builds = Builds(graph, map(graph.identity, range(catalog.total)), **options)
    return builds, Causes(graph, builds, **options)


def test_only_builds_that_inherit_their_difference_count_with_inherited(tmp_path: Path) -> None:
    roots = [
        made("hdf5", links=[zlib], variants={"mpi": mpi})
        for zlib in (OLD, NEW)
        for mpi in (True, False)
    ]
    builds, causes = builds_of(tmp_path, *roots)
    assert builds.duplicated() == ["hdf5", "zlib"]
    assert causes.of("hdf5") == ["hdf5", "zlib"]
    builds, causes = builds_of(tmp_path, *roots, inherited=True)
    assert builds.duplicated() == ["hdf5"]
    assert causes.of("hdf5") == ["zlib"]


def test_builds_for_another_os_are_no_duplicates(tmp_path: Path) -> None:
    arches = [{"platform": "linux", "platform_os": os, "target": "zen3"} for os in ("a", "b")]
    builds, _ = builds_of(tmp_path, *[made("app", arch=arch) for arch in arches])
    assert builds.duplicated() == []
    roots = [made("app", arch=arch, version=v) for arch in arches for v in ("1", "2")]
    builds, causes = builds_of(tmp_path / "more", *roots)
    assert builds.duplicated() == ["app"]
    assert causes.attributes["app"] == ["version"]


def test_build_tools_do_not_count_at_run_time(tmp_path: Path) -> None:
    tools = [made("cmake", links=[zlib]) for zlib in (OLD, NEW)]
    roots = [made("app", builds=[tool]) for tool in tools]
    builds, _ = builds_of(tmp_path, *roots)
    assert builds.duplicated() == ["app", "cmake", "zlib"]
    builds, _ = builds_of(tmp_path, *roots, run_only=True)
    assert {*builds.by_package} == {"app"}
    assert len(builds.counted) == 1


def test_compilers_that_no_document_describes_tell_builds_apart(tmp_path: Path) -> None:
    nodes = [
        node(hash_of(n), dependencies=[edge("gcc", hash_of(n + 10), ["build"], ["c"])])
        for n in (1, 2)
    ]
    (row,) = of_query(catalog_of(write_index(tmp_path, *nodes)), run=True).rows
    assert row.builds == 2


def test_a_cause_is_what_the_builds_of_a_package_differ_in(tmp_path: Path) -> None:
    xz = [made("xz", version) for version in ("5.4", "5.6")]
    same = made("lib", links=[OLD])
    # All apps need both zlibs, and only together both causes make them one.
    roots = [
        made("app", links=[same, NEW, x], variants={"debug": d})
        for x, d in zip(xz, (True, False), strict=True)
    ]
    _, causes = builds_of(tmp_path, *roots)
    assert causes.of("app") == ["app", "xz"]


def test_an_attribute_that_follows_another_is_left_out(tmp_path: Path) -> None:
    versions = [
        made("zlib", "1.2", package_hash="a" * 8),
        made("zlib", "1.3", package_hash="b" * 8),
    ]
    _, causes = builds_of(tmp_path, *versions)
    assert causes.attributes["zlib"] == ["version"]


def test_each_build_is_asked_a_bounded_number_of_times_what_its_source_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where each has a variant of its own, the number would be that of the builds squared."""
    count = 200
    nodes = [
        leaf(hash_of(number), "zlib", "1.3") | {"parameters": {f"w{number}": True}}
        for number in range(count)
    ]
    graph, asked = dag_of(catalog_of(write_index(tmp_path, *nodes))), list[str]()

    def would_list(_: Dag, id_: int, attribute: str) -> bool:
        asked.append(attribute)
        return True

    builds = Builds(graph, range(count))
    monkeypatch.setattr(Dag, "would_list", would_list)
    causes = Causes(graph, builds)
    assert len(causes.attributes["zlib"]) == count
    assert len(asked) < 10 * count
