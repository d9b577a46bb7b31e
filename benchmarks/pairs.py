"""Time two functions alternately, and report the ratio of each pair."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def seconds(work: Callable[[], object]) -> float:
    """Time one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def compare(
    name: str, work: Callable[[], object], reference: Callable[[], object], *, pairs: int
) -> None:
    """Call both alternately, after a warm-up, and print medians and ratio."""
    report(name, [(seconds(work), seconds(reference)) for _ in range(pairs + 1)][1:], "ms", 1e3)


def report(name: str, pairs: list[tuple[float, float]], unit: str, factor: float = 1) -> None:
    """Print the medians of pairs of measurements, and the median and range of their ratios."""
    ours = statistics.median(a for a, _ in pairs) * factor
    theirs = statistics.median(b for _, b in pairs) * factor
    ratios = sorted(a / b for a, b in pairs)
    middle = statistics.median(ratios)
    print(
        f"{name:<34} {ours:9.1f} {unit}   reference {theirs:9.1f} {unit}   "
        f"ratio {middle:6.2f}  ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    )
