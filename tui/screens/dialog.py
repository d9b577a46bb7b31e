"""What all dialogs share: a box over the browser that Escape closes."""

from __future__ import annotations

from typing import Generic, TypeVar

from textual.binding import Binding
from textual.screen import ModalScreen

Result = TypeVar("Result")


class Dialog(ModalScreen[Result], Generic[Result]):
    """Stand over the browser until Escape or `q`."""

    BINDINGS = [
        Binding("escape,q", "close", "Close", show=False),
        Binding("ctrl+c", "app.interrupt", show=False),
    ]

    def action_close(self) -> None:
        """Go back to the browser with nothing done."""
        self.dismiss(None)
