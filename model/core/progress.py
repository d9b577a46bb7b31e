"""How long tasks tell how far they are, and are told to stop."""

from __future__ import annotations

from collections.abc import Callable

OnProgress = Callable[[str, int, int | None], None]
"""Called with what is counted, how many are done, and how many there are if that is known."""

ShouldStop = Callable[[], bool]


def no_progress(_what: str, _done: int, _total: int | None) -> None:
    """Report progress to nobody."""


def never() -> bool:
    """Answer that nobody wants to stop."""
    return False
