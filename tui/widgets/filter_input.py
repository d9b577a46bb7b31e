"""One line to type a filter in, as under a column head or above a list."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.widgets import Input
from textual.widgets.input import Selection

from spackscope.model.core.text import clean
from spackscope.tui.keymap import FILTERS, bindings

LONGEST = 2000
"""Characters that a filter takes; a pasted file is no filter."""


@dataclass
class FilterMessage(Message):
    """Tell what was done in an input."""

    input: FilterInput

    @property
    def control(self) -> FilterInput:
        """The input."""
        return self.input


class FilterInput(Input):
    """Take a filter; say when it changes, when it is done, and when it is emptied further.

    Whoever reads the text says in `is_wrong` that it is no filter; Enter does not leave it then.
    """

    BINDINGS = [
        *bindings(FILTERS),
        Binding("backspace", "delete_or_drop", show=False),
    ]

    @dataclass
    class Done(FilterMessage):
        """Tell that the user goes on to the rows; `given_up`, where it was by Escape."""

        given_up: bool = False

    class Emptied(FilterMessage):
        """Tell that Backspace was pressed where nothing is left."""

    class Rejected(FilterMessage):
        """Tell that Enter was pressed on a text that is no filter."""

    class GivenUp(FilterMessage):
        """Tell that Escape was pressed; `finish` leaves the input."""

    class CursorMoved(FilterMessage):
        """Tell that the cursor is at another place."""

    class CompletionAccepted(FilterMessage):
        """Tell that the marked completion is wanted, where one is shown."""

    @dataclass
    class CompletionMoved(FilterMessage):
        """Tell that the next completion is to be marked, or the one before."""

        step: int

    is_wrong = False

    def __init__(self, placeholder: str = "", *, name: str = "", id: str | None = None) -> None:
        super().__init__(
            placeholder=placeholder, name=name, id=id, compact=True, select_on_focus=False
        )
        # Each blink costs some hundred bytes, for as long as the cursor stands there.
        self.cursor_blink = False
        # Else Textual does not scroll to the end of the first text, where the cursor is.
        self._initial_value = False

    def reflect(self, text: str) -> None:
        """Show a text that was decided elsewhere; nothing is said of the change."""
        text = clean(text)
        if text != self.value:
            with self.prevent(Input.Changed):
                self.value = text
            self.cursor_position = len(text)

    def _on_paste(self, event: events.Paste) -> None:
        """Take what is pasted as one line, cleaned and cut to a filter's length."""
        event.prevent_default()
        event.stop()
        lines = event.text[: LONGEST * 4].replace("\t", " ").splitlines()
        pasted = " ".join(line for line in lines if line)
        self.insert_text_at_cursor(clean(pasted)[:LONGEST])

    def _watch_selection(self, selection: Selection) -> None:
        super()._watch_selection(selection)
        self.post_message(self.CursorMoved(self))

    def recall(self, text: str) -> None:
        """Show a text as if it had been typed."""
        self.value = clean(text)
        self.cursor_position = len(self.value)

    def finish(self, *, given_up: bool = False) -> None:
        """Go on to the rows, whatever the text is."""
        self.post_message(self.Done(self, given_up))

    def action_done(self) -> None:
        """Go on to the rows, unless the text is no filter."""
        if self.is_wrong:
            self.post_message(self.Rejected(self))
        else:
            self.finish()

    def action_give_up(self) -> None:
        """Go back to the rows."""
        self.post_message(self.GivenUp(self))

    def action_older(self) -> None:
        """Do nothing: only queries have a history."""

    def action_newer(self) -> None:
        """Go on to the rows."""
        self.action_done()

    def action_take(self) -> None:
        """Take the marked completion, or go on to the next pane."""
        self.post_message(self.CompletionAccepted(self))

    def action_mark(self, step: int) -> None:
        """Mark the next completion, or the one before."""
        self.post_message(self.CompletionMoved(self, step))

    def action_delete_or_drop(self) -> None:
        """Delete the character to the left, or say that there is none."""
        if self.value:
            self.action_delete_left()
        else:
            self.post_message(self.Emptied(self))
