"""Let the memory of large answers go back to the system once they are dropped."""

from __future__ import annotations

import contextlib
import ctypes

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
"""Parameters of mallopt, by their numbers in malloc.h."""

_LARGE = 1 << 20
"""Bytes from which on a block is mapped by itself, and unmapped when it is freed."""
_ARENAS = 2
"""Heaps that all threads share; each keeps what it cannot give back."""


def limit_heaps() -> None:
    """Keep the heap from growing by what is large and lives for a moment.

    Left alone, glibc raises the threshold to the size of the largest block that was freed, up to
    32 MiB, and gives each thread a heap of its own. To be called before there are threads. Other
    systems have no mallopt, and none of this.
    """
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, _LARGE)
        mallopt(_ARENA_MAX, _ARENAS)
