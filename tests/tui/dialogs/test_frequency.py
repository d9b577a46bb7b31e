"""The frequency of values on the screen: bars, a matrix, and what is chosen in them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from spackscope.model.core.text import cell_width
from spackscope.tui.dialogs.frequency import FrequencyDialog
from spackscope.tui.dialogs.report import ReportRows
from tests.browsing import SAMPLE, Browser, browsing, sample_where
from tests.builders import record, write_page
from tests.hostile import HOSTILE_TEXT
from tests.tui.browser.test_hostile_text import assert_plain

OS, TARGET = (Counter(r[name] for r in SAMPLE).most_common() for name in ("os", "target"))


def rows_of(browser: Browser) -> ReportRows:
    return browser.app.screen.query_one(ReportRows)


def drawn(browser: Browser) -> list[str]:
    rows = rows_of(browser)
    width = rows.size.width
    return ["".join(text for text, _ in rows.pieces(n, width)) for n in range(rows.length)]


def head_of(browser: Browser) -> str:
    return next(line for line in browser.lines if " total " in line)


async def open_matrix(browser: Browser, second: str) -> None:
    await browser.press("F", "ctrl+x")
    await browser.type(second)
    await browser.press("enter")
    assert isinstance(browser.app.screen, FrequencyDialog)


async def test_a_low_screen_has_no_scroll_bar() -> None:
    async with browsing(size=(20, 5)) as browser:
        await browser.go_to_column("os")
        await open_matrix(browser, "target")
        assert browser.lines[-1].split() == [f"1/{len(OS)}"]


async def test_a_bar_is_chosen_and_undone() -> None:
    async with browsing(size=(140, 30)) as browser:
        await browser.go_to_column("os")
        await browser.press("F")
        assert [line.split()[-1] for line in drawn(browser)] == [str(n) for _, n in OS]
        bars = [line.count("█") for line in drawn(browser)]
        assert bars == sorted(bars, reverse=True)
        assert browser.lines[-1].strip().startswith("⏎ filter  ^x by another")
        await browser.press("down", "enter")
        assert browser.query == f"os={OS[1][0]}"
        assert browser.shown == sample_where(lambda r: r["os"] == OS[1][0])
        await browser.press("backspace")
        assert browser.query == ""
        await browser.press("F")
        await browser.type(str(OS[2][0])[-6:])
        await browser.press("enter")
        assert browser.query == f"os={OS[2][0]}"
        for keys in (("escape",), ("u", "escape", "escape"), ("ctrl+x", "escape", "escape")):
            await browser.press("F", *keys)
            assert browser.dialog is None


async def test_a_click_leaves_the_letters_to_the_search() -> None:
    async with browsing(size=(100, 30)) as browser:
        await browser.go_to_column("os")
        await browser.press("F")
        await browser.click(rows_of(browser), 5, 1)
        assert drawn(browser)[1].startswith("▸")
        await browser.type(str(OS[2][0])[-6:])
        assert rows_of(browser).length < len(OS)


@pytest.mark.parametrize("size", [(80, 24), (160, 45), (40, 12)])
async def test_counts_begin_at_the_top_and_fill_the_screen(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    records = [record(n, os=f"os{n % 60:02}") for n in range(200)]
    write_page(tmp_path, records)
    async with browsing(tmp_path, size=size) as browser:
        await browser.go_to_column("os")
        await browser.press("end", "F")
        assert (rows_of(browser).top, rows_of(browser).cursor) == (0, 0)
        assert browser.lines[2].startswith("▸ os00")
        assert browser.lines[2].endswith("4")


async def test_a_cell_of_the_matrix_is_chosen() -> None:
    cells = Counter((r["os"], r["target"]) for r in SAMPLE)
    async with browsing(size=(80, 24)) as browser:
        await browser.go_to_column("os")
        await open_matrix(browser, "target")
        assert browser.lines[0].startswith(" os by target")
        assert str(TARGET[0][0]) in head_of(browser)
        await browser.press("right")
        os, target = OS[0][0], TARGET[0][0]
        assert drawn(browser)[0].split()[3] == str(cells[os, target])
        await browser.press("enter")
        assert browser.shown == sample_where(lambda r: (r["os"], r["target"]) == (os, target))
        await browser.press("backspace")

        await open_matrix(browser, "target")
        row, column = next(
            (n, m)
            for n, (os, _) in enumerate(OS)
            for m, (target, _) in enumerate(TARGET, 1)
            if not cells[os, target]
        )
        browser.send(*["down"] * row, *["right"] * column, "enter")
        await browser.settle()
        assert browser.status == "No spec has both"
        browser.send(*["left"] * column, "enter")
        await browser.settle()
        assert browser.query == f"os={OS[row][0]}", "the total is that of the row"

        await browser.press("backspace")
        await open_matrix(browser, "target")
        await browser.press("escape")
        assert "█" in drawn(browser)[0], "esc goes back to the bars"
        await browser.press("escape")
        assert browser.dialog is None


async def test_many_columns_are_walked(tmp_path: Path) -> None:
    records = [record(n, os=f"os{n % 3}", target=f"target{n % 60}") for n in range(240)]
    write_page(tmp_path, records)
    async with browsing(tmp_path, size=(80, 24)) as browser:
        await browser.go_to_column("os")
        await open_matrix(browser, "target")
        assert "more columns ›" in browser.lines[0]
        seen = set()
        for _ in range(60):
            await browser.press("right")
            assert "more column" in browser.lines[0] or "‹" in browser.lines[0]
            assert all(cell_width(line) == 80 for line in browser.lines)
            seen |= set(head_of(browser).split() if " total " in browser.text else ())
            seen |= {word for word in browser.lines[2].split() if word.startswith("target")}
        assert len(seen & {f"target{n}" for n in range(60)}) == 60
        await browser.resize(40, 12)
        assert_plain(browser)
        await browser.press("left", "enter")


async def test_hostile_values_are_plain(tmp_path: Path) -> None:
    texts = [text for _, text in HOSTILE_TEXT]
    records = [
        record(n, os=text, target=text, variants=[f"x={text}"]) for n, text in enumerate(texts)
    ]
    write_page(tmp_path, records)
    async with browsing(tmp_path, size=(100, 30)) as browser:
        await browser.go_to_column("os")
        await browser.press("F")
        for size in ((160, 45), (80, 24), (40, 12)):
            await browser.resize(*size)
            assert_plain(browser)
            assert all(cell_width(line) == size[0] for line in browser.lines)
        await browser.resize(100, 30)
        await browser.press("escape")
        await open_matrix(browser, "target")
        for _ in range(len(texts) // 6):
            await browser.press("right", "down", settle=False)
        await browser.settle()
        assert_plain(browser)
        await browser.press("escape", "ctrl+x", "end", "enter")
        assert_plain(browser)
