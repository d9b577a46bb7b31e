"""Lists of any length with a cursor, which draw only the rows on the screen."""

from __future__ import annotations

from abc import abstractmethod

from textual import events, on
from textual.geometry import Offset, Region
from textual.message import Message
from textual.strip import Strip

from spackscope.model.report.report import Piece
from spackscope.tui.keymap import LISTS, bindings
from spackscope.tui.process.textual_internals import Fitted
from spackscope.tui.widgets.drawing import RowPen, empty_row, under_cursor

_WHEEL_ROWS = 3


class Browse(Message):
    """Posted to have the browser do an action with some values, like a key binding."""

    def __init__(self, action: str, *values: object) -> None:
        super().__init__()
        self.action, self.values = action, values


class ListMessage(Message):
    """A message about a row of a list."""

    def __init__(self, rows: VirtualList, row: int) -> None:
        super().__init__()
        self.rows = rows
        self.row = row


class VirtualList(Fitted, can_focus=True):
    """A list of numbered rows, one line each; subclasses provide the pieces of a row.

    The list scrolls by half pages at the edges, because every line that is drawn again is sent to
    a terminal that may be far away.
    """

    BINDINGS = bindings(LISTS)
    CURSOR_IS_ROW = True
    """Whether the whole row under the cursor is marked; else its `pieces` show the cursor."""

    class Highlighted(ListMessage):
        """Posted when the cursor moved to another row."""

        def can_replace(self, message: Message) -> bool:
            """Replace an older message of the same list that was not handled yet."""
            return isinstance(message, VirtualList.Highlighted) and message.rows is self.rows

    class Scrolled(ListMessage):
        """Posted when the row under the cursor is on another line."""

    class Chosen(ListMessage):
        """Posted when a row is chosen with Enter or a double click."""

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:
        super().__init__(id=id, classes=classes)
        self.length = self.cursor = self.top = 0
        self.empty = ""
        self.is_searched = False
        """Whether the list belongs to a search, which has the focus."""
        self._pen = RowPen(self)

    @property
    def is_in_use(self) -> bool:
        """Whether keys move the cursor of the list."""
        return self.has_focus or self.is_searched

    @property
    def keeps_cursor(self) -> bool:
        """Whether the cursor is shown while the list is not in use."""
        return True

    @property
    def position(self) -> tuple[int, int]:
        """The number of the row under the cursor, and the number of rows."""
        return self.cursor, self.length

    @property
    def cursor_screen_offset(self) -> Offset:
        """The position of the cursor on the screen, under the same name as in Textual's Input."""
        return self.region.offset + Offset(0, self.cursor - self.top)

    @abstractmethod
    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the pieces of a row; the list cuts them at `width` cells."""

    def show(self, length: int, cursor: int = 0, *, empty: str = "") -> None:
        """Show `length` rows, with the cursor on one row; without rows show the text `empty`."""
        self.length = length
        self.empty = empty
        self.cursor = max(0, min(cursor, length - 1))
        self._scroll_to_cursor()
        self.refresh()

    def is_heading(self, row: int) -> bool:
        """Check whether a row is a heading, which the cursor skips."""
        return False

    def move_to(self, row: int) -> None:
        """Move the cursor to a row, or to the nearest row if its number is out of range."""
        row = max(0, min(row, self.length - 1))
        if self.length and self.is_heading(row):
            step = 1 if row >= self.cursor else -1
            row += step if 0 <= row + step < self.length else -step
        if row == self.cursor or not self.length:
            self.show_cursor()
            return
        old, self.cursor = self.cursor, row
        if self._scroll_to_cursor():
            self.refresh()
        else:
            self.refresh_rows(old, row)
        self.post_message(self.Highlighted(self, row))

    def refresh_rows(self, *rows: int) -> None:
        """Draw some rows again."""
        width, lines = self.size.width, [row - self.top for row in rows]
        regions = [Region(0, y, width, 1) for y in lines if 0 <= y < self.size.height]
        if regions:
            self.refresh(*regions)

    def show_cursor(self) -> None:
        """Scroll back to the cursor if the wheel has moved it out of view."""
        if self._scroll_to_cursor():
            self.refresh()

    def show_to(self, last: int) -> None:
        """Scroll so that the rows from the cursor to another are in view, or as many as fit."""
        height = max(1, self.size.height)
        if self._put_at_top(min(self.cursor, max(self.top, last + 1 - height))):
            self.refresh()

    def _scroll_to_cursor(self) -> bool:
        height = max(1, self.size.height)
        top = min(self.top, max(0, self.length - height))
        if not top <= self.cursor < top + height:
            top = max(0, min(self.cursor - height // 2, self.length - height))
        return self._put_at_top(top)

    def _put_at_top(self, top: int) -> bool:
        """Scroll a row to the top; return whether the list has scrolled."""
        moved, self.top = top != self.top, top
        if moved and self.is_mounted:
            self.post_message(self.Scrolled(self, self.cursor))
        return moved

    def fit(self) -> None:
        """Keep the cursor in view, from the top if possible.

        Before the layout of the screen, the list has no height and shows only the cursor.
        """
        if self.cursor < self.size.height and self._put_at_top(0):
            self.refresh()
        self.show_cursor()
        # Lines above it may have come or gone.
        self.post_message(self.Scrolled(self, self.cursor))

    def render_line(self, y: int) -> Strip:
        """Draw one line of the screen."""
        width, row = self.size.width, self.top + y
        if not self.length:
            return self._pen.draw(empty_row(self.empty, y, width, self.size.height), width)
        pieces = self.pieces(row, width) if row < self.length else []
        is_here = self.CURSOR_IS_ROW and row == self.cursor
        is_here = is_here and (self.is_in_use or self.keeps_cursor)
        if is_here and pieces:
            pieces = under_cursor(pieces, in_use=self.is_in_use)
        return self._pen.draw(pieces, width, is_here=is_here, is_in_use=self.is_in_use)

    def notify_style_update(self) -> None:
        """Drop the cached styles when the theme or the focus changes."""
        super().notify_style_update()
        self._pen.forget_styles()
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the clicked row; a double click chooses the row."""
        row = self.top + event.y
        if row < self.length:
            self.move_to(row)
            if event.chain == 2:
                self.post_message(self.Chosen(self, row))

    @on(events.MouseScrollDown)
    @on(events.MouseScrollUp)
    def _turn_wheel(self, event: events.MouseScrollDown | events.MouseScrollUp) -> None:
        """Scroll the rows; the cursor stays on its row, and the next key scrolls back to it."""
        event.stop()
        rows = _WHEEL_ROWS if isinstance(event, events.MouseScrollDown) else -_WHEEL_ROWS
        if self._put_at_top(max(0, min(self.top + rows, self.length - self.size.height))):
            self.refresh()

    def action_move(self, rows: int) -> None:
        """Move the cursor by some rows."""
        self.move_to(self.cursor + rows)

    def action_page(self, pages: int) -> None:
        """Scroll by some pages, and move the cursor by as many rows; no row is skipped unseen."""
        self._scroll_to_cursor()
        rows = pages * max(1, self.size.height - 1)
        self._put_at_top(max(0, min(self.top + rows, self.length - self.size.height)))
        self.move_to(self.cursor + rows)
        self.refresh()

    def action_move_to(self, row: int) -> None:
        """Move the cursor to a row; -1 is the last row."""
        self.move_to(row % max(1, self.length))

    def action_choose(self) -> None:
        """Choose the row under the cursor."""
        if self.length:
            self.post_message(self.Chosen(self, self.cursor))
