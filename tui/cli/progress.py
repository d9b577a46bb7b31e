"""Show on a terminal's stderr how far a long build has come."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import TYPE_CHECKING

from spackscope.model.presentation.progress import Stages

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

PATIENCE = 0.3
"""Seconds that pass before anything is shown: most builds are over by then."""


class BuildProgress:
    """Count what a build has done; an instance is the `on_progress` that the model calls.

    As a context manager it takes its line off the screen at the end, however that comes.
    """

    def __init__(self, *, visible: bool) -> None:
        self._visible = visible
        self._started = time.monotonic()
        self._stages = Stages()
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        # Sources are looked at side by side, each by a thread of its own.
        self._lock = threading.Lock()

    def __enter__(self) -> BuildProgress:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Show that so many are done; the first moments show nothing."""
        if not self._visible:
            return
        with self._lock:
            said = self._stages.describe(what, done, total)
            if time.monotonic() - self._started < PATIENCE:
                return
            if self._progress is None:
                self._progress = _new_progress()
                self._progress.start()
                self._task = self._progress.add_task(said, total=total)
            assert self._task is not None
            self._progress.update(self._task, description=said, completed=done, total=total)


def _new_progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        BarColumn(bar_width=24),
        TextColumn("{task.description}", markup=False),
        TextColumn("Ctrl-C cancels", markup=False),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
