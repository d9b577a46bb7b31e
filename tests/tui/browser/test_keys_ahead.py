"""Keys that wait, such as those that are typed ahead of a row that is still being read."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from spackscope.tui.browser import jobs
from spackscope.tui.keymap import ANYWHERE, DEFAULT, LISTS, SPECS
from spackscope.tui.widgets import table_rows
from tests.browsing import Browser, browsing
from tests.builders.pages import record, write_page
from tests.clipboard import Clipboard
from tests.program import PATIENCE

KEYS = {
    key.name: key.names[0]
    for key in DEFAULT.values()
    if key.where in (ANYWHERE, LISTS, SPECS) and key.names
    # They leave the program.
    if key.name not in ("quit", "suspend")
}
ALWAYS = ("why", "copy", "diff", "sort", "undo", "specs-open", "lists-up")
"""Those that are pressed in every run of the tests."""
assert KEYS.keys() >= {*ALWAYS}


@pytest.fixture
def is_read(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Rows that are not read with the first ones are read once the event is set."""
    event, read = threading.Event(), table_rows.read_windows

    def read_late(*arguments: Any) -> table_rows.Windows:
        assert event.wait(PATIENCE)
        return read(*arguments)

    monkeypatch.setattr(table_rows, "read_windows", read_late)
    yield event
    event.set()


def outcome(browser: Browser) -> tuple[object, ...]:
    """Return what a key has led to."""
    row = browser.table.rows.row
    return (
        browser.text,
        browser.focus,
        browser.dialog,
        browser.state.table.command,
        row.spec.hash if row is not None else None,
        browser.state.marks,
    )


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in ALWAYS else pytest.mark.exhaustive) for name in KEYS],
)
async def test_a_key_behind_a_row_that_is_still_read_does_what_it_does_on_the_row(
    name: str, is_read: threading.Event, tmp_path: Path
) -> None:
    write_page(tmp_path, [record(number) for number in range(300)])
    outcomes = []
    for is_ahead in (False, True):
        is_read.set()
        async with browsing(tmp_path, folded=False) as browser:
            await browser.press("2")
            if is_ahead:
                is_read.clear()
                browser.send("G", KEYS[name])
                await browser.settle_but(jobs.ROWS.name)
                is_read.set()
                await browser.settle()
            else:
                await browser.press("G", KEYS[name])
            outcomes.append(outcome(browser))
            await browser.press("escape", "backspace")
            outcomes.append(outcome(browser))
    assert outcomes[:2] == outcomes[2:]


async def test_keys_wait_for_each_other_on_a_machine_that_stands_still(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with browsing() as browser:
        # All the time that a key waits at most has passed at the first look at the clock.
        monkeypatch.setattr("spackscope.tui.browser.jobs.KEY_PATIENCE", 0)
        await browser.type_ahead("slash", *"quit", "enter")
        assert browser.app.is_running
        assert str(browser.state.view.query) == "any=quit"


@pytest.mark.parametrize(
    "keys",
    [
        pytest.param("l enter h j", id="a row below a group that closes"),
        pytest.param("j v j x", id="a value of a package that was just chosen"),
        pytest.param("2 P slash p y", id="a search in an answer that is still read"),
    ],
)
async def test_keys_typed_ahead_do_what_they_do_one_by_one(keys: str) -> None:
    outcomes = []
    for is_ahead in (False, True):
        async with browsing("sample") as browser:
            await (browser.type_ahead if is_ahead else browser.press)(*keys.split())
            outcomes.append(outcome(browser))
    assert outcomes[0] == outcomes[1]


async def test_a_move_waits_for_the_layout_of_the_pane_that_got_the_focus() -> None:
    async with browsing(size=(50, 20)) as browser:
        await browser.press("z", "j", "enter", panes=["specs"])
        # While updates are held together, the focus moves before the layout.
        with browser.app.batch_update():
            browser.send("enter", "j", "j")
            await browser.until(lambda: browser.browser.panes.focus.pane == "detail")
            await browser.pilot.rest(0.1)
        await browser.settle()
        assert browser.detail.position[0] == 2


async def test_a_key_that_is_chosen_in_the_help_comes_before_keys_behind_the_choice() -> None:
    async with browsing(query="py-build", size=(120, 30)) as browser:
        await browser.press("?")
        first = browser.table.rows.row
        assert first is not None
        await browser.type("look-alikes fold")
        await browser.type_ahead("enter", "G", dialog=None)
        assert browser.state.view.opened == {first.look_alike}, "z, on the first row"
        at, count = browser.table.rows.position
        assert at == count - 1, "and then G"


async def test_a_page_has_the_rows_that_are_left_once_the_line_of_marks_is_shown() -> None:
    async with browsing(query="py-build", size=(40, 12)) as browser:
        await browser.press("z", " ", "pagedown")
        cursor = browser.table.rows.cursor
        await browser.press("U", "home")
        with browser.app.batch_update():
            browser.send(" ", "pagedown")
            await browser.until(lambda: browser.state.marks)
            await browser.pilot.rest(0.1)
        await browser.settle()
        assert browser.table.rows.cursor == cursor > 0


@pytest.mark.parametrize(
    ("group", "before", "keys", "at_once", "waits", "afterwards"),
    [
        ("view", "", "j j slash", {"selected": "py-ml-dtypes", "focus": "filter query"}, "", {}),
        ("view", "", "j", {"selected": "py-build", "status": ""}, "y", {"says": "Copied"}),
        ("view", "2", "s", {"cursor": 0}, "j", {"cursor": 1}),
        ("rows", "2", "G k", {"cursor": 344}, "enter", {"focus": "detail"}),
        ("detail", "2", "j space", {"cursor": 2, "status": ""}, "t", {"says": "no dependencies"}),
        ("completions", "slash", "o s = s", {"query": "os=s"}, "tab", {"query": "os=sequoia"}),
        ("completions", "slash", "o s = escape", {"focus": "spec-rows", "query": ""}, "", {}),
        ("menu", "2", "Y", {"dialog": None}, "s", {"says": "Copied py-build@", "dialog": None}),
    ],
)
async def test_only_keys_that_need_what_a_job_reads_wait_for_it(
    clipboard: Clipboard,
    group: str,
    before: str,
    keys: str,
    at_once: dict[str, Any],
    waits: str,
    afterwards: dict[str, Any],
) -> None:
    async with browsing(folded=False, environ=clipboard.environ) as browser:
        await browser.press(*before.split())
        async with browser.holding(group):
            browser.send(*keys.split())
            for more in ([], waits.split()):
                browser.send(*more)
                await browser.until(
                    lambda: {name: getattr(browser, name) for name in at_once} == at_once
                )
                await browser.settle_but(group)
            browser.check(keys, **at_once)
        browser.check(waits, **afterwards)
