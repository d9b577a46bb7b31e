"""Describe the progress of long tasks."""

from __future__ import annotations

import time

from spackscope.model.core.cells import size_text
from spackscope.model.core.text import clean

_BYTES = "bytes of "
"""The beginning of what is counted in bytes; the name of the file follows."""


class Stages:
    """The stages of a task, of which several may be under way at once."""

    def __init__(self) -> None:
        self._starts: dict[str, tuple[float, int]] = {}

    def describe(self, what: str, done: int, total: int | None) -> str:
        """Return how much of a stage is done, and the rate since it was first described."""
        now = time.monotonic()
        started_at, done_before = self._starts.setdefault(what, (now, done))
        rate = (done - done_before) / (now - started_at) if now > started_at else 0.0
        if what.startswith(_BYTES):
            name = clean(what.removeprefix(_BYTES))
            of_total = f" of {size_text(total)}" if total is not None else ""
            return f"{name}: {size_text(done)}{of_total}, {size_text(rate)} a second"
        of_total = f" of {total:,}" if total is not None else ""
        return f"{done:,}{of_total} {clean(what)}, {rate:,.0f} a second"
