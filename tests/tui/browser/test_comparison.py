"""Comparing specs in the browser, over an index in which four hdf5 look the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.report.comparison import (
    ComparedTable,
    rows_in_sight,
    table_section,
    value_texts,
)
from spackscope.model.report.report import Row
from spackscope.tui.browser.comparison import nothing_to_compare
from spackscope.tui.dialogs.compare import CompareScreen, Destination
from tests.browsing import browsing
from tests.builders import record, write_page
from tests.tui.browser.fake_host import FakeBrowser
from tests.tui.browser.look_alike_index import OTHER, ZLIB_2, A, B, C, D, write_look_alikes


@pytest.fixture
def index(tmp_path: Path) -> Path:
    path = tmp_path / "index.json"
    write_look_alikes(path)
    return path


@pytest.fixture
def browser(index: Path) -> FakeBrowser:
    browser = FakeBrowser(index, query="hdf5@1.14").load()
    browser.host.focus("specs")
    return browser


def screen_of(browser: FakeBrowser) -> CompareScreen:
    screen, _ = browser.host.dialogs[-1]
    assert isinstance(screen, CompareScreen)
    return screen


def table_of(browser: FakeBrowser) -> ComparedTable:
    table = screen_of(browser).table
    assert table is not None
    return table


def compare(browser: FakeBrowser) -> ComparedTable:
    browser.controllers.comparison.compare()
    browser.settle()
    return table_of(browser)


def rows(table: ComparedTable) -> list[str]:
    return [
        " ".join([row.package, *value_texts(row), *row.path])
        for row in rows_in_sight(table, shows_build=True)
    ]


def test_look_alikes_have_a_column_for_each_kind(browser: FakeBrowser) -> None:
    table = compare(browser)
    assert table.title == "hdf5@1.14"
    assert [spec.hash for spec in table.specs] == [B, C], "the most used one of its kind"
    assert table.summary == f"2 of 4 · 2 more are like {B[:7]}"
    assert rows(table) == ["zlib 1.3 1.2 mpich zlib", "gmake 4.3 4.4 gmake"]
    assert [(spec.users, spec.user_names) for spec in table.specs] == [(1, ("vtk",)), (0, ())]


def test_each_hash_can_have_a_column_and_tables_are_made_once(browser: FakeBrowser) -> None:
    by_kind = compare(browser)
    screen_of(browser).action_regroup()
    browser.settle()
    table = table_of(browser)
    assert {spec.hash for spec in table.specs} == {A, B, C, D}
    assert "zlib 1.3 1.3 1.3 1.2 mpich zlib" in rows(table)
    screen_of(browser).action_regroup()
    browser.settle()
    assert table_of(browser) is by_kind
    assert compare(browser) is by_kind


def test_marked_specs_are_compared_and_those_of_one_kind_have_a_column_each(
    browser: FakeBrowser,
) -> None:
    browser.host.change(marks=(A, B))
    table = compare(browser)
    assert {spec.hash for spec in table.specs} == {A, B}
    assert table.runs_the_same
    lines = [row.texts[0] for row in table_section(table, 80).rows if isinstance(row, Row)]
    assert [line.strip() for line in lines] == [
        "run-time dependencies",
        "nothing differs: all run the same",
        "build dependencies (1 package)  ▸",
        "used by",
    ]


def test_one_mark_is_compared_with_the_row_under_the_cursor(browser: FakeBrowser) -> None:
    browser.search.fold()
    browser.settle()
    browser.host.change(marks=(OTHER,))
    table = compare(browser)
    assert table.title == "hdf5"
    assert OTHER in {spec.hash for spec in table.specs}
    assert len(table.specs) == 2
    assert rows(table)[0].startswith("hdf5 1.1")


@pytest.mark.parametrize("marks", [(), (OTHER,)])
def test_a_single_row_is_not_compared(index: Path, marks: tuple[str, ...]) -> None:
    browser = FakeBrowser(index, query="hdf5@1.12").load()
    browser.host.change(marks=marks)
    browser.controllers.comparison.compare()
    assert browser.host.message == nothing_to_compare()
    assert not browser.host.dialogs


def test_a_row_of_its_own_is_compared_with_look_alikes_that_are_not_shown(index: Path) -> None:
    browser = FakeBrowser(index, query=f"/{C}").load()
    assert compare(browser).total == 4


def test_escape_stops_what_is_still_read(browser: FakeBrowser) -> None:
    browser.controllers.comparison.compare()
    _, done = browser.host.dialogs[-1]
    assert browser.host.is_running("compare")
    assert done is not None
    done(None)
    assert not browser.host.is_running("compare")


def test_enter_goes_to_the_spec_of_the_column_or_below_it(browser: FakeBrowser) -> None:
    compare(browser)
    _, done = browser.host.dialogs[-1]
    assert done is not None
    done(Destination(C, ("mpich", "zlib")))
    browser.settle()
    assert browser.state.selected is not None
    assert browser.state.selected.spec.hash == ZLIB_2
    done(Destination(C))
    browser.settle()
    assert browser.state.selected.spec.hash == C
    done(Destination(C, ("vtk",)))
    browser.settle()
    assert browser.host.message == "There is no such spec to go to"


def test_what_one_source_does_not_tell_is_not_compared(tmp_path: Path, index: Path) -> None:
    page = record(77, variants=["+shared"])
    write_page(tmp_path / "hdf5" / "specs.md", [page], title="hdf5")
    browser = FakeBrowser(index, tmp_path / "hdf5" / "specs.md", query="hdf5").load()
    browser.host.change(marks=(A, C, page["hash"]))
    table = compare(browser)
    assert table.lists_dependencies == (True, True, False)
    assert "zlib 1.3 1.2 ? mpich zlib" in rows(table)
    assert not table.runs_the_same
    own = {row.attribute: row.values for row in table.rows or () if row.part == "own"}
    assert own["package_hash"][2] == ("?",)


def test_of_a_hash_in_two_sources_the_one_that_tells_more_is_compared(
    tmp_path: Path, index: Path
) -> None:
    for name, source in (("a", A), ("c", C)):
        page = {**record(77), "hash": source}
        write_page(tmp_path / name / "specs.md", [page], title="hdf5", tag="v1")
    browser = FakeBrowser(tmp_path / "a", index, tmp_path / "c", query="hdf5@1.14").load()
    browser.host.change(marks=(A, C))
    table = compare(browser)
    assert table.lists_dependencies == (True, True)
    assert [spec.hash for spec in table.specs] == [A, C]


async def test_on_pages_only_the_specs_themselves_are_compared(tmp_path: Path) -> None:
    write_page(tmp_path / "zlib" / "specs.md", [record(1), record(2)], title="zlib")
    async with browsing(tmp_path, size=(100, 20)) as browser:
        await browser.press("d")
        assert "nothing that is listed differs" in browser.text
        assert "Dependencies not listed: not compared" in browser.text
        assert "all run the same" not in browser.text


async def test_the_difference_of_look_alikes_is_one_key_from_the_start(index: Path) -> None:
    async with browsing(index, query="hdf5@1.14", size=(80, 24)) as browser:
        await browser.press("d")
        assert browser.dialog == "CompareScreen"
        assert any(line.split()[1:4] == ["zlib", "1.3", "1.2"] for line in browser.lines)
        await browser.press("escape")
        assert browser.focus == "spec-rows"


async def test_keys_typed_at_once_wait_for_the_table(index: Path) -> None:
    async with browsing(index, query="hdf5@1.14", size=(100, 20)) as browser:
        browser.send("d", "l", "enter")
        await browser.settle()
        assert browser.dialog is None
        assert browser.state.selected is not None
        assert browser.state.selected.spec.hash == ZLIB_2, "the cursor is on the row of zlib"
