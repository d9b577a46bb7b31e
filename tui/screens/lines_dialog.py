"""Show lines of text to be read: the help, and what could not be read."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content

from spackscope.model.catalog import Catalog
from spackscope.model.text import clean, pad
from spackscope.tui.keys import HEADINGS, KEYS
from spackscope.tui.screens.dialog import Dialog
from spackscope.tui.widgets.virtual_list import Piece, VirtualList


class Lines(VirtualList):
    """Draw lines that are made of pieces."""

    def __init__(self, lines: Sequence[Sequence[Piece]]) -> None:
        super().__init__()
        self._lines = lines

    def on_mount(self) -> None:
        """Show all lines."""
        self.show(len(self._lines))

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Give the pieces of a line."""
        return list(self._lines[row])


class LinesDialog(Dialog[None]):
    """Show a title and lines that can be scrolled."""

    def __init__(self, title: str, lines: Sequence[Sequence[Piece]]) -> None:
        super().__init__()
        self._title = title
        self._lines = lines

    def compose(self) -> ComposeResult:
        """Put the lines into a box."""
        with Vertical(classes="dialog tall") as box:
            box.border_title = Content(self._title)
            box.border_subtitle = Content("j k move · esc closes")
            yield Lines(self._lines)


def help_dialog() -> LinesDialog:
    """Make the help from the table of keys."""
    lines: list[list[Piece]] = []
    for where, heading in HEADINGS.items():
        if lines:
            lines.append([])
        lines.append([(heading, "strong")])
        for key in KEYS:
            if key.where == where:
                lines.append([(f"  {pad(key.shown, 9)} ", "accent"), (key.sentence, "")])
    return LinesDialog("keys", lines)


def problems_dialog(catalog: Catalog) -> LinesDialog:
    """Make the list of what could not be read, grouped by document."""
    lines: list[list[Piece]] = []
    origin = None
    for problem in catalog.problems:
        if problem.origin != origin:
            origin = problem.origin
            lines.append([(clean(origin), "strong")])
        place = f"{clean(problem.place)}: " if problem.place else ""
        lines.append([("  ", ""), (place, "accent"), (clean(problem.reason), "")])
    if not lines:
        lines = [[("Every document was read without a problem.", "")]]
    count = len(catalog.problems)
    return LinesDialog(f"problems {count:,}" if count else "no problems", lines)
