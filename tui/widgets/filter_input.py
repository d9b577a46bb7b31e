"""One line to type a filter in, as under a column head or above a list."""

from __future__ import annotations

from dataclasses import dataclass

from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.widgets import Input

from spackscope.model.text import clean
from spackscope.tui.keys import FILTERS, bindings

LONGEST = 2000
"""Characters that a filter takes; a pasted file is no filter."""


class FilterInput(Input):
    """Take a filter; say when it changes, when it is done, and when it is emptied further."""

    BINDINGS = [
        *bindings(FILTERS),
        Binding("backspace", "delete_or_drop", show=False),
    ]

    @dataclass
    class Done(Message):
        """Tell that the user goes on to the rows."""

        input: FilterInput

        @property
        def control(self) -> FilterInput:
            """The input."""
            return self.input

    @dataclass
    class Emptied(Message):
        """Tell that Backspace was pressed where nothing is left."""

        input: FilterInput

        @property
        def control(self) -> FilterInput:
            """The input."""
            return self.input

    def __init__(self, placeholder: str = "", *, name: str = "", id: str | None = None) -> None:
        super().__init__(
            placeholder=placeholder, name=name, id=id, compact=True, select_on_focus=False
        )
        # Each blink costs some hundred bytes, for as long as the cursor stands there.
        self.cursor_blink = False

    def reflect(self, text: str) -> None:
        """Show a text that was decided elsewhere; nothing is said of the change."""
        text = clean(text)
        if text != self.value:
            with self.prevent(Input.Changed):
                self.value = text
            self.cursor_position = len(text)

    def _on_paste(self, event: events.Paste) -> None:
        """Take the first line of what is pasted, cleaned and cut to a filter's length."""
        event.prevent_default()
        event.stop()
        lines = event.text[: LONGEST * 4].lstrip("\r\n").splitlines()
        if lines:
            self.insert_text_at_cursor(clean(lines[0].replace("\t", " "))[:LONGEST])

    def action_done(self) -> None:
        """Go on to the rows."""
        self.post_message(self.Done(self))

    def action_delete_or_drop(self) -> None:
        """Delete the character to the left, or say that there is none."""
        if self.value:
            self.action_delete_left()
        else:
            self.post_message(self.Emptied(self))
