"""The dialogs of lists to filter and to choose from: sources and problems, and names."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from spackscope.model.core.text import cell_width, clean, pad, shorten
from spackscope.model.report.report import Row
from spackscope.tui.dialogs.base import Dialog, Result
from spackscope.tui.dialogs.filtered import FilteredBox, Item, ItemRows, Listed
from spackscope.tui.keymap import FREQUENCY, REPORTS, Hint, bindings, hint, hints
from spackscope.tui.widgets.drawing import Piece, highlight
from spackscope.tui.widgets.query_line import FilterInput
from spackscope.tui.widgets.virtual_list import VirtualList

_MAX_NAME = 36
"""Cells of the name of a source or document."""

Copy = Callable[[str, str, Callable[..., object]], object]
"""Copies a text, which has a name, and says what came of it with a function."""


class ReportDialog(Dialog[Result], Generic[Item, Result]):
    """A list to filter, which is filled once it is read; choosing an item returns its result.

    `box` has the items; subclasses draw them, and return what choosing one means.
    """

    AUTO_FOCUS = "ItemRows"

    def __init__(self, box: FilteredBox[Item]) -> None:
        super().__init__()
        self.box = box

    @abstractmethod
    def result(self, item: Item) -> Result | None:
        """Return what choosing an item means; None if the dialog stays."""

    def compose(self) -> ComposeResult:
        """Lay out the box."""
        yield self.box

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Check whether what is typed next must wait until the items are there."""
        return self.box.is_behind(event)

    @on(VirtualList.Chosen)
    def action_take(self) -> None:
        """Do what choosing the item under the cursor means."""
        item = self.box.rows.item
        if item is not None and (result := self.result(item)) is not None:
            self.dismiss(result)

    def action_focus_filter(self) -> None:
        """Go to the filter."""
        self.box.focus_filter()

    @on(FilterInput.GivenUp)
    def action_close(self) -> None:
        """Close the filter; if none is open, go back."""
        if not self.box.close_filter():
            self.go_back()

    def go_back(self) -> None:
        """Close the dialog."""
        super().action_close()


class ReportsDialog(ReportDialog[Row, Row]):
    """A list of reports, with the whole text of the one under the cursor below it.

    Its result is the report to open; `copy` is called to copy a text.
    """

    PANE = REPORTS
    BINDINGS = bindings(REPORTS)

    def __init__(self, noun: str, copy: Copy) -> None:
        self._noun, self._copy = noun, copy
        self._name_width = 0
        self._text = Static(classes="report")
        listed = Listed(noun, lambda row: row.note, self._draw, lambda: list(hints(REPORTS)))
        super().__init__(FilteredBox("", listed, below=self._text))
        self.box.add_class("tall", "reports")

    def show_reports(self, reports: Sequence[Row], no_items: str) -> None:
        """Show reports, or why there are none; the cursor stays on the one of the same name."""
        item = self.box.rows.item
        name = item.texts[0] if item is not None else ""
        same = next((report for report in reports if report.texts[0] == name), None)
        self._name_width = min(
            _MAX_NAME, max((cell_width(row.texts[0]) for row in reports), default=0)
        )
        self.box.show_items(reports, same, no_items=no_items)

    def _draw(self, rows: ItemRows[Row], row: int, width: int) -> list[Piece]:
        name, facts = rows.items[row].texts
        name_width = min(self._name_width, width // 3)
        room = max(0, width - name_width - 4)
        return [
            ("▸ " if row == rows.cursor else "  ", "accent"),
            *highlight(pad(shorten(name, name_width), name_width), rows.needles, "strong"),
            ("  ", ""),
            *highlight(shorten(facts, room, keep="start"), rows.needles, rows.items[row].style),
        ]

    @on(VirtualList.Highlighted)
    @on(FilteredBox.Refilled)
    def _read_on(self) -> None:
        report = self.box.rows.item
        self._text.update(Content(report.note if report is not None else ""))

    def result(self, item: Row) -> Row:
        """Return the report to open."""
        return item

    def action_copy(self) -> None:
        """Copy the whole text of the report."""
        if (report := self.box.rows.item) is not None:
            self._copy(report.note, f"the text of the {self._noun}", self.say)


class NamesDialog(ReportDialog[str, str]):
    """A list of columns and variants, of which one is chosen to count by."""

    BINDINGS = bindings(FREQUENCY)

    def __init__(self, heading: str) -> None:
        super().__init__(FilteredBox(heading, Listed("name", clean, _name_pieces, _name_hints)))

    def show_names(self, names: Sequence[str]) -> None:
        """Show names; the cursor stays on its own."""
        width = max((cell_width(clean(name)) for name in names), default=0)
        no_items = "all specs are the same in the others"
        self.box.show_items(names, self.box.rows.item, no_items=no_items, width=width)

    def result(self, item: str) -> str:
        """Return the name."""
        return item

    def action_by(self) -> None:
        """Do nothing: the name is being chosen."""

    def action_column(self, step: int) -> None:
        """Do nothing: there is one column."""


def _name_hints() -> list[Hint]:
    return [
        *hint("frequency-choose", "count by it"),
        *hint("frequency-filter", "filter"),
        *hint("dialogs-close", "back"),
    ]


def _name_pieces(rows: ItemRows[str], row: int, width: int) -> list[Piece]:
    mark = "▸ " if row == rows.cursor else "  "
    return [(mark, "accent"), *highlight(clean(rows.items[row]), rows.needles)]
