"""What all dialogs share: a box over the browser that Escape closes."""

from __future__ import annotations

from typing import Generic, TypeVar

from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.screen import ModalScreen

Result = TypeVar("Result")


class Dialog(ModalScreen[Result], Generic[Result]):
    """Stand over the browser until Escape or `q`."""

    BINDINGS = [
        Binding("escape,q", "close", "Close", show=False),
        Binding("ctrl+c", "app.interrupt", show=False),
    ]

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close the dialog once: two clicks at once must not close what is under it."""
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()

    def action_close(self) -> None:
        """Go back to the browser with nothing done."""
        self.dismiss(None)
