"""The box under an input: what is wrong with its text, and completions of its word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from spackscope.model.assist.answers import Completion
from spackscope.model.core.text import cell_width, clean, pad, wrap
from spackscope.tui.keymap import shown
from spackscope.tui.widgets.drawing import Piece, draw

_MAX_ITEMS, _MAX_ITEMS_TALL, _TALL = 6, 8, 40
"""Completions on a screen of fewer lines than `_TALL`, and on any other."""
_GAP = "  "


def _mark() -> str:
    """Return the sign of the marked completion: the key that accepts it."""
    return f"{shown('filters-complete')} "


class PopupLine(NamedTuple):
    """A line of the box: its first column of the screen, and its pieces."""

    column: int
    pieces: Sequence[Piece]

    @property
    def end(self) -> int:
        """The column after the line."""
        return self.column + sum(cell_width(text) for text, _ in self.pieces)


class CompletionPopup(Widget):
    """A box that floats under an input, with a note and completions, one of them marked."""

    class Clicked(Message):
        """Posted when a completion was clicked; it is marked then."""

    _items: Sequence[Completion] = ()
    _marked = 0
    _chosen = ""
    _row = _column = _left = 0
    _notes: Sequence[PopupLine] = ()
    _lines: Sequence[PopupLine] = ()

    def on_mount(self) -> None:
        """Begin hidden."""
        self.display = False

    @property
    def marked(self) -> Completion | None:
        """The marked completion, which Tab accepts."""
        return self._items[self._marked] if self._items else None

    def hide(self) -> None:
        """Hide the box."""
        self.display = False
        self._items = self._notes = self._lines = ()
        self._chosen = ""

    def show(
        self,
        row: int,
        column: int,
        items: Sequence[Completion],
        note: str = "",
        caret: int | None = None,
    ) -> None:
        """Show a note and completions below a row of the screen, from a column on.

        The note is beside a caret in its column, if any. A mark that the user moved stays on
        its completion while that is offered; else it is on the first.
        """
        width, height = self.screen.size
        # The border takes a line, and the status line stays free.
        room = height - row - 3
        self._notes = note_lines(clean(note), caret, width)[: max(0, room)] if note else []
        max_items = _MAX_ITEMS_TALL if height >= _TALL else _MAX_ITEMS
        self._items = items[: max(0, min(max_items, room - len(self._notes)))]
        texts = [item.text for item in self._items]
        self._marked = texts.index(self._chosen) if self._chosen in texts else 0
        self._row, self._column = row, column - len(_mark())
        self.display = bool(self._items or self._notes)
        self._draw()

    def mark(self, step: int) -> bool:
        """Mark the next or previous completion; return False if there is none."""
        if self._items:
            self._marked = (self._marked + step) % len(self._items)
            self._chosen = self._items[self._marked].text
            self._draw()
        return bool(self._items)

    def _draw(self) -> None:
        """Lay out the lines, and draw them if they changed."""
        width = self.screen.size.width
        lines = [*self._notes, *item_lines(self._items, self._marked, self._column, width)]
        if lines != self._lines:
            self._lines = lines
            self.refresh()
        if lines:
            self._left = min(line.column for line in lines)
            self.styles.width = max(line.end for line in lines) - self._left + 2
            self.styles.height = len(lines) + 1
            self.styles.offset = (self._left - 1, self._row + 1)

    def render_line(self, y: int) -> Strip:
        """Draw a line."""
        pieces: list[Piece] = []
        if y < len(self._lines):
            line = self._lines[y]
            pieces = [(" " * (line.column - self._left), ""), *line.pieces]
        return draw(self, pieces, self.size.width, "completion")

    def on_click(self, event: events.Click) -> None:
        """Mark the completion that was clicked."""
        event.stop()
        number = event.y - len(self._notes)
        if 0 <= number < len(self._items) and self.mark(number - self._marked):
            self.post_message(self.Clicked())


def note_lines(note: str, caret: int | None, width: int) -> list[PopupLine]:
    """Place a note beside its caret, on the side where it fits, else under it."""
    texts = wrap(note, max(1, width - 4))
    length = max(map(cell_width, texts))
    caret = max(1, min(caret, width - 3)) if caret is not None else 0
    if caret and len(texts) == 1:
        if caret + length + 3 < width:
            return [PopupLine(caret, [("^ ", "error"), (f"{note} ", "")])]
        if caret - length - 2 > 0:
            return [PopupLine(caret - length - 2, [(f" {note} ", ""), ("^ ", "error")])]
    column = max(1, min(caret - 1, width - length - 3))
    lines = [PopupLine(column, [(f" {text} ", "")]) for text in texts]
    return [PopupLine(caret, [("^ ", "error")]), *lines] if caret else lines


def item_lines(
    items: Sequence[Completion], marked: int, column: int, width: int
) -> list[PopupLine]:
    """Align the texts left and the counts right, all within the screen."""
    texts = [clean(item.text) for item in items]
    counts = [f"{item.count:,}" for item in items]
    count_width = max(map(len, counts), default=0)
    rest = len(_mark()) + len(_GAP) + count_width + 1
    text_width = max(1, min(max(map(cell_width, texts), default=0), width - 2 - rest))
    column = max(1, min(column, width - 1 - rest - text_width))
    return [
        PopupLine(
            column,
            [
                (_mark() if number == marked else " " * len(_mark()), "mark"),
                (pad(text, text_width), "mark" if number == marked else ""),
                (_GAP + pad(count, count_width, right=True) + " ", "count"),
            ],
        )
        for number, (text, count) in enumerate(zip(texts, counts, strict=True))
    ]
