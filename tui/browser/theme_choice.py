"""Choose a theme in a list, and remember it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from textual.app import App

from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost, remember
from spackscope.tui.dialogs.pick import Pick, PickDialog
from spackscope.tui.settings.memory import ChoiceMemory
from spackscope.tui.settings.themes import OWN, theme_names

_OF_TERMINAL = (OWN.name, "ansi-dark", "ansi-light")


def choose_theme(app: App[list[str]], host: BrowserHost, memory: ChoiceMemory[str]) -> None:
    """Open the list of themes; a chosen theme is kept for the next start."""
    before = app.theme

    def take(name: str | None) -> None:
        app.theme = name or before
        if name is not None and name != before:
            remember(host, partial(memory.remember, name), "theme", jobs.THEME)

    names = [before, *(name for name in theme_names() if name != before)]
    picks = [
        Pick(
            name,
            name,
            ", ".join(_remarks(name, before, memory.configured)),
            reading=f'In the configuration file: theme = "{name}"',
        )
        for name in names
    ]

    def show(name: str) -> None:
        app.theme = name

    dialog = PickDialog("themes", "theme", picks, choose="apply", on_move=show)
    # The screen around the dialog shows the look of a theme.
    dialog.add_class("beside")
    host.open(dialog, take)


def _remarks(name: str, present: str, configured: str) -> Iterator[str]:
    if name == present:
        yield "now"
    if name == configured:
        yield "the default" if name == OWN.name else "configured"
    if name in _OF_TERMINAL:
        yield "terminal colours"
