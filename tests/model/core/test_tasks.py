"""Threads return results in order, nobody waits for a cancelled one, progress has its time."""

import threading
from collections.abc import Callable, Iterator, Mapping

import pytest

from spackscope.model.core.errors import Cancelled
from spackscope.model.core.tasks import (
    MAX_THREADS,
    TICK,
    cancelled_when,
    is_cancelled,
    progress_after,
    progress_to,
    report_progress,
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

    assert run_parallel([first.wait, last]) == [True, 1]
    many = range(5 * MAX_THREADS)
    assert run_parallel([lambda n=n: n for n in many]) == list(many)  # type: ignore[misc]
    assert run_parallel([]) == []


def test_the_failure_of_a_task_is_raised(forever: Callable[[], bool]) -> None:
    with pytest.raises(ZeroDivisionError):
        run_parallel([forever, lambda: bool(1 // 0)])
    with pytest.raises(ZeroDivisionError):
        run_cancellable(lambda: 1 // 0)


def test_nothing_is_waited_for_once_the_user_stops(forever: Callable[[], bool]) -> None:
    assert TICK <= 0.1
    with pytest.raises(Cancelled), cancelled_when(lambda: True):
        run_parallel([forever, forever])
    with pytest.raises(Cancelled), cancelled_when(lambda: True):
        run_cancellable(forever)
    with pytest.raises(Cancelled), cancelled_when(lambda: True):
        sleep(1e9)


def test_the_threads_of_a_task_are_cancelled_with_it() -> None:
    here = threading.current_thread()
    with cancelled_when(lambda: threading.current_thread() is not here):
        assert run_parallel([is_cancelled, is_cancelled]) == [True, True]
        with cancelled_when(lambda: False):
            assert run_parallel([is_cancelled, is_cancelled]) == [True, True]
    assert run_parallel([is_cancelled, is_cancelled]) == [False, False]


def test_the_results_so_far_are_reported_while_a_task_is_waited_for() -> None:
    late = threading.Event()
    reports: list[Mapping[int, bool]] = []

    def report(results: Mapping[int, bool]) -> None:
        reports.append(dict(results))
        if len(results) == count - 1:
            late.set()

    count = 2
    assert run_parallel([late.wait, lambda: True], report) == [True, True]
    assert reports[-1] == {1: True}
    count = 1
    late.clear()
    assert run_parallel([late.wait], report) == [True]
    assert reports[-1] == {}


def test_tasks_run_without_threads_where_none_can_start(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)

    assert run_parallel([lambda: 1, lambda: 2]) == [1, 2]


def test_progress_is_not_reported_before_its_time() -> None:
    told = list[str]()
    with progress_to(lambda what, *_: told.append(what)):
        with progress_after(60):
            report_progress("too early", 1)
        with progress_after(0):
            report_progress("in time", 1)
    assert told == ["in time"]
