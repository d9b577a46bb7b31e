"""Read the summaries of the packages that the overview shows."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from spackscope.model.core.errors import Unanswerable
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.rows import PackageCount
from spackscope.model.query.ast import Query
from spackscope.tui.browser.state import Host, Task

if TYPE_CHECKING:
    from spackscope.model.analysis.package_summary import Summaries

_REST = 0.1
"""Seconds that packages rest before they are summarised: they may be scrolled on."""
_REPORT = 0.1
"""Seconds after which the summaries that are read so far are shown."""


class Overview:
    """Summarise packages in a worker thread; `on_read` is called with some at a time."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.on_read: Callable[[Summaries], None] = lambda summaries: None

    def read(self, packages: Sequence[PackageCount]) -> None:
        """Summarise what the query matches of some packages; with none stop doing so."""
        state = self._host.state
        if state.catalog is None or not packages:
            self._host.cancel("overview")
            return
        # The packages are there before the first rows.
        view = state.listing.view if state.listing is not None else state.view
        query = view.query.with_package(None)
        job = partial(self._read, state.catalog, query, packages)
        self._host.run(job, lambda last: self.on_read(last), group="overview", delay=_REST)

    def _read(
        self, catalog: Catalog, query: Query, packages: Sequence[PackageCount], task: Task
    ) -> Summaries:
        # Imported here, after the first rows are shown.
        from spackscope.model.analysis.package_summary import package_summaries

        new: Summaries = {}
        reported = 0.0
        with contextlib.suppress(Unanswerable):
            for summaries in package_summaries(catalog, query, packages, should_stop=task):
                new.update(summaries)
                if time.monotonic() - reported > _REPORT:
                    reported = time.monotonic()
                    task.report(partial(self.on_read, new))
                    new = {}
        return new
