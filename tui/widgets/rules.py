"""The lines between the panes: the side column ends at one, the detail begins below another."""

from __future__ import annotations

from textual.strip import Strip
from textual.widget import Widget

from spackscope.tui.widgets.drawing import RowPainter

_DOWN, _ALONG, _UP = "┬", "│", "┴"
_BETWEEN = "╌"


class _Rule(Widget):
    """A widget that is drawn in the colour of a rule."""

    def __init__(self, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._painter = RowPainter(self)

    def draw(self, text: str) -> Strip:
        """Draw a line of the widget."""
        return self._painter.row([(text, "rule")], self.size.width)

    def notify_style_update(self) -> None:
        """Drop the cached styles when the theme changes."""
        super().notify_style_update()
        self._painter.forget_styles()


class Divider(_Rule):
    """The line right of the side column, which joins the rules above and below the panes."""

    def render_line(self, y: int) -> Strip:
        """Draw a cell of the line."""
        return self.draw({0: _DOWN, self.size.height - 1: _UP}.get(y, _ALONG))


class DetailRule(_Rule):
    """The rule between the table and the detail."""

    def render_line(self, y: int) -> Strip:
        """Draw the rule."""
        return self.draw(_BETWEEN * self.size.width)
