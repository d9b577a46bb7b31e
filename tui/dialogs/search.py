"""A dialog with a list that is searched by typing, and the text of its row to read in full."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, Generic

from textual import events, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from spackscope.model.core.text import clean, wrap
from spackscope.tui.dialogs.base import Dialog, Result
from spackscope.tui.keymap import DIALOGS, SEARCHED, Hint, hints
from spackscope.tui.widgets.search_list import SearchList
from spackscope.tui.widgets.virtual_list import VirtualList

_READING_LINES = 2
"""Lines below the list for the row under the cursor."""


class SearchDialog(Dialog[Result], Generic[Result]):
    """A box with a search line, a list, and below it the row under the cursor in full.

    Escape removes the search first. A full one fills the screen; subclasses return the text of
    a row with `reading`.
    """

    PANE = SEARCHED
    AUTO_FOCUS = "SearchList"
    CHOOSE: ClassVar[str] = ""
    """The word for Enter in the last line, if it is not that of the table of keys."""

    def __init__(self, title: str, rows: SearchList, *, is_full: bool = False) -> None:
        super().__init__()
        self._title, self.rows, self._is_full = title, rows, is_full

    def compose(self) -> ComposeResult:
        """Lay out the search above the list, and the text of its row below it."""
        with Vertical(classes=f"dialog tall {'searched' if self._is_full else ''}") as box:
            box.border_title = Content(self._title)
            yield Static(classes="search-line")
            yield self.rows
            yield Static(classes="reading")

    @on(events.Mount)
    @on(SearchList.Searched)
    def _show_search(self) -> None:
        text = self.rows.search
        line = Content.assemble(("› ", "bold $accent"), text, ("▏", "bold"))
        if not text:
            line += Content.styled("type to search", "dim")
        self.query_one(".search-line", Static).update(line)
        self.show_reading()
        self.show_hints(self.key_hints())

    @on(VirtualList.Highlighted)
    @on(events.Resize)
    def show_reading(self) -> None:
        """Show the row under the cursor below the list, in full."""
        line = self.query_one(".reading", Static)
        lines = wrap(clean(self.reading()), max(1, self.rows.size.width or 40))
        line.update(Content("\n".join(lines[:_READING_LINES])))

    def key_hints(self) -> Iterable[Hint]:
        """Return the keys of the dialog, except letters, which are typed into the search."""
        words = {"searched-choose": self.CHOOSE, "dialogs-close": "clear" * bool(self.rows.search)}
        return hints(self.PANE, DIALOGS, words=words, is_letter_typed=True)

    def reading(self) -> str:
        """Return the text of the row under the cursor, to be read in full."""
        return ""

    def action_close(self) -> None:
        """Remove the search; without one close the dialog."""
        if self.rows.search:
            self.rows.search_for("")
        else:
            super().action_close()
