"""A theme is configured, or chosen in the browser, which is remembered."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from spackscope.tui.settings.settings import Settings
from spackscope.tui.settings.themes import OWN, ThemeMemory, theme_names
from tests.browsing import browsing


def memory(tmp_path: Path, configured: str = "") -> ThemeMemory:
    return ThemeMemory({"XDG_STATE_HOME": str(tmp_path)}, configured)


def test_what_was_done_last_has_effect(tmp_path: Path) -> None:
    assert memory(tmp_path).theme() == OWN.name
    assert memory(tmp_path, "nord").theme() == "nord"
    memory(tmp_path, "nord").remember("dracula")
    assert memory(tmp_path, "nord").theme() == "dracula", "it was chosen after nord was set"
    assert memory(tmp_path, "gruvbox").theme() == "gruvbox", "it was set after dracula was chosen"
    assert memory(tmp_path).theme() == OWN.name
    memory(tmp_path).remember("dracula")
    assert memory(tmp_path, OWN.name).theme() == "dracula"


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", "{}", "[" * 9000, "\\xff", "x" * 20_000),
        '{"theme": 1, "configured": "spackscope"}',
        '{"theme": "gone", "configured": "spackscope"}',
    ],
)
def test_a_file_of_something_else_is_ignored(tmp_path: Path, content: str) -> None:
    path = tmp_path / "spackscope" / "theme.json"
    path.parent.mkdir()
    path.write_bytes(content.encode("latin-1"))
    assert memory(tmp_path).theme() == OWN.name


def test_a_pipe_is_neither_read_nor_replaced(tmp_path: Path) -> None:
    (tmp_path / "spackscope").mkdir()
    os.mkfifo(tmp_path / "spackscope" / "theme.json")
    assert memory(tmp_path).theme() == OWN.name
    with pytest.raises(ValueError, match="is not a file"):
        memory(tmp_path).remember("nord")


def test_without_a_home_nothing_is_kept() -> None:
    ThemeMemory({}).remember("nord")
    assert ThemeMemory({}).theme() == OWN.name


@pytest.mark.parametrize("theme", [None, *theme_names()])
async def test_the_browser_begins_with_the_theme_that_is_set(theme: str | None) -> None:
    async with browsing(settings=Settings(theme=theme or "")) as browser:
        assert browser.app.theme == (theme or OWN.name)
