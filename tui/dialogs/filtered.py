"""A dialog with a list, and a filter on the texts of its items."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Generic, TypeVar

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from spackscope.model.core.fuzzy import matching
from spackscope.model.core.text import cell_width, clean
from spackscope.model.presentation.titles import counted, position
from spackscope.tui.dialogs.base import HINT_GAP, Dialog, Result
from spackscope.tui.widgets.filter_input import FilterInput
from spackscope.tui.widgets.highlight import filter_needles
from spackscope.tui.widgets.virtual_list import VirtualList

Item = TypeVar("Item")

FRAME_WIDTH, FRAME_HEIGHT = 4, 3
"""Cells and rows of the box around the items: border and margin, border and filter."""
MIN_WIDTH, MAX_WIDTH = 68, 100
"""Cells of the box: room for the keys, and no farther than an eye follows."""
_MIN_ROWS = 4
"""Rows of the list at the least, so that a sentence fits in their place."""


class ItemRows(VirtualList, Generic[Item]):
    """A list of items; the owner sets them, and the needles to highlight."""

    items: Sequence[Item] = ()
    needles: Sequence[str] = ()

    @property
    def item(self) -> Item | None:
        """The item under the cursor, or None if there is none."""
        return self.items[self.cursor] if self.length else None


class FilteredDialog(Dialog[Result], Generic[Result, Item]):
    """A dialog that is filled later, and whose list is filtered by what is typed.

    `heading` is the beginning of its title, `noun` what an item is called. Subclasses say what
    the text of an item is, how wide the box is, and which keys there are.
    """

    AUTO_FOCUS = "VirtualList"

    _filter = getters.query_one(FilterInput)

    def __init__(self, rows: ItemRows[Item], heading: str, noun: str) -> None:
        super().__init__()
        self._rows, self._heading, self._noun = rows, heading, noun
        self._items: Sequence[Item] | None = None
        self._no_items = ""
        self._is_composed = False

    @abstractmethod
    def text(self, item: Item) -> str:
        """Return the text of an item, which the filter matches."""

    @abstractmethod
    def width(self) -> int:
        """Return the cells that the widest item takes."""

    @abstractmethod
    def hints(self) -> list[str]:
        """Return the keys with what they do, the most useful first."""

    @abstractmethod
    def take(self) -> None:
        """Close the dialog with what is under the cursor."""

    def first(self) -> Item | None:
        """Return the item that the cursor begins on; None for the first."""
        return None

    def above_rows(self) -> Sequence[Widget]:
        """Return the widgets between the filter and the rows."""
        return ()

    @property
    def height_above(self) -> int:
        """The rows that these widgets take."""
        return 0

    def compose(self) -> ComposeResult:
        """Lay out the filter and the position of the cursor above the rows."""
        with Vertical(classes="dialog values"):
            with Horizontal(classes="value-line"):
                yield FilterInput("filter…", name="values")
                yield Static(classes="value-position")
            yield from self.above_rows()
            yield self._rows

    def on_mount(self) -> None:
        """Show the items, or that they are being counted."""
        self._is_composed = True
        self._rows.show(0, empty="counting…\nesc stops it")
        self._show_title()
        if self._items is not None:
            self._show()

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Check whether what is typed next must wait until the items are there."""
        leaves = isinstance(event, events.Key) and event.key in ("escape", "q")
        return self._items is None and not leaves

    def show_items(self, items: Sequence[Item], no_items: str = "") -> None:
        """Show other items; `no_items` says why there are none."""
        self._items, self._no_items = items, no_items
        if self._is_composed:
            self._show()

    def show_failure(self, sentence: str) -> None:
        """Show why there are no items."""
        self.show_items((), sentence)

    def show_counting(self) -> None:
        """Show that the items are being counted again."""
        self._items = None
        self._rows.show(0, empty="counting…\nesc stops it")
        self._show_title()

    def _show(self) -> None:
        """Size the box for its content; the style sheet keeps it within the screen."""
        assert self._items is not None
        box = self.query_one(".dialog")
        box.styles.width = max(self.width() + FRAME_WIDTH, MIN_WIDTH)
        box.styles.height = max(len(self._items), _MIN_ROWS) + FRAME_HEIGHT + self.height_above
        self._refill(self.first())

    def _refill(self, item: Item | None) -> None:
        """Show the items that fit the filter, with the cursor on one of them or on the first."""
        if self._items is None:
            return
        rows, text = self._rows, self._filter.value
        rows.items = matching(text, self._items, self.text)
        rows.needles = filter_needles(text)
        cursor = next((n for n, other in enumerate(rows.items) if other == item), 0)
        if self._items:
            empty = f"no {self._noun} matches {clean(text)}\nesc removes the filter"
        else:
            empty = f"{self._no_items}\nesc closes"
        rows.show(len(rows.items), cursor, empty=empty)
        self._show_title()

    @on(VirtualList.Highlighted)
    def _show_position(self) -> None:
        text = position(self._rows.cursor, self._rows.length)
        self.query_one(".value-position", Static).update(Content(text))

    def _show_title(self) -> None:
        parts = [self._heading]
        if self._items:
            fitting = f"{self._rows.length:,} of " if self._filter.value else ""
            parts.append(f"{fitting}{counted(len(self._items), self._noun)}")
        self.query_one(".dialog").border_title = Content(" · ".join(parts))
        self._show_position()
        self.show_hints()

    def on_resize(self) -> None:
        """Show as many hints as now fit."""
        self.show_hints()

    @on(events.DescendantFocus)
    def show_hints(self) -> None:
        """Show the keys of the filter, or of the rows, as far as there is room."""
        box = self.query_one(".dialog")
        room = min(int(box.styles.width.value) if box.styles.width else 0, self.size.width)
        if self._filter.has_focus:
            hints = [f"⏎ to the {self._noun}s", "esc close filter"]
        else:
            hints = self.hints() if self._items else ["esc close"]
        while len(hints) > 1 and cell_width(HINT_GAP.join(hints)) > room - 6:
            hints.pop()
        box.border_subtitle = Content(HINT_GAP.join(hints))

    @on(VirtualList.Chosen)
    def action_take(self) -> None:
        """Close the dialog with what is under the cursor."""
        self.take()

    def action_focus_filter(self) -> None:
        """Go to the filter."""
        self._filter.focus()

    @on(FilterInput.Done)
    @on(FilterInput.CompletionAccepted)
    def _filter_done(self) -> None:
        self._rows.focus()

    @on(Input.Changed)
    def _filter_typed(self, event: Input.Changed) -> None:
        event.stop()
        # While a filter is typed the best match is what the user is after.
        self._refill(None if event.value else self._rows.item)

    @on(FilterInput.GivenUp)
    def action_close(self) -> None:
        """Close the filter; if none is open, close the dialog with nothing chosen."""
        if not (self._filter.value or self._filter.has_focus):
            super().action_close()
            return
        item = self._rows.item
        self._filter.reflect("")
        self._rows.focus()
        self._refill(item)
