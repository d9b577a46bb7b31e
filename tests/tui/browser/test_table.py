"""The table as it is drawn: heads, filters, the head line, and rows of look-alikes."""

from pathlib import Path

import pytest

from spackscope.tui.widgets.table_head import ColumnHeader
from spackscope.tui.widgets.table_rows import HeadLine
from tests.browsing import Browser, browsing
from tests.builders.nodes import edge, node
from tests.builders.pages import hash_of
from tests.builders.spack import write_index


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write specs of hdf5 with two variants, two of them look-alikes, and one of another name."""
    path = tmp_path_factory.mktemp("index") / "index.json"
    specs = [
        node(hash_of(n), name="hdf5", parameters={"hl": bool(n % 2), "mpi": n > 1, "java": False})
        for n in range(4)
    ]
    twin = node(hash_of(8), name="hdf5", dependencies=[edge("zlib", hash_of(9), ["build"])],
                parameters={"hl": True, "mpi": True, "java": False})  # fmt: skip
    other = node(hash_of(9), name="zlib-of-a-very-long-name", parameters={"pic": True})
    return write_index(path, *specs, twin, other)


def table_lines(browser: Browser, count: int = 8) -> list[str]:
    region = browser.table.region
    lines = browser.lines[region.y : region.y + count]
    return [line[region.x : region.right] for line in lines]


async def test_variants_are_columns_and_what_is_the_same_is_above_them(index: Path) -> None:
    async with browsing(index, size=(160, 36)) as browser:
        await browser.open_package("hdf5")
        head, labels, filters, *rows = table_lines(browser)
        first, *others = filters.split()
        assert first == "filter"
        assert set("".join(others)) == {"▁"}, "each column has a field that is empty"
        assert head.startswith("─ builds ─ hdf5@")
        assert "~java" in head
        assert {"hl", "mpi", "hash", "used"} <= set(labels.split())
        assert "java" not in labels
        at = labels.index("hl")
        assert {row[at] for row in rows[:4]} == {"+", "~"}

        await browser.filter("+hl", "+", query="package=hdf5 +hl")
        await browser.press("enter")
        assert table_lines(browser)[1].index("hl ") == at, "a column with a filter keeps its place"
        assert table_lines(browser)[2][at] == "+"
        assert browser.filter_text("+hl") == "+"
        await browser.press("h", "s")
        assert browser.state.view.sort is not None


async def test_columns_are_chosen_anew_when_typing_ends(index: Path) -> None:
    async with browsing(index, size=(110, 36)) as browser:
        await browser.open_package("hdf5")
        names = browser.table.columns.columns.names
        await browser.press("slash", *" +hl")
        assert browser.table.columns.columns.names == names, "not while one types"
        await browser.press("enter")
        assert "+hl" not in browser.table.columns.columns.names
        assert "+hl" in browser.head_line


async def test_heads_and_filters_stay_where_they_are_while_one_types(index: Path) -> None:
    async with browsing(index, size=(100, 28)) as browser:
        await browser.press("2", "f")
        placed = browser.table.rows.heads.layout.placed
        for letter in "hdf5":
            await browser.type(letter)
            assert browser.table.rows.heads.layout.placed == placed, (
                "one package left, and its column stays"
            )
            assert not browser.box, "nothing covers the rows that match"
        while browser.focus != "filter compiler":
            await browser.press("tab")
            assert browser.focus.startswith("filter")
        await browser.type("gcc@1.3")
        assert browser.table.rows.heads.layout.placed == placed
        assert {row.spec.compiler for row in browser.rows} == {"gcc@1.3.1"}
        assert "hdf5" in table_lines(browser)[2].replace("▁", " ").split()


async def test_an_error_in_a_filter_is_said_in_the_query_line(index: Path) -> None:
    async with browsing(index, size=(80, 24)) as browser:
        await browser.press("2")
        rows = browser.shown
        await browser.filter("version", "1.10:1.2:")
        assert "version" in browser.lines[1].lower()
        assert not browser.box
        assert browser.shown == rows
        await browser.press("enter", focus="filter version")  # it is not left by ⏎
        await browser.press("escape")
        assert "rows" not in browser.lines[1]


async def test_letters_after_f_are_never_commands(index: Path) -> None:
    async with browsing(index, size=(120, 30)) as browser:
        await browser.press("2")
        for column in ("used by", "unlike others"):
            await browser.go_to_column(column, "f")
            before = browser.state.view
            await browser.type("xyqd", focus=f"filter {column}")
            assert browser.filter_text(column) == ""
            assert browser.state.view == before
            await browser.press("ctrl+n", "enter", focus="spec-rows")


async def test_what_is_in_the_head_line_is_filtered_from_there(index: Path) -> None:
    async with browsing(index, size=(110, 36)) as browser:
        await browser.open_package("hdf5")
        line = browser.browser.query_one(HeadLine)
        at = line.render_line(0).text.index("~java")
        await browser.click(line, at + 2, 0, focus="filter +java")
        await browser.press(*"~", "enter", query="package=hdf5 ~java")
        assert "+java" in browser.placed_names
        await browser.press("backspace")
        assert "+java" not in browser.placed_names


async def test_small_terminals_show_filters_in_the_heads(index: Path) -> None:
    async with browsing(index, size=(80, 23)) as browser:
        await browser.open_package("hdf5")
        assert browser.browser.query_one(ColumnHeader).size.height == 1
        before = table_lines(browser)
        await browser.go_to_column("variants", "f", *"~mpi")
        assert table_lines(browser)[1].rstrip() != before[1].rstrip(), "in place of the heads"
        await browser.press("enter")
        assert "~" in table_lines(browser)[1]
        assert browser.table.rows.size.height >= len(browser.rows), "all rows are in sight"


async def test_scrolled_columns_leave_the_package_and_the_hash(index: Path) -> None:
    async with browsing(index, size=(60, 24)) as browser:
        await browser.press("2")
        columns = browser.table.columns.columns
        assert columns.names[0] == "package"
        for _ in columns.names:
            _, labels, *_ = table_lines(browser)
            assert {"package", "hash"} <= set(labels.split())
            assert browser.table.column in browser.placed_names
            await browser.press("l")


async def test_columns_are_hidden_and_brought_back_by_keys(index: Path) -> None:
    async with browsing(index, size=(160, 36)) as browser:
        await browser.open_package("hdf5")
        await browser.go_to_column("+hl", "-")
        assert "+hl" not in browser.table.columns.columns.names
        await browser.press("c", dialog="PickDialog")
        await browser.press(*"hl", "enter", column="+hl")
        assert "+hl" in browser.placed_names


async def test_the_head_of_the_filter_that_is_typed_in_is_the_current_one(index: Path) -> None:
    async with browsing(index, size=(100, 28)) as browser:
        await browser.press("2", "f", "tab")
        column = browser.focus.removeprefix("filter ")
        strip = browser.table.query_one(ColumnHeader).render_line(0)
        (current,) = [s.text.strip() for s in strip if s.style and s.style.underline]
        assert current == column
