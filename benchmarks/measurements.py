"""Collect measurements in pairs with a reference, and write them as a table."""

from __future__ import annotations

import json
import re
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

Pair = tuple[float, float]
"""What was measured, and the same of the reference, one right after the other."""

_START, _END = "<!-- figures: written by make bench -->", "<!-- end of figures -->"


class Unit(NamedTuple):
    """A unit, and the factor from the basic unit (seconds, bytes) to it."""

    name: str
    factor: float = 1.0


MILLISECONDS, SECONDS = Unit("ms", 1e3), Unit("s")
MEGABYTES, BYTES = Unit("MB", 1e-6), Unit("bytes")


def seconds(work: Callable[[], object]) -> float:
    """Time one call."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def alternate(work: Callable[[], float], reference: Callable[[], float], pairs: int) -> list[Pair]:
    """Measure both alternately, after one pair that warms up and does not count."""
    return [(work(), reference()) for _ in range(pairs + 1)][1:]


class Figures:
    """The figures of one or more runs: a row for each measurement, a column for each size.

    `specs` is the number of specs that is measured now.
    """

    def __init__(self) -> None:
        self._rows: dict[str, dict[str, str]] = {}
        self.specs = 0

    def add(self, name: str, reference: str, pairs: Sequence[Pair], unit: Unit) -> None:
        """Add and print the median of a measurement, its ratio to the reference, and its range."""
        ours = statistics.median(first for first, _ in pairs) * unit.factor
        theirs = statistics.median(second for _, second in pairs) * unit.factor
        ratios = sorted(first / second for first, second in pairs if second)
        text = f"{_number(ours)} {unit.name}"
        if ratios:
            middle = statistics.median(ratios)
            text += f" · **{middle:.2f}**"
            if len(ratios) > 1:
                text += f" ({ratios[0]:.2f}–{ratios[-1]:.2f})"
        self._rows.setdefault(f"{name} | {reference}", {})[str(self.specs)] = text
        print(
            f"{name:<38} {text.replace('**', ''):<32} {reference}: {_number(theirs)}", flush=True
        )

    def table(self) -> str:
        """Return all figures as a table in Markdown."""
        sizes = sorted({size for cells in self._rows.values() for size in cells}, key=int)
        heads = " | ".join(f"{int(size):,} specs" for size in sizes)
        lines = [f"| measured | reference | {heads} |", "|---|---|" + "---|" * len(sizes)]
        for name, cells in self._rows.items():
            lines.append(f"| {name} | {' | '.join(cells.get(size, '') for size in sizes)} |")
        return "\n".join(lines)

    def write(self, directory: Path) -> None:
        """Add the figures to those of other runs in a directory, and write its table anew."""
        file, readme = directory / "figures.json", directory / "README.md"
        old = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        for name, cells in old.items():
            self._rows[name] = {**cells, **self._rows.get(name, {})}
        file.write_text(json.dumps(self._rows, indent=1) + "\n", encoding="utf-8")
        text = readme.read_text(encoding="utf-8")
        marked = re.compile(re.escape(_START) + ".*?" + re.escape(_END), re.DOTALL)
        filled = f"{_START}\n{self.table()}\n{_END}"
        readme.write_text(marked.sub(lambda _: filled, text), encoding="utf-8")


def _number(value: float) -> str:
    """Return a number with three digits that count, and no more than one after the point."""
    return f"{value:,.2f}" if value < 10 else f"{value:,.0f}" if value >= 100 else f"{value:.1f}"
