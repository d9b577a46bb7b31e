"""Open the commands of what has the focus: its keys, and in the browser the named queries."""

from __future__ import annotations

from textual.app import App

from spackscope.tui.browser.screen import BrowserScreen
from spackscope.tui.dialogs.base import Dialog
from spackscope.tui.dialogs.palette import named_query_commands, open_palette
from spackscope.tui.dialogs.pick import SearchDialog


def open_commands(app: App[list[str]]) -> None:
    """Open the commands over the screen of an app, unless it is such a list itself."""
    screen = app.screen
    if isinstance(screen, BrowserScreen):
        more = named_query_commands(screen.named_queries, screen.controllers.search.take_text)
        open_palette(app, screen.panes.key_panes, more)
    elif isinstance(screen, Dialog) and not isinstance(screen, SearchDialog):
        open_palette(app, screen.key_panes)
