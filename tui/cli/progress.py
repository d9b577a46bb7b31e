"""Show the progress of a long load on a terminal's stderr."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from spackscope.model.report.progress import Stages

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

DELAY = 0.3
"""Seconds after the first report before anything is shown: most loads are over by then."""


class BuildProgress:
    """A callable `on_progress` that draws a progress bar."""

    def __init__(self, *, visible: bool, colour: bool) -> None:
        self._visible, self._colour = visible, colour
        self._started: float | None = None
        self._stages = Stages()
        self._progress: Progress | None = None
        self._task: TaskID | None = None
        # Sources are discovered in several threads.
        self._lock = threading.Lock()

    def close(self) -> None:
        """Remove the line from the screen."""
        if self._progress is not None:
            self._progress.stop()

    def __call__(self, what: str, done: int, total: int | None) -> None:
        """Show how much of a stage is done."""
        if not self._visible:
            return
        with self._lock:
            description = str(self._stages.progress(what, done, total))
            now = time.monotonic()
            self._started = now if self._started is None else self._started
            if now - self._started < DELAY:
                return
            if self._progress is None:
                self._progress = _new_progress(self._colour)
                self._progress.start()
                self._task = self._progress.add_task(description, total=total)
            assert self._task is not None
            self._progress.update(self._task, description=description, completed=done, total=total)


def _new_progress(colour: bool) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    # Rich itself obeys NO_COLOR.
    console = Console(stderr=True, no_color=None if colour else True)
    # A cursor that is hidden stays hidden where Ctrl-Z stops the program, or a signal kills it.
    vars(console)["show_cursor"] = lambda _show: False
    return Progress(
        BarColumn(bar_width=24),
        TextColumn("{task.description}", markup=False),
        TextColumn("Ctrl-C cancels", markup=False),
        console=console,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
