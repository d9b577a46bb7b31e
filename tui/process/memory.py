"""Return the memory of large results to the system once they are freed."""

from __future__ import annotations

import contextlib
import ctypes

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
"""Parameters of mallopt, as numbered in malloc.h."""

_LARGE = 1 << 20
"""Bytes from which a block is mapped by itself, and unmapped when it is freed."""
_ARENAS = 2
"""Heaps that all threads share; each keeps memory that it cannot return."""


def limit_heaps() -> None:
    """Return large freed blocks to the system, and share heaps among threads.

    By default glibc raises the threshold to the size of the largest freed block, up to 32 MiB,
    and gives each thread a heap of its own. Call this before threads are started. Systems
    without mallopt do neither.
    """
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, _LARGE)
        mallopt(_ARENA_MAX, _ARENAS)
