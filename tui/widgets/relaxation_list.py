"""What would match instead of a query without a match: each a line to choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Static

from spackscope.model.assist.relaxations import Relaxation
from spackscope.model.core.text import cell_width, clean, pad
from spackscope.tui.keymap import RELAXATIONS, bindings
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.virtual_list import VirtualList


class RelaxationRows(VirtualList):
    """Relaxations with their counts; the owner sets them."""

    BINDINGS = bindings(RELAXATIONS)

    relaxations: Sequence[Relaxation] = ()

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the cursor, what to change, and how many that gives."""
        counts = [f"{each.count:,}" for each in self.relaxations]
        count_width = max(map(len, counts))
        widest = max(cell_width(each.label) for each in self.relaxations)
        label = pad(self.relaxations[row].label, max(0, min(widest, width - count_width - 5)))
        return [
            ("▸ " if row == self.cursor else "  ", "accent"),
            (label, ""),
            (f"  {counts[row]:>{count_width}} ", "dim"),
        ]


class RelaxationList(Vertical):
    """Why nothing matches, above the relaxations of the query."""

    @dataclass
    class Taken(Message):
        """Posted when a relaxation is chosen with Enter or a double click."""

        relaxation: Relaxation

    rows = getters.query_one(RelaxationRows)

    def compose(self) -> ComposeResult:
        """Lay out the reason above the rows."""
        yield Static(classes="relaxation-reason")
        yield RelaxationRows(id="relaxation-rows")

    def show(self, reason: str, relaxations: Sequence[Relaxation]) -> None:
        """Show other relaxations, with the cursor on the best."""
        first, *others = map(clean, reason.split("\n"))
        lines = [Content(first), *(Content.styled(line, "dim") for line in others)]
        self.query_one(Static).update(Content("\n").join(lines))
        self.rows.relaxations = relaxations
        self.rows.show(len(relaxations))

    @on(VirtualList.Chosen)
    def _take(self, event: VirtualList.Chosen) -> None:
        event.stop()
        self.post_message(self.Taken(self.rows.relaxations[event.row]))
