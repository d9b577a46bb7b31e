"""The tour of the documents shows at each step what it says."""

from pathlib import Path

from tests.browsing import browsing
from tests.documents import make_docs


async def test_each_step_of_the_tour_shows_what_it_says(here: Path) -> None:
    environ = {"TERM": "xterm-256color", "XDG_CACHE_HOME": str(here)}
    environ["XDG_STATE_HOME"] = str(here)
    async with browsing("sample", size=(112, 28), environ=environ) as browser:
        for step in make_docs.TOUR:
            for keys in step.presses():
                await browser.press(*keys)

            def is_seen(text: str = step.sees) -> bool:
                return text in browser.text

            await browser.until(is_seen, step.sees)
