"""Show what the caches among the sources have of an environment that is one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spackscope.model.analysis.cover import cover, environments, find_nearest
from spackscope.model.core.errors import SourceError
from spackscope.model.core.frozen import replace
from spackscope.model.core.text import counted
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.load import load
from spackscope.model.report.coverage import coverage_report
from spackscope.model.report.report import Report
from spackscope.model.sources.session import Session
from spackscope.tui.browser.copy import CopyController
from spackscope.tui.browser.navigation import Navigation
from spackscope.tui.browser.state import Host, Task
from spackscope.tui.dialogs.base import STILL_LOADING
from spackscope.tui.dialogs.coverage import Choice, CoverageScreen

NO_ENVIRONMENT = "No source is an environment: open one with -f spack.lock, beside caches."
_STEP = 16
"""Specs after which progress is shown."""


class CoverageController:
    """Open the screen, fill it as its parts are read, and do what it asks for."""

    def __init__(
        self,
        host: Host,
        navigation: Navigation,
        copying: CopyController,
        compare: Callable[[Sequence[str]], object],
        sources: Sequence[str],
        session: Session,
    ) -> None:
        self._host, self._navigation, self._copying = host, navigation, copying
        self._compare = compare
        self._sources, self._session = sources, session
        self._catalog: Catalog | None = None
        self._reports: dict[str, Report] = {}

    def open(self) -> None:
        """Show the environment that the selected spec is of, or else the first."""
        catalog, selected = self._host.state.catalog, self._host.state.selected
        if catalog is None:
            return
        listing = selected.spec.sources if selected is not None else ()

        def fill(names: Sequence[str]) -> None:
            if names:
                self._show(next((name for name in names if name in listing), names[0]))
            else:
                is_loading = self._host.is_running("load")
                self._host.say(STILL_LOADING if is_loading else NO_ENVIRONMENT)

        # Whether a source is an environment is read from the index.
        self._host.run(lambda _: environments(catalog), fill, group="menu")

    def _show(self, name: str) -> None:
        def show_next() -> None:
            if (catalog := self._host.state.catalog) is not None:
                self._host.run(lambda _: environments(catalog), show_after, group="cover")

        def show_after(names: Sequence[str]) -> None:
            nonlocal name
            after = names.index(name) + 1 if name in names else 0
            name = [*names, *names, name][after]
            screen.show_environment(name)
            self._fill(screen, name)

        def copy(hashes: Sequence[str], what: str) -> None:
            self._copying.copy_text("\n".join(hashes), what, screen.say)

        screen = CoverageScreen(copy, show_next)
        screen.show_environment(name)
        self._host.open(screen, self._leave, ask=lambda: self._fill(screen, name), group="cover")

    def _fill(self, screen: CoverageScreen, name: str) -> None:
        """Read the coverage of an environment, or take it if it was read before.

        It replaces that of another catalog as a whole.
        """
        if (catalog := self._host.state.catalog) is None:
            return
        if catalog is not self._catalog:
            self._catalog, self._reports = catalog, {}
        is_first = screen.report is None

        def job(task: Task) -> Report | str:
            if (known := self._reports.get(name)) is not None:
                return known
            source = _source_of(catalog, name, self._sources)
            try:
                environment = load([source], replace(self._session, should_stop=task))
            except SourceError as error:
                return str(error)
            coverage = cover(environment, catalog, [name])
            if is_first:
                first = coverage_report(coverage, knows_nearest=False).read()
                task.report(lambda: screen.show_report(first, _progress(0, len(coverage.missing))))

            def show(_: str, done: int, total: int | None) -> None:
                if done % _STEP == 0:
                    task.report(lambda: screen.show_progress(_progress(done, total or 0)))

            coverage = find_nearest(coverage, on_progress=show, should_stop=task)
            return coverage_report(coverage).read()

        def done(report: Report | str) -> None:
            if isinstance(report, str):
                screen.show_failure(report)
            else:
                self._reports[name] = report
                screen.show_report(report)

        self._host.run(job, done, group="cover")

    def _leave(self, choice: Choice | None) -> None:
        """Stop reading, and go to what the user chose."""
        self._host.cancel("cover")
        if choice is not None and choice.nearest:
            self._compare((choice.hash, choice.nearest))
        elif choice is not None:
            self._navigation.jump_to_hash(choice.hash)


def _source_of(catalog: Catalog, name: str, sources: Sequence[str]) -> str:
    """Return the source that has a name in a catalog, which lists them in the order given."""
    names = [source.name for source in catalog.sources]
    return sources[names.index(name)] if len(names) == len(sources) else name


def _progress(done: int, total: int) -> str:
    missing = counted(total, "missing spec")
    return f"comparing {done:,} of {missing} with what is there…" if total else ""
