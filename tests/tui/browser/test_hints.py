"""Every hint of every screen does something when its key is pressed."""

from pathlib import Path

from spackscope.tui.widgets.frame import StatusLine
from tests.browsing import Browser, browsing
from tests.clipboard import Clipboard
from tests.examples import some_and_all

_SCREENS = (
    *("2", "1", "3", "2 slash", "2 f", "2 v", "2 t", "2 d", "2 space", "2 z", "2 Y", "2 e", "O"),
    *("2 F", "2 C", "2 P", "2 W", "2 S", "2 i", "2 u", "2 question_mark", "2 colon"),
)
_LEAVES = {"q", "ctrl+c"}
_NOTHING_TO_COMPLETE = ("2 e", "tab")
"""No path begins with the name that is offered."""


def hinted(browser: Browser) -> list[str]:
    """Return the keys of the hints in the last line."""
    line = browser.app.screen.query_one(StatusLine)
    hints, _ = line.read()
    return [hint.key for hint in hints if hint.word in browser.lines[-1]]


@some_and_all(step=3)
async def test_each_hint_does_something(here: Path, clipboard: Clipboard, step: int) -> None:
    for screen in _SCREENS[::step]:
        async with browsing(size=(160, 40), environ=clipboard.environ) as browser:
            await browser.press(*screen.split())
            keys = hinted(browser)
            assert keys, screen
        for key in keys:
            if key in _LEAVES or (screen, key) == _NOTHING_TO_COMPLETE:
                continue
            async with browsing(size=(160, 40), environ=clipboard.environ) as browser:
                await browser.press(*screen.split())
                before = browser.lines, browser.focus, browser.dialog
                await browser.press(key)
                after = browser.lines, browser.focus, browser.dialog
                assert after != before, (screen, key)
                said = browser.status
                assert not said.startswith(("No ", "Press ", "Only ", "There is no")), (key, said)
