"""A dialog over the whole screen, which is filled while a worker thread reads."""

from __future__ import annotations

from abc import abstractmethod
from typing import Generic, TypeVar

from textual import events

from spackscope.tui.dialogs.base import Dialog, Result, closes
from spackscope.tui.keymap import shown

Report = TypeVar("Report")


class FullScreen(Dialog[Result], Generic[Result, Report]):
    """A dialog that fills the screen with a report, None until it has been read.

    The report may arrive before the dialog is on the screen.
    """

    report: Report | None = None

    _is_composed = False
    _failure = ""

    @abstractmethod
    def fill(self) -> None:
        """Show the report, or why there is none; called only on the screen."""

    def on_mount(self) -> None:
        """Show the report if it arrived before."""
        self._is_composed = True
        self.fill()

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Check whether what is typed next must wait for the report."""
        return self.report is None and not (self._failure or closes(event))

    def show_failure(self, sentence: str) -> None:
        """Show why there is no report."""
        self._failure = f"{sentence}\n{shown('dialogs-close')} closes"
        self.refill()

    def refill(self) -> None:
        """Show what changed, if the dialog is on the screen already."""
        if self._is_composed:
            self.fill()
