"""A list of any length that draws only the rows on the screen, and moves a cursor over them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from spackscope.model.core.text import cell_width, clean, shorten, wrap
from spackscope.tui.keymap import LISTS, bindings

Piece = tuple[str, str]
"""Some text of a row, and the name of its style: a component class without its prefix."""


class VirtualList(Widget, can_focus=True):
    """Draw rows by number, one line each; subclasses say what stands in a row.

    Scrolling is by half pages at the edges, because a terminal far away pays for every line that
    is drawn anew.
    """

    BINDINGS = bindings(LISTS)
    COMPONENT_CLASSES = {
        "row--cursor",
        "row--strong",
        "row--dim",
        "row--match",
        "row--accent",
    }

    @dataclass
    class Highlighted(Message):
        """Tell that the cursor went to another row."""

        rows: VirtualList
        row: int

        @property
        def control(self) -> VirtualList:
            """The list."""
            return self.rows

        def can_replace(self, message: Message) -> bool:
            """Let the newer of two moves take the place of one not yet seen."""
            return isinstance(message, VirtualList.Highlighted) and message.rows is self.rows

    @dataclass
    class Chosen(Message):
        """Tell that Enter or a second click took a row."""

        rows: VirtualList
        row: int

        @property
        def control(self) -> VirtualList:
            """The list."""
            return self.rows

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.length = 0
        self.cursor = 0
        self.top = 0
        self.empty = ""
        self._styles_by_name: dict[str, Style] = {}

    @abstractmethod
    def pieces(self, row: int, width: int) -> list[Piece]:
        """Give what stands in a row, to be cut at `width` cells."""

    def show(self, length: int, cursor: int = 0, *, empty: str = "") -> None:
        """Show this many rows, with the cursor on one of them; `empty` is said where none is."""
        self.length = length
        self.empty = empty
        self.cursor = max(0, min(cursor, length - 1))
        self._scroll_to_cursor()
        self.refresh()

    def move_to(self, row: int) -> None:
        """Put the cursor on a row, the nearest one there is."""
        row = max(0, min(row, self.length - 1))
        if row == self.cursor or not self.length:
            return
        old, self.cursor = self.cursor, row
        if self._scroll_to_cursor():
            self.refresh()
        else:
            self.refresh_rows(old, row)
        self.post_message(self.Highlighted(self, row))

    def refresh_rows(self, *rows: int) -> None:
        """Draw some rows anew."""
        width, lines = self.size.width, [row - self.top for row in rows]
        regions = [Region(0, y, width, 1) for y in lines if 0 <= y < self.size.height]
        if regions:
            self.refresh(*regions)

    def _scroll_to_cursor(self) -> bool:
        height = max(1, self.size.height)
        top = min(self.top, max(0, self.length - height))
        if not top <= self.cursor < top + height:
            top = max(0, min(self.cursor - height // 2, self.length - height))
        return self._put_at_top(top)

    def _put_at_top(self, top: int) -> bool:
        """Put a row at the top; return whether another one was there."""
        moved, self.top = top != self.top, top
        return moved

    def on_resize(self) -> None:
        """Keep the cursor in sight."""
        if self._scroll_to_cursor():
            self.refresh()

    def notify_style_update(self) -> None:
        """Forget the styles when the theme or the focus changes."""
        super().notify_style_update()
        self._styles_by_name.clear()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        width, row = self.size.width, self.top + y
        if not self.length:
            return self._empty_line(y, width)
        if row >= self.length:
            return Strip.blank(width, self._style(""))
        under_cursor = row == self.cursor
        segments: list[Segment] = []
        room = width
        for text, name in self.pieces(row, width):
            text = shorten(text, room, keep="start") if cell_width(text) > room else text
            if text:
                segments.append(Segment(text, self._style(name, under_cursor)))
            room -= cell_width(text)
        if room > 0:
            segments.append(Segment(" " * room, self._style("", under_cursor)))
        return Strip(segments, width).simplify()

    def _empty_line(self, y: int, width: int) -> Strip:
        """Draw a line of what is said in place of rows, its first sentence brighter."""
        lines = [
            (part, "dim" if number else "")
            for number, sentence in enumerate(self.empty.split("\n"))
            for part in wrap(clean(sentence), max(1, width - 3))
        ]
        first = 1 if self.size.height > len(lines) else 0
        if not 0 <= y - first < len(lines):
            return Strip.blank(width, self._style(""))
        text, name = lines[y - first]
        return Strip([Segment(f"  {text}", self._style(name))]).adjust_cell_length(width)

    def _style(self, name: str, under_cursor: bool = False) -> Style:
        key = f"{name}|{under_cursor}|{self.has_focus}"
        style = self._styles_by_name.get(key)
        if style is None:
            style = self.rich_style
            if name:
                style += self.get_component_rich_style(f"row--{name}", partial=True)
            if under_cursor:
                style += self.get_component_rich_style("row--cursor", partial=True)
                if self.has_focus:
                    style += Style(dim=False)
            self._styles_by_name[key] = style
        return style

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where the mouse was; a second click takes the row."""
        row = self.top + event.y
        if row >= self.length:
            return
        self.move_to(row)
        if event.chain == 2:
            self.post_message(self.Chosen(self, row))

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Move the rows, and the cursor where it would leave the screen."""
        self._scroll(3)
        event.stop()

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Move the rows, and the cursor where it would leave the screen."""
        self._scroll(-3)
        event.stop()

    def _scroll(self, lines: int) -> None:
        height = self.size.height
        self._put_at_top(max(0, min(self.top + lines, self.length - height)))
        cursor = max(self.top, min(self.cursor, self.top + height - 1))
        if cursor != self.cursor:
            self.cursor = cursor
            self.post_message(self.Highlighted(self, cursor))
        self.refresh()

    def action_move(self, rows: int) -> None:
        """Move the cursor by some rows."""
        self.move_to(self.cursor + rows)

    def action_page(self, pages: int) -> None:
        """Move rows and cursor by some pages, so that no row is passed over unseen."""
        rows = pages * max(1, self.size.height - 1)
        self._put_at_top(max(0, min(self.top + rows, self.length - self.size.height)))
        self.move_to(self.cursor + rows)
        self.refresh()

    def action_first(self) -> None:
        """Move the cursor to the first row."""
        self.move_to(0)

    def action_last(self) -> None:
        """Move the cursor to the last row."""
        self.move_to(self.length - 1)

    def action_choose(self) -> None:
        """Take the row under the cursor."""
        if self.length:
            self.post_message(self.Chosen(self, self.cursor))
