"""Threads return results in order, and nobody waits for one that is cancelled."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping

import pytest

from spackscope.model.core.errors import Cancelled
from spackscope.model.core.tasks import (
    MAX_THREADS,
    TICK,
    never,
    run_cancellable,
    run_parallel,
    sleep,
)


@pytest.fixture
def forever() -> Iterator[Callable[[], bool]]:
    """A function that does not return before the test has ended."""
    ended = threading.Event()
    yield ended.wait
    ended.set()


def test_results_come_in_the_order_of_their_tasks() -> None:
    first = threading.Event()

    def last() -> int:
        first.set()
        return 1

    assert run_parallel([first.wait, last], never) == [True, 1]
    many = range(5 * MAX_THREADS)
    assert run_parallel([lambda n=n: n for n in many], never) == list(many)  # type: ignore[misc]
    assert run_parallel([], never) == []


def test_the_failure_of_a_task_is_raised(forever: Callable[[], bool]) -> None:
    with pytest.raises(ZeroDivisionError):
        run_parallel([forever, lambda: bool(1 // 0)], never)
    with pytest.raises(ZeroDivisionError):
        run_cancellable(lambda: 1 // 0, never)


def test_nothing_is_waited_for_once_the_user_stops(forever: Callable[[], bool]) -> None:
    assert TICK <= 0.1
    with pytest.raises(Cancelled):
        run_parallel([forever, forever], lambda: True)
    with pytest.raises(Cancelled):
        run_cancellable(forever, lambda: True)
    with pytest.raises(Cancelled):
        sleep(1e9, lambda: True)


def test_the_results_so_far_are_reported_once_when_a_task_is_late() -> None:
    late = threading.Event()
    reports: list[Mapping[int, bool]] = []

    def report(results: Mapping[int, bool]) -> None:
        reports.append(dict(results))
        late.set()

    tasks = [late.wait, lambda: True]
    assert run_parallel(tasks, never, late_after=0, on_late=report) == [True, True]
    assert reports == [{1: True}]
    slow = threading.Event()
    assert run_parallel([lambda: slow.wait(0.3), lambda: True], never, late_after=0) == [
        False,
        True,
    ]


def test_tasks_run_without_threads_where_none_can_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)

    assert run_parallel([lambda: 1, lambda: 2], never) == [1, 2]
