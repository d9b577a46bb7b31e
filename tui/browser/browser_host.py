"""What controllers may use of the screen: the one place that starts worker threads."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, TypeVar

from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.tasks import cancelled_when, progress_to
from spackscope.model.core.text import shorten
from spackscope.model.index.catalog import Catalog
from spackscope.model.report.progress import Progress, Stages
from spackscope.model.sources.session import Session
from spackscope.tui import clipboard
from spackscope.tui.browser import jobs
from spackscope.tui.browser.jobs import Job
from spackscope.tui.browser.panes import Panes
from spackscope.tui.browser.state import BrowserState, Where
from spackscope.tui.dialogs.dialog import Dialog
from spackscope.tui.process import interpreter
from spackscope.tui.process.textual_internals import driver_of
from spackscope.tui.settings import Settings
from spackscope.tui.widgets.virtual_list import Browse

Result = TypeVar("Result")

_MAX_THREADS = 32
_MAX_METHOD_WIDTH = 30
"""Cells of a method of copying in a message, so that a long command leaves room for the text."""


CallOnLoop = Callable[[Callable[[], object]], None]
"""Calls a function on the event loop for a job, unless the job was replaced or cancelled."""


def progress_shown(
    report: CallOnLoop, show: Callable[[Progress], object]
) -> AbstractContextManager[None]:
    """Show the progress of what a job does in the context."""
    stages = Stages()

    def on_progress(what: str, done: int, total: int | None) -> None:
        progress = stages.progress(what, done, total)
        report(lambda: show(progress))

    return progress_to(on_progress)


class JobThreads(ThreadPoolExecutor):
    """The threads of an event loop, whose end waits for them only for a moment."""

    def __init__(self) -> None:
        super().__init__(_MAX_THREADS, interpreter.JOB_THREADS)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Begin no more jobs, and wait a moment for the running jobs."""
        super().shutdown(wait=False, cancel_futures=True)
        interpreter.wait_for_jobs()


class CopyDone(Frozen):
    """A sentence on the copied text and the method, or on why nothing was copied."""

    text: str
    failed: bool


class Call(Message):
    """Call a function on the event loop."""

    def __init__(self, call: Callable[[], object]) -> None:
        super().__init__()
        self.call = call


class BrowserHost:
    """All that a controller may use: the state of a screen, and jobs in worker threads.

    All methods but `copy` are called in the event loop. `state` is shown on the screen, and
    `change` replaces it. `sources` are the names of the shown sources, `session` is the session of
    their first reading, and `settings` come from the command line and from files. The last key or
    click was handled at `typed_at`, by the monotonic clock.
    """

    typed_at = 0.0

    def __init__(
        self,
        screen: Screen[None],
        panes: Panes,
        state: BrowserState,
        sources: Sequence[str],
        session: Session,
        settings: Settings,
    ) -> None:
        self._screen, self._panes = screen, panes
        self.state = state
        self.sources, self.session, self.settings = sources, session, settings
        self._generations: Counter[str] = Counter()
        self._running: dict[str, Job] = {}
        # The calls that are taken before the first frame, while the screen takes no messages.
        self._early: asyncio.Queue[Call] | None = None

    def change(self, **fields: Any) -> None:
        """Replace some fields of the state, and show the changes."""
        old = self.state
        if changed := {name for name in fields if fields[name] is not getattr(old, name)}:
            self.state = replace(old, **fields)
            self._panes.show_state(old, self.state, changed)

    def show_query(self, *, rewrite: bool = False) -> None:
        """Show the query in the inputs; only `rewrite` changes the input being typed in."""
        self._panes.show_query(rewrite=rewrite)

    @property
    def where(self) -> Where:
        """Where the user is now."""
        return self._panes.where()

    @property
    def blocked(self) -> frozenset[str]:
        """The needs of keys that a job is still to meet, or that are still to be shown."""
        return self._panes.awaited.union(*(job.blocks for job in self._running.values()))

    def run(
        self,
        work: Callable[[CallOnLoop], Result],
        done: Callable[[Result], object],
        job: Job,
        *,
        delay: float = 0,
        of: Catalog | None = None,
    ) -> None:
        """Do the work of a job in a worker thread, and pass its result to `done`.

        The work may report a part of it with the function that it gets.
        A newer job of the same name replaces an older job, whose result is dropped. The result of
        a job `of` a catalog that is not shown any more is dropped, too. Work that raises Cancelled
        has no result.
        """
        self.cancel(job)
        self._running[job.name] = job
        generation = self._generations[job.name]
        rest, loop = job.rest + delay, asyncio.get_running_loop()

        def send(call: Callable[[], object], is_last: bool = False) -> None:
            take = partial(self._take, job, generation, of, call, is_last)
            loop.call_soon_threadsafe(self._send, Call(take))

        def work_now() -> None:
            worker = get_current_worker()

            def should_stop() -> bool:
                if job.gives_way and time.monotonic() - self.typed_at < jobs.ECHO:
                    time.sleep(jobs.BREATH)
                return worker.is_cancelled

            try:
                with cancelled_when(should_stop):
                    result = work(send)
            except Cancelled:
                send(lambda: None, is_last=True)
            else:
                send(lambda: done(result), is_last=True)

        async def work_later() -> None:
            await asyncio.sleep(rest)
            await asyncio.to_thread(work_now)

        call: Callable[[], Coroutine[None, None, None] | None] = work_later if rest else work_now
        self._screen.run_worker(call, group=job.name, exclusive=True, thread=not rest)

    def unblock(self, job: Job) -> None:
        """Have the running job of the same name block only the needs of `job` from now on."""
        if job.name in self._running:
            self._running[job.name] = job

    def _send(self, call: Call) -> None:
        if self._early is not None:
            self._early.put_nowait(call)
        else:
            self._screen.post_message(call)

    async def take_early(self, patience: float, is_enough: Callable[[], bool]) -> None:
        """Show the results of jobs until `is_enough` returns true, for `patience` seconds at most.

        Called before the first frame is drawn, so that the frame can show the results.
        """
        self._early, end = asyncio.Queue[Call](), time.monotonic() + patience
        with contextlib.suppress(asyncio.TimeoutError):
            while not is_enough():
                (await asyncio.wait_for(self._early.get(), end - time.monotonic())).call()
        late, self._early = self._early, None
        while not late.empty():
            self._send(late.get_nowait())

    def _take(
        self, job: Job, number: int, of: Catalog | None, call: Callable[[], object], is_last: bool
    ) -> None:
        """Call a function for a job, unless a newer job or another catalog has replaced it."""
        if number != self._generations[job.name]:
            return
        if is_last:
            self._running.pop(job.name, None)
        if of is None or of is self.state.catalog:
            call()

    def cancel(self, *jobs: Job) -> None:
        """Stop the jobs of some names, and drop their results."""
        for job in jobs:
            self._generations[job.name] += 1
            self._running.pop(job.name, None)
            self._screen.workers.cancel_group(self._screen, job.name)

    def is_running(self, *jobs: Job) -> bool:
        """Check whether a job with one of the names still runs."""
        return any(job.name in self._running for job in jobs)

    def say(self, text: str, *, error: bool = False) -> None:
        """Show a message for some seconds, or until the next message; an empty text hides it."""
        self._panes.toast.say(text, error=error)
        if isinstance(top := self._screen.app.screen, Dialog):
            top.say(text, error=error)

    def show_progress(self, text: str) -> None:
        """Show the progress of a long task, besides messages; an empty text hides it."""
        self._panes.toast.show_progress(text)
        if isinstance(top := self._screen.app.screen, Dialog):
            top.show_progress(text)

    def copy(self, text: str, what: str) -> CopyDone:
        """Copy a text; return the outcome with a message that names it: for a worker thread."""

        def write_terminal(sequence: str) -> None:
            if (driver := driver_of(self._screen.app)) is None:
                raise OSError("there is no terminal")
            driver.write(sequence)
            driver.flush()

        try:
            copied = clipboard.copy(
                text,
                write_terminal=write_terminal,
                environ=self.session.environ,
                command=self.settings.copy,
            )
        except (clipboard.CopyFailed, ValueError) as error:
            return CopyDone(str(error), failed=True)
        failures = "".join(f"; {failure.rstrip('.')}" for failure in copied.failures)
        method = shorten(copied.method, _MAX_METHOD_WIDTH)
        return CopyDone(f"Copied {what} ({method}{failures})", failed=False)

    def act(self, action: str, *values: object) -> None:
        """Do an action of `screen.ACTIONS`, as a key does, after the present one."""
        self._screen.post_message(Browse(action, *values))

    def focus(self, target: str) -> None:
        """Move the focus to a pane, or to the query line."""
        if target == "values":
            self._panes.focus.peek(target)
        else:
            self._panes.focus.go_to(target)

    def open(
        self,
        dialog: Dialog[Result],
        done: Callable[[Result], object] = lambda _: None,
    ) -> None:
        """Open a dialog, and pass its result to `done`, unless nothing was chosen."""

        def close(result: Result | None) -> None:
            if result is not None:
                done(result)

        self._screen.app.push_screen(dialog, close)

    def exit(self, hashes: list[str] | None, code: int = 0) -> None:
        """End the program with the picked hashes."""
        self._screen.app.exit(hashes, return_code=code)
