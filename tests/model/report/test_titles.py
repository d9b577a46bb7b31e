"""The title counts and names what is shown; the overview of packages fits any width."""

from itertools import product
from pathlib import Path

import pytest

from spackscope.model.analysis.host import parse_host
from spackscope.model.index.load import load
from spackscope.model.report.table_columns import TableColumn
from spackscope.model.report.titles import (
    MIN_WIDTH,
    PackageSummary,
    overview_cell,
    overview_layout,
    overview_width,
    position,
    query_counts,
    runs_head,
    source_chips,
    tags_title,
)
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import SAMPLE
from tests.builders.catalogs import catalog_of
from tests.builders.mirrors import mirror_v3, tag_list, under, write_files
from tests.builders.pages import SAMPLE_PAGES
from tests.builders.spack import zlib_index


def test_sources_are_named_with_their_size() -> None:
    catalog = catalog_of(SAMPLE)
    (chip,) = source_chips(catalog)

    assert (chip.name, chip.specs, chip.is_cache) == ("sample", 469, True)
    assert tags_title(catalog) == "", "it says nothing of the sources of the user"


def test_a_tag_that_names_its_source_is_not_named_twice(tmp_path: Path) -> None:
    files = under("v2026.06.0", mirror_v3(zlib_index()))
    write_files(tmp_path, {**files, "tags.json": tag_list(files)})

    catalog = load([f"{tmp_path}/tags.json"], Session({}))
    assert [chip.name for chip in source_chips(catalog)] == ["tags.json#v2026.06.0"]
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
