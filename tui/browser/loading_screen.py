"""Read the sources in the background, and hold the catalog that comes of it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

from textual import on
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import (
    IndexDamaged,
)
from spackscope.model.loader.load import STILL_DAMAGED
from spackscope.model.sources.session import Session
from spackscope.tui.browser.loading import load_catalog
from spackscope.tui.browser.messages import Damaged, Loaded, LoadFailed, Progress, RowsRead
from spackscope.tui.browser.panes_screen import PanesScreen
from spackscope.tui.widgets.row_windows import Windows
from spackscope.tui.widgets.spec_rows import SpecRows


class _Mending:
    """Post Damaged instead of letting IndexDamaged pass."""

    def __init__(self, screen: Screen[None], catalog: Catalog | None) -> None:
        self._screen, self._catalog = screen, catalog

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        if not isinstance(error, IndexDamaged):
            return False
        if self._catalog is not None:
            self._screen.post_message(Damaged(self._catalog, str(error)))
        return True


class ReadingScreen(PanesScreen):
    """Read the sources, say how far that is, and take what it gives.

    `failure` says why there is nothing to show, or is empty.
    """

    def __init__(self, sources: Sequence[str], session: Session) -> None:
        super().__init__()
        self._sources, self._session = sources, session
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
        """Show another catalog. Raises IndexDamaged."""

    def _load(self, *, first: bool = False, was_damaged: bool = False) -> None:
        self._load_generation += 1
        generation, self._loading = self._load_generation, True
        if first:
            self._say_instead_of_rows("reading the sources\nesc stops it")

        def work() -> None:
            worker = get_current_worker()
            load_catalog(
                self._sources,
                replace(self._session, should_stop=lambda: worker.is_cancelled),
                self.post_message,
                generation,
                first=first,
                was_damaged=was_damaged,
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
        self._take(event.catalog)

    async def _dispatch_message(self, message: Message) -> None:
        """Rebuild the index where handling a message shows that it is damaged."""
        catalog = message.catalog if isinstance(message, Loaded) else self._catalog
        with self.mending(catalog):
            await super()._dispatch_message(message)

    def mending(self, catalog: Catalog | None) -> _Mending:
        """Return a context that ends early, and has the index rebuilt, where it is damaged."""
        return _Mending(self, catalog)

    def mending_shown(self) -> _Mending:
        """Return such a context for the catalog that is shown."""
        return _Mending(self, self._catalog)

    @on(Damaged)
    def _mend(self, event: Damaged) -> None:
        """Rebuild a damaged index, once: if the new one is damaged too, say so."""
        if event.catalog is self._damaged or event.catalog is not self._catalog:
            return
        self._damaged = event.catalog
        if event.catalog.was_damaged:
            self._status.say(f"{STILL_DAMAGED}: {event.reason}", error=True, stay=True)
        else:
            self._load(was_damaged=True)

    @on(SpecRows.RowsNeeded)
    def _read_rows(self, event: SpecRows.RowsNeeded) -> None:
        catalog = self._catalog
        if catalog is None:
            return

        def work() -> None:
            windows: Windows = dict.fromkeys(event.starts, ())
            with self.mending(catalog):
                windows = event.read(catalog)
            self.post_message(RowsRead(event.listing, windows))

        self.run_worker(work, group="rows", exclusive=True, thread=True)

    @on(RowsRead)
    def _take_rows(self, event: RowsRead) -> None:
        self._specs.take_rows(event.listing, event.windows)

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
