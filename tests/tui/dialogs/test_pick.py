"""Dialogs are as high as their picks, and show in full only what a row cuts."""

import pytest

from spackscope.tui.dialogs.pick import PickDialog
from tests.browsing import Browser, browsing


def shape(browser: Browser) -> tuple[int, list[str]]:
    """Return the height of the box of a dialog, and the texts below its list."""
    box, reading = browser.app.screen.query_one(".dialog"), browser.app.screen.query(".reading")
    area = reading.first().region
    lines = browser.lines[area.y : area.bottom] if reading.first().display else []
    return box.region.height, [text for line in lines if (text := line.strip(" │"))]


async def test_a_list_is_as_high_as_it_needs_and_stays_so_while_it_is_searched() -> None:
    async with browsing(size=(120, 40)) as browser:
        await browser.press("2", "c")
        height, texts = shape(browser)
        dialog = browser.app.screen
        assert isinstance(dialog, PickDialog)
        assert height == 3 + len(dialog.list.picks)
        assert texts == []
        await browser.type("comp")
        assert shape(browser) == (height, [])


@pytest.mark.parametrize(("width", "is_cut"), [(120, False), (40, True)])
async def test_a_row_that_is_cut_can_be_read_below_the_list(width: int, is_cut: bool) -> None:
    async with browsing(size=(width, 24)) as browser:
        await browser.press("2", "question_mark", *"Open or pick")
        _, texts = shape(browser)
        whole = "Open or pick the row, go to its detail, or take the query."
        assert (whole in " ".join(" ".join(texts).split())) is is_cut
        assert bool(texts) is is_cut


async def test_what_is_read_below_the_list_is_cut_with_a_sign() -> None:
    async with browsing(size=(40, 12)) as browser:
        await browser.press("2", ":", *"copy the hash")
        _, texts = shape(browser)
        assert len(texts) == 2
        assert texts[-1].rstrip().endswith("…")
