"""Run long tasks: report their progress, cancel them, and run several at once in threads."""

from __future__ import annotations

import gc
import math
import queue
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TypeVar, cast

from spackscope.model.core.errors import Cancelled

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


@contextmanager
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
    pending: queue.SimpleQueue[int] = queue.SimpleQueue()
    outcomes: _Outcomes[T] = queue.SimpleQueue()
    for index in range(len(tasks)):
        pending.put(index)
    abandoned = threading.Event()
    _start_threads(
        partial(_run_pending, tasks, pending, outcomes, abandoned), min(MAX_THREADS, len(tasks))
    )
    results: dict[int, T] = {}
    late = time.monotonic() + late_after
    try:
        while len(results) < len(tasks):
            if on_late is not None and results and time.monotonic() > late:
                on_late(results)
                on_late = None
            if outcome := _next_outcome(outcomes, should_stop):
                results[outcome[0]] = outcome[1]
    finally:
        abandoned.set()
    return [results[index] for index in range(len(tasks))]


def run_cancellable(
    function: Callable[[], T], should_stop: ShouldStop, timeout: float = math.inf
) -> T:
    """Run a function that cannot be interrupted in a thread, and return its result.

    Raises what the function raises, Cancelled once `should_stop` returns True, and TimeoutError
    after `timeout` seconds. In the last two cases the function keeps running in a daemon thread;
    its result is discarded.
    """
    outcomes: _Outcomes[T] = queue.SimpleQueue()
    threading.Thread(target=_run, args=(0, function, outcomes), daemon=True).start()
    until = time.monotonic() + timeout
    while not (outcome := _next_outcome(outcomes, should_stop)):
        if time.monotonic() > until:
            raise TimeoutError
    return outcome[1]


def sleep(seconds: float, should_stop: ShouldStop) -> None:
    """Sleep. Raises Cancelled once `should_stop` returns True."""
    until = time.monotonic() + seconds
    while (seconds_left := until - time.monotonic()) > 0:
        if should_stop():
            raise Cancelled
        time.sleep(min(TICK, seconds_left))


_Outcomes = queue.SimpleQueue[tuple[int, T | None, BaseException | None]]
"""The index of a task with its result or its exception."""


def _run_pending(
    tasks: Sequence[Callable[[], T]],
    pending: queue.SimpleQueue[int],
    outcomes: _Outcomes[T],
    abandoned: threading.Event,
) -> None:
    while not abandoned.is_set():
        try:
            index = pending.get_nowait()
        except queue.Empty:
            return
        _run(index, tasks[index], outcomes)


def _run(index: int, task: Callable[[], T], outcomes: _Outcomes[T]) -> None:
    try:
        outcomes.put((index, task(), None))
    except BaseException as error:
        outcomes.put((index, None, error))


def _next_outcome(outcomes: _Outcomes[T], should_stop: ShouldStop) -> tuple[int, T] | None:
    """Return the next result after the index of its task, or None if a tick brings none.

    Raises the exception of a task, and Cancelled.
    """
    try:
        index, result, error = outcomes.get(timeout=TICK)
    except queue.Empty:
        if should_stop():
            raise Cancelled from None
        return None
    if error is not None:
        raise error
    return index, cast(T, result)


def _start_threads(work: Callable[[], None], count: int) -> None:
    """Start threads; where the user's limit of processes allows none, do the work here."""
    for started in range(count):
        try:
            threading.Thread(target=work, daemon=True).start()
        except RuntimeError:
            if not started:
                work()
            return
