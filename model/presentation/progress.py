"""Spell the progress of long tasks."""

from __future__ import annotations

import time

from spackscope.model.core.cells import (
    size_text,
)
from spackscope.model.core.text import clean

BYTES = "bytes of "
"""What is counted begins so where it is bytes; the name of what is fetched follows."""


class Stages:
    """Say how far each stage of a task is; several may be under way at once."""

    def __init__(self) -> None:
        self._began: dict[str, tuple[float, int]] = {}

    def said(self, what: str, done: int, total: int | None) -> str:
        """Spell what is done of how much, and the rate since the stage began."""
        now = time.monotonic()
        began, before = self._began.setdefault(what, (now, done))
        rate = (done - before) / (now - began) if now > began else 0.0
        if what.startswith(BYTES):
            name = clean(what.removeprefix(BYTES))
            of = f" of {size_text(total)}" if total is not None else ""
            return f"{name}: {size_text(done)}{of}, {size_text(rate)} a second"
        of = f" of {total:,}" if total is not None else ""
        return f"{done:,}{of} {clean(what)}, {rate:,.0f} a second"
