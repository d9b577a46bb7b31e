"""The problems and the sources: read on, search, copy, and open what they are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.tui.dialogs.report import ReportRows
from tests.browsing import browsing
from tests.builders import record, write_page

LONG = "a-very-long-name-of-a-compiler-" * 4


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A directory with two pages, and a problem in each."""
    write_page(tmp_path / "a", [record(1), record(2, hash=LONG)], title="abinit")
    write_page(tmp_path / "z", [record(3), record(4, os="")], title="zlib")
    return tmp_path


async def test_a_problem_is_read_in_full_searched_and_opened(source: Path) -> None:
    async with browsing(source, source / "gone", size=(60, 20)) as browser:
        await browser.press("exclamation_mark")
        assert "3 problems" in browser.lines[0]
        inside = "".join(line.strip(" │") for line in browser.lines)
        assert LONG[:50] in inside, "the reason goes on below the lines"
        assert browser.lines[-1].split("  ")[:3] == [" ⏎ go to it", "^y copy", "esc close"]

        await browser.type("os is")
        assert browser.app.screen.query_one(ReportRows).length == 1
        assert "1 of 3 problems" in browser.lines[0]
        assert "os is missing" in browser.text
        await browser.type("####")
        assert browser.lines[-1].strip() == "esc clear", "no row is left to go to"
        await browser.press(*["backspace"] * 4, "enter")
        assert browser.dialog is None
        assert browser.focus == "spec-rows"
        assert browser.query == f"source={source}"


async def test_a_source_is_chosen_and_one_that_cannot_be_read_says_why(source: Path) -> None:
    async with browsing(source, source / "gone", size=(80, 24)) as browser:
        await browser.press("S", "down")
        assert "does not exist" in " ".join(browser.text.replace("│", " ").split())
        await browser.press("enter")
        assert browser.status == "No spec of it could be read"
        await browser.press("S", "enter")
        assert browser.query == f"source={source}"
        assert browser.status.startswith("Now source=")
