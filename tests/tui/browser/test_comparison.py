"""Comparing specs in the browser, over an index in which four hdf5 look the same."""

from pathlib import Path

import pytest

from spackscope.tui.browser.answers import nothing_to_compare
from tests.browsing import Browser, browsing
from tests.builders.pages import record, write_page
from tests.clipboard import Clipboard
from tests.tui.browser.look_alike_index import GMAKE_2, OTHER, ZLIB, ZLIB_2, A, B, C, D


def rows(browser: Browser) -> list[str]:
    """Return what differs, its value in each column that is shown, and where it is."""
    drawn = [column for column in browser.sheet.columns if column.drawn and column.name != "part"]
    return [
        " ".join(filter(None, (column.text(column.value(row)) for column in drawn)))
        for row in browser.sheet.rows
    ]


def columns(browser: Browser) -> list[str]:
    """Return the hashes of the columns that are shown."""
    return [column.hash for column in browser.sheet.columns if column.hash and column.drawn]


async def test_look_alikes_have_a_column_for_each_way_to_run(look_alikes: Path) -> None:
    async with browsing(look_alikes, query="hdf5@1.14", size=(100, 24)) as browser:
        await browser.press("d", shows="─ hdf5@1.14 ─")
        assert columns(browser) == [B, C], "the most used one of its kind"
        assert (
            "hdf5@1.14 · 4 builds, 2 ways to run · 2 more builds like one of these" in browser.text
        )
        assert rows(browser) == ["zlib 1.3 1.2 mpich › zlib", "used by 1 0 vtk"]
        assert f" /{B}" in browser.text, "the detail is that of the column"
        await browser.press("b")
        assert "gmake 4.3 4.4 4.4" in rows(browser)
        assert len(columns(browser)) == 3, "D is built as B is"
        await browser.press("b", "z")
        assert set(columns(browser)) == {A, B, C, D}
        assert rows(browser)[0] == "zlib 1.3 1.3 1.3 1.2 mpich › zlib"
        await browser.press("z", "equals_sign", hints="= differing only")
        assert "version 1.14 1.14" in rows(browser)
        await browser.press("escape", command="", focus="spec-rows")


async def test_marked_specs_that_run_the_same_show_what_builds_them(look_alikes: Path) -> None:
    async with browsing(look_alikes, query="hdf5@1.14", size=(100, 24)) as browser:
        browser.app.screen.host.change(marks=(A, B))  # type: ignore[attr-defined]
        await browser.press("d", shows="only build tools differ: both run the same")
        assert rows(browser) == ["gmake 4.4 4.3", "used by 0 1 vtk"]


async def test_keys_that_cannot_do_anything_are_not_in_its_help(look_alikes: Path) -> None:
    async with browsing(look_alikes, query="hdf5@1.14", size=(100, 36)) as browser:
        await browser.press("d", "question_mark")
        assert "Show a column for each hash, or for each way to run." in browser.text
        await browser.press("escape", "escape")
        browser.app.screen.host.change(marks=(A, B))  # type: ignore[attr-defined]
        await browser.press("d", "question_mark", shows="Show or hide build dependencies.")
        assert "Show a column for each hash, or for each way to run." not in browser.text


async def test_the_word_filter_is_before_the_fields_where_the_columns_leave_room(
    look_alikes: Path,
) -> None:
    async with browsing(look_alikes, query="hdf5@1.14", size=(100, 24)) as browser:
        await browser.press("d")
        head, fields, _, row = browser.lines[5:9]
        assert fields.startswith("filter ▁")
        assert row.index("1.3") == head.index(B[:7]), "a cell is under its head"
        await browser.resize(40, 24)
        assert not any(line.startswith("filter") for line in browser.lines)


async def test_one_mark_is_compared_with_the_row_under_the_cursor(look_alikes: Path) -> None:
    async with browsing(look_alikes, query="hdf5", size=(100, 24)) as browser:
        await browser.press("G", "space", "g", "enter", "j", "j", "d")
        assert len(columns(browser)) == 2
        assert OTHER in columns(browser)
        assert rows(browser)[0].startswith("version 1.1")


@pytest.mark.parametrize("marks", [(), (OTHER,)])
async def test_a_single_row_is_not_compared(look_alikes: Path, marks: tuple[str, ...]) -> None:
    async with browsing(look_alikes, query="hdf5@1.12") as browser:
        browser.app.screen.host.change(marks=marks)  # type: ignore[attr-defined]
        await browser.press("d", command="", status=nothing_to_compare())


async def test_a_row_of_its_own_is_compared_with_look_alikes_that_are_not_shown(
    look_alikes: Path,
) -> None:
    async with browsing(look_alikes, query=f"/{C}", size=(100, 24)) as browser:
        await browser.press("d", shows="4 builds, 2 ways to run")


async def test_keys_copy_the_spec_of_the_column_mark_it_and_go_below_it(
    look_alikes: Path, clipboard: Clipboard
) -> None:
    async with browsing(
        look_alikes, query="hdf5@1.14", size=(100, 24), environ=clipboard.environ
    ) as browser:
        await browser.press("d", "l", "y")
        assert clipboard.text == C
        await browser.press("space", status=f"Marked {C[:7]}…")
        assert browser.state.marks == (C,)
        await browser.press("space", "space", status=f"Marked {C[:7]}…")
        await browser.press("g", "enter", selected_hash=ZLIB_2)
        await browser.press("backspace")
        assert columns(browser) == [B, C]
        await browser.press("h", "enter", selected_hash=ZLIB)
        await browser.press("backspace", "G", "enter")
        assert browser.selected_hash == B, "users stand for the spec itself"
        await browser.press("backspace", "b", "k", "enter", selected_hash=GMAKE_2)


async def test_a_column_that_is_no_longer_shown_neither_sorts_nor_filters(
    look_alikes: Path,
) -> None:
    async with browsing(look_alikes, query="hdf5@1.14", size=(100, 24)) as browser:
        await browser.press("d", "z")
        browser.table.make_current(A)
        await browser.press("s", "f", "9", "enter")
        assert browser.table.rows.length == 0
        await browser.press("z")
        assert columns(browser) == [B, C]
        assert browser.table.rows.length > 0


async def test_keys_typed_at_once_wait_for_the_rows(look_alikes: Path) -> None:
    async with browsing(look_alikes, query="hdf5@1.14", size=(100, 20)) as browser:
        await browser.type_ahead("d", "l", "enter", command="")
        assert browser.selected_hash == ZLIB_2, "the cursor is on the row of zlib"


async def test_columns_that_do_not_fit_are_scrolled_beside_a_name_that_stays(
    look_alikes: Path,
) -> None:
    for size in ((80, 24), (40, 14), (26, 9)):
        async with browsing(look_alikes, query="hdf5@1.14", size=size) as browser:
            await browser.press("d", "z", "l", "l", "l", shows="zlib")
            assert browser.table.column == columns(browser)[-1]
            assert browser.table.column[:7] in browser.text
            assert all(len(line) == size[0] for line in browser.lines)


async def test_what_one_source_does_not_tell_is_not_compared(
    tmp_path: Path, look_alikes: Path
) -> None:
    page = record(77, variants=["+shared"])
    write_page(tmp_path / "hdf5" / "specs.md", [page], title="hdf5")
    for name, source in (("a", A), ("c", C)):
        same = {**record(77), "hash": source}
        write_page(tmp_path / name / "specs.md", [same], title="hdf5", tag="v1")
    sources = (tmp_path / "a", look_alikes, tmp_path / "c", tmp_path / "hdf5" / "specs.md")
    async with browsing(*sources, query="hdf5", size=(120, 30)) as browser:
        browser.app.screen.host.change(marks=(A, C, page["hash"]))  # type: ignore[attr-defined]
        await browser.press("d")
        # Of a hash in two sources the one that tells more is compared.
        assert columns(browser) == [A, C, page["hash"]]
        assert "zlib 1.3 1.2 ? mpich › zlib" in rows(browser)
        assert "?: the source lists no dependencies" in browser.text
        assert "run the same" not in browser.text


async def test_on_pages_only_the_specs_themselves_are_compared(tmp_path: Path) -> None:
    write_page(tmp_path / "zlib" / "specs.md", [record(1), record(2)], title="zlib")
    async with browsing(tmp_path, size=(100, 24)) as browser:
        await browser.press("d", shows="no known difference", hides="run the same")
        assert "Dependencies are not listed, so not compared" in browser.text
