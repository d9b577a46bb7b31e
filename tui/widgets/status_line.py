"""The last line: hints of keys, or a message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from spackscope.model.core.text import cell_width, clean, shorten
from spackscope.tui.widgets.drawing import draw

_MESSAGE_SECONDS = 6
_HELP = "?"


def fitting_hints(hints: Iterable[tuple[str, str]], width: int) -> list[tuple[str, str]]:
    """Return the hints that fit into a width: the last ones are left out, but never the help."""
    fitting = list(hints)
    while fitting and sum(cell_width(f"{key} {word}  ") for key, word in fitting) - 2 > width:
        others = [number for number, (key, _) in enumerate(fitting) if key != _HELP]
        if not others:
            break
        del fitting[others[-1]]
    return fitting


class StatusLine(Widget):
    """Hints of keys or a message for some seconds, the number of problems, and the position."""

    COMPONENT_CLASSES = {"status--key", "status--error", "status--note"}

    _hints: Sequence[tuple[str, str]] = ()
    message = _problems = _position = ""
    _style = "note"
    _timer: Timer | None = None

    def show_hints(self, hints: Iterable[tuple[str, str]]) -> None:
        """Show keys, each with a word for what it does."""
        self._hints = list(hints)
        self.refresh()

    def show_problems(self, text: str) -> None:
        """Show the number of problems on the right."""
        self._problems = clean(text)
        self.refresh()

    def show_position(self, text: str) -> None:
        """Show the position of the cursor on the right."""
        if text != self._position:
            self._position = text
            self.refresh()

    def say(self, message: str, *, error: bool = False, stay: bool = False) -> None:
        """Show a message for some seconds, or with `stay` until the next one."""
        self.message = clean(message)
        self._style = "error" if error else "note"
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if message and not stay:
            self._timer = self.set_timer(_MESSAGE_SECONDS, self.hush)
        self.refresh()

    def hush(self) -> None:
        """Show the hints again."""
        self.say("", stay=True)

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        width = self.size.width
        problems = f"  {self._problems}" if self._problems else ""
        corner = [(problems, "error"), (f"  {self._position} ", "")]
        room = width - sum(cell_width(text) for text, _ in corner)
        pieces = [(" ", "")]
        if self.message:
            pieces.append((shorten(self.message, room - 1), self._style))
        else:
            for key, word in fitting_hints(self._hints, room - 1):
                pieces += [(key, "key"), (f" {word}  ", "")]
        left = draw(self, pieces, max(0, room), "status")
        right = draw(self, corner, width - left.cell_length, "status")
        return Strip.join([left, right])
