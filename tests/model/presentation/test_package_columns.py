"""The columns of the overview of packages at any width."""

from __future__ import annotations

import pytest

from spackscope.model.analysis.host import parse_host
from spackscope.model.analysis.package_summary import PackageSummary
from spackscope.model.presentation.frame import (
    MIN_WIDTH,
    OverviewColumn,
    overview_cell,
    overview_layout,
    runs_head,
)


@pytest.mark.parametrize(
    ("width", "names"),
    [
        (MIN_WIDTH, ["builds", "runs"]),
        (48, ["newest", "builds", "runs"]),
        (56, ["newest", "builds", "kinds", "runs"]),
        (72, ["newest", "builds", "kinds", "targets", "runs"]),
        (160, ["newest", "builds", "kinds", "targets", "runs"]),
    ],
)
def test_there_are_as_many_columns_as_fit(width: int, names: list[str]) -> None:
    for longest in (5, 20, 60):
        layout = overview_layout(width, longest, "runs here")
        assert [column.name for column in layout.columns] == names
        used = 2 + layout.name_width + sum(2 + column.width for column in layout.columns)
        assert used == width - 1
        assert layout.name_width >= min(longest, 14)


SUMMARY = PackageSummary("1.14.6", ("x86_64_v3", "aarch64", "zen4"), 7, 0, is_whole=True)


@pytest.mark.parametrize(
    ("name", "width", "summary", "cell"),
    [
        ("builds", 6, None, "1,200"),
        ("newest", 10, None, ""),
        ("newest", 10, SUMMARY, "1.14.6"),
        ("newest", 5, SUMMARY, "1.….6"),
        ("kinds", 5, SUMMARY, "7"),
        ("runs", 9, SUMMARY, "0"),
        ("targets", 12, SUMMARY, "x86_64_v3 +2"),
        ("targets", 20, SUMMARY, "x86_64_v3 aarch64 +1"),
        ("targets", 40, SUMMARY, "x86_64_v3 aarch64 zen4"),
        ("targets", 6, SUMMARY, "x8…_v3"),
        ("kinds", 5, PackageSummary("", ()), ""),
        ("kinds", 5, PackageSummary("", (), is_whole=True), "-"),
        ("newest", 10, PackageSummary("\x1b[31m", ()), "␛[31m"),
        ("targets", 10, PackageSummary("", ()), "-"),
    ],
)
def test_a_cell_is_clean_and_fits(
    name: str, width: int, summary: PackageSummary | None, cell: str
) -> None:
    assert overview_cell(OverviewColumn(name, name, width), 1200, summary) == cell


def test_the_head_says_where_they_run() -> None:
    assert runs_head(parse_host("target=zen3")) == "runs on zen3"
