"""Do several things that wait for others at once."""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from spackscope.model.core.errors import (
    Cancelled,
)
from spackscope.model.core.progress import ShouldStop

AT_ONCE = 8
"""Requests that no server takes amiss."""

T = TypeVar("T")


def side_by_side(
    tasks: Sequence[Callable[[], T]],
    should_stop: ShouldStop,
    *,
    patience: float = math.inf,
    on_late: Callable[[Mapping[int, T]], None] | None = None,
) -> list[T]:
    """Run tasks in up to eight threads, and give their results in the order of the tasks.

    `on_late` is called once, in this thread, where some results are there by their numbers and
    others are not after `patience`, in seconds. Raises what a task raises, and Cancelled as soon
    as `should_stop` says so; what still runs then is left behind, and does not keep the program
    from ending.
    """
    if len(tasks) == 1:
        return [tasks[0]()]
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    done: queue.SimpleQueue[tuple[int, T | None, BaseException | None]] = queue.SimpleQueue()
    for number in range(len(tasks)):
        waiting.put(number)
    left = threading.Event()

    def work() -> None:
        while not left.is_set():
            try:
                number = waiting.get_nowait()
            except queue.Empty:
                return
            try:
                done.put((number, tasks[number](), None))
            except BaseException as error:
                done.put((number, None, error))

    if not _start_threads(work, min(AT_ONCE, len(tasks))):
        work()
    results: dict[int, T] = {}
    late = time.monotonic() + patience
    try:
        while len(results) < len(tasks):
            if on_late is not None and results and time.monotonic() > late:
                on_late(results)
                on_late = None
            try:
                number, result, error = done.get(timeout=0.05)
            except queue.Empty:
                if should_stop():
                    raise Cancelled from None
                continue
            if error is not None:
                raise error
            results[number] = result  # type: ignore[assignment]
    finally:
        left.set()
    return [results[number] for number in range(len(tasks))]


def _start_threads(work: Callable[[], None], most: int) -> int:
    """Start threads, and return how many the limit of the user's processes leaves."""
    for number in range(most):
        try:
            threading.Thread(target=work, daemon=True).start()
        except RuntimeError:
            return number
    return most
