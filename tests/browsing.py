"""Drive the browser in tests as a user does: press, type, look at what the screen shows."""

import asyncio
import contextlib
import json
import os
import re
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.segment import Segment
from textual import events
from textual.geometry import Offset
from textual.pilot import Pilot
from textual.widget import Widget

from spackscope.model.index.catalog import Catalog, Listing, Row
from spackscope.model.index.index_file import Columns
from spackscope.model.index.rows import Hashes
from spackscope.model.report.sheet import Sheet
from spackscope.model.sources.session import Session
from spackscope.tui.app import SpackscopeApp
from spackscope.tui.browser import browser_host
from spackscope.tui.browser.jobs import Job
from spackscope.tui.browser.screen import BrowserScreen
from spackscope.tui.browser.state import SPECS, BrowserState
from spackscope.tui.dialogs.dialog import PickList
from spackscope.tui.keymap import DEFAULT, use_keys
from spackscope.tui.settings import DEFAULTS, Settings
from spackscope.tui.widgets.detail_pane import DetailPane
from spackscope.tui.widgets.frame import MarksLine, Toast, mark_pieces
from spackscope.tui.widgets.query_line import CompletionPopup, FilterInput, QueryCount
from spackscope.tui.widgets.side_column import PackageList, PackageRows
from spackscope.tui.widgets.spec_table import SpecTable
from spackscope.tui.widgets.table_rows import HeadLine
from tests import textual_internals
from tests.builders.pages import SAMPLE_PAGES, Record
from tests.program import PATIENCE
from tests.textual_internals import (
    character_to_key,
    forward,
    leave_undrawn,
    parse_once,
    strips,
    undrawn,
)

HOST = "target=zen3 glibc=2.35 os=ubuntu22.04"
"""The host of the browser, whatever machine runs the tests."""

ROOT = Path(__file__).parents[1]
INDEX = ROOT / "tests" / "data" / "spack" / "spack1.index.json.gz"
"""A part of an index that Spack wrote."""
FRAME = 0.05
"""Seconds from one drawing of the screen to the next, where nothing waits for it."""

_COMPLETION = re.compile(r"\s*(?P<mark>⇥ )?(?P<text>\S.*?)\s\s+(?P<count>[\d,]+)")


def records_of(page: Path) -> list[Record]:
    """Read a page's records without any code of the program: its JSON line, and nothing else."""
    lines = page.read_text(encoding="utf-8").splitlines()
    (line,) = (line for line in lines if line.startswith("spec_details:"))
    records: list[Record] = json.loads(line.removeprefix("spec_details:"))
    return [{**record, "package": page.parent.name} for record in records]


SAMPLE = [
    record for page in sorted(SAMPLE_PAGES.glob("*/specs.md")) for record in records_of(page)
]
"""All records of the sample."""


def hashes(records: Iterable[Record]) -> set[str]:
    """Return the hashes of some records."""
    return {record["hash"] for record in records}


def sample_where(holds: Callable[[Record], bool]) -> set[str]:
    """Return the hashes of the sample's records for which something holds."""
    return hashes(filter(holds, SAMPLE))


def shown_hashes(catalog: Catalog, listing: Listing) -> set[str]:
    """Return the hashes of all specs that the rows of a listing stand for; no two are equal."""
    rows = catalog.rows(*listing.part())
    folded = {row.look_alike for row in rows if row.count > 1}
    single = {row.id for row in rows if row.count == 1 and row.look_alike not in folded}
    ids = sorted(single.union(*map(listing.look_alike_ids, folded)))
    shown = [row.spec.hash for row in catalog.rows(ids)]
    assert len(shown) == len(set(shown)) == listing.shown
    return set(shown)


class QuickPilot(Pilot[list[str]]):
    """Pause until the event loop has nothing to run, instead of until the processor is idle.

    Textual's own pauses post a message to every widget, which took most of the time of a test.
    """

    @property
    def has_more(self) -> bool:
        """Whether something on the event loop can run now."""
        # There is no public way to learn that.
        return bool(vars(asyncio.get_running_loop())["_ready"])

    async def pause(self, delay: float | None = None) -> None:
        """Wait until nothing can run without new input, and draw what has changed."""
        await self.rest(delay)
        self.draw()

    async def rest(self, delay: float | None = None) -> None:
        """Wait until nothing can run without new input."""
        end = time.monotonic() + PATIENCE
        await asyncio.sleep(delay or 0)
        # The second round runs what timers and threads have added.
        for _ in range(2):
            await asyncio.sleep(0)
            while self.has_more:
                assert isinstance(self.app, SpackscopeApp)
                if self.app.unexpected is not None:
                    raise self.app.unexpected
                assert time.monotonic() < end, "the event loop does not come to rest"
                await asyncio.sleep(0)

    def draw(self) -> None:
        """Draw what has changed."""
        textual_internals.draw(self.app)


class Rests:
    """The moments for which the browser waits before it computes what is not urgent.

    They pass as in real life while keys are sent, and are cut short where a test waits for them.
    """

    def __init__(self) -> None:
        self._ends: dict[asyncio.Event, float] = {}

    @property
    def count(self) -> int:
        """How many jobs wait for their moment to pass."""
        return len(self._ends)

    async def sleep(self, seconds: float) -> None:
        """Wait some seconds, or until the rests are cut short."""
        end = asyncio.Event()
        self._ends[end] = time.monotonic() + seconds
        try:
            await asyncio.wait_for(end.wait(), seconds)
        except asyncio.TimeoutError:
            pass
        finally:
            del self._ends[end]

    def cut_short(self) -> None:
        """Let the job begin that would do so first: others may not come to it."""
        min(self._ends, key=self._ends.__getitem__).set()


class Browser:
    """Press keys in a browser and look at it; nothing returns before the browser has answered."""

    def __init__(self, app: SpackscopeApp, rests: Rests) -> None:
        self.app = app
        self.pilot = QuickPilot(app)
        self._rests = rests

    # Doing

    async def settle(self) -> None:
        """Wait until all work is done and all messages are handled."""
        end = time.monotonic() + PATIENCE
        calm = 0
        while calm < 2:
            await self.pilot.rest()
            jobs = [worker for worker in self.app.workers if not worker.is_finished]
            working = len(jobs)
            # Keys that were typed ahead may wait until what the one before did is drawn.
            if all(worker.group == "typed" for worker in jobs):
                self.pilot.draw()
                if not working and self._is_quiet and not self.pilot.has_more:
                    calm += 1
                    continue
            assert time.monotonic() < end, "the browser does not come to rest"
            calm = 0
            if working and working == self._rests.count:
                self._rests.cut_short()
            elif working:
                await asyncio.sleep(0.001)

    async def settle_but(self, *groups: str) -> None:
        """Wait until all is done but jobs of some groups, and keys that wait for these."""
        late = {*groups, "typed"}
        for _ in range(2):
            await self.until(
                lambda: self._is_quiet and late >= {w.split()[0] for w in self._workers()}
            )

    @contextlib.asynccontextmanager
    async def holding(self, *groups: str) -> AsyncIterator[None]:
        """Hold back the jobs of some groups that begin in the context, and settle at its end."""
        host, let_go = self.browser.host, threading.Event()
        run = host.run

        def run_held(work: Callable[..., object], done: Any, job: Job, **options: Any) -> None:
            def wait_and_work(report: Any) -> object:
                assert job.name not in groups or let_go.wait(PATIENCE)
                return work(report)

            run(wait_and_work, done, job, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(host, "run", run_held)
            try:
                yield
            finally:
                let_go.set()
        await self.settle()

    async def until(self, holds: Callable[[], object], what: str = "") -> None:
        """Wait until something holds."""
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, what or f"it never came to hold; {self._unfinished}"
            await self.pilot.pause()
            await asyncio.sleep(0.001)

    def send(self, *keys: str) -> None:
        """Send keys without waiting for what they do, as a fast typist or a slow line does."""
        for key in keys:
            character = key if len(key) == 1 else None
            if character is not None:
                key = character_to_key(character)
            event = events.Key(key, character)
            event.set_sender(self.app)
            self.app.post_message(event)

    async def type_ahead(self, *keys: str, **seen: Any) -> None:
        """Send keys as `send` does, and wait for what they do."""
        self.send(*keys)
        await self.settle()
        self.check(" ".join(keys), **seen)

    async def press(
        self,
        *keys: str,
        settle: bool = True,
        until: Callable[[], object] | None = None,
        **seen: Any,
    ) -> None:
        """Press keys, each after the one before has done its work, or has moved the focus.

        Then check what is `seen`, as `check` does. `until` waits for something, and not for work.
        """
        settle = settle and until is None
        for key in keys:
            self.send(key)
            if settle:
                await self.settle()
                if self._is_handed_on():
                    continue
            await self.pilot.pause()
            await self.until(self._is_handed_on)
            if settle:
                await self.settle()
        if until is not None:
            await self.until(until)
        self.check(" ".join(keys), **seen)

    def _is_handed_on(self) -> bool:
        is_moving = self.browser.panes.focus.is_moving
        return self._is_quiet and not is_moving and not self._workers("typed")

    def _workers(self, *groups: str) -> list[str]:
        """Return the names of the workers that are not finished, of some groups or all."""
        return [
            f"{worker.group} {worker.name}"
            for worker in self.app.workers
            if not worker.is_finished and (not groups or worker.group in groups)
        ]

    @property
    def _is_quiet(self) -> bool:
        """Whether every widget has handled its messages, and is drawn as it is."""
        return not (undrawn(self.app.screen) or self._busy_pumps)

    @property
    def _busy_pumps(self) -> list[object]:
        """Everything that has messages to handle."""
        on_top = self.app.screen.walk_children()
        pumps = self.app, self.browser, *self.browser.walk_children(), *on_top
        return [pump for pump in pumps if pump.message_queue_size]

    @property
    def _unfinished(self) -> str:
        """What there is still to do, for the message of a test that waited in vain."""
        screen = self.app.screen
        return (
            f"{screen} has undrawn {undrawn(screen)}; messages of {self._busy_pumps}; "
            f"workers {self._workers()}; focus {self.focus}, moving "
            f"{self.browser.panes.focus.is_moving}; typed {list(self.app._typed)}"
        )

    async def type(self, text: str, **seen: Any) -> None:
        """Type a text into whatever has the focus, as fast as a user who types ahead."""
        await self.type_ahead(*text, **seen)

    async def paste(self, text: str, *keys: str, **seen: Any) -> None:
        """Paste a text as a terminal with bracketed paste does, then press keys."""
        event = events.Paste(text)
        event.set_sender(self.app)
        self.app.post_message(event)
        await self.settle()
        await self.press(*keys)
        self.check(" ".join((text, *keys)), **seen)

    async def ask(self, query: str, /, *keys: str, **seen: Any) -> None:
        """Replace the text of the query line, all at once, then press keys."""
        await self.leave_filter()
        await self.type_ahead("slash", "end", "ctrl+u")
        if query:
            await self.paste(query)
        await self.press(*keys)
        self.check(" ".join((query, *keys)), **seen)

    async def leave_filter(self) -> None:
        """Go from a filter, if one has the focus, to the rows."""
        if self.focus.startswith("filter"):
            await self.press("enter")
        if self.focus.startswith("filter"):
            await self.press("escape")

    async def clear(self, *keys: str, **seen: Any) -> None:
        """Remove all filters, from the rows, then press keys."""
        await self.leave_filter()
        await self.press("X", *keys, **seen)

    async def filter(self, column: str, text: str, *keys: str, **seen: Any) -> None:
        """Replace the text of a column's filter, all at once, then press keys."""
        await self.go_to_filter(column)
        await self.type_ahead("end", "ctrl+u")
        if text:
            await self.paste(text)
        await self.press(*keys, **seen)

    async def go_to_filter(self, column: str, *keys: str, **seen: Any) -> None:
        """Go to the filter of a column, then press keys."""
        await self.go_to_column(column, "f", focus=f"filter {column}")
        await self.press(*keys, **seen)

    async def go_to_column(self, column: str, *keys: str, **seen: Any) -> None:
        """Make a column of the table, or a value of its head line, current; then press keys."""
        await self.leave_filter()
        await self.press("2")
        columns = self.table.columns
        order = [*columns.head, *columns.columns.names]
        for _ in 2 * order:
            if self.table.column != column:
                is_left = order.index(column) < order.index(self.table.column)
                await self.press("h" if is_left else "l", settle=False)
        assert self.table.column == column
        await self.press(*keys, **seen)

    async def open_package(self, name: str, *keys: str, **seen: Any) -> None:
        """Go to the specs of a package, then press keys."""
        await self.leave_filter()
        names = [package.name for package in self.names.packages]
        await self.type_ahead("1", "home", *["j"] * (names.index(name) + 1), "enter")
        await self.press(*keys, **seen)

    async def visit(self, *states: str) -> AsyncIterator[str]:
        """Go to one screen after the other, each with some keys from the list of packages."""
        for keys in states:
            await self.press(*keys.split())
            yield keys
            if self.dialog is not None:
                await self.press("escape")
            assert self.dialog is None, keys
            await self.clear()
            await self.press("1", "home")

    async def resize(self, width: int, height: int, **seen: Any) -> None:
        """Return the terminal another size."""
        await self.pilot.resize_terminal(width, height)
        await self.settle()
        self.check(f"{width}x{height}", **seen)

    async def click(self, widget: Widget, x: int, y: int, times: int = 1, **seen: Any) -> None:
        """Click on a cell of a widget."""
        await self.pilot.click(widget, offset=(x, y), times=times)
        await self.settle()
        self.check(f"a click on {widget}", **seen)

    async def wheel(self, widget: Widget, up: bool = False) -> None:
        """Turn the wheel of the mouse over a widget."""
        at = widget.region.offset + Offset(1, 0)
        kind = events.MouseScrollUp if up else events.MouseScrollDown
        event = kind(None, at.x, at.y, 0, 0, 0, False, False, False, at.x, at.y)
        forward(self.app.screen, event)
        await self.settle()

    # Looking

    def check(
        self,
        after: str,
        *,
        shows: str | tuple[str, ...] = (),
        hides: str | tuple[str, ...] = (),
        hints: str | tuple[str, ...] = (),
        no_hint: str | tuple[str, ...] = (),
        says: str = "",
        title: str = "",
        query_line: str = "",
        cells: Mapping[str, list[object]] | None = None,
        **values: object,
    ) -> None:
        """Check what is seen after something was done.

        The screen `shows` and `hides` texts, its first lines have a text, its last line has hints
        or not, the message `says` a text, the rows of an answer have `cells` in columns, and
        attributes have values.
        """
        for texts, read, is_there in (
            (shows, lambda: self.text, True),
            (hides, lambda: self.text, False),
            (hints, lambda: self.lines[-1], True),
            (no_hint, lambda: self.lines[-1], False),
            (says, lambda: self.status, True),
            (title, lambda: self.lines[0], True),
            (query_line, lambda: self.lines[1], True),
        ):
            for text in filter(None, (texts,) if isinstance(texts, str) else texts):
                assert (text in (seen := read())) == is_there, f"after {after}: {text!r}, {seen}"
        found = {name: getattr(self, name) for name in values}
        assert found == values, f"after {after}"
        rows = {column: self.cells(column) for column in cells or {}}
        assert rows == (cells or {}), f"after {after}"

    def look(self) -> None:
        """Draw what has changed since the last look."""
        strips(self.app.screen)

    async def see(self) -> None:
        """Draw, and wait for what is asked for once it comes to be seen."""
        self.look()
        await self.settle()

    @property
    def lines(self) -> list[str]:
        """What the screen shows, line by line."""
        return [strip.text for strip in strips(self.app.screen)]

    @property
    def segments(self) -> list[Segment]:
        """All that is on the screen with its styles, as it goes to the terminal."""
        return [segment for strip in strips(self.app.screen) for segment in strip]

    @property
    def text(self) -> str:
        """What the screen shows."""
        return "\n".join(self.lines)

    @property
    def browser(self) -> BrowserScreen:
        screens = reversed(self.app.screen_stack)
        return next(screen for screen in screens if isinstance(screen, BrowserScreen))

    @property
    def state(self) -> BrowserState:
        """What the browser shows, as one value."""
        return self.browser.host.state

    @property
    def command(self) -> str:
        """The command that prints the answer in the table, empty where it has the specs."""
        return " ".join(self.state.table.command)

    def cells(self, column: str) -> list[object]:
        """Return the values of the rows of an answer in a column."""
        sheet = self.state.table.shown
        return [sheet.column(column).value(item) for item in sheet.rows]

    @property
    def sheet(self) -> Sheet[Any]:
        """The answer in the table."""
        opened = self.state.table
        assert opened is not SPECS
        assert opened.is_read
        return opened.sheet

    @property
    def item_hash(self) -> str:
        """The hash of the row of an answer under the cursor."""
        rows = self.table.rows
        return self.sheet.hash(rows.shown.item(rows.cursor))

    @property
    def current_hash(self) -> str:
        """The hash of the row of specs under the cursor."""
        return self.current.spec.hash

    @property
    def selected_hash(self) -> str:
        """The hash of the spec that the detail shows."""
        assert self.state.selected is not None
        return self.state.selected.spec.hash

    @property
    def panes(self) -> list[str]:
        """The panes that are on the screen, from left to right and from top to bottom."""
        found = [w for w in (self.names, self.table, self.detail) if w.region.area]
        found.sort(key=lambda widget: (widget.region.x, widget.region.y))
        return [str(widget.id) for widget in found]

    @property
    def table(self) -> SpecTable:
        return self.browser.query_one(SpecTable)

    @property
    def column(self) -> str:
        """The current column of the table."""
        return self.table.column

    @property
    def placed_names(self) -> set[str]:
        """The columns that are on the screen."""
        return {placed.column.name for placed in self.table.rows.heads.layout.placed}

    @property
    def head_line(self) -> str:
        """The text above the heads: what all rows share."""
        return "".join(piece.text for piece in self.browser.query_one(HeadLine).pieces)

    @property
    def names(self) -> PackageList:
        return self.browser.query_one(PackageList)

    @property
    def detail(self) -> DetailPane:
        return self.browser.query_one(DetailPane)

    @property
    def rows(self) -> list[Row]:
        """All rows of the table, those that are not on the screen too."""
        listing, catalog = self.browser.panes.specs.listing, self.state.catalog
        if listing is None or catalog is None:
            return []
        with reading():
            return catalog.rows(*listing.part())

    @property
    def shown(self) -> set[str]:
        """The hashes of all specs that the rows of the table stand for."""
        listing, catalog = self.browser.panes.specs.listing, self.state.catalog
        if listing is None or catalog is None:
            return set()
        with reading():
            return shown_hashes(catalog, listing)

    @property
    def current(self) -> Row:
        """The row under the cursor of the table."""
        row = self.table.rows.row
        assert row is not None
        return row

    @property
    def packages(self) -> dict[str, int]:
        """The packages in the list with their counts."""
        rows = self.names.query_one(PackageRows)
        return {package.name: package.shown for package in rows.packages}

    @property
    def selected(self) -> str | None:
        """The package whose row has the cursor; None for all packages."""
        rows = self.names.query_one(PackageRows)
        return rows.packages[rows.cursor - 1].name if rows.cursor else None

    @property
    def builds(self) -> int:
        """How many builds the rows of the table stand for."""
        return len(self.shown)

    @property
    def row_count(self) -> int:
        """How many rows the table has."""
        return len(self.rows)

    @property
    def cursor(self) -> int:
        """The number of the row under the cursor of the table."""
        return self.table.rows.cursor

    @property
    def count(self) -> str:
        """The count of the matches beside the query."""
        return self.browser.query_one(QueryCount).text

    @property
    def marks_line(self) -> str:
        """What the line above the hints says of the marked specs."""
        line = self.browser.query_one(MarksLine)
        pieces = mark_pieces(line.read(), line.size.width) if line.display else ()
        return "".join(text for text, _ in pieces).removeprefix("◆ ")

    @property
    def specs_title(self) -> str:
        return " · ".join(filter(None, (self.count, self.head_line, self.marks_line)))

    @property
    def packages_title(self) -> str:
        return self.names.title

    @property
    def status(self) -> str:
        """The message above the hints."""
        return self.app.screen.query_one(Toast).message

    @property
    def box(self) -> list[str]:
        """What the box under an input shows, line by line, without its border."""
        return self._lines_of(self.browser.query_one(CompletionPopup))

    @property
    def picks(self) -> list[str]:
        """What the list of a dialog shows, line by line, without the sign of the cursor."""
        return [line[2:] for line in self._lines_of(self.app.screen.query_one(PickList))]

    @property
    def table_text(self) -> str:
        """What the table shows, in one line: a long path may be cut anywhere into several."""
        return " ".join(" ".join(self._lines_of(self.table)).split())

    def _lines_of(self, widget: Widget) -> list[str]:
        region = widget.content_region
        lines = self.lines[region.y : region.bottom] if widget.display else []
        return [line[region.x : region.right].rstrip() for line in lines]

    @property
    def note(self) -> str:
        """The sentence in the box under an input."""
        said = [line for line in self.box if not _COMPLETION.fullmatch(line)]
        return " ".join(" ".join(line.strip(" ^") for line in said).split())

    @property
    def completions(self) -> dict[str, int]:
        """The completions in the box under an input, with their counts."""
        matches = filter(None, map(_COMPLETION.fullmatch, self.box))
        return {match["text"]: int(match["count"].replace(",", "")) for match in matches}

    @property
    def marked(self) -> str:
        """The completion that Tab takes."""
        matches = filter(None, map(_COMPLETION.fullmatch, self.box))
        return next((match["text"] for match in matches if match["mark"]), "")

    @property
    def caret(self) -> int:
        """The column of the screen that the caret in the box points at."""
        region = self.browser.query_one(CompletionPopup).content_region
        return self.lines[region.y].index("^", region.x)

    @property
    def query(self) -> str:
        """The text of the query line."""
        return self.browser.query_one("#query-input", FilterInput).value

    def filter_text(self, column: str) -> str:
        """The text of a column's filter, empty where the column has none on the screen."""
        return self.table.filters.text(column)

    @property
    def focus(self) -> str:
        """Name what has the focus: a pane, `query`, `names`, or the filter of a column."""
        focused = self.app.screen.focused
        if isinstance(focused, FilterInput):
            return f"filter {focused.name}"
        name = (focused.id or type(focused).__name__) if focused is not None else "nothing"
        return "detail" if name in ("detail-lines", "tree-rows") else name

    @property
    def dialog(self) -> str | None:
        """Name the dialog that is open."""
        screen = self.app.screen
        return None if isinstance(screen, BrowserScreen) else type(screen).__name__

    @property
    def detail_lines(self) -> list[str]:
        """All rows of the detail, of its values or its tree."""
        rows = self.detail.shown_list
        width = rows.size.width
        return ["".join(text for text, _ in rows.pieces(n, width)) for n in range(rows.length)]

    async def to_value(self, beginning: str) -> None:
        """Move the cursor to the value of the detail with a label, or that begins so."""
        await self.leave_filter()
        if self.focus != "detail":
            await self.press("3")
        lines = self.detail.lines
        places = {
            (row, stop): value
            for row, values in enumerate(lines.values)
            for stop, value in enumerate(values)
        }
        labels = [at for at, v in places.items() if beginning in (v.label, v.lead.strip())]
        texts = [at for at, v in places.items() if (v.lead + v.text).startswith(beginning)]
        row, stop = [*labels, *texts, *(at for at, v in places.items() if beginning in v.text)][0]
        await self.type_ahead("home", *["j"] * row)
        await self.type_ahead(*["h" if lines.stop > stop else "l"] * abs(lines.stop - stop))


_in_test: ContextVar[bool] = ContextVar("in_test", default=False)


@contextlib.contextmanager
def reading() -> Iterator[None]:
    """Allow the test itself to read an index, which the program may not do on this thread."""
    token = _in_test.set(True)
    try:
        yield
    finally:
        _in_test.reset(token)


@contextlib.contextmanager
def no_queries_on_the_event_loop() -> Iterator[None]:
    """Fail a test if the program reads an index on the thread of the event loop."""
    loop_thread = threading.get_ident()

    def guarded(read: Callable[..., Any]) -> Callable[..., Any]:
        def function(*arguments: Any) -> Any:
            if threading.get_ident() == loop_thread and not _in_test.get():
                raise AssertionError("an index is read on the thread of the event loop")
            return read(*arguments)

        return function

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Columns, "raw", guarded(Columns.raw))
        patch.setattr(Hashes, "of", guarded(Hashes.of))
        yield


@contextlib.asynccontextmanager
async def browsing(
    *sources: str | Path,
    query: str = "",
    size: tuple[int, int] = (120, 26),
    environ: Mapping[str, str] | None = None,
    session: Session | None = None,
    settings: Settings = DEFAULTS,
    pick: bool = False,
    purpose: str = "",
    no_color: bool = False,
    settled: bool = True,
    folded: bool = True,
    pane: str = "packages",
) -> AsyncIterator[Browser]:
    """Open the browser, on the sample unless told otherwise; not `folded` with a row a spec.

    Most tests walk through the packages: the focus is moved to them unless there is a query.
    """
    names = [str(source) for source in sources] or [str(SAMPLE_PAGES)]
    session = session or Session({"SPACKSCOPE_HOST": HOST, **(environ or {})})
    app = SpackscopeApp(
        names,
        query,
        session=session,
        settings=settings,
        pick=pick,
        purpose=purpose,
        no_color=no_color,
    )
    rests = Rests()
    with no_queries_on_the_event_loop(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            browser_host, "asyncio", SimpleNamespace(**{**vars(asyncio), "sleep": rests.sleep})
        )
        patch.setattr("textual.screen.UPDATE_PERIOD", FRAME)
        # On a slow machine no key may go on, and nothing may vanish, only because time has passed.
        patch.setattr("spackscope.tui.browser.jobs.KEY_PATIENCE", PATIENCE)
        for seconds in ("_SECONDS", "_ERROR_SECONDS"):
            patch.setattr(f"spackscope.tui.widgets.frame.{seconds}", PATIENCE)
        parse_once(patch)
        if not os.environ.get("SPACKSCOPE_TIMING"):
            leave_undrawn(patch)
        async with app.run_test(size=size):
            browser = Browser(app, rests)
            if settled:
                await browser.settle()
            if pane == "packages" and not query and browser.state.listing:
                browser.browser.panes.focus.go_to(pane)
            if settled:
                await browser.settle()
                await browser.see()
            if not folded:
                await browser.press("z")
            yield browser
            if app.is_running:
                browser.look()
    use_keys(DEFAULT)
