"""The box under an input: what is wrong with its text, and what its word can become."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.segment import Segment
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from spackscope.model.assist.completion import Completion
from spackscope.model.core.text import cell_width, clean, pad, wrap

_FEW, _MANY, _TALL = 6, 8, 40
"""Completions on a screen of fewer lines than `_TALL`, and on any other."""
_MARK, _GAP = "⇥ ", "  "

_Line = tuple[int, list[tuple[str, str]]]
"""A column of the screen, and pieces of text, each with the name of its style or none."""


class CompletionPopup(Widget):
    """Float under an input; the screen says what there is to show, and where."""

    COMPONENT_CLASSES = {
        "completion--error",
        "completion--mark",
        "completion--count",
    }

    @dataclass
    class Clicked(Message):
        """Tell that a completion was clicked; it is the marked one now."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.display = False
        self._items: Sequence[Completion] = ()
        self._marked = 0
        self._below = self._at = 0
        self._notes: list[_Line] = []
        self._lines: list[_Line] = []

    @property
    def marked(self) -> Completion | None:
        """The completion that is to be taken."""
        return self._items[self._marked] if self._items else None

    def hide(self) -> None:
        """Show nothing."""
        self.display = False
        self._items, self._notes, self._lines = (), [], []

    def show(
        self,
        below: int,
        at: int,
        items: Sequence[Completion],
        note: str = "",
        caret: int | None = None,
    ) -> None:
        """Show completions from a column of the screen on, below a row, under a sentence.

        The sentence stands beside a caret in its column. The mark stays on its completion while
        that is offered.
        """
        width, height = self.screen.size
        # The border takes a line, and the status line stays free.
        room = height - below - 3
        marked = self.marked
        self._notes = _note_lines(clean(note), caret, width)[: max(0, room)] if note else []
        most = _MANY if height >= _TALL else _FEW
        self._items = items[: max(0, min(most, room - len(self._notes)))]
        texts = [item.text for item in self._items]
        self._marked = texts.index(marked.text) if marked and marked.text in texts else 0
        self._below, self._at = below, at - len(_MARK)
        if not self._items and not self._notes:
            self.hide()
            return
        self.display = True
        self._draw()

    def mark(self, step: int) -> bool:
        """Mark another completion; False where there is none."""
        if not self._items:
            return False
        self._marked = (self._marked + step) % len(self._items)
        self._draw()
        return True

    def _draw(self) -> None:
        """Make the lines, and draw them where they are other than before."""
        width = self.screen.size.width
        lines = self._notes + _item_lines(self._items, self._marked, self._at, width)
        if lines != self._lines:
            self._lines = lines
            self.refresh()
        left, right = self._edges
        self.styles.width, self.styles.height = right - left + 2, len(lines) + 1
        self.styles.offset = (left - 1, self._below + 1)

    @property
    def _edges(self) -> tuple[int, int]:
        return min(at for at, _ in self._lines), max(at + _width(p) for at, p in self._lines)

    def render_line(self, y: int) -> Strip:
        """Draw a line."""
        plain, width = self.rich_style, self.size.width
        if y >= len(self._lines):
            return Strip.blank(width, plain)
        at, pieces = self._lines[y]
        segments = [Segment(" " * (at - self._edges[0]), plain)]
        for text, name in pieces:
            style = self.get_component_rich_style(f"completion--{name}") if name else plain
            segments.append(Segment(text, style))
        return Strip(segments).adjust_cell_length(width, plain)

    def on_click(self, event: events.Click) -> None:
        """Mark the completion that was clicked."""
        event.stop()
        number = event.y - len(self._notes)
        if 0 <= number < len(self._items) and self.mark(number - self._marked):
            self.post_message(self.Clicked())


def _width(pieces: Sequence[tuple[str, str]]) -> int:
    return sum(cell_width(text) for text, _ in pieces)


def _note_lines(note: str, caret: int | None, width: int) -> list[_Line]:
    """Put a sentence beside its caret, on the side where it fits, else under it."""
    lines = wrap(note, max(1, width - 4))
    long = max(map(cell_width, lines))
    caret = max(1, min(caret, width - 3)) if caret is not None else 0
    if caret and len(lines) == 1:
        if caret + long + 3 < width:
            return [(caret, [("^ ", "error"), (f"{note} ", "")])]
        if caret - long - 2 > 0:
            return [(caret - long - 2, [(f" {note} ", ""), ("^ ", "error")])]
    begin = max(1, min(caret - 1, width - long - 3))
    said: list[_Line] = [(begin, [(f" {line} ", "")]) for line in lines]
    return [(caret, [("^ ", "error")]), *said] if caret else said


def _item_lines(items: Sequence[Completion], marked: int, at: int, width: int) -> list[_Line]:
    """Put the texts to the left and the counts to the right, all within the screen."""
    if not items:
        return []
    texts = [clean(item.text) for item in items]
    counts = [f"{item.count:,}" for item in items]
    count_width = max(map(len, counts))
    rest = len(_MARK) + len(_GAP) + count_width + 1
    text_width = max(1, min(max(map(cell_width, texts)), width - 2 - rest))
    at = max(1, min(at, width - 1 - rest - text_width))
    return [
        (
            at,
            [
                (_MARK if number == marked else " " * len(_MARK), "mark"),
                (pad(text, text_width), "mark" if number == marked else ""),
                (_GAP + pad(count, count_width, right=True) + " ", "count"),
            ],
        )
        for number, (text, count) in enumerate(zip(texts, counts, strict=True))
    ]
