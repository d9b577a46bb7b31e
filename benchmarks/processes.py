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
    """Hold what a process cost."""

    seconds: float
    peak: float
    """Bytes."""


def cost(code: str, arguments: Sequence[str], environ: Mapping[str, str]) -> Cost:
    """Run a program of Python in a fresh process. Raises ChildProcessError where it fails.

    The peak is no less than the memory of this process, of which Linux reckons it to begin with.
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
