"""Read the sources in the background, and hold the catalog that comes of it."""

from __future__ import annotations

import sqlite3
from abc import abstractmethod
from collections.abc import Mapping, Sequence

from textual import on
from textual.worker import get_current_worker

from spackscope.model.catalog import Catalog
from spackscope.model.rows import Row
from spackscope.tui.loading import load_catalog
from spackscope.tui.messages import Damaged, Loaded, LoadFailed, Progress
from spackscope.tui.screens.panes import PanesScreen


class ReadingScreen(PanesScreen):
    """Read the sources, say how far that is, and take what it gives.

    `failure` says why there is nothing to show, or is empty.
    """

    def __init__(self, sources: Sequence[str], environ: Mapping[str, str]) -> None:
        super().__init__()
        self._sources, self._environ = sources, environ
        self._catalog: Catalog | None = None
        self._damaged: Catalog | None = None
        self._load_generation = 0
        self._loading = False
        self.failure = ""

    def on_mount(self) -> None:
        """Begin to read."""
        self._load(first=True)

    @abstractmethod
    def _take(self, catalog: Catalog) -> None:
        """Show another catalog. Raises sqlite3.DatabaseError where its index is damaged."""

    def _load(self, *, first: bool = False, rebuild: bool = False) -> None:
        self._load_generation += 1
        generation, self._loading = self._load_generation, True
        if first:
            self._say_instead_of_rows("reading the sources\nesc stops it")

        def work() -> None:
            worker = get_current_worker()
            load_catalog(
                self._sources,
                self._environ,
                self.post_message,
                generation,
                first=first,
                rebuild=rebuild,
                should_stop=lambda: worker.is_cancelled,
            )

        self.run_worker(work, group="load", exclusive=True, thread=True)

    @on(Progress)
    def _show_progress(self, event: Progress) -> None:
        if event.generation != self._load_generation or not self._loading:
            return
        if self._catalog is None:
            self._say_instead_of_rows(f"{event.said}\nesc stops it")
        else:
            self._status.say(f"reading the sources again: {event.said}, esc stops it", stay=True)

    @on(Loaded)
    def _show_catalog(self, event: Loaded) -> None:
        if event.generation != self._load_generation:
            return
        if event.checked:
            self._loading = False
            self._status.hush()
        if event.catalog is self._catalog:
            return
        self.failure = ""
        try:
            self._take(event.catalog)
        except sqlite3.DatabaseError:
            self._mend(event.catalog)

    @on(Damaged)
    def _found_damage(self, event: Damaged) -> None:
        self._mend(event.catalog)

    def _mend(self, catalog: Catalog) -> None:
        """Make an index anew, once, that turned out to be damaged while it was read."""
        if catalog is not self._damaged:
            self._damaged = catalog
            self._load(rebuild=True)

    def _fetch(self, ids: Sequence[int], counts: Sequence[int] | None) -> list[Row]:
        """Fetch rows; of a damaged index there are none until it is mended."""
        assert self._catalog is not None
        try:
            return self._catalog.rows(ids, counts)
        except sqlite3.DatabaseError:
            self.post_message(Damaged(self._catalog))
            return []

    @on(LoadFailed)
    def _show_failure(self, event: LoadFailed) -> None:
        if event.generation != self._load_generation:
            return
        self._loading = False
        if self._catalog is None:
            self.failure = event.reason
            self._say_instead_of_rows(f"{event.reason}\nr reads again · q quits")
        else:
            self._status.say(event.reason, error=True)

    def _say_instead_of_rows(self, text: str) -> None:
        self._specs.rows.show(0, empty=text)
        # Where one pane stands at a time, that is the packages now.
        self._names.say_instead_of_rows(text if self.has_class("-single") else "")

    def _stop_loading(self) -> None:
        """Stop at once; what the thread has still to say is not waited for."""
        self.workers.cancel_group(self, "load")
        self._load_generation += 1
        self._show_failure(LoadFailed(self._load_generation, "reading was stopped"))
        self.failure = ""
