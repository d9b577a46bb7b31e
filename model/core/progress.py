"""Types of the callbacks that report progress and cancel long tasks."""

from __future__ import annotations

from collections.abc import Callable

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
