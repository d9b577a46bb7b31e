"""Keep the newest answers, as long as all of them together are small enough."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

MOST_BYTES = 8_000_000
"""Bytes that the answers of one kind take together, about."""

_EACH = 2_000
"""Bytes that an answer counts for besides its own: its key, and the objects around it."""

Key = TypeVar("Key")
Answer = TypeVar("Answer")


class Kept(Generic[Key, Answer]):
    """Keep answers until they take more than `limit` bytes; those not used for longest go first.

    `measure` gives the bytes of an answer. The newest stays however large it is, since whoever
    asked for it asks for it again. Safe to use from several threads.
    """

    def __init__(self, measure: Callable[[Answer], int], limit: int = MOST_BYTES) -> None:
        self.limit = limit
        self.size = 0
        self._measure = measure
        self._answers: dict[Key, Answer] = {}
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._answers)

    def of(self, key: Key, make: Callable[[], Answer]) -> Answer:
        """Return the answer that is kept, else make it, and keep it."""
        with self._lock:
            if key in self._answers:
                answer = self._answers[key] = self._answers.pop(key)
                return answer
        answer = make()
        with self._lock:
            # Another thread may have been quicker.
            if key not in self._answers:
                self._answers[key] = answer
                self.size += _EACH + self._measure(answer)
            while self.size > self.limit and len(self._answers) > 1:
                oldest = self._answers.pop(next(iter(self._answers)))
                self.size -= _EACH + self._measure(oldest)
        return answer
