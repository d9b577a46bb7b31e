"""Report how many of the bytes of all documents have been read."""

from __future__ import annotations

import time
from collections.abc import Sequence

from spackscope.model.core.errors import Cancelled
from spackscope.model.sources.document import DiscoveredSource, Document
from spackscope.model.sources.session import Session

_INTERVAL = 0.1
_PARSING = 0.6
"""The part of the time of a document in which its records are parsed; then they are stored."""


class ReadProgress:
    """Counts documents by their bytes, and reports under the name of their source.

    Everything is reported at most ten times a second, and raises Cancelled.
    """

    def __init__(self, session: Session, discovered: Sequence[DiscoveredSource]) -> None:
        self._session = session
        self._total = sum(source.documents.size for source in discovered)
        self._name = discovered[0].source if discovered else ""
        self._before = self._size = self._records = 0
        self._last = 0.0

    def begin(self, document: Document, source: str) -> None:
        """Begin with another document of a source."""
        self._before += self._size
        self._size, self._records, self._name = document.size, 0, source
        self._report(self._before)

    def parse(self, count: int, total: int) -> None:
        """Report that some records of the document were parsed, of about a total."""
        self._records = max(count, total)
        self._within(_PARSING * count / self._records)

    def store(self, count: int) -> None:
        """Report that some records of the document were stored."""
        if self._records:
            self._within(_PARSING + (1 - _PARSING) * min(1, count / self._records))
        else:
            # How many there are is not known: the more, the nearer to the end.
            self._within(count / (count + 1000))

    def finish(self) -> None:
        """Report that all documents were read."""
        self._session.on_progress(f"reading {self._name}", self._total, self._total)
        if self._session.should_stop():
            raise Cancelled

    def _within(self, part: float) -> None:
        self._report(self._before + int(self._size * part))

    def _report(self, done: int) -> None:
        if time.monotonic() - self._last > _INTERVAL:
            if self._session.should_stop():
                raise Cancelled
            self._session.on_progress(f"reading {self._name}", done, self._total)
            self._last = time.monotonic()
