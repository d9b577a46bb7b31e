"""The commands that work now, searched by typing: the focused pane first."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import App

from spackscope.tui.dialogs.pick import Pick, PickDialog
from spackscope.tui.keymap import FILTERS, HEADINGS, Key, first_key, found_by, keys_of, written_key

_PALETTE = "app.command_palette"


def commands(panes: Sequence[str]) -> list[Pick]:
    """Return the common commands, the answers with their names, and the others.

    The value of a command is its action.
    """
    keys = [(key, where) for where in panes for key in keys_of(where)]
    # The sort keeps the order of the others.
    keys.sort(key=lambda each: 0 if each[0].is_common else 1 if each[0].is_answer else 2)
    return [
        _command(key, where)
        for key, where in keys
        if (key.keys or key.is_answer) and where != FILTERS and not key.moves
        if key.action != _PALETTE
    ]


def _command(key: Key, where: str) -> Pick:
    sentence = f"{key.as_text.partition(' ')[0]}: " * key.is_answer + key.sentence.rstrip(".")
    shown, pressed = written_key(key.shown), first_key(key.name)
    as_text = f"as text: spackscope {key.as_text}" if key.as_text else ""
    reading = filter(None, (sentence, shown, HEADINGS[where].lower(), key.name, as_text))
    action = f"app.simulate_key('{pressed}')" if pressed else f"screen.{key.textual_action}"
    return Pick(action, sentence, shown, "accent", " · ".join(reading), found_by(key.name))


def open_palette(app: App[list[str]], panes: Sequence[str]) -> None:
    """Open the commands over the screen, and run the one that is chosen."""

    async def run(command: str | None) -> None:
        if command is not None:
            await app.run_action(command)

    picks = commands(panes)
    app.push_screen(PickDialog("commands", "command", picks, fills=True, choose="run it"), run)
