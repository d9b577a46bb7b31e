"""Do several things that wait for others at once."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from spackscope.model.progress import ShouldStop
from spackscope.model.records import Cancelled

AT_ONCE = 8
"""Requests that no server takes amiss."""

T = TypeVar("T")


def side_by_side(tasks: Sequence[Callable[[], T]], should_stop: ShouldStop) -> list[T]:
    """Run tasks in up to eight threads, and give their results in the order of the tasks.

    Raises what a task raises, and Cancelled as soon as `should_stop` says so; what still runs
    then is left behind, and does not keep the program from ending.
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

    for _ in range(min(AT_ONCE, len(tasks))):
        threading.Thread(target=work, daemon=True).start()
    results: dict[int, T] = {}
    try:
        while len(results) < len(tasks):
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
