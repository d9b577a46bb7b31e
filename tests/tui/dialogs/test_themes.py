"""Themes are chosen in the palette, tried under the cursor, and remembered."""

from __future__ import annotations

from pathlib import Path

from spackscope.tui.dialogs.pick import PickDialog
from spackscope.tui.settings import Settings
from spackscope.tui.settings.themes import OWN, theme_memory
from tests.browsing import Browser, browsing


async def open_themes(browser: Browser) -> None:
    await browser.press("colon")
    await browser.type("theme")
    await browser.press("enter")
    assert isinstance(browser.app.screen, PickDialog)


async def test_a_theme_is_tried_and_given_up(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    async with browsing(environ=environ) as browser:
        await open_themes(browser)
        assert browser.app.theme == OWN.name
        for theme in (
            f"┃ {OWN.name}  now, the default, terminal colours",
            "  ansi-dark  terminal colours",
        ):
            assert any(" ".join(theme.split()) in " ".join(line.split()) for line in browser.lines)
        await browser.press("enter")
        assert not (tmp_path / "spackscope" / "theme.json").exists(), "it was that before"
        await open_themes(browser)
        await browser.press("down", "down")
        assert browser.app.theme not in (OWN.name, "")
        await browser.press("escape")
        assert browser.app.theme == OWN.name
        assert not (tmp_path / "spackscope" / "theme.json").exists()


async def test_a_theme_that_is_taken_is_remembered(tmp_path: Path) -> None:
    environ = {"XDG_STATE_HOME": str(tmp_path)}
    async with browsing(environ=environ, settings=Settings(theme="nord")) as browser:
        await open_themes(browser)
        await browser.type("drac")
        assert browser.app.theme == "dracula"
        await browser.press("enter")
        assert browser.app.theme == "dracula"
    assert theme_memory(environ, "nord").value == "dracula"
    async with browsing(environ=environ, settings=Settings(theme="nord")) as browser:
        assert browser.app.theme == "dracula"
        await open_themes(browser)
        await browser.type("nord")
        await browser.press("enter")
    assert theme_memory(environ, "nord").value == "nord"


async def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    environ = {"XDG_STATE_HOME": str(tmp_path / "file")}
    async with browsing(environ=environ) as browser:
        await open_themes(browser)
        await browser.type("nord")
        await browser.press("enter")
        assert browser.app.theme == "nord"
        path = tmp_path / "file" / "spackscope"
        reason = f"cannot write to {path} (not a directory)"
        assert browser.status == f"The theme will not be remembered: {reason}"


async def test_no_theme_is_taken_where_none_matches(tmp_path: Path) -> None:
    async with browsing(environ={"XDG_STATE_HOME": str(tmp_path)}) as browser:
        await open_themes(browser)
        await browser.type("zzzz")
        await browser.press("enter")
        assert isinstance(browser.app.screen, PickDialog)
        await browser.press("escape", "escape")
        assert browser.app.theme == OWN.name
