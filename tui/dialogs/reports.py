"""Show the sources or the problems: lines to search, to read in full, and to open."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from textual import events, on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from spackscope.model.core.text import cell_width, pad, shorten
from spackscope.model.report.report import Row
from spackscope.tui.dialogs.base import Dialog
from spackscope.tui.dialogs.filtered import FilteredBox, ItemRows, Listed
from spackscope.tui.keymap import REPORTS, bindings, hints
from spackscope.tui.widgets.drawing import Piece, highlight
from spackscope.tui.widgets.query_line import FilterInput
from spackscope.tui.widgets.virtual_list import VirtualList

_MAX_NAME = 36
"""Cells of the name of a source or document."""

Copy = Callable[[str, str, Callable[..., object]], object]
"""Copies a text, which has a name, and says what came of it with a function."""


class ReportsDialog(Dialog[Row]):
    """A list of reports, with the whole text of the one under the cursor below it.

    Its result is the report to open; `copy` is called to copy a text.
    """

    PANE = REPORTS
    BINDINGS = bindings(REPORTS)
    AUTO_FOCUS = "ItemRows"

    def __init__(self, noun: str, copy: Copy) -> None:
        super().__init__()
        self._noun, self._copy = noun, copy
        self._name_width = 0
        self._text = Static(classes="report")
        listed = Listed(noun, lambda row: row.note, self._draw, lambda: list(hints(REPORTS)))
        self.box: FilteredBox[Row] = FilteredBox("", listed, below=self._text)
        self.box.add_class("tall", "reports")

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Check whether the next key must wait for the reports."""
        return self.box.is_behind(event)

    def show_reports(self, reports: Sequence[Row], no_items: str) -> None:
        """Show reports, or why there are none; the cursor stays on the one of the same name."""
        item = self.box.rows.item
        name = item.texts[0] if item is not None else ""
        same = next((report for report in reports if report.texts[0] == name), None)
        self._name_width = min(
            _MAX_NAME, max((cell_width(row.texts[0]) for row in reports), default=0)
        )
        self.box.show_items(reports, same, no_items=no_items)

    def compose(self) -> ComposeResult:
        """Lay out the box."""
        yield self.box

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

    @on(VirtualList.Chosen)
    def action_take(self) -> None:
        """Return the report under the cursor."""
        if (report := self.box.rows.item) is not None:
            self.dismiss(report)

    def action_copy(self) -> None:
        """Copy the whole text of the report."""
        if (report := self.box.rows.item) is not None:
            self._copy(report.note, f"the text of the {self._noun}", self.say)

    def action_focus_filter(self) -> None:
        """Go to the search."""
        self.box.focus_filter()

    @on(FilterInput.GivenUp)
    def action_close(self) -> None:
        """Close the search; if none is open, close the dialog."""
        if not self.box.close_filter():
            super().action_close()
