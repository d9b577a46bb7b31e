"""Load the sources: the only place of the browser that reads documents."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from functools import partial

from spackscope.model.analysis.session_fit import attach_fit
from spackscope.model.core.columns import shorten_path
from spackscope.model.core.errors import SourceError
from spackscope.model.core.frozen import replace
from spackscope.model.core.tasks import progress_after
from spackscope.model.core.text import clean
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import REBUILT, STILL_LOADING, load, open_cached, open_cached_part
from spackscope.model.query.ast import Query
from spackscope.model.report import titles
from spackscope.model.report.progress import Progress, stale_copies
from spackscope.model.sources.session import Session
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost, CallOnLoop, progress_shown
from spackscope.tui.browser.details import DetailsController
from spackscope.tui.browser.jobs import Job
from spackscope.tui.browser.navigation import Navigation
from spackscope.tui.browser.search import Search
from spackscope.tui.browser.state import Summary, WithoutRows, without_catalog
from spackscope.tui.keymap import shown

_NAME = 24
"""Cells of the name of a source in a message."""
_STOPPED = "reading was stopped"
_STILL_LOADING, _NOT_ALL_LOADED = "still loading", "not all loaded"


class Loading:
    """Load the catalog, and report the progress.

    `failure` says why no catalog was read, or is empty.
    """

    def __init__(
        self,
        host: BrowserHost,
        search: Search,
        navigation: Navigation,
        details: DetailsController,
        query: str,
    ) -> None:
        self._host, self._search = host, search
        self._navigation, self._details = navigation, details
        self.start_query = query
        """The query of the command line, while it is still to be shown."""
        self.session = self._before = host.session
        """The session that sources are read with now."""
        self.failure = ""

    @property
    def is_loading(self) -> bool:
        """Whether the sources are being read."""
        return self._host.is_running(jobs.LOAD)

    @property
    def _job(self) -> Job:
        """The job of loading, with the needs of keys that it still blocks."""
        if (summary := self._host.state.summary) is not None:
            return jobs.LOAD_MORE if summary.is_part else jobs.LOAD
        return jobs.LOAD_FIRST_WITH_QUERY if self.start_query else jobs.LOAD_FIRST

    def load(self) -> None:
        """Load the sources; a later call reads changed sources again."""
        summary = self._host.state.summary
        # A part is not a current catalog: more is shown while other sources do not answer.
        shown = summary.catalog if summary is not None and not summary.is_part else None

        def job(report: CallOnLoop) -> Summary | str:
            session = replace(self.session)
            try:
                with progress_shown(report, self._show_progress):
                    return self._read(session, report, shown)
            except SourceError as error:
                return str(error)

        def done(loaded: Summary | str) -> None:
            self._host.show_progress("")
            if isinstance(loaded, str):
                self._fail(loaded)
            else:
                self._take(loaded)
            if shown is not None and shown is self._host.state.newest:
                self._details.look_again()
            # The catalog may stay, but the state of its sources may be new.
            self._navigation.on_sheet()

        self._host.run(job, done, self._job)

    def has_ended(self) -> bool:
        """Check whether rows are shown, or none will come without a key."""
        is_reading = self._host.is_running(jobs.LOAD, jobs.VIEW)
        return self._host.state.results is not None or not is_reading

    def show_waiting(self) -> None:
        """Show that sources are being read, if nothing of them is there yet."""
        if self._host.state.summary is None and self.is_loading:
            self._host.change(missing=WithoutRows(f"reading the sources\n{shown('back')} stops"))

    def _read(self, session: Session, report: CallOnLoop, shown: Catalog | None) -> Summary:
        """Read the catalog, and report the part that is read so far.

        A ready index is shown before it is compared with the documents. Without an index, the
        sources read first are shown while other sources are waited for. A catalog that is shown
        stays if its index is current.
        """
        on_late, quiet = None, 0.0
        if shown is not None:
            # Replaced catalogs have connections in every thread, and reference cycles.
            gc.collect()
        elif (shown := self._show_cached(session, report)) is not None:
            quiet = jobs.CHECKED
        else:
            on_late = partial(self._show_part, report)
        with progress_after(quiet):
            catalog = load(self._host.sources, session, current=shown, on_late=on_late)
        if catalog is shown and self._before.configuration != self.session.configuration:
            # The cached answers of the catalog rest on the old configuration.
            catalog = Catalog(shown.columns, discovered=shown.discovered)
        return self._summarize(catalog)

    def open(
        self,
        sources: Sequence[str],
        show: Callable[[], object],
        fail: Callable[[], object],
    ) -> None:
        """Read other sources, and call `show` once the first source is read.

        If no source can be read, nothing changes, a message says why, and `fail` is called.
        """

        def show_once() -> None:
            self._host.cancel(jobs.LOAD)
            self._host.show_progress("")
            show()

        def job(report: CallOnLoop) -> str:
            session = replace(self._host.session)
            try:
                with progress_shown(report, self._show_progress):
                    if open_cached(sources, session) is None:
                        load(sources, session, on_late=lambda _: report(show_once))
            except SourceError as error:
                return str(error)
            return ""

        def done(reason: str) -> None:
            if not reason:
                show_once()
                return
            self._host.show_progress("")
            self._fail(self.failure or _STOPPED)
            self._host.say(reason, error=True)
            self._navigation.on_sheet()
            fail()

        self._host.run(job, done, self._job)

    def _summarize(self, catalog: Catalog) -> Summary:
        """Return the summary of a catalog, after attaching the checks against the host."""
        # The session of a job would keep the job alive, and with it the last catalog.
        session = self.session
        attach_fit(catalog, session)
        needed = "with dependency-only specs" if session.include_dependency_only else ""
        packages = catalog.packages(Query())
        unlisted = "" if catalog.lists_dependencies else "no dependencies listed"
        remark = " · ".join(filter(None, (titles.tags_title(catalog), unlisted, needed)))
        rebuilt = REBUILT if catalog.was_damaged else ""
        failures = [source.failure for source in catalog.discovered]
        # The rows that were read before are still shown.
        notices = [*failures] if all(failures) else []
        notices += [rebuilt, catalog.notice, *stale_copies(catalog.sources, time.time())]
        return Summary(
            catalog,
            titles.source_chips(catalog),
            remark,
            catalog.total,
            len(catalog.gaps(with_configuration=catalog.by_host.is_ready)),
            "; ".join(filter(None, notices)),
            packages,
            frozenset(package.name for package in packages),
        )

    def _show_cached(self, session: Session, report: CallOnLoop) -> Catalog | None:
        """Show the ready index of all sources, or else of one source.

        Returns the shown catalog of all sources, or None.
        """
        if (catalog := open_cached(self._host.sources, session)) is not None:
            summary = self._summarize(catalog)
            report(lambda: self._take(summary))
            # Earlier the check of the sources would slow the reading of the rows.
            self._details.rows_shown.wait(jobs.ROWS_SHOWN)
            return catalog
        if (part := open_cached_part(self._host.sources, session)) is not None:
            self._show_part(report, part)
        return None

    def _show_part(self, report: CallOnLoop, catalog: Catalog) -> None:
        """Show the part of the sources that is read."""
        summary = self._summarize(catalog)
        remark = " · ".join(filter(None, (summary.remark, _STILL_LOADING)))
        late = [clean(source.source) for source in catalog.discovered if source.is_late]
        # While a source does not answer, the part may be the only catalog for long.
        summary = replace(summary, remark=remark, is_part=not late)
        report(lambda: self._take(summary))
        if late:
            # The bar would claim that the shown sources are still being read.
            names = ", ".join(shorten_path(name, _NAME) for name in late)
            text = f"waiting for {names}  {shown('back')} stops"
            report(lambda: self._host.show_progress(text))

    def _show_progress(self, progress: Progress) -> None:
        hint = f"{shown('back')} stops"
        if self._host.state.catalog is None:
            self._host.change(missing=WithoutRows(progress.lines(hint)))
        else:
            self._host.show_progress(progress.line(hint))

    def _fail(self, reason: str) -> None:
        summary = self._host.state.summary
        if summary is None:
            self.failure = reason
            self._host.change(missing=WithoutRows(reason, without_catalog()))
        else:
            remark = summary.remark.replace(_STILL_LOADING, _NOT_ALL_LOADED)
            problems = summary.problems
            if summary.catalog.part:
                # Once a part is all that is read, that is one problem more.
                problems += summary.catalog.part == STILL_LOADING
                summary.catalog.part = reason
            summary = replace(summary, remark=remark, problems=problems, is_part=False)
            self._host.change(summary=summary)
            self._host.say(reason, error=True)

    def _take(self, loaded: Summary) -> None:
        """Show another catalog, and keep the view as far as possible."""
        state = self._host.state
        if state.summary is not None and loaded.catalog is state.newest:
            self._host.change(summary=loaded)
            if loaded.chips != state.summary.chips:
                # The line above a sheet names unread sources, too.
                self._host.change(table=state.table.changed(catalog=None))
                self._navigation.on_sheet()
        else:
            self._replace(loaded)
        self._host.unblock(self._job)
        if loaded.notice:
            self._host.say(loaded.notice, error=True)

    def _replace(self, loaded: Summary) -> None:
        host, state = self._host, self._host.state
        self.failure = ""
        row, first = host.where.row, state.results.windows.get(0) if state.results else None
        # A cursor on the first row stays there: newer rows may come before its spec.
        is_moved = row is not None and not (first and first[0].id == row.id)
        host.change(summary=loaded)
        query = self._search.reread() if state.catalog is None else state.view.query
        selected = state.results.selected if state.results is not None else None
        if selected is not None and selected.name not in loaded.names:
            query = query.with_package(None)
        view = replace(state.view, query=query).closed()
        if self.start_query and not query:
            view = replace(view, query=self._search.start(self.start_query) or Query())
        self.start_query = ""
        self._search.show(view, cursor_on=row.spec.hash if row is not None and is_moved else "")
        if state.draft is not None and host.where.input == state.draft.input:
            self._search.type_again(state.draft.parsed)

    def stop(self) -> None:
        """Stop loading at once."""
        self._host.cancel(jobs.LOAD)
        self._host.show_progress("")
        self._fail(_STOPPED)
        self.failure = ""

    def reload(self) -> None:
        """Reload the sources and the configuration."""
        self._before, self.session = self.session, replace(self.session)
        self.load()

    def toggle_dependency_only(self) -> None:
        """Show or hide dependency-only specs."""
        dependency_only = not self.session.include_dependency_only
        self.session = replace(self.session, include_dependency_only=dependency_only)
        self.load()
