"""Choose a theme in a list, and remember it."""

from __future__ import annotations

from textual.app import App

from spackscope.model.core.errors import Unwritable
from spackscope.model.core.text import clean
from spackscope.tui.browser.state import Host
from spackscope.tui.dialogs.themes import ThemeDialog
from spackscope.tui.settings.themes import ThemeMemory


def choose_theme(app: App[list[str]], host: Host, memory: ThemeMemory) -> None:
    """Open the list of themes; the one that is taken is kept for the next start."""
    before = app.theme

    def write(name: str) -> str:
        try:
            memory.remember(name)
        except Unwritable as error:
            return clean(f"The theme will not be remembered: {error}")
        return ""

    def report(failure: str) -> None:
        if failure:
            host.say(failure, error=True)

    def take(name: str | None) -> None:
        app.theme = name or before
        if name is not None and name != before:
            host.run(lambda _: write(name), report, group="theme")

    host.open(ThemeDialog(before, memory.configured), take)
