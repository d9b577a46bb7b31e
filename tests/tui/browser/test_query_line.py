"""Words and texts of the query line: what they mean, and how they come back."""

from __future__ import annotations

from tests.browsing import browsing


async def test_undo_brings_the_text_back_as_it_was_typed() -> None:
    async with browsing() as browser:
        for keys in (("X", "backspace"), ("slash", *"os=sequoia", "enter", "backspace")):
            await browser.ask("py-build~virtualenv   target=aarch64")
            await browser.press("enter", *keys)
            assert browser.query == "py-build~virtualenv   target=aarch64"
