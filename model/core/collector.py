"""Pause the collector of reference cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the cycle collector, which would search the millions of objects of a large index.

    Reading documents makes hardly any cycles. Parsing takes five times as long while the collector
    searches for them, and a build of pages 1.05 times.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
