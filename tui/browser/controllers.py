"""All controllers of the browser, put together."""

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
from spackscope.tui.browser.tables import SPECS

# What the first screen does not need is imported when it is first used: a fifth of the start.
if TYPE_CHECKING:
    from spackscope.tui.browser.sheets import Sheets


class Controllers:
    """The controllers of one browser, each made with the host and the controllers that it calls.

    With `is_pick`, Enter on a row picks it, and leaving the first pane ends the program.
    """

    def __init__(self, host: BrowserHost, query: str, *, is_pick: bool = False) -> None:
        self.host, self.is_pick = host, is_pick
        self.recall = QueryRecall(host, QueryHistory(host.session.environ))
        self.search = Search(host)
        self.details = DetailsController(host)
        self.navigation = Navigation(host, self.search, self.details, self.recall)
        self.loading = Loading(host, self.search, self.navigation, self.details, query)
        self.search.on_shown = self._rows_shown
        self.specs = SpecsController(host, self.search, self.recall, self.details, is_pick=is_pick)

    def _rows_shown(self) -> None:
        self.specs.find()
        self.navigation.record()

    @property
    def table(self) -> SpecsController | Sheets:
        """The controller of the open table, which sorts, hides, chooses and leaves."""
        return self.specs if self.host.state.table is SPECS else self.sheets

    @cached_property
    def sheets(self) -> Sheets:
        """Answers in the place of the table."""
        from spackscope.tui.browser.sheets import Sheets

        return Sheets(self.host, self.search, self.navigation)
