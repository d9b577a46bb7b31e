"""The colours of every theme."""

import pytest
from textual.color import Color

from spackscope.tui.settings import Settings
from spackscope.tui.settings.themes import theme_names
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
