"""The lines between the panes: the side column ends at one, the detail begins below another."""

from __future__ import annotations

from textual.strip import Strip
from textual.widget import Widget

from spackscope.tui.widgets.drawing import draw

_DOWN, _ALONG, _UP = "┬", "│", "┴"
_BETWEEN = "╌"


class Divider(Widget):
    """The line right of the side column, which joins the rules above and below the panes."""

    def render_line(self, y: int) -> Strip:
        """Draw a cell of the line."""
        sign = {0: _DOWN, self.size.height - 1: _UP}.get(y, _ALONG)
        return draw(self, [(sign, "line")], self.size.width, "rule")


class DetailRule(Widget):
    """The rule between the table and the detail."""

    def render_line(self, y: int) -> Strip:
        """Draw the rule."""
        width = self.size.width
        return draw(self, [(_BETWEEN * width, "line")], width, "rule")
