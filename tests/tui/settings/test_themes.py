"""A theme is configured, or chosen in the browser, which is remembered."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from textual.color import Color

from spackscope.model.core.errors import Unwritable
from spackscope.tui.settings import Settings
from spackscope.tui.settings.memory import ChoiceMemory
from spackscope.tui.settings.themes import OWN, theme_memory, theme_names
from tests.browsing import browsing
from tests.examples import some_and_all

MIN_CONTRAST = 2.5
"""Contrast of dim text at least, as the Web Content Accessibility Guidelines compute it."""


def contrast(colour: Color, other: Color) -> float:
    def luminance(colour: Color) -> float:
        parts = [part / 255 for part in colour.rgb]
        red, green, blue = (
            part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(colour), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def memory(tmp_path: Path, configured: str = "") -> ChoiceMemory[str]:
    return theme_memory({"XDG_STATE_HOME": str(tmp_path)}, configured)


def test_what_was_done_last_has_effect(tmp_path: Path) -> None:
    assert memory(tmp_path).value == OWN.name
    assert memory(tmp_path, "nord").value == "nord"
    memory(tmp_path, "nord").remember("dracula")
    assert memory(tmp_path, "nord").value == "dracula", "it was chosen after nord was set"
    assert memory(tmp_path, "gruvbox").value == "gruvbox", "it was set after dracula was chosen"
    assert memory(tmp_path).value == OWN.name
    memory(tmp_path).remember("dracula")
    assert memory(tmp_path, OWN.name).value == "dracula"


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
    assert memory(tmp_path).value == OWN.name


def test_a_pipe_is_neither_read_nor_replaced(tmp_path: Path) -> None:
    (tmp_path / "spackscope").mkdir()
    os.mkfifo(tmp_path / "spackscope" / "theme.json")
    assert memory(tmp_path).value == OWN.name
    with pytest.raises(Unwritable, match="is not a regular file"):
        memory(tmp_path).remember("nord")


def test_without_a_home_nothing_is_kept() -> None:
    theme_memory({}).remember("nord")
    assert theme_memory({}).value == OWN.name


STATES = ["", "2", "2 t", "2 d", "v", "3", "question_mark", "slash x", "F", "S", "colon"]
"""Keys that lead to screens with different parts."""


@pytest.mark.parametrize("theme", ["textual-dark", "solarized-light"])
async def test_the_background_of_a_theme_is_everywhere(theme: str) -> None:
    async with browsing(settings=Settings(theme=theme), size=(120, 40)) as browser:
        assert browser.app.theme == theme
        async for keys in browser.visit(*STATES):
            bare = [
                segment.text
                for segment in browser.segments
                if segment.style is None
                or segment.style.bgcolor is None
                or segment.style.bgcolor.is_default
            ]
            assert bare == [], keys


@some_and_all(step=5)
async def test_every_text_stands_out_from_the_background_of_its_theme(step: int) -> None:
    async with browsing(size=(120, 40)) as browser:
        await browser.press("2")
        for theme in theme_names()[::step]:
            browser.app.theme = theme
            await browser.settle()
            for segment in browser.segments:
                style = segment.style
                is_text = any(map(str.isalnum, segment.text))
                if is_text and style and style.color and style.bgcolor and not style.dim:
                    both = style.color, style.bgcolor
                    colours = [Color.from_rich_color(colour) for colour in both]
                    if all(colour.ansi is None for colour in colours):
                        assert contrast(*colours) > MIN_CONTRAST, (theme, segment)
