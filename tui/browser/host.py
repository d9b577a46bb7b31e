"""What the controllers of the browser may do.

They are plain classes that read `BrowserHost.state` and change it; `threads.py` implements
BrowserHost for Textual, and `panes.py` shows a state in the widgets.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from spackscope.model.index.catalog import Catalog
from spackscope.tui.browser.jobs import Job
from spackscope.tui.browser.state import BrowserState, Where

if TYPE_CHECKING:
    from spackscope.model.sources.session import Session
    from spackscope.tui.copy_forms import CopyDone
    from spackscope.tui.dialogs.dialog import Dialog
    from spackscope.tui.settings import Settings

Result = TypeVar("Result")


class Task(Protocol):
    """A job in its thread; call it to ask whether the job is to stop."""

    def __call__(self) -> bool:
        """Check whether the result is not needed any more."""

    def report(self, call: Callable[[], object]) -> None:
        """Call a function on the event loop, unless the job was replaced or cancelled."""


class BrowserHost(Protocol):
    """All that a controller may use. Everything is called on the thread of the event loop.

    `state` is what is shown, which `change` replaces. `sources` are the names of the sources that
    are shown, `session` is what they are read with at first, and `settings` are those of the
    command line and of files.
    """

    state: BrowserState
    sources: Sequence[str]
    session: Session
    settings: Settings

    @property
    def where(self) -> Where:
        """Where the user is now."""

    def change(self, **fields: Any) -> None:
        """Replace some fields of the state, and show what changed."""

    def show_query(self, *, rewrite: bool = False) -> None:
        """Show the query in the inputs; the one being typed in is left alone, unless `rewrite`."""

    @property
    def blocked(self) -> frozenset[str]:
        """What keys may need that a job is still to bring, or that is still to be shown."""

    def run(
        self,
        work: Callable[[Task], Result],
        done: Callable[[Result], object],
        job: Job,
        *,
        delay: float = 0,
        of: Catalog | None = None,
    ) -> None:
        """Do the work of a job in a worker thread, and pass its result to `done`.

        A newer job of the same name replaces an older one, whose result is dropped; so is one
        with numbers `of` a catalog that is not shown any more. Work that raises Cancelled has no
        result.
        """

    def unblock(self, job: Job) -> None:
        """Block no more than a job does of the name of one that runs: the rest was shown."""

    def cancel(self, *jobs: Job) -> None:
        """Stop the jobs of some names, and drop their results."""

    def is_running(self, *jobs: Job) -> bool:
        """Check whether a job of some names runs, whose result is still to come."""

    def say(self, text: str, *, error: bool = False) -> None:
        """Show a message for some seconds, or until the next one; an empty one hides it."""

    def show_progress(self, text: str) -> None:
        """Show how far a long task is, besides messages; an empty text ends that."""

    def copy(self, text: str, what: str) -> CopyDone:
        """Copy a text, which the message calls by a name: for a worker thread."""

    def focus(self, target: str) -> None:
        """Move the focus to a pane, or to the query line."""

    def open(
        self,
        dialog: Dialog[Result],
        done: Callable[[Result | None], object] | None = None,
        *,
        ask: Callable[[], object] | None = None,
        job: Job | None = None,
    ) -> None:
        """Open a dialog, and pass its result to `done`.

        `ask` reads what it shows from the catalog, in a job: at once, and again from each newer
        catalog while the dialog is open; closing it ends that.
        """

    def follow(self, ask: Callable[[], object] | None) -> None:
        """Call a function for each newer catalog, in place of the one before; none with None."""

    def exit(self, hashes: list[str] | None, code: int = 0) -> None:
        """End the program with the hashes that were picked."""
