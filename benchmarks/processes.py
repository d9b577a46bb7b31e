"""Measure whole processes: how long one runs, and how much memory it takes at most."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

SPACKSCOPE = str(Path(sys.executable).with_name("spackscope"))

# The peak of Linux that wait4 returns is at least that of this process, which a new process begins
# with; so the process reports its own.
_REPORT = """
import atexit, os
def _report():
    with open("/proc/self/status", "rb") as file:
        os.write({descriptor}, file.read())
atexit.register(_report)
del _report
"""
_PEAK = b"VmHWM:"


class Cost(NamedTuple):
    """The cost of a process: seconds until it ended, and its peak of memory in bytes."""

    seconds: float
    peak: float


def seconds_of(arguments: Sequence[str], environ: Mapping[str, str]) -> float:
    """Time a program, whose output is thrown away. Raises ChildProcessError if it fails."""
    started = time.perf_counter()
    process = subprocess.run(
        arguments, env=dict(environ), stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
    )
    took = time.perf_counter() - started
    # 1 means that nothing was found.
    if process.returncode not in (0, 1):
        raise ChildProcessError(f"{arguments[0]} ended with {process.returncode}: {arguments}")
    return took


def cost(code: str, arguments: Sequence[str], environ: Mapping[str, str]) -> Cost:
    """Run Python code in a new process. Raises ChildProcessError if it fails."""
    receiver, sender = os.pipe()
    report = _REPORT.format(descriptor=sender) if sys.platform == "linux" else ""
    started = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", report + code, *arguments],
        env=dict(environ),
        stdout=subprocess.DEVNULL,
        pass_fds=[sender],
    )
    os.close(sender)
    exit_code = process.wait()
    seconds = time.perf_counter() - started
    with os.fdopen(receiver, "rb") as file:
        status = file.read()
    if exit_code:
        raise ChildProcessError(f"the program ended with {exit_code}: {code}")
    return Cost(seconds, _peak(status) or _peak_of_children())


def peak_of(pid: int) -> float:
    """Return the peak of memory of a running process in bytes, 0 where that is not known."""
    try:
        return _peak(Path(f"/proc/{pid}/status").read_bytes())
    except OSError:
        return 0.0


def _peak(status: bytes) -> float:
    lines = (line for line in status.splitlines() if line.startswith(_PEAK))
    return next((float(line.split()[1]) * 1024 for line in lines), 0.0)


def _peak_of_children() -> float:
    """Return the largest peak of all processes so far, in bytes, as macOS counts it."""
    return float(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
