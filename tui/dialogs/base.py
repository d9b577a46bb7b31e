"""The base of all dialogs: a box over the browser that Escape closes."""

from __future__ import annotations

from typing import Generic, TypeVar

from textual import events
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.screen import ModalScreen

Result = TypeVar("Result")

HINT_GAP = "  "
"""Blanks between the hints in the border of a dialog."""


class Dialog(ModalScreen[Result], Generic[Result]):
    """A box over the browser, closed by Escape or `q`; its result is None if nothing was chosen.

    >>> app.push_screen(CopyDialog(specs), copy_form)
    """

    BINDINGS = [
        Binding("escape,q", "close", "Close", show=False),
        Binding("ctrl+c", "app.interrupt", show=False),
    ]

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Check whether what is typed next must wait for what the dialog shows."""
        return False

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close the dialog once: two clicks at once must not close what is under it."""
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()

    def action_close(self) -> None:
        """Go back to the browser with nothing chosen."""
        self.dismiss(None)
