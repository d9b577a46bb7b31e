"""Let answers come and frames be drawn at other moments than on a quiet machine.

Where a test fails then, the browser has a race that others meet on a slow machine or line. `make
shake` runs the tests so, and prints a number that repeats the order of a run:

    SPACKSCOPE_TIMING=1732 .venv/bin/python -m pytest tests/tui/browser -k its_name
"""

import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from textual.screen import Screen

from tests.textual_internals import patch_drawing

_LONGEST_JOB = 0.06
"""Seconds that a job is made longer by, before it begins and after it ended, at most."""
_LONGEST_START = 0.05
"""Seconds that the event loop stands still after it started a job, at most."""
_LATE_FRAMES = (1, 2, 5, 30)
"""How many times a frame is not drawn when it should be."""


def shuffle_timing(seed: str, patch: pytest.MonkeyPatch) -> None:
    """Make jobs quick or slow, and frames late, in an order that follows from the seed."""
    numbers = random.Random(seed)
    run = Screen.run_worker
    still_late = 0

    def slow(job: Callable[[], object]) -> Callable[[], object]:
        before, after = (_LONGEST_JOB * numbers.random() ** 3 for _ in range(2))

        def slow_job() -> object:
            time.sleep(before)
            result = job()
            time.sleep(after)
            return result

        return slow_job

    def run_worker(screen: Screen[Any], job: Any, *arguments: Any, **options: Any) -> Any:
        is_slow = numbers.random() < 0.5
        is_thread = options.get("thread", False)
        worker = run(screen, slow(job) if is_thread and is_slow else job, *arguments, **options)
        if is_thread and not is_slow:
            # Its answer is there before the next thing is done.
            time.sleep(_LONGEST_START * numbers.random())
        return worker

    def draw_late(draw: Callable[[], object], draw_later: Callable[[], object]) -> None:
        nonlocal still_late
        if not still_late and numbers.random() < 0.3:
            still_late = numbers.choice(_LATE_FRAMES)
        if still_late:
            still_late -= 1
            draw_later()
        else:
            draw()

    patch.setattr(Screen, "run_worker", run_worker)
    patch_drawing(patch, draw_late)
