"""Named queries in the browser: typed, completed, chosen as a command, and wrong ones."""

from __future__ import annotations

from pathlib import Path

from spackscope.model.query.parser import NamedQueries
from spackscope.model.sources.session import Session
from spackscope.tui.settings import read_settings
from tests.browsing import HOST, Browser, browsing, sample_where
from tests.clipboard import Clipboard

VIEWS = NamedQueries(
    {
        "mine": "os=ubuntu24.04 ~virtualenv",
        "arm": "target=aarch64 | target=neoverse_v1",
        "wrong": "hdf5@",
        "none": "os=rhel9",
    },
    {"wrong": "config.toml:5"},
)
MINE = sample_where(
    lambda record: record["os"] == "ubuntu24.04" and "~virtualenv" in record["variants"]
)


def session() -> Session:
    return Session({"SPACKSCOPE_HOST": HOST}, named_queries=VIEWS)


def shown(browser: Browser) -> int:
    return sum(row.count for row in browser.rows)


async def test_a_named_query_is_typed_and_stays_as_it_is_typed() -> None:
    async with browsing(session=session(), query="view=mine", size=(160, 30)) as browser:
        assert shown(browser) == len(MINE) > 0
    async with browsing(session=session(), size=(160, 30)) as browser:
        await browser.press("slash")
        await browser.type("py-build view=mine")
        await browser.press("enter")
        assert browser.query == "py-build view=mine"
        assert shown(browser) == len(MINE)
        await browser.press("slash")
        await browser.type("target=aarch64")
        await browser.press("enter")
        assert 0 < shown(browser) < len(MINE)
        await browser.press("backspace")
        assert shown(browser) == len(MINE)


async def test_named_queries_are_completed() -> None:
    async with browsing(session=session(), size=(160, 30)) as browser:
        await browser.press("slash")
        await browser.type("view=")
        assert list(browser.completions) == ["view=mine", "view=arm"], (
            "not those that nothing fits, or are wrong"
        )
        await browser.type("m")
        await browser.press("tab", "enter")
        assert browser.query.strip() == "view=mine"
        assert shown(browser) == len(MINE)


async def test_a_wrong_one_is_named_with_its_place() -> None:
    async with browsing(session=session(), size=(160, 30)) as browser:
        await browser.press("slash")
        await browser.type("view=wrong")
        assert "view=wrong (config.toml:5): Expected a version after @" in browser.text
        await browser.press("escape", "slash")
        await browser.type("view=mien ")
        assert "Unknown view mien. Did you mean mine?" in browser.text
    async with browsing(session=session(), query="view=wrong") as browser:
        assert browser.focus == "filter query"
        assert "Expected a version after @" in browser.text


async def test_named_queries_are_commands() -> None:
    async with browsing(session=session(), size=(160, 30)) as browser:
        await browser.press("colon")
        await browser.type("view mine")
        assert "View mine: os=ubuntu24.04 ~virtualenv" in browser.text
        await browser.press("enter")
        await browser.until(lambda: browser.dialog is None, "the command")
        assert shown(browser) == len(MINE)
        assert "Now view=mine (⌫ goes back)" in browser.text
        await browser.press("backspace")
        assert shown(browser) > len(MINE)


async def test_without_named_queries_none_are_offered() -> None:
    async with browsing(size=(160, 30)) as browser:
        await browser.press("slash")
        await browser.type("view=x ")
        assert "There is no view x" in browser.text
        await browser.press("escape", "colon")
        await browser.type("view ")
        assert "View x" not in browser.text


async def test_the_line_of_a_view_is_copied(tmp_path: Path) -> None:
    clipboard = Clipboard(tmp_path)
    query = "os=ubuntu24.04 ~virtualenv any='\"' | os=ubuntu24.04"
    async with browsing(query=query, environ=clipboard.environ, size=(160, 40)) as browser:
        await browser.press("2", "Y", "v")
        assert "put it below [views]" in browser.status
        query = browser.query
    (tmp_path / "config.toml").write_text(f"[views]\n{clipboard.text}\n")
    environ = {"SPACKSCOPE_CONFIG": str(tmp_path / "config.toml")}
    assert read_settings(environ).views == {"NAME": query}
