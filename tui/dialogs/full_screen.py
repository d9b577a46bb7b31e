"""A dialog over the whole screen, which is filled while a worker thread reads."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic

from textual import events

from spackscope.tui.dialogs.base import Dialog, Result


class FullScreen(Dialog[Result], Generic[Result]):
    """A dialog that fills the screen; what is shown may arrive before it is on the screen."""

    _is_composed = False
    _failure = ""

    @property
    @abstractmethod
    def is_filled(self) -> bool:
        """Whether there is something to act on."""

    @abstractmethod
    def fill(self) -> None:
        """Show what is there, or why there is nothing; called only on the screen."""

    def on_mount(self) -> None:
        """Show what arrived before."""
        self._is_composed = True
        self.fill()

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Check whether what is typed next must wait until there is something to act on."""
        leaves = isinstance(event, events.Key) and event.key in ("escape", "q")
        return not (self.is_filled or self._failure or leaves)

    def show_failure(self, sentence: str) -> None:
        """Show why there is nothing."""
        self._failure = f"{sentence}\nesc closes"
        self.refill()

    def refill(self) -> None:
        """Show what changed, if the dialog is on the screen already."""
        if self._is_composed:
            self.fill()
