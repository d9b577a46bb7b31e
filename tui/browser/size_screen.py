"""Ask a mirror far away for the size of the archive that is looked at, once the cursor rests."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from textual import on
from textual.timer import Timer
from textual.worker import get_current_worker

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import (
    Cancelled,
)
from spackscope.model.core.records import (
    Spec,
)
from spackscope.model.sources.archive_size import archive_size, size_source
from spackscope.model.sources.session import Session
from spackscope.tui.browser.messages import Sized
from spackscope.tui.browser.selection_screen import MarkingScreen

_REST = 0.4
"""Seconds that the cursor rests on a row before its mirror is asked."""


class SizingScreen(MarkingScreen):
    """Know the sizes that were asked for."""

    def __init__(self, sources: Sequence[str], query: str, session: Session) -> None:
        super().__init__(sources, query, session)
        self._sizes: dict[str, float | None] = {}
        self._until_asked: Timer | None = None

    @abstractmethod
    def _size_came(self, hash_: str) -> None:
        """Show a size that was not known before."""

    def _with_size(self, catalog: Catalog, spec: Spec) -> Spec:
        """Give a spec with its size, as far as it is known; what is not is asked for soon."""
        if self._until_asked is not None:
            self._until_asked.stop()
        if spec.hash in self._sizes:
            return replace(spec, size=self._sizes[spec.hash]) if spec.size is None else spec
        if size_source(spec, catalog.sources):
            self._until_asked = self.set_timer(_REST, partial(self._ask, catalog, spec))
        return spec

    def _ask(self, catalog: Catalog, spec: Spec) -> None:
        def work() -> None:
            worker = get_current_worker()
            try:
                size = archive_size(
                    spec,
                    catalog.sources,
                    replace(self._session, should_stop=lambda: worker.is_cancelled),
                    self._sources,
                )
            except Cancelled:
                return
            self.post_message(Sized(spec.hash, size))

        self.run_worker(work, group="size", exclusive=True, thread=True)

    @on(Sized)
    def _take_size(self, event: Sized) -> None:
        self._sizes[event.hash] = event.size
        if event.size is not None:
            self._size_came(event.hash)
