"""A message over the lower right corner, above the hints, for some seconds."""

from __future__ import annotations

from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from spackscope.model.core.text import cell_width, clean, wrap
from spackscope.tui.keymap import with_written_keys
from spackscope.tui.widgets.drawing import draw

_SECONDS, _ERROR_SECONDS = 6, 10
_MAX_WIDTH, _MAX_LINES = 74, 4
_MARGIN = 2
"""Cells on each side of the text: one of the message, and one beside it that is blank."""
_ERROR_SIGN = "! "
"""Begins an error, so that it differs from other messages without colour too."""


class Toast(Widget):
    """The last message and the progress of a long task, over what is shown in their place.

    It floats: nothing else moves when it comes or goes.
    """

    message = _progress = ""
    _lines_below = 1
    _is_error = False
    _timer: Timer | None = None
    _lines: tuple[tuple[str, str], ...] = ()

    def on_mount(self) -> None:
        """Begin hidden, unless there is a message already."""
        self.place()

    def say(self, message: str, *, error: bool = False) -> None:
        """Show a message for some seconds, or until the next one; an empty one hides it."""
        self.message, self._is_error = with_written_keys(clean(message)), error
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if message:
            seconds = _ERROR_SECONDS if error else _SECONDS
            self._timer = self.set_timer(seconds, self.hush)
        self.place()

    def hush(self) -> None:
        """Hide the message."""
        self.say("")

    def show_progress(self, text: str) -> None:
        """Show how far a long task is, besides messages; an empty text ends that."""
        if clean(text) != self._progress:
            self._progress = clean(text)
            self.place()

    def show_above(self, lines: int) -> None:
        """Leave some last lines of the screen free: the hints, and what is above them."""
        if lines != self._lines_below:
            self._lines_below = lines
            self.place()

    def place(self) -> None:
        """Fit the lines into the screen, and put them above its last lines."""
        width, height = self.screen.size
        room = max(1, min(_MAX_WIDTH, width) - 2 * _MARGIN)
        style = "error" if self._is_error else "note"
        message = f"{_ERROR_SIGN}{self.message}" if self._is_error else self.message
        texts = [(self._progress, "progress"), (message, style)]
        lines = [(line, name) for text, name in texts if text for line in wrap(text, room)]
        self._lines = tuple(lines[: max(1, min(_MAX_LINES, height - 2))])
        self.display = bool(self._lines)
        if self._lines:
            widest = max(cell_width(line) for line, _ in self._lines) + 2 * _MARGIN
            self.styles.width, self.styles.height = widest, len(self._lines)
            top = height - self._lines_below - len(self._lines)
            self.styles.offset = (max(0, width - widest), max(0, top))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw a line."""
        text, style = self._lines[y] if y < len(self._lines) else ("", "note")
        width = self.size.width
        padded = f" {text}{' ' * (width - cell_width(text) - _MARGIN - 1)}"
        return draw(self, [(" ", ""), (padded, style), (" ", "")], width, "toast")

    def on_click(self) -> None:
        """Hide the message that was clicked."""
        self.hush()
