"""A cache that is bounded by the bytes of its values."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

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
        with self._lock, suppress(KeyError):
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
