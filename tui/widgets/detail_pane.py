"""All that is known of the selected spec, line by line; a line is a filter in waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.content import Content
from textual.message import Message
from textual.reactive import var

from spackscope.model.present import DIFFERS, DetailLine
from spackscope.model.query.terms import Term
from spackscope.model.text import wrap
from spackscope.tui.keys import DETAIL, bindings
from spackscope.tui.widgets.virtual_list import Piece, VirtualList

_LABEL = 10
_STYLES = {"title": "strong", "hash": "accent", "head": "dim", "differs": "strong", "same": "dim"}


class DetailPane(VirtualList):
    """Show the detail of one spec; the screen sets `lines`."""

    BINDINGS = bindings(DETAIL)

    lines: var[Sequence[DetailLine]] = var((), init=False)

    @dataclass
    class TermChosen(Message):
        """Tell which value the user wants as a filter; None where a line stands for none."""

        term: Term | None

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self._laid_out: list[tuple[DetailLine, list[Piece]]] = []
        self.border_title = Content("detail")

    @property
    def term(self) -> Term | None:
        """The filter that the line under the cursor stands for, or None."""
        return self._laid_out[self.cursor][0].term if self.cursor < len(self._laid_out) else None

    def watch_lines(self) -> None:
        """Show another spec, the cursor staying where it is."""
        self._lay_out()

    def on_resize(self) -> None:
        """Fold the lines to the new width."""
        self._laid_out = []
        self._lay_out()

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Give the pieces of a line, with the mark of the cursor in front."""
        mark = "▸" if row == self.cursor and self.has_focus else " "
        return [(mark, "accent"), *self._laid_out[row][1]]

    def on_virtual_list_chosen(self, event: VirtualList.Chosen) -> None:
        """Turn a chosen line into its filter."""
        event.stop()
        self.post_message(self.TermChosen(self._laid_out[event.row][0].term))

    def _lay_out(self) -> None:
        """Fold the lines, and draw anew only those that changed: a terminal may be far away."""
        width, before = max(8, self.size.width - 1), self._laid_out
        self._laid_out = [(line, pieces) for line in self.lines for pieces in _folded(line, width)]
        after = self._laid_out
        if len(after) != len(before) or self.cursor >= len(after):
            self.show(len(after), self.cursor)
        else:
            self.refresh_rows(*(row for row, line in enumerate(after) if line != before[row]))


def _folded(line: DetailLine, width: int) -> list[list[Piece]]:
    """Fold a line to the width; the label stands in front of its first part."""
    style = _STYLES.get(line.kind, "")
    if line.kind == "head":
        return [[], [(line.text, style)]]
    has_label = line.label or (line.term is not None and line.term.column == "stack")
    if line.kind in ("differs", "same"):
        margin, first = 2, f"{DIFFERS} " if line.kind == "differs" else "  "
    else:
        margin = min(_LABEL, width // 3) if has_label else 0
        first = f"{line.label:<{margin}}"
    parts = wrap(line.text, width - margin)
    return [
        [(first if number == 0 else " " * margin, "dim"), (part, style)]
        for number, part in enumerate(parts)
    ]
