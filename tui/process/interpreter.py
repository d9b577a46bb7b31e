"""Steer the interpreter: its collector of garbage, its heaps, and the threads at its end.

Options of Python and of the C library that surprise are set each for a measured gain. No thread of
a job keeps the program from ending: it may hang in a call of the system that nothing interrupts,
as on a mount whose server is gone.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
import time

_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
"""Parameters of mallopt, as numbered in malloc.h."""

_LARGE = 1 << 18
"""Bytes from which a block is mapped by itself, and unmapped when it is freed."""
_ARENAS = 2
"""Heaps that all threads share; each keeps memory that it cannot return."""

JOB_THREADS = "spackscope-job"
"""The start of the names of the threads of jobs."""
_PATIENCE = 1.0
"""Seconds that the end of the program waits for the threads of jobs."""


def pause_collector() -> None:
    """Look for no garbage until `resume_collector`.

    Objects that a start imports and builds are hardly ever garbage, but looked at again and again.
    With this call the start takes 286 ms of CPU time, and 321 ms, 12 % more, without it, as
    measured by `make bench ARGS='start --specs 4000'`.
    """
    gc.disable()


def resume_collector() -> None:
    """Look for garbage from now on, but not among the objects that exist already."""
    if not gc.isenabled():
        gc.freeze()
        gc.enable()


def limit_heaps() -> None:
    """Return large freed blocks to the system, and share heaps among threads.

    By default glibc raises the threshold to the size of the largest freed block, up to 32 MiB,
    and gives each thread a heap of its own. Call this before threads are started. Systems
    without mallopt do neither. With 425,000 specs 89 MB are in use after the start in place of
    101 MB; `make bench ARGS='start --specs 425000'` measures the peak with and without the call.
    """
    # Commands that print need it not.
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_MMAP_THRESHOLD, _LARGE)
        mallopt(_ARENA_MAX, _ARENAS)


def wait_for_jobs() -> None:
    """Wait a second at most until all jobs have ended."""
    end = time.monotonic() + _PATIENCE
    for thread in _running():
        thread.join(max(0.0, end - time.monotonic()))


def end(code: int) -> None:
    """End the program if a job still runs, for which Python would wait."""
    if _running():
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def _running() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(JOB_THREADS)]
