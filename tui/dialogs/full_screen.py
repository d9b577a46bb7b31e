"""A dialog over the whole screen, with hints and messages in its last line as in the browser."""

from __future__ import annotations

from typing import ClassVar, Generic

from spackscope.tui.dialogs.base import Dialog, Result
from spackscope.tui.dialogs.text import help_dialog
from spackscope.tui.widgets.status_line import StatusLine


class FullScreen(Dialog[Result], Generic[Result]):
    """A screen with a StatusLine; `PANE` names its keys in the table of keys."""

    PANE: ClassVar[str]

    _is_composed = False

    def say(self, text: str, *, error: bool = False) -> None:
        """Show a message in the place of the hints for some seconds."""
        if self._is_composed:
            self.query_one(StatusLine).say(text, error=error)

    def action_show_help(self) -> None:
        """Show the keys, those of this screen first."""
        self.app.push_screen(help_dialog(self.PANE))
