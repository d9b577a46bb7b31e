"""Show on a terminal's stderr how far a long build has come."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

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
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        self._what = ""

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
        if not self._visible or time.monotonic() - self._started < PATIENCE:
            return
        if self._progress is None:
            self._progress = _new_progress()
            self._progress.start()
        if what != self._what:
            if self._task is not None:
                self._progress.remove_task(self._task)
            # The rate is that of the current stage, so each has a task of its own.
            self._task = self._progress.add_task(what, total=total)
            self._what = what
        assert self._task is not None
        self._progress.update(self._task, completed=done, total=total)


def _new_progress() -> Progress:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        """Say how many are done a second."""

        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.0f}/s" if task.speed else "")

    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        Rate(),
        TextColumn("Ctrl-C cancels", markup=False),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
