"""Wait for what cannot be interrupted, without making the user wait for it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from spackscope.model.core.errors import (
    Cancelled,
)
from spackscope.model.core.progress import ShouldStop

Answer = TypeVar("Answer")

TICK = 0.05
"""Seconds after which it is asked again whether to stop."""


class _Task(Generic[Answer]):
    def __init__(self, function: Callable[[], Answer]) -> None:
        self._function = function
        self._failure: BaseException | None = None
        self._answers: list[Answer] = []
        self.done = threading.Event()

    def run(self) -> None:
        try:
            self._answers.append(self._function())
        except BaseException as error:
            self._failure = error
        finally:
            self.done.set()

    def answer(self) -> Answer:
        if self._failure is not None:
            raise self._failure
        return self._answers[0]


def wait_for(
    function: Callable[[], Answer], should_stop: ShouldStop, timeout: float | None = None
) -> Answer:
    """Run a function in a thread of its own, and give its answer.

    Raises what the function raises, Cancelled as soon as `should_stop` says so, and TimeoutError
    after `timeout` seconds; in these cases the function goes on, and nobody hears of it.
    """
    task = _Task(function)
    threading.Thread(target=task.run, daemon=True).start()
    until = None if timeout is None else time.monotonic() + timeout
    while not task.done.wait(TICK):
        if should_stop():
            raise Cancelled
        if until is not None and time.monotonic() > until:
            raise TimeoutError
    return task.answer()


def pause(seconds: float, should_stop: ShouldStop) -> None:
    """Do nothing for some seconds. Raises Cancelled."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if should_stop():
            raise Cancelled
        time.sleep(min(TICK, left))
