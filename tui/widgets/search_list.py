"""A list that is searched by typing: letters go to the search, arrow keys move the cursor."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message

from spackscope.model.core.text import clean
from spackscope.tui.keymap import SEARCHED, bindings, first_key, shown_key
from spackscope.tui.widgets.virtual_list import VirtualList

_MAX_LENGTH = 200

Item = TypeVar("Item")


SEARCH_BINDINGS: list[BindingType] = [
    Binding("down,ctrl+n", "move(1)", show=False),
    Binding("up,ctrl+p", "move(-1)", show=False),
    Binding("pagedown,ctrl+d", "page(1)", show=False),
    Binding("pageup", "page(-1)", show=False),
    Binding("home", "move_to(0)", show=False),
    Binding("end", "move_to(-1)", show=False),
    Binding("backspace", "erase(-1)", show=False),
    Binding("ctrl+u", "erase(0)", show=False),
]
"""The keys of every list that is searched by typing."""


class SearchList(VirtualList, inherit_bindings=False):
    """A list whose `search` text is typed; `refill` shows what fits it."""

    BINDINGS = [*SEARCH_BINDINGS, *bindings(SEARCHED)]

    search = ""

    class Searched(Message):
        """Posted when another text is searched."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    @property
    def close_key(self) -> str:
        """The key that removes the search, as it is shown."""
        return shown_key(first_key("dialogs-close", is_letter_typed=True))

    @abstractmethod
    def refill(self) -> None:
        """Show the rows that fit the search, with the cursor on the best."""

    def search_for(self, text: str) -> None:
        """Search another text."""
        text = clean(text)[:_MAX_LENGTH]
        if text != self.search:
            self.search = text
            self.refill()
            self.post_message(self.Searched(text))

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Take every letter for the search, before it means a key."""
        return character is not None and character.isprintable()

    def on_key(self, event: events.Key) -> None:
        """Add a letter to the search."""
        if event.is_printable and event.character is not None:
            event.stop()
            event.prevent_default()
            self.search_for(self.search + event.character)

    def on_paste(self, event: events.Paste) -> None:
        """Add the first line of a pasted text to the search."""
        event.stop()
        self.search_for(self.search + "".join(event.text[:_MAX_LENGTH].splitlines()[:1]))

    def action_erase(self, end: int) -> None:
        """Remove what is after an offset: the last letter with -1, everything with 0."""
        self.search_for(self.search[:end])


class ItemList(SearchList, Generic[Item]):
    """A list of items, of which those that fit the search are `shown`, one a row."""

    def __init__(self, items: Sequence[Item]) -> None:
        super().__init__()
        self.items = items
        self.shown: Sequence[Item] = ()

    @property
    def item(self) -> Item | None:
        """The item under the cursor."""
        return self.shown[self.cursor] if self.length else None

    def on_mount(self) -> None:
        """Show all items."""
        self.refill()
