"""Draw pieces of text, each with the name of its style, as the lines of a widget."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Size
from textual.strip import Strip
from textual.widget import Widget

from spackscope.model.core.text import cell_width, clean, shorten, wrap
from spackscope.model.query import lexer
from spackscope.model.report.highlight import DrawnPiece

_ROW = ("hash", "good", "value", "differs", "virtual", "error", "dim", "strong", "match", "accent")
_QUERY = (
    *(lexer.NAME, lexer.WORD, lexer.VERSION, lexer.VARIANT, lexer.HASH, lexer.DEPENDENCY),
    *(lexer.NOT, lexer.OR, lexer.ERROR, "key", "value"),
)
SHARED_STYLES = {
    *(f"row--{name}" for name in (*_ROW, "bar", "key", "rule")),
    *(f"query--{kind}" for kind in _QUERY),
    *("completion--error", "completion--mark", "completion--count", "count--text", "count--error"),
    *("status--key", "toast--note", "toast--error", "toast--progress"),
}
"""The component classes of texts by what they mean; `app.tcss` gives them colours.

They belong to the screen: their styles are the same in all widgets, and would be computed for
each of them at the start, and whenever a class around it changes.
"""
CURRENT_STYLES = {"row--current"}
CURSOR_STYLES = {*CURRENT_STYLES, "row--cursor"}
"""The component classes whose styles depend on the focus: each widget has its own."""

_KEPT = "bar"
"""The style that stays as it is under the cursor: reversed, a bar would be what is beside it."""

_CURRENT = "current"
"""The style of the current column, of which a list shows only the cell under the cursor."""


def part_style(widget: Widget, name: str) -> Style:
    """Return what a component class of a widget, or of its screen, adds to a style."""
    owner = widget if name in widget.COMPONENT_CLASSES else widget.screen
    return owner.get_component_rich_style(name, partial=True)


def draw(widget: Widget, pieces: Iterable[DrawnPiece], width: int, prefix: str) -> Strip:
    """Draw a line of pieces, cut or filled to a width, with a widget's component classes.

    >>> draw(self, [("y", "key"), (" copy", "")], self.size.width, "status")
    """
    plain = widget.rich_style

    def style(names: str) -> Style:
        return sum((part_style(widget, f"{prefix}--{name}") for name in names.split()), plain)

    segments = (Segment(text, style(names)) for text, names in pieces)
    return Strip(segments).adjust_cell_length(width, plain)


class LinePart(NamedTuple):
    """Some cells of a line, and what a click on them is for; nothing if that is empty."""

    pieces: Sequence[DrawnPiece]
    target: Any = ""

    @property
    def width(self) -> int:
        """The number of cells."""
        return sum(cell_width(text) for text, _ in self.pieces)


class PartLine(Widget):
    """A line with parts on the left and on the right, of which some can be clicked.

    The left ones are cut where there is no room for all.
    """

    PREFIX = "row"
    """The prefix of the component classes."""

    @abstractmethod
    def parts(self, width: int) -> tuple[Sequence[LinePart], Sequence[LinePart]]:
        """Return the parts on the left and those on the right."""

    def take(self, target: Any) -> None:
        """Do what a click on a part is for: press a key, if the target is one."""
        self.app.simulate_key(target)

    def render_line(self, y: int) -> Strip:
        """Draw the parts."""
        width = self.size.width
        if y:
            return Strip.blank(width, self.rich_style)
        left, right = (
            [piece for part in side for piece in part.pieces] for side in self.parts(width)
        )
        room = max(0, width - sum(cell_width(text) for text, _ in right))
        drawn = draw(self, left, room, self.PREFIX)
        return Strip.join([drawn, draw(self, right, width - room, self.PREFIX)])

    def on_click(self, event: events.Click) -> None:
        """Take the target that was clicked."""
        event.stop()
        left, right = self.parts(self.size.width)
        for start, side in (0, left), (self.size.width - sum(part.width for part in right), right):
            for part in side:
                if start <= event.x < start + part.width and part.target:
                    self.take(part.target)
                    return
                start += part.width


if TYPE_CHECKING:
    _Mixin = Widget
else:
    # A class of Textual would be made at the start.
    _Mixin = object


class Fitted(_Mixin):
    """A widget that fits what it shows into its size before it is drawn in that.

    Textual posts the size while it draws, and all would be sent to the terminal twice. Where it
    does not call `_size_updated` any more, that is what happens.
    """

    _is_fitted = False
    """Whether the size that is posted next is that of now."""

    @abstractmethod
    def fit(self) -> None:
        """Fit what is shown into the size."""

    def _size_updated(
        self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True
    ) -> bool:
        before = self.outer_size
        is_new = super()._size_updated(size, virtual_size, container_size, layout)
        if self.outer_size != before:
            self._is_fitted = True
            self.fit()
        return is_new

    def on_resize(self) -> None:
        """Fit what is shown into the size, unless that was done."""
        if not self._is_fitted:
            self.fit()
        self._is_fitted = False


class RowPainter:
    """Draw the rows of a list; styles are cached because lists are drawn at every key."""

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self._styles: dict[tuple[str, bool, bool], Style] = {}

    def forget_styles(self) -> None:
        """Drop the cached styles."""
        self._styles.clear()

    def row(
        self, pieces: Iterable[DrawnPiece], width: int, *, under_cursor: bool = False
    ) -> Strip:
        """Draw a row of pieces, the last of them cut where it is too long."""
        segments: list[Segment] = []
        room = width
        for text, name in pieces:
            cells = cell_width(text)
            if cells > room:
                text = shorten(text, room, keep="start")
                cells = cell_width(text)
            if text:
                segments.append(Segment(text, self._style(name, under_cursor)))
            room -= cells
        if room > 0:
            segments.append(Segment(" " * room, self._style("", under_cursor)))
        return Strip(segments, width).simplify()

    def _style(self, name: str, under_cursor: bool) -> Style:
        widget = self._widget
        key = name, under_cursor, widget.has_focus
        style = self._styles.get(key)
        if style is None:
            style = widget.rich_style
            is_stale = bool(style.dim)
            for each in name.split():
                if each == _CURRENT and not under_cursor:
                    continue
                style += part_style(widget, f"row--{each}")
            if under_cursor and _KEPT not in name:
                style += part_style(widget, "row--cursor")
                if widget.has_focus:
                    style += Style(dim=is_stale)
            # Bold and dim at once are neither in most terminals.
            style += Style(bold=False) if is_stale else Style()
            self._styles[key] = style
        return style


def empty_row(text: str, row: int, width: int, height: int) -> list[DrawnPiece]:
    """Return a row of the text shown in place of rows, its first line brighter than the others."""
    lines = [
        (part, "dim" if number else "")
        for number, sentence in enumerate(text.split("\n"))
        for part in wrap(clean(sentence), max(1, width - 3))
    ]
    row -= 1 if height > len(lines) else 0
    return [("  ", ""), lines[row]] if 0 <= row < len(lines) else []
