"""The frequency of values on the screen: bars, a matrix, and what is chosen in them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from spackscope.model.core.text import cell_width
from spackscope.model.index.facets import Facet
from spackscope.tui.dialogs.filtered import ItemRows
from spackscope.tui.dialogs.frequency import FrequencyDialog, Matrix
from tests.browsing import SAMPLE, Browser, browsing, sample_where
from tests.builders import record, write_page
from tests.hostile import HOSTILE_TEXT
from tests.tui.browser.test_hostile_text import assert_plain

OS, TARGET = (Counter(r[name] for r in SAMPLE).most_common() for name in ("os", "target"))


def rows_of(browser: Browser) -> ItemRows[Facet]:
    return browser.app.screen.query_one(ItemRows)


def matrix_of(browser: Browser) -> Matrix:
    dialog = browser.app.screen
    assert isinstance(dialog, FrequencyDialog)
    assert dialog.matrix is not None
    return dialog.matrix


def drawn(browser: Browser, width: int = 60) -> list[str]:
    rows = rows_of(browser)
    return ["".join(text for text, _ in rows.pieces(n, width)) for n in range(rows.length)]


def hints(browser: Browser) -> str:
    return browser.lines[-1].strip()


async def open_matrix(browser: Browser, second: str) -> None:
    await browser.press("F", "x", "slash")
    await browser.type(second)
    await browser.press("enter", "enter")
    assert isinstance(browser.app.screen, FrequencyDialog)


async def test_a_bar_is_chosen_and_undone() -> None:
    async with browsing(size=(100, 30)) as browser:
        await browser.go_to_column("os")
        await browser.press("F")
        assert [line.split()[-1] for line in drawn(browser)] == [str(n) for _, n in OS]
        bars = [line.count("█") for line in drawn(browser)]
        assert bars == sorted(bars, reverse=True)
        assert hints(browser).startswith("⏎ filter  x by another")
        await browser.press("home", "j", "enter")
        assert browser.query == f"os={OS[1][0]}"
        assert browser.shown == sample_where(lambda r: r["os"] == OS[1][0])
        await browser.press("left_square_bracket")
        assert browser.query == ""
        await browser.press("F", "slash")
        await browser.type(str(OS[2][0])[-6:])
        await browser.press("enter", "enter")
        assert browser.query == f"os={OS[2][0]}"
        for keys in (("escape",), ("q",), ("x", "escape", "escape")):
            await browser.press("F", *keys)
            assert browser.dialog is None


async def test_a_cell_of_the_matrix_is_chosen() -> None:
    cells = Counter((r["os"], r["target"]) for r in SAMPLE)
    async with browsing(size=(80, 24)) as browser:
        await browser.go_to_column("os")
        await open_matrix(browser, "target")
        assert str(browser.app.screen.query_one(".dialog").border_title).startswith("os by target")
        head = next(line for line in browser.lines if " total " in line)
        assert str(TARGET[0][0]) in head
        await browser.press("home", "l")
        os, target = OS[0][0], TARGET[0][0]
        assert f"›{cells[os, target]}" in browser.text
        await browser.press("enter")
        assert browser.shown == sample_where(lambda r: (r["os"], r["target"]) == (os, target))
        await browser.press("left_square_bracket")

        await open_matrix(browser, "target")
        row, column = next(
            (n, m)
            for n, (os, _) in enumerate(OS)
            for m, (target, _) in enumerate(TARGET, 1)
            if not cells[os, target]
        )
        browser.send("home", *["j"] * row, *["l"] * column, "enter")
        await browser.settle()
        assert browser.status == "No spec has both"
        browser.send(*["h"] * column, "enter")
        await browser.settle()
        assert browser.query == f"os={OS[row][0]}", "the total is that of the row"

        await browser.press("left_square_bracket")
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
        seen = set()
        for _ in range(60):
            await browser.press("l", settle=False)
            line = drawn(browser, 74)[0]
            assert line.count("›") == 1
            assert cell_width(line) <= 74
            head = "".join(text for text, _ in matrix_of(browser).head(74))
            assert cell_width(head) <= 74
            assert " more" in head
            seen.add(matrix_of(browser).value)
        await browser.settle()
        assert len(seen) == 60
        await browser.resize(40, 12)
        assert_plain(browser)
        await browser.press("h", "enter")


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
            assert all(cell_width(line) <= size[0] - 6 for line in drawn(browser, size[0] - 6))
        await browser.resize(100, 30)
        await browser.press("escape")
        await open_matrix(browser, "target")
        for _ in range(len(texts) // 6):
            await browser.press("l", "j", settle=False)
        await browser.settle()
        assert_plain(browser)
        await browser.press("escape", "x", "end", "enter")
        assert_plain(browser)
