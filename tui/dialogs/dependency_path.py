"""Show why one spec needs another: the specs on a shortest way between them."""

from __future__ import annotations

from collections.abc import Sequence

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content

from spackscope.model.catalog.dependency_graph import Edge
from spackscope.model.catalog.rows import Row
from spackscope.model.core.cells import (
    SHORT_HASH,
)
from spackscope.model.core.text import cell_width, pad
from spackscope.model.presentation.dependency_tree import STANDINGS, Step, way_steps
from spackscope.tui.dialogs.base import Dialog
from spackscope.tui.widgets.virtual_list import Piece, VirtualList

_WIDEST_NAME = 36


class Steps(VirtualList):
    """Draw a line for each spec on the way."""

    BINDINGS = [Binding("enter", "choose", show=False)]

    def __init__(self, steps: Sequence[Step]) -> None:
        super().__init__()
        self._steps = steps
        self._name_width = min(_WIDEST_NAME, max(cell_width(step.name) for step in steps))

    def on_mount(self) -> None:
        """Show all specs."""
        self.styles.height = len(self._steps)
        self.show(len(self._steps))

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Give the deptypes of the edge that led here, the spec, and what it provides."""
        step = self._steps[row]
        provides = f"provides {step.virtuals}" if step.virtuals else ""
        said = " · ".join(part for part in (provides, STANDINGS[step.standing]) if part)
        return [
            ("▸ " if row == self.cursor else "  ", "accent"),
            (pad(step.deptypes, 6) + " ", "dim"),
            (pad(step.name, self._name_width), "dim" if step.standing else "strong"),
            (f"  {step.hash[:SHORT_HASH]}", "dim"),
            (f"  {said}", ""),
        ]


class DependencyPathDialog(Dialog[int]):
    """Show the way; gives the id of the spec to go to."""

    def __init__(
        self,
        way: Sequence[Edge],
        rows: Sequence[Row | None],
        absent: Sequence[tuple[str, str] | None],
    ) -> None:
        super().__init__()
        self._ids = [way[0].parent, *(edge.child for edge in way)]
        self._steps = way_steps(way, rows, absent)

    def compose(self) -> ComposeResult:
        """Put the specs into a box, and the two ends into its title."""
        first, last = self._steps[0], self._steps[-1]
        with Vertical(classes="dialog") as box:
            box.border_title = Content(f"why {first.name} needs {last.name}")
            box.border_subtitle = Content("⏎ goes to the spec · esc closes")
            yield Steps(self._steps)

    @on(Steps.Chosen)
    def _chosen(self, event: Steps.Chosen) -> None:
        self.dismiss(self._ids[event.row])
