"""The queries that were used, the newest first, to take one of them again."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on

from spackscope.model.core.text import shorten
from spackscope.tui.dialogs.search import SearchDialog
from spackscope.tui.keymap import HISTORY, bindings
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.highlight import highlight
from spackscope.tui.widgets.search_list import SEARCH_BINDINGS, ItemList
from spackscope.tui.widgets.virtual_list import VirtualList


class HistoryList(ItemList[str], inherit_bindings=False):
    """The queries that have all words of the search."""

    BINDINGS = [*SEARCH_BINDINGS, *bindings(HISTORY)]

    def refill(self) -> None:
        """Show the queries that fit the search, with the cursor on the newest."""
        words = self.search.lower().split()
        self.shown = [q for q in self.items if all(word in q.lower() for word in words)]
        empty = f"no query has {self.search}\n{self.close_key} removes the search"
        self.show(len(self.shown), empty=empty if self.items else "no queries yet")

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the sign of the cursor and the query."""
        text = shorten(self.shown[row], max(1, width - 3), keep="start")
        mark = "▸ " if row == self.cursor else "  "
        return [(mark, "accent"), *highlight(text, self.search.lower().split())]


class HistoryDialog(SearchDialog[str]):
    """A list of queries, the newest first; the result is the one that is taken."""

    PANE = HISTORY

    def __init__(self, queries: Sequence[str]) -> None:
        self._list = HistoryList(queries)
        super().__init__("queries", self._list)

    def reading(self) -> str:
        """Return the query under the cursor in full."""
        return self._list.item or ""

    @on(VirtualList.Chosen)
    def _take(self) -> None:
        if (text := self._list.item) is not None:
            self.dismiss(text)
