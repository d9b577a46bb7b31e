"""The host of the controllers: the one place of the browser that starts worker threads."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeVar

from textual.message import Message
from textual.screen import Screen
from textual.worker import Worker, get_current_worker

from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.tasks import cancelled_when
from spackscope.model.index.catalog import Catalog
from spackscope.model.sources.session import Session
from spackscope.tui.browser.panes import Panes
from spackscope.tui.browser.state import BrowserState, Task, Where
from spackscope.tui.dialogs.base import Dialog
from spackscope.tui.process import jobs
from spackscope.tui.settings import Settings

if TYPE_CHECKING:
    from spackscope.tui.copy_forms import CopyDone

Result = TypeVar("Result")

_MAX_THREADS = 32


class JobThreads(ThreadPoolExecutor):
    """The threads of an event loop, whose end waits for them only for a moment."""

    def __init__(self) -> None:
        super().__init__(_MAX_THREADS, jobs.NAME)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Begin no job any more, and wait for those that run."""
        super().shutdown(wait=False, cancel_futures=True)
        jobs.wait()


class Call(Message):
    """Call a function on the event loop, for a job of a group."""

    def __init__(
        self,
        group: str,
        generation: int,
        of: Catalog | None,
        call: Callable[[], object],
        is_last: bool = False,
    ) -> None:
        super().__init__()
        self.of = of
        self.group = group
        self.generation = generation
        self.call = call
        self.is_last = is_last


class ThreadTask(Frozen):
    """A job in a worker thread."""

    screen: Screen[None]
    group: str
    generation: int
    of: Catalog | None
    worker: Worker[None]

    def __call__(self) -> bool:
        """Check whether the result is not needed any more."""
        return self.worker.is_cancelled

    def report(self, call: Callable[[], object]) -> None:
        """Call a function on the event loop, unless the job was replaced or cancelled."""
        self.screen.post_message(Call(self.group, self.generation, self.of, call))

    def finish(self, call: Callable[[], object]) -> None:
        """Call a function on the event loop as the last thing."""
        self.screen.post_message(Call(self.group, self.generation, self.of, call, is_last=True))


class ScreenHost:
    """Implement BrowserHost for a screen: its state, and jobs in worker threads."""

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
        self.where: Where = panes
        self.sources, self.session, self.settings = sources, session, settings
        self._generations: Counter[str] = Counter()
        self._running: set[str] = set()
        self._asked: dict[Dialog[Any], tuple[Callable[[], object], str]] = {}
        self._followed: Callable[[], object] | None = None

    def change(self, **fields: Any) -> None:
        """Replace some fields of the state, and show what changed."""
        old, self.state = self.state, replace(self.state, **fields)
        self._panes.show_state(old, self.state)
        shown, before = self.state.results, old.results
        if shown is not None and (before is None or shown.catalog is not before.catalog):
            self._ask_again()

    def show_query(self, *, rewrite: bool = False) -> None:
        """Show the query in the inputs; the one being typed in is left alone, unless `rewrite`."""
        self._panes.show_query(rewrite=rewrite)

    def run(
        self,
        job: Callable[[Task], Result],
        done: Callable[[Result], object],
        *,
        group: str,
        delay: float = 0,
        of: Catalog | None = None,
    ) -> None:
        """Run a job in a worker thread after some seconds, and pass its result to `done`."""
        self.cancel(group)
        self._running.add(group)
        generation = self._generations[group]

        def work() -> None:
            task = ThreadTask(self._screen, group, generation, of, get_current_worker())
            try:
                with cancelled_when(task):
                    result = job(task)
            except Cancelled:
                task.finish(lambda: None)
            else:
                task.finish(lambda: done(result))

        async def work_later() -> None:
            await asyncio.sleep(delay)
            await asyncio.to_thread(work)

        job_: Callable[[], Coroutine[None, None, None] | None] = work_later if delay else work
        self._screen.run_worker(job_, group=group, exclusive=True, thread=not delay)

    def take(self, call: Call) -> None:
        """Do what a job asks for, unless a newer one, or another catalog, has replaced it."""
        if call.generation != self._generations[call.group]:
            return
        if call.is_last:
            self._running.discard(call.group)
        if call.of is None or call.of is self.state.catalog:
            call.call()
        if call.is_last:
            if call.group == "load" and not self.is_running("view"):
                # The catalog stays, but what is known of its sources may be new.
                self._ask_again()
            self._show_loading()

    def cancel(self, *groups: str) -> None:
        """Stop the jobs of some groups, and drop their results."""
        for group in groups:
            self._generations[group] += 1
            self._running.discard(group)
            self._screen.workers.cancel_group(self._screen, group)

    def is_running(self, *groups: str) -> bool:
        """Check whether one of some groups has a job whose result is still to come."""
        return not self._running.isdisjoint(groups)

    def say(self, text: str, *, error: bool = False) -> None:
        """Show a message for some seconds, or until the next one; an empty one hides it."""
        self._panes.toast.say(text, error=error)
        if isinstance(top := self._screen.app.screen, Dialog):
            top.say(text, error=error)

    def show_progress(self, text: str) -> None:
        """Show how far a long task is, besides messages; an empty text ends that."""
        self._panes.toast.show_progress(text)

    def copy(self, text: str, what: str) -> CopyDone:
        """Copy a text, which the message calls by a name: for a worker thread."""
        from spackscope.tui.copy_forms import copy_text

        environ, app = self.session.environ, self._screen.app
        return copy_text(text, what, environ, app, self.settings.copy)

    def focus(self, target: str) -> None:
        """Move the focus to a pane, or to the query line."""
        if target == "facets":
            self._panes.focus.peek(target)
        else:
            self._panes.focus.go_to(target)

    def open(
        self,
        dialog: Dialog[Result],
        done: Callable[[Result | None], object] | None = None,
        *,
        ask: Callable[[], object] | None = None,
        group: str = "",
    ) -> None:
        """Open a dialog, and pass its result to `done`.

        `ask` reads what it shows, in a job of `group`, which ends with the dialog.
        """

        def close(result: Result | None) -> None:
            if self._asked.pop(dialog, None) is not None:
                self.cancel(group)
            if done is not None:
                done(result)

        self._screen.app.push_screen(dialog, close)
        if ask is not None:
            self._asked[dialog] = ask, group
            ask()
            self._show_loading()

    def follow(self, ask: Callable[[], object] | None) -> None:
        """Call a function for each newer catalog, in place of the one before; none with None."""
        self._followed = ask

    def _ask_again(self) -> None:
        """Ask again for what the sheet and the open dialogs show."""
        if self._followed is not None:
            self._followed()
        for ask, _ in list(self._asked.values()):
            ask()

    def _show_loading(self) -> None:
        """Show in the open dialogs that sources are being read, until all of it is answered."""
        for dialog, (_, group) in self._asked.items():
            is_late = dialog.is_loading and self.is_running("view", group)
            dialog.show_loading(is_late or self.is_running("load"))

    def exit(self, hashes: list[str] | None, code: int = 0) -> None:
        """End the program with the hashes that were picked."""
        self._screen.app.exit(hashes, return_code=code)
