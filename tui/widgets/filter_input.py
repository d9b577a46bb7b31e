"""An input for a filter: under a column head, or above a list."""

from __future__ import annotations

from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.widgets import Input
from textual.widgets.input import Selection

from spackscope.model.core.text import clean
from spackscope.tui.keymap import FILTERS, bindings

MAX_LENGTH = 2000
"""Characters of a pasted text that are kept; a pasted file is not a filter."""


class FilterMessage(Message):
    """A message about an input."""

    def __init__(self, input: FilterInput) -> None:
        super().__init__()
        self.input = input


class FilterInput(Input):
    """An input that posts how the user leaves it, and the keys of the completions.

    The owner sets `is_wrong` if the text is not a filter; Enter does not leave the input then.
    """

    BINDINGS = [*bindings(FILTERS), Binding("backspace", "delete_or_drop", show=False)]

    class Done(FilterMessage):
        """Posted when the user goes on to the rows; `given_up` if with Escape."""

        def __init__(self, input: FilterInput, given_up: bool = False) -> None:
            super().__init__(input)
            self.given_up = given_up

    class Emptied(FilterMessage):
        """Posted when Backspace is pressed in an empty input."""

    class Rejected(FilterMessage):
        """Posted when Enter is pressed on a text that is not a filter."""

    class GivenUp(FilterMessage):
        """Posted when Escape is pressed; `finish` leaves the input."""

    class CursorMoved(FilterMessage):
        """Posted when the cursor moved."""

    class CompletionAccepted(FilterMessage):
        """Posted when Tab is pressed, to accept the marked completion if there is one."""

    class CompletionMoved(FilterMessage):
        """Posted to mark the next completion, or with a negative step the previous one."""

        def __init__(self, input: FilterInput, step: int) -> None:
            super().__init__(input)
            self.step = step

    is_wrong = False

    def __init__(self, placeholder: str = "", *, name: str = "", id: str | None = None) -> None:
        super().__init__(placeholder=placeholder, name=name, id=id, select_on_focus=False)
        # Each blink sends some hundred bytes, all the time.
        self.cursor_blink = False
        # Otherwise Textual does not scroll to the cursor at the end of the first text.
        self._initial_value = False

    def reflect(self, text: str) -> None:
        """Show a text that was set elsewhere, without a message."""
        text = clean(text)
        if text != self.value:
            with self.prevent(Input.Changed):
                self.value = text
            self.cursor_position = len(text)
            if not self.has_focus:
                self._scroll_to_start()

    def on_focus(self) -> None:
        """Scroll to the cursor."""
        super()._watch_selection(self.selection)

    def on_blur(self) -> None:
        """Show the text from its start."""
        self._scroll_to_start()

    def _scroll_to_start(self) -> None:
        self.scroll_to(x=0, animate=False, force=True)

    def _on_paste(self, event: events.Paste) -> None:
        """Insert a pasted text as one line, cleaned and cut."""
        event.prevent_default()
        event.stop()
        lines = event.text[: MAX_LENGTH * 4].replace("\t", " ").splitlines()
        pasted = " ".join(line for line in lines if line)
        self.insert_text_at_cursor(clean(pasted)[:MAX_LENGTH])

    def _watch_selection(self, selection: Selection) -> None:
        super()._watch_selection(selection)
        self.post_message(self.CursorMoved(self))

    def recall(self, text: str) -> None:
        """Replace the text as if it had been typed."""
        self.value = clean(text)
        self.cursor_position = len(self.value)

    def finish(self, *, given_up: bool = False) -> None:
        """Go on to the rows, even if the text is not a filter."""
        self.post_message(self.Done(self, given_up))

    def action_done(self) -> None:
        """Go on to the rows if the text is a filter."""
        if self.is_wrong:
            self.post_message(self.Rejected(self))
        else:
            self.finish()

    def action_give_up(self) -> None:
        """Post that the user gives up typing."""
        self.post_message(self.GivenUp(self))

    def action_older(self) -> None:
        """Do nothing: only queries have a history."""

    def action_newer(self) -> None:
        """Go on to the rows: only queries have a history."""
        self.action_done()

    def action_take(self) -> None:
        """Accept the marked completion, or go on to the next pane."""
        self.post_message(self.CompletionAccepted(self))

    def action_mark(self, step: int) -> None:
        """Mark the next or previous completion."""
        self.post_message(self.CompletionMoved(self, step))

    def action_delete_or_drop(self) -> None:
        """Delete the character to the left, or post that there is none."""
        if self.value:
            self.action_delete_left()
        else:
            self.post_message(self.Emptied(self))
