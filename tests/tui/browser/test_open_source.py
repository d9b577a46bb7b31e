"""Another source is opened from within the browser, from the first screen and where one fails."""

from __future__ import annotations

from pathlib import Path

from spackscope.model.sources.source_name import SAMPLES
from tests.browsing import browsing
from tests.builders import database, installs, node


async def test_a_line_of_the_first_screen_opens_what_is_typed(tmp_path: Path) -> None:
    index = tmp_path / "index.json"
    index.write_bytes(database(installs(node(dependencies=[]))))
    async with browsing(*SAMPLES) as browser:
        assert "A sample; yours: spackscope URL" in browser.lines[-2]
        await browser.press("down")
        assert sum(browser.packages.values()) > 1_000, "the line stands for no package"
        assert "▸ open your own cache…" in browser.text
        assert "yours: spackscope URL" not in browser.text, "a key removes it"
        await browser.press("enter")
        assert "public  the public cache" in browser.text
        await browser.press(*str(index), "enter")
        assert browser.packages == {"zlib": 1}
        assert "open your own cache…" not in browser.text


async def test_another_source_is_offered_where_none_can_be_read(tmp_path: Path) -> None:
    index = tmp_path / "index.json"
    index.write_bytes(database(installs(node(dependencies=[]))))
    async with browsing(tmp_path / "gone.json") as browser:
        for name in ("also-gone.json", "index.json"):
            await browser.press("O")
            await browser.press(*str(tmp_path / name), "enter")
        assert browser.packages == {"zlib": 1}
        await browser.press("O", "enter")
        assert "also-gone.json" in browser.text, "the last one comes first"
        await browser.press("O", "enter")
        assert browser.packages == {"zlib": 1}
