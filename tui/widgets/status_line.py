"""The last line: hints of keys, or a message."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.segment import Segment
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from spackscope.model.core.text import cell_width, clean, shorten

_MESSAGE_SECONDS = 6


class StatusLine(Widget):
    """Hints of keys or a message for some seconds, the number of problems, and the position."""

    COMPONENT_CLASSES = {"status--key", "status--error", "status--note"}

    _hints: Sequence[tuple[str, str]] = ()
    _message = _problems = _position = ""
    _style = "status--note"
    _timer: Timer | None = None

    @property
    def message(self) -> str:
        """The message that is shown, or an empty text."""
        return self._message

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
        self._message = clean(message)
        self._style = "status--error" if error else "status--note"
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
        plain, key = self.rich_style, self.get_component_rich_style("status--key")
        corner = [
            Segment(f"  {self._problems}", self.get_component_rich_style("status--error")),
            Segment(f"  {self._position} ", plain),
        ]
        room = width - sum(cell_width(segment.text) for segment in corner)
        segments = [Segment(" ", plain)]
        if self._message:
            style = self.get_component_rich_style(self._style)
            segments.append(Segment(shorten(self._message, room - 1), style))
        else:
            used = 1
            for shown, word in self._hints:
                wide = cell_width(shown) + cell_width(word) + 3
                if used + wide > room:
                    break
                segments += [Segment(shown, key), Segment(f" {word}  ", plain)]
                used += wide
        left = Strip(segments).adjust_cell_length(max(0, room), plain)
        return Strip.join([left, Strip(corner)]).adjust_cell_length(width, plain)
