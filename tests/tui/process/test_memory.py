"""Memory of large answers is returned to the system, and dialogs leave none behind."""

import gc
import subprocess
import sys

from textual.strip import Strip

from tests.browsing import browsing
from tests.examples import cases

_LEFT = """
from spackscope.tui.process.interpreter import limit_heaps

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096

limit_heaps()
block = b"x" * (30 << 20)
del block
before, blocks, between = resident(), [], []
for _ in range(20):
    blocks.append(b"x" * (2 << 20))
    # Held by nothing of Python's own, and so at the top of the heap.
    between.append(b"x" * 2000)
del blocks
print((resident() - before) >> 20)
"""


def test_what_is_large_goes_back_to_the_system() -> None:
    assert int(subprocess.check_output([sys.executable, "-c", _LEFT])) < 10


def drawn_lines() -> int:
    gc.collect()
    return sum(isinstance(each, Strip) for each in gc.get_objects())


@cases("keys", [["S"]], more=[["question_mark"], ["2", "e"]])
async def test_nothing_of_a_closed_dialog_is_kept_drawn(keys: list[str]) -> None:
    async with browsing() as browser:
        # What is drawn behind it is kept anew for the first one.
        await browser.press(*keys, "escape")
        before = drawn_lines()
        for _ in range(3):
            await browser.press(*keys, "escape")
        assert browser.dialog is None
        assert drawn_lines() < before + 20
