"""The Textual application around the browser."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from textual.app import App, SystemCommand
from textual.binding import Binding
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES

from spackscope.tui.keys import ANYWHERE, KEYS
from spackscope.tui.screens.browser import BrowserScreen

_ANSI = BUILTIN_THEMES["ansi-dark"]
THEME = replace(
    _ANSI,
    name="spackscope",
    primary="ansi_cyan",
    accent="ansi_cyan",
    variables={**_ANSI.variables, "border-blurred": "ansi_bright_black"},
)
"""The colours of the terminal itself, so that dark and light ones both look meant."""


class SpackscopeApp(App[list[str]]):
    """Browse the records of some sources; the result is what was picked."""

    CSS_PATH = "app.tcss"
    TITLE = "spackscope"
    BINDINGS = [Binding("ctrl+c", "interrupt", show=False, priority=True)]
    ENABLE_COMMAND_PALETTE = True

    def __init__(
        self,
        sources: Sequence[str],
        query: str = "",
        *,
        environ: Mapping[str, str],
        pick: bool = False,
    ) -> None:
        super().__init__(ansi_color=True)
        self.register_theme(THEME)
        self.theme = THEME.name
        self._browser = BrowserScreen(sources, query, environ, pick=pick)

    def get_default_screen(self) -> Screen[None]:
        """Begin with the browser."""
        return self._browser

    def on_mount(self) -> None:
        """Leave the terminal as it was found, however the program is ended."""
        loop = asyncio.get_running_loop()
        for name in (signal.SIGTERM, signal.SIGHUP):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(name, self.exit, None, 128 + name)

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Offer every key of the browser by its sentence, and the themes."""
        for key in KEYS:
            if key.where == ANYWHERE and key.action != "app.command_palette":
                action = key.action

                async def run(action: str = action) -> None:
                    await self.run_action(action, self._browser)

                yield SystemCommand(f"{key.sentence.rstrip('.')}  ({key.shown})", "", run)
        yield SystemCommand("Change the theme", "", self.action_change_theme)

    def action_interrupt(self) -> None:
        """End at once, with nothing chosen."""
        self.exit(None, return_code=130)


def browse(
    sources: Sequence[str], query: str, *, environ: Mapping[str, str], pick: bool = False
) -> list[str] | None:
    """Run the browser in the terminal; give the hashes that were picked, or None."""
    return SpackscopeApp(sources, query, environ=environ, pick=pick).run()
