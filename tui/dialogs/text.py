"""Show lines of text to read: the help, the sources and the problems."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content

from spackscope.model.core.records import Problem, SourceStatus
from spackscope.model.core.text import clean, wrap
from spackscope.model.presentation.sources import failures, source_cells, stale_copies
from spackscope.tui.dialogs.base import Dialog
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.virtual_list import VirtualList

_FORM_WIDTH, _SENTENCE_WIDTH = 24, 44
"""Cells of the two columns of the query language, so that they fit into 80 cells."""

_WIDTH = _FORM_WIDTH + _SENTENCE_WIDTH


class Lines(VirtualList):
    """A list of lines that are made of pieces, with a mark at the cursor or without."""

    BINDINGS = [Binding("enter", "choose", show=False)]

    def __init__(self, lines: Sequence[Sequence[Piece]], *, marks_cursor: bool = False) -> None:
        super().__init__()
        self._lines, self._marks_cursor = lines, marks_cursor

    def on_mount(self) -> None:
        """Show all lines."""
        self.show(len(self._lines))

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the pieces of a line."""
        mark = "▸ " if row == self.cursor else "  "
        return [(mark if self._marks_cursor else "", "accent"), *self._lines[row]]


class TextDialog(Dialog[None]):
    """A dialog with a title, and lines that can be scrolled."""

    def __init__(self, title: str, lines: Sequence[Sequence[Piece]]) -> None:
        super().__init__()
        self._title, self._lines = title, lines

    def compose(self) -> ComposeResult:
        """Show the lines in a box."""
        with Vertical(classes="dialog tall") as box:
            box.border_title = Content(self._title)
            yield Lines(self._lines)


def sources_dialog(states: Sequence[SourceStatus], now: float) -> TextDialog:
    """Return the list of sources with their failures; `now` is in seconds since 1970."""
    lines: list[list[Piece]] = []
    for state in states:
        name, kind, specs, problems, checked = source_cells(state, now)
        parts = [kind, f"{specs} specs", f"{problems} problems"]
        if checked != "-":
            parts.append(f"checked {checked}")
        lines += [[(part, "strong")] for part in wrap(name, _WIDTH)]
        lines += [[("  ", ""), (part, "")] for part in wrap(" · ".join(parts), _WIDTH - 2)]
    for remark in [*failures(states), *stale_copies(states, now)]:
        lines += [[], *([(part, "")] for part in wrap(remark, _WIDTH))]
    return TextDialog(f"sources {len(states):,}", lines)


def problems_dialog(problems: Sequence[Problem]) -> TextDialog:
    """Return the list of what could not be read, grouped by document."""
    lines: list[list[Piece]] = []
    origin = None
    for problem in problems:
        if problem.origin != origin:
            origin = problem.origin
            lines.append([(clean(origin), "strong")])
        location = f"{clean(problem.place)}: " if problem.place else ""
        lines.append([("  ", ""), (location, "accent"), (clean(problem.reason), "")])
    if not lines:
        lines = [[("Every document was read without a problem.", "")]]
    return TextDialog(f"problems {len(problems):,}" if problems else "no problems", lines)
