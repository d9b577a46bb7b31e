"""The interface of the browser to its controllers.

Controllers are plain classes that read and change `BrowserHost.state`; `threads.py` implements
BrowserHost for Textual, and `panes.py` shows a state in the widgets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from spackscope.model.core.errors import Unwritable
from spackscope.model.core.tasks import progress_to
from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.report.progress import Progress, Stages
from spackscope.tui.browser.jobs import Job
from spackscope.tui.browser.state import BrowserState, Where

if TYPE_CHECKING:
    from spackscope.model.sources.session import Session
    from spackscope.tui.copy_forms import CopyDone
    from spackscope.tui.dialogs.dialog import Dialog
    from spackscope.tui.settings import Settings

Result = TypeVar("Result")


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


class BrowserHost(Protocol):
    """All that a controller may use. All methods but `copy` are called in the event loop.

    `state` is shown on the screen, and `change` replaces it. `sources` are the names of the shown
    sources, `session` is the session of their first reading, and `settings` come from the command
    line and from files.
    """

    state: BrowserState
    sources: Sequence[str]
    session: Session
    settings: Settings

    @property
    def where(self) -> Where:
        """Where the user is now."""

    def change(self, **fields: Any) -> None:
        """Replace some fields of the state, and show the changes."""

    def show_query(self, *, rewrite: bool = False) -> None:
        """Show the query in the inputs; only `rewrite` changes the input being typed in."""

    @property
    def blocked(self) -> frozenset[str]:
        """The needs of keys that a job is still to meet, or that are still to be shown."""

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

    def unblock(self, job: Job) -> None:
        """Have the running job of the same name block only the needs of `job` from now on."""

    def cancel(self, *jobs: Job) -> None:
        """Stop the jobs of some names, and drop their results."""

    def is_running(self, *jobs: Job) -> bool:
        """Check whether a job with one of the names still runs."""

    def say(self, text: str, *, error: bool = False) -> None:
        """Show a message for some seconds, or until the next message; an empty text hides it."""

    def show_progress(self, text: str) -> None:
        """Show the progress of a long task, besides messages; an empty text hides it."""

    def copy(self, text: str, what: str) -> CopyDone:
        """Copy a text; return the outcome with a message that names it: for a worker thread."""

    def act(self, action: str, *values: object) -> None:
        """Do an action of `screen.ACTIONS`, as a key does, after the present one."""

    def focus(self, target: str) -> None:
        """Move the focus to a pane, or to the query line."""

    def open(
        self,
        dialog: Dialog[Result],
        done: Callable[[Result | None], object] | None = None,
    ) -> None:
        """Open a dialog, and pass its result to `done`."""

    def follow(self, ask: Callable[[], object] | None) -> None:
        """Call a function, if any, for each newer catalog, in place of the last function."""

    def exit(self, hashes: list[str] | None, code: int = 0) -> None:
        """End the program with the picked hashes."""


def remember(host: BrowserHost, write: Callable[[], object], what: str, job: Job) -> None:
    """Save a choice of the user in a worker thread, and show a message if that fails."""

    def save(_: object) -> str:
        try:
            write()
        except Unwritable as error:
            return clean(f"The {what} will not be remembered: {error}")
        return ""

    def report(failure: str) -> None:
        if failure:
            host.say(failure, error=True)

    host.run(save, report, job)
