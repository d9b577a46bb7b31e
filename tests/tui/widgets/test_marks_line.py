"""What the line above the hints says of the marked specs."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.core.text import cell_width
from spackscope.model.index.listing import MarkedSpec
from spackscope.tui.widgets.frame import MarksLine, mark_pieces
from tests.browsing import browsing
from tests.clipboard import Clipboard
from tests.tui.browser.fake_host import FakeBrowser


def spec(number: int, id_: int, title: str = "hdf5@1.14.6") -> MarkedSpec:
    return MarkedSpec(f"{number:07}".ljust(32, "a"), title, (id_,), frozenset())


HIDDEN = "◆ 4 marked, 2 out of sight  hdf5@1.14.6 /0000002 /0000003"


@pytest.mark.parametrize(
    ("width", "text"),
    [
        (90, f"{HIDDEN}  zlib@1.3 /0000004 and 1 more"),
        (70, f"{HIDDEN} and 2 more"),
        (50, "◆ 4  hdf5@1.14.6 /0000002 /0000003 and 2 more"),
        (30, "◆ 4 (2 hidden) /0000002 +3"),
        (18, "◆ 4 /0000002 +3"),
        (10, "◆ 4"),
    ],
)
def test_marks_in_sight_are_named_first_as_far_as_there_is_room(width: int, text: str) -> None:
    browser = FakeBrowser(query="py-build").load()
    shown = next(iter(browser.state.listing.ids)) if browser.state.listing else 0
    out_of_sight = 10**6
    marked = (
        spec(4, out_of_sight, "zlib@1.3"),
        spec(2, shown),
        spec(5, out_of_sight, "zlib@1.4"),
        spec(3, shown),
    )
    pieces = mark_pieces(marked, browser.state.listing, 4, width)
    assert "".join(text for text, _ in pieces) == text
    assert cell_width(text) <= width


async def test_a_click_on_a_key_presses_it_and_messages_leave_the_line_free(
    tmp_path: Path,
) -> None:
    async with browsing(size=(80, 24), environ=Clipboard(tmp_path).environ) as browser:
        await browser.press("2", "z", "space", "space", "y")
        line = browser.browser.query_one(MarksLine)
        assert "Copied 2 marked hashes" in browser.text
        shown = browser.lines[line.region.y]
        assert shown.startswith(" ◆ 2")
        assert shown.rstrip().endswith("U clear")
        await browser.click(line, shown.index("U"), 0)
        assert not browser.state.marks
        assert not line.display
