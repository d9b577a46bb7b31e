"""The comparison on the screen, over tables made by hand."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from spackscope.model.analysis.varying import Cell, ComparedRow
from spackscope.model.core.frozen import replace
from spackscope.model.report.comparison import ComparedSpec, ComparedTable
from spackscope.model.report.detail import DIFFERS
from spackscope.tui.dialogs.compare import CompareScreen, Destination
from spackscope.tui.dialogs.report import ReportHead, ReportRows
from tests.browsing import Browser, browsing


def cells(*values: str) -> tuple[Cell, ...]:
    """Return the cells of single values; "" where there is none."""
    return tuple((value,) if value else None for value in values)


HASHES = [name.ljust(32, "a") for name in ("uehz56w", "wuqgt3p", "yx2lkfs", "os4aewt")]
VIA_MPICH = ("mpich", "libxml2", "libiconv")
ROWS = (
    ComparedRow("run", "libiconv", "version", cells("1.18", "1.17", "1.18", "1.18"), VIA_MPICH),
    ComparedRow("run", "libfabric", "variant:rxm", cells(*"++~~"), ("mpich", "libfabric")),
    ComparedRow("run", "hwloc", "version", cells("", "", "2.12", "2.11"), ("mpich", "hwloc")),
    ComparedRow("run", "zlib-ng", "version", cells("2.3.2") * 4, ("zlib-ng",)),
)
BUILD_ROWS = (
    ComparedRow("build", "ncurses", "version", cells("6.5", "6.1", "6.5", "6.5"), ("ncurses",)),
)
TABLE = ComparedTable(
    "hdf5@1.14.6",
    (
        ComparedSpec(10, HASHES[0], tuple(range(20, 29)), 7, ("vtk", "visit", "cgns")),
        ComparedSpec(11, HASHES[1], (), 7, ("vtk",)),
        ComparedSpec(12, HASHES[2], (), 0),
        ComparedSpec(13, HASHES[3], (), 0),
    ),
    12,
    (True,) * 4,
    ROWS,
    BUILD_ROWS,
    kinds=4,
)


class Seen:
    """What the screen asked for, and what it returned."""

    def __init__(self) -> None:
        self.copied: list[str] = []
        self.regrouped: list[bool] = []
        self.results: list[Destination | None] = []


@contextlib.asynccontextmanager
async def comparing(
    table: ComparedTable | None = TABLE, size: tuple[int, int] = (120, 24)
) -> AsyncIterator[tuple[Browser, CompareScreen, Seen]]:
    """Open the screen over the browser."""
    async with browsing(size=size) as browser:
        seen = Seen()
        screen = CompareScreen(seen.copied.append, seen.regrouped.append)
        if table is not None:
            screen.show_table(table)
        browser.app.push_screen(screen, seen.results.append)
        await browser.settle()
        yield browser, screen, seen


def shown(browser: Browser) -> list[str]:
    """Return the lines that are not blank, without the ends of them."""
    return [line.rstrip() for line in browser.lines if line.strip()]


async def test_the_specs_are_columns_and_what_differs_is_a_row() -> None:
    async with comparing() as (browser, _, _):
        assert shown(browser)[:-1] == [
            " hdf5@1.14.6 · 4 of 12 · 8 more are like uehz56w",
            "               uehz56w  wuqgt3p  yx2lkfs  os4aewt",
            "  run-time dependencies",
            "▸   libiconv   1.18     1.17     1.18     1.18     mpich › libxml2 › libiconv",
            "    libfabric  +rxm     +rxm     ~rxm     ~rxm     mpich › libfabric",
            "    hwloc      -        -        2.12     2.11     mpich › hwloc",
            "  build dependencies (1 package)  ▸",
            "  used by      7        7        -        -        vtk visit cgns",
            " uehz56w: libiconv 1.18 · mpich › libxml2 › libiconv · 3 of 4 the same",
        ]
        await browser.press("b", "equals_sign")
        rows = shown(browser)
        assert "    zlib-ng    2.3.2    2.3.2    2.3.2    2.3.2" in rows
        assert "  build dependencies (1 package)  ▾" in rows
        assert "    ncurses    6.5      6.1      6.5      6.5" in rows
        await browser.press("b", "equals_sign")
        assert not any("zlib-ng" in row or "ncurses" in row for row in shown(browser))


async def test_columns_that_are_alike_in_the_rows_in_sight_are_one() -> None:
    values = cells("1.18", "1.17", "1.18", "1.18")
    table = replace(TABLE, rows=(replace(ROWS[0], values=values),))
    async with comparing(table) as (browser, screen, seen):
        assert "2 of 12 · 10 more are like uehz56w" in browser.lines[0]
        assert browser.lines[1].split() == ["uehz56w", "wuqgt3p"]
        await browser.press("b")
        assert browser.lines[1].split() == ["uehz56w", "wuqgt3p"], "ncurses splits them alike"
        await browser.press("z")
        assert seen.regrouped == [False]
        screen.show_table(table)
        await browser.settle()
        assert browser.lines[1].split() == [hash_[:7] for hash_ in HASHES]


async def test_keys_copy_the_hash_of_the_column_and_go_to_the_spec_of_a_cell() -> None:
    async with comparing() as (browser, screen, seen):
        await browser.press("l", "y", "right", "right", "right", "y", "h", "z")
        assert seen.copied == [HASHES[1], HASHES[3]], "the last column is the end"
        assert seen.regrouped == [False]
        screen.say("Copied os4aewt")
        await browser.settle()
        assert browser.status == "Copied os4aewt"
        assert "Copied os4aewt" in browser.lines[-2], "the keys stay"
        assert "y copy" in browser.lines[-1]
        await browser.press("j", "enter")
        assert seen.results == [Destination(HASHES[2], ("mpich", "libfabric"))]
        assert browser.dialog is None


async def test_a_click_goes_to_a_column_and_a_row() -> None:
    async with comparing() as (browser, screen, seen):
        x = browser.lines[1].index("yx2lkfs")
        await browser.click(screen.query_one(ReportHead), x + 3, 0)
        await browser.press("y")
        row = next(n for n, line in enumerate(browser.lines) if "hwloc" in line)
        rows = screen.query_one(ReportRows)
        x = browser.lines[1].index("wuqgt3p")
        await browser.click(rows, x, row - rows.region.y)
        assert browser.lines[row].startswith("▸   hwloc")
        assert "wuqgt3p: hwloc has no such package" in browser.text
        await browser.press("y")
        assert seen.copied == [HASHES[2], HASHES[1]]


async def test_enter_on_what_is_folded_opens_it_and_escape_leaves() -> None:
    async with comparing() as (browser, _, seen):
        await browser.press("j", "j", "j", "enter")
        assert any("ncurses" in line for line in browser.lines)
        await browser.press("G", "enter")
        assert seen.results == [Destination(HASHES[0])], (
            "the row of users stands for the spec itself"
        )
    async with comparing() as (browser, _, seen):
        await browser.press("question_mark")
        assert "In the comparison" in "".join(browser.lines[:6])
        await browser.press("escape", "escape")
        assert seen.results == [None]


async def test_columns_that_do_not_fit_are_scrolled_under_a_name_that_stays() -> None:
    many = tuple(ComparedSpec(n, f"{n:07}".ljust(32, "b")) for n in range(20))
    values = cells(*(f"1.{n % 3}.{n}" for n in range(20)))
    row = ComparedRow("run", "libiconv", "version", values, VIA_MPICH)
    table = ComparedTable("hdf5@1.14.6", many, 20, (True,) * 20, (row,), (), kinds=20)
    for size in ((80, 24), (40, 12), (24, 8)):
        async with comparing(table, size) as (browser, _, _):
            assert "0000000" in browser.text
            assert " more" in browser.lines[0]
            browser.send(*["l"] * 19)
            await browser.settle()
            assert "0000019" in browser.text
            assert "0000000" not in browser.text
            assert any(line.startswith("▸   libi") for line in browser.lines)
            assert "1.1.19" in browser.text
            assert all(len(line) == size[0] for line in browser.lines)


async def test_the_screen_opens_before_the_table_is_there_and_says_why_if_there_is_none() -> None:
    async with comparing(None) as (browser, screen, seen):
        assert "reading…" in browser.text
        browser.send("y")
        screen.show_table(replace(TABLE, rows=None, build_rows=None))
        await browser.until(lambda: "uehz56w" in browser.lines[1])
        assert "comparing…" in browser.text
        screen.show_table(TABLE)
        await browser.settle()
        assert seen.copied == [HASHES[0]]
        assert "▸   libiconv" in browser.text, "the cursor goes to the first row"
    async with comparing(None) as (browser, screen, _):
        screen.show_failure("Only one of these is in the index")
        await browser.settle()
        assert "Only one of these" in browser.text


async def test_keys_wait_for_the_rows_and_escape_for_nothing() -> None:
    async with comparing(replace(TABLE, rows=None, build_rows=None)) as (browser, screen, seen):
        browser.send("l", "j", "enter")
        for _ in range(20):
            await browser.pilot.pause()
        assert browser.dialog is not None
        screen.show_table(TABLE)
        await browser.settle()
        assert seen.results == [Destination(HASHES[1], ("mpich", "libfabric"))]
    async with comparing(replace(TABLE, rows=None, build_rows=None)) as (browser, _, seen):
        await browser.press("escape")
        assert seen.results == [None]


async def test_where_nothing_differs_the_cursor_stays_on_the_first_line() -> None:
    equal = replace(TABLE, lists_dependencies=(False,) * 4, rows=(), build_rows=None)
    async with comparing(replace(equal, rows=None)) as (browser, screen, _):
        assert browser.lines[2].startswith("▸")
        screen.show_table(equal)
        await browser.settle()
        assert browser.lines[2].startswith("▸"), "as where no part of the table came before it"


async def test_without_dependencies_the_screen_says_so() -> None:
    row = ComparedRow("own", "hdf5", "version", cells("1.14.6", "1.14.5", "?", "1.14.6"))
    table = replace(TABLE, lists_dependencies=(False,) * 4, rows=(row,), build_rows=None)
    async with comparing(table) as (browser, _, _):
        assert "Dependencies not listed: not compared" in browser.text
        assert "build dependencies" not in browser.text


async def test_what_differs_has_a_sign_where_there_are_no_colours() -> None:
    async with browsing(size=(120, 24), no_color=True) as browser:
        screen = CompareScreen(print, print)
        screen.show_table(TABLE)
        browser.app.push_screen(screen)
        await browser.settle()
        text = browser.text.replace("!", DIFFERS)
        assert "1.18     ≠1.17    1.18" in text
        assert "+rxm     +rxm     ≠~rxm    ≠~rxm" in text
