"""The line above the hints that names the marked specs."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip
from textual.widget import Widget

from spackscope.model.core.cells import SHORT_HASH
from spackscope.model.core.text import clean, shorten
from spackscope.tui.widgets.drawing import draw


class MarksLine(Widget):
    """The marked hashes; it takes no line of the screen while there are none."""

    COMPONENT_CLASSES = {"row--differs", "row--dim"}

    text = ""

    def show_marks(self, marks: Sequence[str]) -> None:
        """Show other marks."""
        hashes = " ".join(clean(mark[:SHORT_HASH]) for mark in marks)
        self.text = f"{len(marks):,} marked  {hashes}" if marks else ""
        self.display = bool(marks)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        width = self.size.width
        text = shorten(self.text, max(0, width - 1))
        return draw(self, [(f" {text}", "differs")], width, "row")
