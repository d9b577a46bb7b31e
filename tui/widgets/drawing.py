"""Draw pieces of text, each with the name of its style, as the lines of a widget."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.color import Color
from textual.strip import Strip
from textual.widget import Widget

from spackscope.model.core.text import cell_width, clean, shorten, wrap
from spackscope.model.report.report import LinePart, Piece, part_at

STYLES = {
    **dict.fromkeys(("dim", "same", "query--key"), "dim"),
    **dict.fromkeys(("strong", "title", "current", "query--name", "query--word"), "bold"),
    # In a line whose own style is that of the focus.
    "plain": "not bold foreground",
    "match": "bold underline",
    **dict.fromkeys(("key", "query--dependency", "query--not", "query--or"), "bold text-accent"),
    **dict.fromkeys(("accent", "hash", "link"), "text-primary"),
    # Bars weigh less than the values beside them.
    "bar": "dim text-primary",
    **dict.fromkeys(("good", "query--variant"), "text-success"),
    **dict.fromkeys(("query--version", "query--hash"), "text-secondary"),
    "value": "text-warning",
    "query--value": "",
    "differs": "bold text-warning",
    "mark": "bold mark",
    "virtual": "virtual",
    "error": "bold text-error",
    "query--error": "bold underline text-error",
    "rule": "not bold rule",
    # The head of the current column, and its cell in the row under the cursor: a whole column
    # would outshine the colours of the other cells.
    "current in use": "bold underline text-primary",
    "cursor": "",
    "cursor in use": "reverse foreground background",
    # So that a message stands out from what is under it without colour too.
    "reversed": "reverse",
}
"""The styles of texts by their meaning: attributes, then colours of the theme.

Each text has a sign or a weight besides its colour, so that it differs with NO_COLOR too. No style
is a class of the style sheet: Textual would compute the classes at the start, and again whenever
a class of a widget changes.
"""

CURSOR = "┃"
"""The sign of the row under the cursor, also in a list without the focus."""


def part_style(widget: Widget, name: str) -> Style:
    """Return the style of a name in a widget, to be added to the style of the widget."""
    if name == "current":
        parent = widget.parent
        in_use = isinstance(parent, Widget) and parent.has_focus_within
    else:
        in_use = getattr(widget, "is_in_use", False)
    words = (STYLES.get(f"{name} in use") if in_use else None) or STYLES[name]
    colours = widget.app.theme_variables
    attributes = " ".join(word for word in words.split() if word not in colours)
    return _style(attributes, *(colours[word] for word in words.split() if word in colours))


@lru_cache(maxsize=256)
def _style(attributes: str, colour: str = "", background: str = "") -> Style:
    first, second = (
        Color.parse(each).rich_color if each else None for each in (colour, background)
    )
    return Style.parse(attributes) + Style(color=first, bgcolor=second)


def draw(widget: Widget, pieces: Iterable[Piece], width: int) -> Strip:
    """Draw a line of pieces, cut or filled to a width.

    >>> draw(self, [("y", "key"), (" copy", "")], self.size.width)
    """
    plain = widget.rich_style

    def style(names: str) -> Style:
        return sum((part_style(widget, name) for name in names.split()), plain)

    segments = (Segment(text, style(names)) for text, names in pieces)
    return Strip(segments).adjust_cell_length(width, plain)


_KEPT = "bar"
"""The style that the cursor does not reverse: a reversed bar would look like a blank."""
_CURRENT = "current"
"""The style of the current column, which is drawn only in the row under the cursor."""


class RowPen:
    """Draws the rows of a list; the styles are kept, since lists are drawn at every key."""

    def __init__(self, rows: Widget) -> None:
        self._rows = rows
        # By the names of styles, and whether the row is under the cursor of a list in use.
        self._styles: dict[tuple[str, bool, bool], Style] = {}

    def forget_styles(self) -> None:
        """Compute all styles anew, after the theme or the focus has changed."""
        self._styles.clear()

    def draw(
        self,
        pieces: Sequence[Piece],
        width: int,
        *,
        is_here: bool = False,
        is_in_use: bool = False,
    ) -> Strip:
        """Draw a row of pieces, cut or filled to a width.

        `is_here` if the row is under the cursor, and `is_in_use` if keys move this cursor.
        """
        segments, room = list[Segment](), width
        for text, name in pieces:
            cells = cell_width(text)
            if cells > room:
                text = shorten(text, room, keep="start")
                cells = cell_width(text)
            if text:
                segments.append(Segment(text, self._style(name, is_here, is_in_use)))
            room -= cells
        if room > 0:
            segments.append(Segment(" " * room, self._style("", is_here, is_in_use)))
        return Strip(segments, width).simplify()

    def _style(self, name: str, is_here: bool, is_in_use: bool) -> Style:
        key = name, is_here, is_in_use
        style = self._styles.get(key)
        if style is None:
            style = self._rows.rich_style
            is_stale = bool(style.dim)
            for each in name.split():
                if each != _CURRENT or is_here:
                    style += part_style(self._rows, each)
            if is_here and _KEPT not in name.split():
                style += part_style(self._rows, "cursor")
                if is_in_use:
                    # The cursor of a list in use is lit.
                    style += Style(dim=is_stale)
            # Bold and dim at once are neither in most terminals.
            style += Style(bold=False) if is_stale else Style()
            self._styles[key] = style
        return style


Read = TypeVar("Read", bound=Callable[..., object])


class PartLine(Widget, Generic[Read]):
    """A line with parts on the left and on the right; parts with a target can be clicked.

    The left parts are cut where there is no room for all parts. The line reads its content when it
    is drawn; whoever changes the content refreshes the line.
    """

    def __init__(self, read: Read, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.read = read

    @abstractmethod
    def parts(self, width: int) -> tuple[Sequence[LinePart], Sequence[LinePart]]:
        """Return the left parts and the right parts."""

    def take(self, target: Any) -> None:
        """Handle a click on a part with a target: by default, press it as a key."""
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
        drawn = draw(self, left, room)
        return Strip.join([drawn, draw(self, right, width - room)])

    def on_click(self, event: events.Click) -> None:
        """Take the target of the clicked part."""
        event.stop()
        width = self.size.width
        left, right = self.parts(width)
        start = width - sum(part.width for part in right)
        at_right = event.x >= start
        part = part_at(right, event.x - start) if at_right else part_at(left, event.x)
        if part.target:
            self.take(part.target)


_DASH = "─"
RULE_MARGIN = 7
"""Cells of a rule besides its texts: blanks around them, and dashes at its ends and between."""


def dashes(width: int) -> str:
    """Return dashes between two blanks."""
    return f" {_DASH * (width - 2)} " if width > 2 else " " * width


def ruled(
    left: Sequence[LinePart], right: Sequence[LinePart], width: int
) -> tuple[Sequence[LinePart], Sequence[LinePart]]:
    """Return the parts of a rule with texts at its left and at its right, as `PartLine` has them.

    Example: `─ packages 11 ────── newest ─`.
    """
    begin = [LinePart([(f"{_DASH} ", "rule")]), *left] if left else []
    end = [*right, LinePart([(f" {_DASH}", "rule")])] if right else []
    gap = width - sum(part.width for part in (*begin, *end))
    fill = dashes(max(3, gap + (not left) + (not right)))
    fill = fill[not left : len(fill) - (not right)]
    return [*begin, LinePart([(fill, "rule")])], end


class RuleLine(PartLine[Callable[[int], tuple[Sequence[LinePart], Sequence[LinePart]]]]):
    """The rule above a pane, with texts at its left and its right end.

    `read` returns the texts for a number of cells, which they must not exceed.
    """

    def parts(self, width: int) -> tuple[Sequence[LinePart], Sequence[LinePart]]:
        """Return the texts among dashes."""
        return ruled(*self.read(max(0, width - RULE_MARGIN)), width)

    def take(self, target: Any) -> None:
        """Post a message for a click on a text."""
        self.post_message(target)


def under_cursor(pieces: Sequence[Piece], *, in_use: bool = True) -> list[Piece]:
    """Return a row with the sign of the cursor in its first cell; a sign there is reversed.

    The cursor of a list that is not `in_use` is dim: one cursor is lit.
    """
    (text, style), *rest = pieces
    bar = CURSOR, "accent" if in_use else "dim"
    first = bar if text[:1] == " " else (text[:1], f"{style} reversed")
    return [first, (text[1:], style), *rest]


def empty_row(text: str, row: int, width: int, height: int) -> list[Piece]:
    """Return a row of the text shown in place of rows; its first sentence is brighter."""
    lines = [
        (part, "dim" if number else "")
        for number, sentence in enumerate(text.split("\n"))
        for part in wrap(clean(sentence), max(1, width - 3))
    ]
    row -= 1 if height > len(lines) else 0
    return [("  ", ""), lines[row]] if 0 <= row < len(lines) else []
