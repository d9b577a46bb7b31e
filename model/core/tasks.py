"""Run long tasks: report their progress, cancel them, and run several at once in threads.

What they compute may be kept in a cache that is bounded by the bytes of its values.
"""

from __future__ import annotations

import contextlib
import gc
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextvars import ContextVar, copy_context
from typing import Any, Generic, TypeVar

from spackscope.model.core.errors import Cancelled

OnProgress = Callable[[str, int, int | None], None]
"""Called with the noun that is counted, the number done, and the total, None if unknown."""

OnCount = Callable[[int, int], None]
"""Called now and then with the number of records read so far, and about the total number.

It may raise to stop."""

ShouldStop = Callable[[], bool]


_should_stop: ContextVar[ShouldStop] = ContextVar("should_stop", default=lambda: False)


@contextlib.contextmanager
def cancelled_when(should_stop: ShouldStop) -> Iterator[None]:
    """Cancel the tasks in the block, and in threads started there, once `should_stop` is true."""
    outer = _should_stop.get()
    token = _should_stop.set(lambda: should_stop() or outer())
    try:
        yield
    finally:
        _should_stop.reset(token)


def is_cancelled() -> bool:
    """Check whether the task that runs in this thread is cancelled."""
    return _should_stop.get()()


def check_cancelled() -> None:
    """Raise Cancelled if the task in this thread is cancelled. Long tasks call it often."""
    if is_cancelled():
        raise Cancelled


_on_progress: ContextVar[OnProgress] = ContextVar("on_progress", default=lambda *_: None)


@contextlib.contextmanager
def progress_to(on_progress: OnProgress) -> Iterator[None]:
    """Call a function with the progress of the tasks in the block, and in threads started there.

    It is called at most ten times a second for each noun, and at the end, by several threads.
    """
    outer, reported = _on_progress.get(), dict[str, float]()

    def report(what: str, done: int, total: int | None) -> None:
        outer(what, done, total)
        if done == total or time.monotonic() - reported.get(what, 0) > _REPORT_SECONDS:
            on_progress(what, done, total)
            reported[what] = time.monotonic()

    with _progress_by(report):
        yield


@contextlib.contextmanager
def _progress_by(report: OnProgress) -> Iterator[None]:
    token = _on_progress.set(report)
    try:
        yield
    finally:
        _on_progress.reset(token)


def progress_hidden() -> contextlib.AbstractContextManager[None]:
    """Report no progress of the tasks in the block, which are parts of a task that reports it."""
    return _progress_by(lambda *_: None)


def progress_after(seconds: float) -> contextlib.AbstractContextManager[None]:
    """Report no progress of the tasks in the block for some seconds."""
    outer, end = _on_progress.get(), time.monotonic() + seconds

    def report(what: str, done: int, total: int | None) -> None:
        if time.monotonic() >= end:
            outer(what, done, total)

    return _progress_by(report)


def progress_joined(what: str) -> contextlib.AbstractContextManager[None]:
    """Report the progress of the tasks in the block, which run together, as the sum of it."""
    outer, done = _on_progress.get(), dict[str, int]()

    def report(noun: str, count: int, _total: int | None) -> None:
        done[noun] = count
        outer(what, sum([*done.values()]), None)

    return _progress_by(report)


def report_progress(what: str, done: int, total: int | None = None) -> None:
    """Report the progress of the task in this thread. Raises Cancelled."""
    check_cancelled()
    _on_progress.get()(what, done, total)


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
"""Seconds between two checks whether a task is cancelled."""

_REPORT_SECONDS = 0.1
_PATIENCE = 1.0

T = TypeVar("T")


def run_parallel(
    tasks: Sequence[Callable[[], T]], on_wait: Callable[[Mapping[int, T]], object] | None = None
) -> list[T]:
    """Run tasks in up to eight threads, and return their results in the order of the tasks.

    `on_wait` is called often, in the calling thread, while some tasks have not finished; it gets
    the results so far by the index of their task.

    Raises the exceptions of tasks, and Cancelled. Tasks that still run then keep running in daemon
    threads; their results are discarded.

    >>> run_parallel([lambda: 1, lambda: 2])
    [1, 2]
    """
    if len(tasks) == 1 and on_wait is None:
        return [tasks[0]()]
    results: dict[int, T] = {}
    for new in _results(tasks):
        results.update(new)
        if on_wait is not None and len(results) < len(tasks):
            on_wait(results)
    return [results[index] for index in range(len(tasks))]


def run_cancellable(function: Callable[[], T], on_tick: Callable[[], object] = lambda: None) -> T:
    """Run a function that cannot be interrupted in a thread, and return its result.

    `on_tick` is called in the calling thread while it waits. Raises the exceptions of the
    function, and Cancelled: the function then keeps running in a daemon thread, and its result is
    discarded.
    """
    results: dict[int, T] = {}
    for new in _results([function]):
        on_tick()
        results.update(new)
    return results[0]


def run_briefly(function: Callable[[], T], default: T) -> T:
    """Run a function in a thread; return its result, or a default if it takes over a second.

    It is for looking at paths, which hangs on a network mount whose server is gone.
    """
    end = time.monotonic() + _PATIENCE
    try:
        with cancelled_when(lambda: time.monotonic() > end):
            return run_cancellable(function)
    except Cancelled:
        return default


def sleep(seconds: float) -> None:
    """Sleep. Raises Cancelled."""
    until = time.monotonic() + seconds
    while (seconds_left := until - time.monotonic()) > 0:
        check_cancelled()
        time.sleep(min(TICK, seconds_left))


def _results(tasks: Sequence[Callable[[], T]]) -> Iterator[Mapping[int, T]]:
    """Run tasks in threads, in their order, and yield each result by the index of its task.

    An empty mapping is yielded after a tick without a result. Where the user's limit of processes
    allows no thread, the tasks run in the calling thread. Raises the exceptions of tasks, and
    Cancelled.
    """
    # Most commands start no thread.
    from queue import Empty, SimpleQueue

    outcomes: SimpleQueue[tuple[int, Any, BaseException | None]] = SimpleQueue()
    # All threads take from one iterator.
    waiting = enumerate(tasks)

    def work() -> None:
        for index, task in waiting:
            try:
                outcomes.put((index, task(), None))
            except BaseException as error:
                outcomes.put((index, None, error))

    for started in range(min(MAX_THREADS, len(tasks))):
        try:
            threading.Thread(target=copy_context().run, args=(work,), daemon=True).start()
        except RuntimeError:
            if not started:
                work()
            break
    left = len(tasks)
    try:
        while left:
            try:
                index, result, error = outcomes.get(timeout=TICK)
            except Empty:
                check_cancelled()
                yield {}
                continue
            if error is not None:
                raise error
            left -= 1
            yield {index: result}
    finally:
        # Threads begin no further task.
        for _ in waiting:
            pass


MAX_BYTES = 8_000_000
"""Approximate bytes of all values of one cache together."""

_ENTRY_OVERHEAD = 2_000
"""Bytes that an entry counts for besides its value: its key, and the objects around it."""

Key = TypeVar("Key")
Value = TypeVar("Value")


class BoundedCache(Generic[Key, Value]):
    """Cache of up to `limit` bytes that drops the least recently used values first.

    `measure` returns the bytes of a value. The newest value stays however large it is, since it is
    likely to be needed again. Safe to use from several threads.
    """

    def __init__(self, measure: Callable[[Value], int], limit: int = MAX_BYTES) -> None:
        self.limit = limit
        self.size = 0
        self._measure = measure
        self._values: dict[Key, Value] = {}
        self._lock = threading.Lock()

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def get(self, key: Key, compute: Callable[[], Value]) -> Value:
        """Return the cached value of a key, or compute and cache it."""
        with self._lock, contextlib.suppress(KeyError):
            value = self._values[key] = self._values.pop(key)
            return value
        value = compute()
        with self._lock:
            # Another thread may have been quicker.
            if key not in self._values:
                self._values[key] = value
                self.size += _ENTRY_OVERHEAD + self._measure(value)
            while self.size > self.limit and len(self._values) > 1:
                oldest = self._values.pop(next(iter(self._values)))
                self.size -= _ENTRY_OVERHEAD + self._measure(oldest)
        return value
