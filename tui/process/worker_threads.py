"""End the threads of jobs, none of which keeps the program from ending.

A job may hang in a call of the system that nothing interrupts, as on a mount whose server is gone.
"""

from __future__ import annotations

import os
import sys
import threading
import time

NAME = "spackscope-job"
"""The start of the names of these threads."""
PATIENCE = 1.0
"""Seconds that the end of the program waits for these threads."""


def wait() -> None:
    """Wait a second at most until all jobs have ended."""
    end = time.monotonic() + PATIENCE
    for thread in _running():
        thread.join(max(0.0, end - time.monotonic()))


def end(code: int) -> None:
    """End the program if a job still runs, for which Python would wait."""
    if _running():
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def _running() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith(NAME)]
