from textual import events

from spackscope.tui.widgets.side_column import PackageRows
from tests.browsing import browsing


async def test_a_list_that_gets_room_is_drawn_from_its_first_row() -> None:
    async with browsing() as browser:
        rows = browser.names.query_one(PackageRows)
        before = browser.lines
        # As a list that was drawn while only the row of its cursor had room.
        rows.move_to(1)
        rows.top = 1
        rows.refresh()
        await browser.settle()
        assert browser.lines != before
        rows.post_message(events.Resize(rows.size, rows.size))
        await browser.settle()
        assert "all packages" in browser.text
