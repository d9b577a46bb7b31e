"""The box of a dialog with a list that is filled later, and a filter on the texts of its items."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.suggestions import matching
from spackscope.model.core.text import clean, counted
from spackscope.model.report.frame import position
from spackscope.tui.dialogs.base import Dialog, closes
from spackscope.tui.keymap import DIALOGS, Hint, hint, hints, shown
from spackscope.tui.widgets.drawing import Piece, filter_needles
from spackscope.tui.widgets.query_line import FilterInput
from spackscope.tui.widgets.virtual_list import VirtualList

Item = TypeVar("Item")

MAX_WIDTH = 96
"""Cells of a row at most: no farther than an eye follows."""
_FRAME_WIDTH, _FRAME_HEIGHT = 4, 3
"""Cells and rows of the box around the items: border and margin, border and filter."""
_MIN_WIDTH = 68
"""Cells of the box at the least: room for the keys."""
_MIN_ROWS = 4
"""Rows of the list at the least, so that a sentence fits in their place."""


class ItemRows(VirtualList, Generic[Item]):
    """A list of items, drawn by a function of its owner, with needles to highlight."""

    items: Sequence[Item] = ()
    needles: Sequence[str] = ()

    def __init__(self, draw: Callable[[ItemRows[Item], int, int], list[Piece]]) -> None:
        super().__init__()
        self._draw = draw

    @property
    def item(self) -> Item | None:
        """The item under the cursor, or None if there is none."""
        return self.items[self.cursor] if self.length else None

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the pieces of a row."""
        return self._draw(self, row, width)


class Listed(Frozen, Generic[Item]):
    """What a dialog lists: how an item is called, what its text is, and how a row is drawn.

    `hints` returns the keys with what they do, the most useful first.
    """

    noun: str
    text: Callable[[Item], str]
    draw: Callable[[ItemRows[Item], int, int], list[Piece]]
    hints: Callable[[], list[Hint]]


class FilteredBox(Vertical, Generic[Item]):
    """A filter above the rows of a list; `heading` begins its title.

    `above` are widgets between them, and `below` some lines under the rows. Until items are
    shown, they are being counted.
    """

    class Refilled(Message):
        """Posted when other items are shown."""

    _filter = getters.query_one(FilterInput)

    def __init__(
        self, heading: str, listed: Listed[Item], *above: Widget, below: Widget | None = None
    ) -> None:
        super().__init__(classes="dialog values")
        self._below = below
        self.rows = ItemRows(listed.draw)
        self._heading, self._listed, self._above = heading, listed, above
        self._items: Sequence[Item] | None = None
        self._start: Item | None = None
        self._no_items = ""
        self._is_composed = False

    def compose(self) -> ComposeResult:
        """Lay out the filter and the position of the cursor above the rows."""
        with Horizontal(classes="value-line"):
            yield FilterInput("filter…", name="values")
            yield Static(classes="value-position")
        yield from self._above
        yield self.rows
        if self._below is not None:
            yield self._below

    def on_mount(self) -> None:
        """Show the items, or that they are being counted."""
        self._is_composed = True
        self._refill(self._start)

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Check whether what is typed next must wait until the items are there."""
        return self._items is None and not closes(event)

    def show_counting(self) -> None:
        """Show that the items are being counted again."""
        self._items = None
        self._refill(None)

    def show_items(
        self, items: Sequence[Item], item: Item | None = None, *, no_items: str, width: int = 0
    ) -> None:
        """Show other items with the cursor on one; `no_items` says why there are none.

        The box is sized for rows of a width, unless it is of the class `tall`; the style sheet
        keeps it within the screen.
        """
        self._items, self._no_items = items, no_items
        if not self.has_class("tall"):
            self.styles.width = max(min(width, MAX_WIDTH) + _FRAME_WIDTH, _MIN_WIDTH)
            above = sum(widget.display for widget in self._above)
            self.styles.height = max(len(items), _MIN_ROWS) + _FRAME_HEIGHT + above
        self._refill(item)

    def rename(self, heading: str) -> None:
        """Begin the title of the items that are shown next with another text."""
        self._heading = heading

    def _refill(self, item: Item | None) -> None:
        """Show the items that fit the filter, with the cursor on one of them or on the first."""
        rows = self.rows
        if not self._is_composed:
            self._start = item
            return
        text = self._filter.value
        rows.items = matching(text, self._items or (), self._listed.text)
        rows.needles = filter_needles(text)
        cursor = next((n for n, other in enumerate(rows.items) if other == item), 0)
        close = shown("dialogs-close")
        is_counted = self._items is not None
        empty = (
            f"{self._no_items}\n{close} closes" if is_counted else f"reading…\n{close} stops it"
        )
        if self._items:
            empty = f"no {self._listed.noun} matches {clean(text)}\n{close} removes the filter"
        rows.show(len(rows.items), cursor, empty=empty)
        self._show_title()
        self.post_message(self.Refilled())

    @on(VirtualList.Highlighted)
    def _show_position(self) -> None:
        text = position(self.rows.cursor, self.rows.length)
        self.query_one(".value-position", Static).update(Content(text))

    def _show_title(self) -> None:
        parts = [self._heading]
        if self._items:
            fitting = f"{self.rows.length:,} of " if self._filter.value else ""
            parts.append(f"{fitting}{counted(len(self._items), self._listed.noun)}")
        self.border_title = Content(" · ".join(filter(None, parts)))
        self._show_position()
        self.show_hints()

    @on(events.DescendantFocus)
    def show_hints(self) -> None:
        """Show the keys of the filter, or of the rows, in the last line of the dialog."""
        if not isinstance(self.screen, Dialog):
            return
        if self._filter.has_focus:
            keys = [*hint("filters-done", f"to the {self._listed.noun}s")]
            keys += hint("filters-back", "close filter")
        else:
            keys = [*(self._listed.hints() if self._items else ()), *hints(DIALOGS)]
        # Of two hints of a key the first one counts.
        by_key = {key.shown: key for key in reversed(keys)}
        self.screen.show_hints(key for key in keys if by_key[key.shown] is key)

    def focus_filter(self) -> None:
        """Go to the filter."""
        self._filter.focus()

    @on(FilterInput.Done)
    @on(FilterInput.CompletionAccepted)
    def _filter_done(self) -> None:
        self.rows.focus()

    @on(Input.Changed)
    def _filter_typed(self, event: Input.Changed) -> None:
        event.stop()
        # While a filter is typed the best match is what the user is after.
        self._refill(None if event.value else self.rows.item)

    def close_filter(self) -> bool:
        """Close the filter; return False if none is open."""
        if not (self._filter.value or self._filter.has_focus):
            return False
        item = self.rows.item
        self._filter.reflect("")
        self.rows.focus()
        self._refill(item)
        return True
