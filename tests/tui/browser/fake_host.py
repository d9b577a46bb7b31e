"""A host for controllers without an app: jobs wait until a test lets them run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import replace
from spackscope.model.index.catalog import Catalog, Row
from spackscope.model.index.tree import Tree
from spackscope.model.query.column_filter import parse_filter_input
from spackscope.model.query.parser import ParsedInput
from spackscope.model.sources.session import Session
from spackscope.tui.browser.browser_host import BrowserHost, CopyDone
from spackscope.tui.browser.jobs import ROWS, Job
from spackscope.tui.browser.screen import Controllers
from spackscope.tui.browser.state import (
    FIRST_VIEW,
    BrowserState,
    Details,
    Draft,
    Results,
    Summary,
    Where,
    WithoutRows,
)
from spackscope.tui.dialogs.dialog import Dialog
from spackscope.tui.settings import DEFAULTS, Settings
from tests.browsing import HOST, shown_hashes
from tests.builders.pages import SAMPLE_PAGES


class Waiting(NamedTuple):
    """A job that was not run yet."""

    job: Job
    work: Callable[..., Any]
    done: Callable[[Any], object]
    delay: float
    of: Catalog | None


def call_now(call: Callable[[], object]) -> None:
    """Report a part of the result of a job that runs at once."""
    call()


class FakeHost(BrowserHost):
    """A state; keep messages, moves of the focus, dialogs and the end for tests to see."""

    def __init__(
        self,
        sources: Sequence[str] = (),
        session: Session | None = None,
        settings: Settings = DEFAULTS,
    ) -> None:
        self.sources, self.session, self.settings = sources, session or Session({}), settings
        self.copied: list[str] = []
        self.state = BrowserState()
        self.place = Where()
        self.shown_late = frozenset[str]()
        self.jobs: dict[str, Waiting] = {}
        self.messages: list[str] = []
        self.progress: list[str] = []
        self.acted: list[tuple[object, ...]] = []
        self.focused: list[str] = []
        self.rewritten: list[bool] = []
        self.dialogs: list[tuple[Dialog[Any], Callable[[Any], object]]] = []
        self.missing: list[WithoutRows] = []
        self.ended: tuple[list[str] | None, int] | None = None

    @property
    def message(self) -> str:
        """The message that is shown."""
        return self.messages[-1] if self.messages else ""

    def change(self, **fields: Any) -> None:
        self.state = replace(self.state, **fields)
        self.missing += [self.state.missing] * ("missing" in fields)

    def show_query(self, *, rewrite: bool = False) -> None:
        self.rewritten.append(rewrite)

    def run(
        self,
        work: Callable[..., Any],
        done: Callable[[Any], object],
        job: Job,
        *,
        delay: float = 0,
        of: Catalog | None = None,
    ) -> None:
        self.jobs.pop(job.name, None)
        self.jobs[job.name] = Waiting(job, work, done, job.rest + delay, of)

    @property
    def where(self) -> Where:
        return self.place

    @property
    def blocked(self) -> frozenset[str]:
        return self.shown_late.union(*(waiting.job.blocks for waiting in self.jobs.values()))

    def unblock(self, job: Job) -> None:
        if job.name in self.jobs:
            self.jobs[job.name] = self.jobs[job.name]._replace(job=job)

    def cancel(self, *jobs: Job) -> None:
        for job in jobs:
            self.jobs.pop(job.name, None)

    def is_running(self, *jobs: Job) -> bool:
        return any(job.name in self.jobs for job in jobs)

    def say(self, text: str, *, error: bool = False) -> None:
        self.messages.append(text)

    def show_progress(self, text: str) -> None:
        self.progress.append(text)

    def copy(self, text: str, what: str) -> CopyDone:
        self.copied.append(text)
        return CopyDone(f"Copied {what} (test)", failed=False)

    def act(self, action: str, *values: object) -> None:
        self.acted.append((action, *values))

    def focus(self, target: str) -> None:
        self.focused.append(target)
        self.place = replace(self.place, pane=target, input=target if target == "query" else None)

    def open(
        self,
        dialog: Dialog[Any],
        done: Callable[[Any], object] = lambda _: None,
    ) -> None:
        self.dialogs.append((dialog, done))

    def exit(self, hashes: list[str] | None, code: int = 0) -> None:
        self.ended = hashes, code

    # For tests

    def work(self, *names: str) -> None:
        """Run the jobs of some names, or with none all jobs, and those that they start."""
        while waiting := [name for name in self.jobs if not names or name in names]:
            job = self.jobs.pop(waiting[0])
            try:
                result = job.work(call_now)
            except Cancelled:
                continue
            if job.of is None or job.of is self.state.catalog:
                job.done(result)


class FakeBrowser:
    """All controllers over a fake host, with the cursor of the table that follows the results."""

    def __init__(
        self,
        *sources: str | Path,
        query: str = "",
        environ: dict[str, str] | None = None,
        session: Session | None = None,
        is_pick: bool = False,
        is_folded: bool = True,
    ) -> None:
        names = [str(source) for source in sources] or [str(SAMPLE_PAGES)]
        session = session or Session({"SPACKSCOPE_HOST": HOST, **(environ or {})})
        self.host = FakeHost(names, session)
        self.host.change(is_pick=is_pick)
        if not is_folded:
            self.host.change(view=replace(FIRST_VIEW, folded=False))
        self._placed: Results | None = None
        self.controllers = Controllers(self.host, query)
        self.search, self.navigation = self.controllers.search, self.controllers.navigation
        # Jobs run one after another here, so none needs to wait for rows that are read later.
        self.controllers.details.rows_shown.set()

    def load(self) -> FakeBrowser:
        """Load the sources, and show the first results."""
        self.controllers.loading.load()
        self.settle()
        return self

    def settle(self, **seen: Any) -> None:
        """Run all jobs, and move the cursor to the row of the results, as the screen does.

        Then check what is `seen`, as `check` does.
        """
        self.host.work()
        while self._placed is not (results := self.host.state.results):
            self._placed = results
            self.move_to(results.cursor if results is not None else 0)
            self.host.work()
        self.check(**seen)

    def check(self, *, says: str = "", **values: object) -> None:
        """Check that the message `says` a text, and that attributes have values."""
        assert says in self.message
        assert {name: getattr(self, name) for name in values} == values

    def move_to(self, number: int) -> None:
        """Move the cursor to a row of the table."""
        results = self.results
        here = slice(number, number + 1)

        def read(_: object) -> Row | None:
            return next(iter(results.catalog.rows(*results.listing.part(here))), None)

        self.host.run(read, self._highlight, ROWS)
        self.host.work("rows")

    def _highlight(self, row: Row | None) -> None:
        self.host.place = replace(self.host.place, row=row)
        self.navigation.highlight(row)
        self.controllers.details.connect()

    def type(self, text: str, column: str = "", **seen: Any) -> None:
        """Type a text into the query line or a filter, letter by letter, and settle."""
        for end in range(1, len(text) + 1):
            self.type_text(text[:end], column)
        self.settle(**seen)

    def ask(self, text: str, column: str = "", **seen: Any) -> None:
        """Type a text into the query line or a filter at once, and settle."""
        self.type_text(text, column)
        self.settle(**seen)

    def enter(self, text: str, **seen: Any) -> None:
        """Type a text into the query line, letter by letter, and go to the specs."""
        self.type(text)
        self.leave(**seen)

    def do(self, action: Callable[..., object], *values: Any, **seen: Any) -> None:
        """Do something, and settle."""
        action(*values)
        self.settle(**seen)

    def select(self, package: str | None, **seen: Any) -> None:
        """Select a package in the list, or all, and settle."""
        self.search.select_package(package)
        self.settle(**seen)

    def retrace(self, by: int, **seen: Any) -> None:
        """Go some steps back or forward, and settle."""
        self.navigation.retrace(by)
        self.settle(**seen)

    def type_text(self, text: str, column: str = "") -> ParsedInput:
        """Type a text into the query line or a filter, without waiting for the rows."""
        name = column or "query"
        pane = "specs" if column else "query"
        self.host.place = replace(self.host.place, pane=pane, input=name)
        if column:
            query = self.host.state.view.query
            parsed = parse_filter_input(text, len(text), column, query)
        else:
            parsed = self.search.parse(text)
            self.host.place = replace(self.host.place, line=parsed)
        self.search.type(parsed)
        return parsed

    def leave(self, **seen: Any) -> None:
        """Go from the input to the specs."""
        self.host.place = replace(self.host.place, pane="specs", input=None)
        self.search.leave()
        self.settle(**seen)

    def go_to(self, number: int) -> Row:
        """Move the cursor to a row of the table, settle, and return the row."""
        self.move_to(number)
        self.settle()
        return self.row

    def put(self, **fields: Any) -> None:
        """Say where the user is."""
        self.host.place = replace(self.host.place, **fields)

    # What is shown

    @property
    def state(self) -> BrowserState:
        return self.host.state

    @property
    def query(self) -> str:
        return str(self.state.view.query)

    @property
    def stale(self) -> str:
        """The sign of rows that are those of an older query."""
        return self.state.stale

    @property
    def copied(self) -> list[str]:
        return self.host.copied

    @property
    def message(self) -> str:
        return self.host.message

    @property
    def catalog(self) -> Catalog:
        assert self.state.catalog is not None
        return self.state.catalog

    @property
    def results(self) -> Results:
        assert self.state.results is not None
        return self.state.results

    @property
    def row(self) -> Row:
        """The row of the table under the cursor."""
        assert self.host.where.row is not None
        return self.host.where.row

    @property
    def rows(self) -> list[Row]:
        """All rows of the table."""
        return self.results.catalog.rows(*self.results.listing.part())

    @property
    def details(self) -> Details:
        assert self.state.details is not None
        return self.state.details

    @property
    def tree(self) -> Tree:
        assert self.details.tree is not None
        return self.details.tree

    @property
    def shown(self) -> set[str]:
        """The hashes of all specs that the rows stand for."""
        results = self.results
        return shown_hashes(results.catalog, results.listing)

    @property
    def selected(self) -> str | None:
        """The selected package."""
        selected = self.results.selected
        return selected.name if selected is not None else None

    @property
    def packages(self) -> dict[str, int]:
        """The packages in the list with their counts."""
        return {package.name: package.shown for package in self.results.packages}

    @property
    def detail(self) -> str:
        """The first line of the detail."""
        details = self.state.details
        return details.lines[0].text if details is not None else ""

    @property
    def draft(self) -> Draft:
        """The text that is typed."""
        assert self.state.draft is not None
        return self.state.draft

    @property
    def summary(self) -> Summary:
        assert self.state.summary is not None
        return self.state.summary

    @property
    def note(self) -> str:
        """The note on the text that is typed."""
        draft = self.state.draft
        return draft.note.sentence if draft is not None and draft.note is not None else ""

    @property
    def completions(self) -> Sequence[str]:
        draft = self.state.draft
        found = draft.completions if draft is not None else None
        return [item.text for item in found.items] if found is not None else []
