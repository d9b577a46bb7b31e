"""All controllers of the browser, with the step back through its panes and keys that wait."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from spackscope.tui.browser.browser_host import BrowserHost
from spackscope.tui.browser.details import DetailsController
from spackscope.tui.browser.loading import Loading
from spackscope.tui.browser.navigation import Navigation
from spackscope.tui.browser.query_history import QueryHistory, QueryRecall
from spackscope.tui.browser.search import Search
from spackscope.tui.browser.specs import SpecsController
from spackscope.tui.browser.state import SPECS
from spackscope.tui.keymap import ALL_SOURCES, FILTERS, FOCUS, needs, shown

# What the first screen does not need is imported when it is first used: a fifth of the start.
if TYPE_CHECKING:
    from spackscope.tui.browser.sheets import Sheets


class Controllers:
    """The controllers of a browser, each made with the host and the controllers that it calls."""

    def __init__(self, host: BrowserHost, query: str) -> None:
        self.host = host
        self.recall = QueryRecall(host, QueryHistory(host.session.environ))
        self.search = Search(host)
        self.details = DetailsController(host)
        self.navigation = Navigation(host, self.search, self.details, self.recall)
        self.loading = Loading(host, self.search, self.navigation, self.details, query)
        self.search.on_shown = self._rows_shown
        self.specs = SpecsController(host, self.search, self.recall, self.details)

    def _rows_shown(self) -> None:
        self.specs.find()
        self.navigation.record()

    def back(self) -> None:
        """Go one step back: stop loading, close a group, leave the pane; the query stays."""
        pane = self.host.where.pane
        if self.loading.is_loading:
            self.loading.stop()
            self.sheets.read_without_more()
        elif pane == "detail":
            self.host.focus("specs")
        elif pane == "specs":
            self.table.leave()
        elif self.host.state.is_pick:
            self.quit()
        else:
            self.host.say(f"Press {shown('quit')} to quit")

    def quit(self) -> None:
        """Quit with nothing chosen."""
        self.host.exit(None, 130 if self.host.state.is_pick else 0)

    def awaited(self, key: str, before: frozenset[str]) -> frozenset[str]:
        """Return the needs of a key that are still blocked.

        `before` are the needs that the key has waited for. Letters in an input wait for nothing. A
        key that has begun to wait for all sources waits until the sources are loaded.
        """
        blocked = self.host.blocked
        if self.loading.is_loading:
            blocked |= before & {ALL_SOURCES}
        if not blocked:
            return blocked
        where = self.host.where
        if where.input is not None:
            return blocked & needs(key, "", FILTERS) - {FOCUS}
        return blocked & needs(key, where.pane, *where.key_panes)

    @property
    def table(self) -> SpecsController | Sheets:
        """The controller of the open table, which sorts, hides, chooses and leaves."""
        return self.specs if self.host.state.table is SPECS else self.sheets

    @cached_property
    def sheets(self) -> Sheets:
        """Answers in the place of the table."""
        from spackscope.tui.browser.sheets import Sheets

        return Sheets(self.host, self.search, self.navigation)
