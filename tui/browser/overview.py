"""Read what the overview shows of packages, as they come to be seen."""

from __future__ import annotations

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


class Overview:
    """Summarise packages in a worker thread; `on_read` is called with some at a time."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self.on_read: Callable[[Summaries], None] = lambda summaries: None

    def read(self, packages: Sequence[PackageCount]) -> None:
        """Summarise what the query matches of some packages."""
        results = self._host.state.results
        if results is None:
            return
        query = results.listing.view.query.with_package(None)
        job = partial(self._read, results.catalog, query, packages)
        self._host.run(job, lambda _: None, group="overview", delay=_REST)

    def _read(
        self, catalog: Catalog, query: Query, packages: Sequence[PackageCount], task: Task
    ) -> None:
        try:
            for summaries in package_summaries(catalog, query, packages, should_stop=task):
                task.report(partial(self.on_read, summaries))
        except Unanswerable:
            # The input says why.
            return
