"""The title counts and names what is shown; the overview of packages fits any width."""

from itertools import product
from pathlib import Path

import pytest

from spackscope.model.analysis.host import parse_host
from spackscope.model.core.versions import version_key
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import load
from spackscope.model.query.parser import parse
from spackscope.model.report.table_columns import TableColumn
from spackscope.model.report.titles import (
    MIN_WIDTH,
    PackageSummary,
    Summaries,
    hidden_by_host,
    overview_cell,
    overview_layout,
    overview_width,
    package_summaries,
    position,
    query_counts,
    runs_head,
    source_chips,
    tags_title,
)
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import SAMPLE
from tests.builders.catalogs import catalog_of, on_host
from tests.builders.mirrors import mirror_v3, tag_list, under, write_files
from tests.builders.nodes import node
from tests.builders.pages import SAMPLE_PAGES, hash_of, record, write_page
from tests.builders.spack import write_index, zlib_index


def test_sources_are_named_with_their_size() -> None:
    catalog = catalog_of(SAMPLE)
    (chip,) = source_chips(catalog)

    assert (chip.name, chip.specs, chip.is_cache) == ("sample", 469, True)
    assert tags_title(catalog) == "", "it says nothing of the sources of the user"


def test_a_tag_that_names_its_source_is_not_named_twice(tmp_path: Path) -> None:
    files = under("v2026.06.0", mirror_v3(zlib_index()))
    name = "cache_spack_io_index.json"
    write_files(tmp_path, {**files, name: tag_list(files)})

    catalog = load([f"{tmp_path}/{name}"], Session({}))
    assert [chip.name for chip in source_chips(catalog)] == [f"{name}#v2026.06.0"]
    assert tags_title(catalog) == ""
    for name in (str(SAMPLE_PAGES), f"{SAMPLE_PAGES}/"):
        catalog = catalog_of(name)
        assert [chip.name for chip in source_chips(catalog)] == ["develop"]
        assert tags_title(catalog) == ""


@pytest.mark.parametrize(
    ("counts", "forms"),
    [
        ((469, 469, None, 11), ["469 builds of 11 packages", "469 builds", "469"]),
        ((99, 1_887, None, 1), ["99 of 1,887 builds in 1 package", "99 of 1,887 builds", "99"]),
        ((22, 63, "hdf5", 1), ["22 of 63 hdf5", "22"]),
        ((63, 63, "hdf5", 1), ["63 hdf5", "63"]),
    ],
)
def test_builds_are_counted_among_those_of_their_package_or_of_all(
    counts: tuple[int, int, str | None, int], forms: list[str]
) -> None:
    assert [*query_counts(*counts)] == forms


def test_the_position_counts_from_one() -> None:
    assert position(11, 2_052) == "12/2,052"
    assert position(0, 0) == ""


@pytest.mark.parametrize(
    ("width", "names"),
    [
        (MIN_WIDTH, ["builds", "runs"]),
        (48, ["newest", "builds", "runs"]),
        (160, ["newest", "builds", "runs"]),
    ],
)
def test_there_are_as_many_columns_as_fit(width: int, names: list[str]) -> None:
    _, *others = placed = overview_layout(width, "runs here").placed
    assert [each.column.name for each in others] == names
    assert 2 + placed[-1].end == width - 1


def test_names_are_whole_where_there_is_as_much_room_as_is_wanted() -> None:
    for longest, (head, columns) in product((3, 15, 40), (("runs here", 3), ("", 2))):
        first, *others = overview_layout(overview_width(longest, head), head).placed
        assert (first.width, len(others)) == (max(14, longest), columns)


SUMMARY = PackageSummary("1.14.6", 0, is_whole=True)


@pytest.mark.parametrize(
    ("name", "width", "summary", "cell"),
    [
        ("builds", 6, None, "1,200"),
        ("newest", 10, None, ""),
        ("newest", 10, SUMMARY, "1.14.6"),
        ("newest", 5, SUMMARY, "1.….6"),
        ("runs", 9, SUMMARY, "0"),
        ("runs", 9, PackageSummary(""), ""),
        ("runs", 9, PackageSummary("", is_whole=True), "-"),
        ("newest", 10, PackageSummary("\x1b[31m"), "␛[31m"),
        ("newest", 10, PackageSummary(""), "-"),
    ],
)
def test_a_cell_is_clean_and_fits(
    name: str, width: int, summary: PackageSummary | None, cell: str
) -> None:
    assert overview_cell(TableColumn(name, name, 1 + width, 1 + width), 1200, summary) == cell


def test_the_head_says_where_they_run() -> None:
    assert runs_head(parse_host("target=zen3")) == "runs on zen3"


@pytest.fixture(scope="module")
def with_old_libc(whole_catalogs: dict[str, Catalog]) -> Catalog:
    return on_host(whole_catalogs["spack1"], "target=x86_64_v3 glibc=2.28")


def test_what_a_filter_hides_is_counted(with_old_libc: Catalog) -> None:
    assert hidden_by_host(with_old_libc, parse("zlib-ng")) == ""
    hidden = hidden_by_host(with_old_libc, parse("zlib-ng fits"))
    total, shown = (
        with_old_libc.count(parse("zlib-ng")),
        with_old_libc.count(parse("zlib-ng fits")),
    )
    assert hidden.startswith(f"fits hides {total - shown} of {total}: ")
    newer = with_old_libc.count(parse("zlib-ng fits='glibc 2.35 > 2.28'"))
    assert f"glibc 2.35 > 2.28: {newer}" in hidden
    others = hidden_by_host(with_old_libc, parse("zlib-ng !fits"))
    assert others == f"!fits hides {shown} of {total}: yes {shown}"


def test_of_several_specs_each_may_hide_some(with_old_libc: Catalog) -> None:
    both, hdf5 = hidden_by_host(with_old_libc, parse("hdf5 fits zlib-ng")), parse("hdf5")
    hides = with_old_libc.count(hdf5) - with_old_libc.count(parse("hdf5 fits"))
    total = with_old_libc.count(hdf5) + with_old_libc.count(parse("zlib-ng"))
    assert both.startswith(f"fits hides {hides} of {total}: ")


@pytest.fixture(scope="module")
def with_host(whole_catalogs: dict[str, Catalog]) -> Catalog:
    return on_host(whole_catalogs["spack1"], "target=x86_64_v3 glibc=2.35 os=ubuntu22.04")


def summaries_of(catalog: Catalog, text: str, *names: str) -> dict[str, PackageSummary]:
    """Return the summaries that are whole, by the names of the packages."""
    query = parse(text)
    packages = [p for p in catalog.packages(query) if not names or p.name in names]
    whole: Summaries = {}
    for some in package_summaries(catalog, query, packages):
        whole.update(some)
    return {package.name: whole[package.id] for package in packages}


@pytest.mark.parametrize("text", ["", "+mpi", "target=:x86_64_v3", "target=neoverse_v2"])
def test_what_matches_of_a_package_is_summarised(with_host: Catalog, text: str) -> None:
    query = parse(text)
    for name, summary in summaries_of(with_host, text, "hdf5", "zlib-ng", "mpich").items():
        ids = with_host.match(query.with_package(name))
        specs = [row.spec for row in with_host.rows(list(ids))]
        if not specs:
            continue
        assert summary.is_whole
        assert summary.newest == max((spec.version for spec in specs), key=version_key)
        assert summary.running == with_host.count(query.with_package(name).plus(parse("fits")))


def test_pages_do_not_tell_what_runs(tmp_path: Path) -> None:
    write_page(tmp_path, [record(n, versions=["1.9", "1.10"][n : n + 1]) for n in range(2)])
    catalog = catalog_of(tmp_path)
    host = "target=zen3 glibc=2.35"
    for on, running in ((catalog, None), (on_host(catalog, host), None)):
        (summary,) = summaries_of(on, "").values()
        assert (summary.newest, summary.running) == ("1.10", running)
    arch = {"platform": "linux", "platform_os": "rocky9", "target": "zen3"}
    index = write_index(tmp_path / "index.json", node(hash_of(9), arch=arch, dependencies=[]))
    (summary,) = summaries_of(on_host(catalog_of(tmp_path / "develop", index), host), "").values()
    assert summary.running == 1
