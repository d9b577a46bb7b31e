"""Measure whole processes: how long one runs, and how much memory it takes at most."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple

_KILOBYTES = 1 if sys.platform == "darwin" else 1024


class Cost(NamedTuple):
    """The cost of a process."""

    seconds: float
    peak: float
    """Bytes."""


def cost(code: str, arguments: Sequence[str], environ: Mapping[str, str]) -> Cost:
    """Run Python code in a new process. Raises ChildProcessError if it fails.

    On Linux the peak is at least the memory of this process, which a new process begins with.
    """
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], env=dict(environ), stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise ChildProcessError(f"the program ended with {process.returncode}: {code}")
    return Cost(seconds, usage.ru_maxrss * _KILOBYTES)
