"""The last line: the keys of what has the focus, each to be clicked, and the position."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from textual import events
from textual.strip import Strip
from textual.widget import Widget

from spackscope.model.core.text import cell_width
from spackscope.tui.keymap import Hint, key_names, written_key
from spackscope.tui.widgets.drawing import Piece, draw

_GAP = 2
"""Blanks after a hint."""


def fitting_hints(hints: Iterable[Hint], width: int) -> list[Hint]:
    """Return the hints that fit into a width: the last ones are left out, but never the help."""
    fitting = list(hints)
    while fitting and sum(map(_width, fitting)) - _GAP > width:
        helps = key_names("help", "dialogs-help")
        others = [number for number, each in enumerate(fitting) if each.key not in helps]
        if not others:
            break
        del fitting[others[-1]]
    return fitting


def _width(hint: Hint) -> int:
    return cell_width(f"{written_key(hint.shown)} {hint.word}") + _GAP


class StatusLine(Widget):
    """Hints of keys, and at the right the position of the cursor.

    A click on a hint presses its key. Messages are in the Toast above the line, so that they
    hide no key.
    """

    _hints: Sequence[Hint] = ()
    _position = ""

    def show_hints(self, hints: Iterable[Hint]) -> None:
        """Show keys, each with a word for what it does; the most useful come first."""
        hints = list(hints)
        if hints != self._hints:
            self._hints = hints
            self.refresh()

    def show_position(self, text: str) -> None:
        """Show the position of the cursor on the right."""
        if text != self._position:
            self._position = text
            self.refresh()

    @property
    def _corner(self) -> str:
        return f"  {self._position} " if self._position else ""

    def _shown_hints(self) -> Iterator[tuple[int, Hint]]:
        """Yield the hints that there is room for, each with its column."""
        room = self.size.width - cell_width(self._corner)
        column = 1
        for hint in fitting_hints(self._hints, room - 1):
            yield column, hint
            column += _width(hint)

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        width, corner = self.size.width, self._corner
        room = width - cell_width(corner)
        pieces: list[Piece] = [(" ", "")]
        for _, hint in self._shown_hints():
            pieces += [(written_key(hint.shown), "key"), (f" {hint.word}{' ' * _GAP}", "")]
        left = draw(self, pieces, max(0, room), "status")
        right = draw(self, [(corner, "")], width - left.cell_length, "status")
        return Strip.join([left, right])

    def on_click(self, event: events.Click) -> None:
        """Press the key of the hint that was clicked."""
        event.stop()
        for column, hint in self._shown_hints():
            if column <= event.x < column + _width(hint) - _GAP and hint.key:
                self.app.simulate_key(hint.key)
