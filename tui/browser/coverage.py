"""Show what the caches among the sources have of an environment that is one of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from spackscope.model.analysis.environments.availability import Availability, environments
from spackscope.model.analysis.environments.coverage import cover
from spackscope.model.analysis.environments.environment import environment_of
from spackscope.model.analysis.environments.nearest_missing import find_nearest
from spackscope.model.analysis.graphs.spec_graph import spec_graph
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import SourceError
from spackscope.model.core.frozen import replace
from spackscope.model.core.text import counted
from spackscope.model.loader.load import load
from spackscope.model.presentation.coverage import CoverageReport, read_report
from spackscope.model.sources.session import Session
from spackscope.tui.browser.copy import CopyController
from spackscope.tui.browser.navigation import Navigation
from spackscope.tui.browser.state import Host, Task
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
        self._reports: dict[str, CoverageReport] = {}

    def open(self) -> None:
        """Show the environment that the selected spec is of, or else the first."""
        catalog, selected = self._host.state.catalog, self._host.state.selected
        if catalog is None:
            return
        listing = selected.spec.sources if selected is not None else ()

        def fill(names: Sequence[str]) -> None:
            if not names:
                self._host.say(NO_ENVIRONMENT)
                return
            first = next((name for name in names if name in listing), names[0])
            self._show(catalog, names, names.index(first))

        # Whether a source is an environment is read from the index.
        self._host.run(lambda _: environments(catalog), fill, group="menu")

    def _show(self, catalog: Catalog, names: Sequence[str], number: int) -> None:
        def show_next() -> None:
            nonlocal number
            number = (number + 1) % len(names)
            self._fill(screen, catalog, names[number])

        def copy(hashes: Sequence[str], what: str) -> None:
            self._copying.copy_text("\n".join(hashes), what, screen.say)

        screen = CoverageScreen(copy, show_next)
        self._host.open(screen, self._leave)
        self._fill(screen, catalog, names[number])

    def _fill(self, screen: CoverageScreen, catalog: Catalog, name: str) -> None:
        """Read the coverage of an environment, or take it if it was read before."""
        if catalog is not self._catalog:
            self._catalog, self._reports = catalog, {}
        screen.show_environment(name)

        def job(task: Task) -> CoverageReport | str:
            if (known := self._reports.get(name)) is not None:
                return known
            source = _source_of(catalog, name, self._sources)
            try:
                environment = load([source], replace(self._session, should_stop=task))
            except SourceError as error:
                return str(error)
            availability = Availability(catalog, [name])
            coverage = cover(environment_of(environment, catalog), availability)
            first = read_report(coverage, knows_nearest=False)
            task.report(lambda: screen.show_report(first, _progress(0, len(first.missing))))

            def show(_: str, done: int, total: int | None) -> None:
                if done % _STEP == 0:
                    task.report(lambda: screen.show_progress(_progress(done, total or 0)))

            return read_report(
                find_nearest(coverage, availability, on_progress=show, should_stop=task)
            )

        def done(report: CoverageReport | str) -> None:
            if isinstance(report, str):
                screen.show_failure(report)
            else:
                self._reports[name] = report
                screen.show_report(report)

        self._host.run(job, done, group="cover", failed=screen.show_failure)

    def _leave(self, choice: Choice | None) -> None:
        """Stop reading, and go to what the user chose."""
        self._host.cancel("cover")
        catalog = self._host.state.catalog
        if choice is None or catalog is None:
            return
        if choice.nearest:
            self._compare((choice.hash, choice.nearest))
            return
        self._host.run(
            lambda _: spec_graph(catalog).find([choice.hash]).get(choice.hash),
            self._navigation.jump,
            group="path",
        )


def _source_of(catalog: Catalog, name: str, sources: Sequence[str]) -> str:
    """Return the source that has a name in a catalog, which lists them in the order given."""
    names = [source.name for source in catalog.sources]
    return sources[names.index(name)] if len(names) == len(sources) else name


def _progress(done: int, total: int) -> str:
    missing = counted(total, "missing spec")
    return f"comparing {done:,} of {missing} with what is there…" if total else ""
