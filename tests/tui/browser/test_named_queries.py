"""Named queries in the browser: typed, completed, chosen as a command, and wrong ones."""

from __future__ import annotations

from pathlib import Path

from spackscope.model.query.parser import NamedQueries
from spackscope.model.sources.session import Session
from spackscope.tui.settings import read_settings
from tests.browsing import HOST, Browser, browsing, sample_where

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


async def save(browser: Browser, name: str) -> None:
    """Save the query that is shown under a name."""
    await browser.press("N")
    await browser.type(name)
    await browser.press("enter")


async def test_the_query_is_saved_under_a_name_in_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "spackscope" / "config.toml"
    environ = {"XDG_CONFIG_HOME": str(tmp_path)}
    async with browsing(environ=environ, query="os=ubuntu24.04 ~virtualenv") as browser:
        await save(browser, "my view")
        assert f"Saved as view=my-view in {path}" in browser.status
        await browser.ask("view=my-view target=aarch64")
        assert browser.shown == sample_where(
            lambda record: (
                record["os"] == "ubuntu24.04"
                and record["target"] == "aarch64"
                and "~virtualenv" in record["variants"]
            )
        )
        await browser.press("enter")
        path.write_text(f"# mine\n{path.read_text()}# the end\n")
        kept = path.read_text()
        await browser.press("N")
        assert "replace os=ubuntu24.04 ~virtualenv" in browser.text
        await browser.press("enter")
        assert browser.dialog is None
        assert browser.status == "", "it replaces nothing by itself"
        await browser.press("N", "down", "enter")
        query = "target=aarch64 os=ubuntu24.04 ~virtualenv"
        assert f'To keep it, put my-view = "{query}" below [views]: ' in browser.status
        assert path.read_text() == kept, "only lines at its end are written"
        await save(browser, "other")
    assert path.read_text() == f'{kept}other = "{query}"\n'
    views = {"my-view": "os=ubuntu24.04 ~virtualenv", "other": query}
    assert read_settings(environ).views == views


async def test_what_cannot_be_saved_is_said_with_the_line_to_write(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('views = { other = "+x" }\n')
    async with browsing(environ={"SPACKSCOPE_CONFIG": str(path)}, query="os=sequoia") as browser:
        for name in ("theme", "../"):
            await save(browser, name)
            assert browser.dialog is not None, "this is no name"
            assert f"no name that a view can have matches {name}" in browser.text
            await browser.press("escape", "escape")
        await browser.press("N")
        await browser.type("mac")
        assert "▸ mac  a new name" in browser.text
        await browser.press("enter")
        assert 'To keep it, put mac = "os=sequoia" below [views]: ' in browser.status
        await browser.ask("view=mac")
        assert browser.shown == sample_where(lambda record: record["os"] == "sequoia")
        await browser.ask("")
        await browser.press("enter", "N")
        assert "Nothing to save" in browser.text
    assert path.read_text() == 'views = { other = "+x" }\n'
