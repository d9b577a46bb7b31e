"""Show the progress of a long load on a terminal's stderr."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

from spackscope.model.core.progress import OnProgress, no_progress
from spackscope.model.presentation.progress import Stages
from spackscope.tui.process import stdio

if TYPE_CHECKING:
    from rich.progress import Progress

DELAY = 0.3
"""Seconds before anything is shown: most loads are over by then."""


@contextlib.contextmanager
def progress_bar(*, colour: bool) -> Iterator[OnProgress]:
    """Yield a function that draws a progress bar on a terminal; remove the bar at the end."""
    if not stdio.is_terminal(sys.stderr):
        yield no_progress
        return
    started, stages = time.monotonic(), Stages()
    # Sources are discovered in several threads.
    lock = threading.Lock()
    bar: Progress | None = None

    def show(what: str, done: int, total: int | None) -> None:
        nonlocal bar
        with lock:
            text = stages.describe(what, done, total)
            if time.monotonic() - started < DELAY:
                return
            if bar is None:
                bar = _new_bar(colour)
                bar.add_task(text, total=total)
                bar.start()
            bar.update(bar.task_ids[0], description=text, completed=done, total=total)

    try:
        yield show
    finally:
        if bar is not None:
            bar.stop()


def _new_bar(colour: bool) -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        BarColumn(bar_width=24),
        TextColumn("{task.description}", markup=False),
        TextColumn("Ctrl-C cancels", markup=False),
        # Rich itself obeys NO_COLOR.
        console=Console(stderr=True, no_color=None if colour else True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
