"""Read the summaries of the packages that the overview shows."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from functools import partial

from spackscope.model.analysis.package_summary import Summaries, package_summaries
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.packages import PackageCount
from spackscope.model.core.errors import Unanswerable
from spackscope.model.query.ast import Query
from spackscope.tui.browser.state import Host, Task

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
        results = self._host.state.results
        if results is None or not packages:
            self._host.cancel("overview")
            return
        query = results.listing.view.query.with_package(None)
        job = partial(self._read, results.catalog, query, packages)
        self._host.run(job, lambda last: self.on_read(last), group="overview", delay=_REST)

    def _read(
        self, catalog: Catalog, query: Query, packages: Sequence[PackageCount], task: Task
    ) -> Summaries:
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
