"""The problems and the sources: read on, search, copy, and open what they are about."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.tui.dialogs.report import ReportRows
from tests.browsing import browsing
from tests.builders import SITE_KEY, record, signed_v2, write_files, write_page

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
        await browser.press("enter")
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


async def test_a_source_says_who_signed_it_once_its_mirror_has_answered(tmp_path: Path) -> None:
    mirror = write_files(tmp_path / "m", signed_v2())
    async with browsing(mirror, size=(120, 30)) as browser:
        await browser.press("S")
        await browser.until(lambda: "signed: some specs" in browser.text)
        assert "1 of 3 specs that were looked at, the index is not" in browser.text
        assert SITE_KEY in browser.text
        assert "spack gpg trust " in browser.text
