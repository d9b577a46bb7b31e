"""Return memory to the system once it is freed, and keep garbage collection short."""

from __future__ import annotations

import contextlib
import ctypes
import gc
from collections.abc import Iterator

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
"""Parameters of mallopt, as numbered in malloc.h."""

_LARGE = 1 << 18
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


@contextlib.contextmanager
def without_collection() -> Iterator[None]:
    """Collect no garbage until the context ends, or until `exempt_start` was called.

    What is imported and built at a start is hardly ever garbage, but is looked at again and
    again: that takes a tenth of the start.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def exempt_start() -> None:
    """Collect garbage from now on, but not among all that there is: it stays until the end.

    Does nothing outside of `without_collection`.
    """
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
