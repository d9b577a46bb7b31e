"""Timeouts, retries and the slowest rate of a download."""

from __future__ import annotations

import time

from spackscope.model.core.errors import Unreachable
from spackscope.model.core.frozen import Frozen


class Timeouts(Frozen):
    """Timeouts of a server in seconds, and how often a request is retried.

    `stalled` is the longest time without any byte, or for the head of a response, and `slow_for`
    the longest time with fewer than `min_rate` bytes a second. Between two attempts the client
    waits `pause` seconds, three times as long before each further one, or as long as the server
    asks; it does not try again where that is more than `max_pause`.
    """

    connect: float = 10.0
    stalled: float = 20.0
    slow_for: float = 60.0
    min_rate: int = 1024
    attempts: int = 3
    pause: float = 0.5
    max_pause: float = 30.0


class RateCheck:
    """Check that a file is not sent too slowly."""

    def __init__(self, timeouts: Timeouts, host: str) -> None:
        self._timeouts, self._host = timeouts, host
        self._since, self._size_then = time.monotonic(), 0

    def update(self, size: int, total: int | None = None) -> None:
        """Update the number of bytes. Raises Unreachable if it grew too slowly."""
        timeouts, now = self._timeouts, time.monotonic()
        seconds, received = now - self._since, size - self._size_then
        if seconds < timeouts.slow_for or size == total:
            return
        if received < timeouts.min_rate * seconds:
            rate = f"fewer than {timeouts.min_rate:,} bytes a second"
            message = f"{self._host} has sent {rate} for {timeouts.slow_for:g} seconds"
            raise Unreachable(message, self._host)
        self._since, self._size_then = now, size
