"""Run long tasks: report their progress, cancel them, and run several at once in threads."""

from __future__ import annotations

import contextlib
import gc
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from spackscope.model.core.errors import Cancelled

if TYPE_CHECKING:
    # Most commands start no thread.
    from queue import SimpleQueue

OnProgress = Callable[[str, int, int | None], None]
"""Called with what is counted, how many are done, and how many there are, if that is known."""

OnCount = Callable[[int, int], None]
"""Called now and then with the number of records read so far, and about how many there are.

It may raise to stop."""

ShouldStop = Callable[[], bool]


def no_progress(_what: str, _done: int, _total: int | None) -> None:
    """Ignore progress."""


def never() -> bool:
    """Return False: the task is never cancelled."""
    return False


@contextlib.contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the cycle collector, which would search the millions of objects of a large index.

    Reading documents makes hardly any cycles. Parsing takes five times as long while the collector
    searches for them, and a build of pages 1.05 times.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


MAX_THREADS = 8
"""Threads of one call; a server accepts as many requests at once."""

TICK = 0.05
"""Seconds between two calls of `should_stop`."""

T = TypeVar("T")

_Outcome = tuple[int, Any, BaseException | None]
"""The index of a task with its result or its exception."""


def run_parallel(
    tasks: Sequence[Callable[[], T]],
    should_stop: ShouldStop,
    *,
    late_after: float = math.inf,
    on_late: Callable[[Mapping[int, T]], None] | None = None,
) -> list[T]:
    """Run tasks in up to eight threads, and return their results in the order of the tasks.

    `on_late` is called once, in the calling thread, if after `late_after` seconds some tasks have
    finished and others have not; it gets the results so far by the index of their task.

    Raises what a task raises, and Cancelled once `should_stop` returns True. Tasks that still run
    then keep running in daemon threads; their results are discarded.

    >>> run_parallel([lambda: 1, lambda: 2], never)
    [1, 2]
    """
    if len(tasks) == 1:
        return [tasks[0]()]
    waiting = list(enumerate(tasks))
    results: dict[int, T] = {}
    late = time.monotonic() + late_after
    try:
        outcomes = _start(waiting)
        while len(results) < len(tasks):
            if on_late is not None and results and time.monotonic() > late:
                on_late(results)
                on_late = None
            results.update(_next_result(outcomes, should_stop))
    finally:
        waiting.clear()
    return [results[index] for index in range(len(tasks))]


def run_cancellable(
    function: Callable[[], T], should_stop: ShouldStop, timeout: float = math.inf
) -> T:
    """Run a function that cannot be interrupted in a thread, and return its result.

    Raises what the function raises, Cancelled once `should_stop` returns True, and TimeoutError
    after `timeout` seconds. In the last two cases the function keeps running in a daemon thread;
    its result is discarded.
    """
    outcomes = _start([(0, function)])
    until = time.monotonic() + timeout
    while not (results := _next_result(outcomes, should_stop)):
        if time.monotonic() > until:
            raise TimeoutError
    result: T = results[0]
    return result


def sleep(seconds: float, should_stop: ShouldStop) -> None:
    """Sleep. Raises Cancelled once `should_stop` returns True."""
    until = time.monotonic() + seconds
    while (seconds_left := until - time.monotonic()) > 0:
        if should_stop():
            raise Cancelled
        time.sleep(min(TICK, seconds_left))


def _start(waiting: list[tuple[int, Callable[[], T]]]) -> SimpleQueue[_Outcome]:
    """Start threads that take tasks from a list, in their order, until it is empty.

    Returns the queue of their outcomes. Where the user's limit of processes allows no thread, the
    work is done here.
    """
    from queue import SimpleQueue

    outcomes: SimpleQueue[_Outcome] = SimpleQueue()

    def work() -> None:
        with contextlib.suppress(IndexError):
            while True:
                index, task = waiting.pop(0)
                outcomes.put(_run(index, task))

    for started in range(min(MAX_THREADS, len(waiting))):
        try:
            threading.Thread(target=work, daemon=True).start()
        except RuntimeError:
            if not started:
                work()
            break
    return outcomes


def _run(index: int, task: Callable[[], Any]) -> _Outcome:
    try:
        return index, task(), None
    except BaseException as error:
        return index, None, error


def _next_result(outcomes: SimpleQueue[_Outcome], should_stop: ShouldStop) -> dict[int, Any]:
    """Return the next result by the index of its task; nothing if a tick brings none.

    Raises the exception of a task, and Cancelled.
    """
    from queue import Empty

    try:
        index, result, error = outcomes.get(timeout=TICK)
    except Empty:
        if should_stop():
            raise Cancelled from None
        return {}
    if error is not None:
        raise error
    return {index: result}
