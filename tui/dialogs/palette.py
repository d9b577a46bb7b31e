"""The commands that work now, searched by typing: the focused pane first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from textual.app import App

from spackscope.model.core.redaction import without_secrets
from spackscope.model.query.ast import VIEW
from spackscope.model.query.parser import NamedQueries
from spackscope.tui.dialogs.pick import Pick, PickDialog
from spackscope.tui.keymap import FILTERS, HEADINGS, first_key, keys_of, written_key

_PALETTE = "app.command_palette"


class PaletteCommand(NamedTuple):
    """A command: a sentence, its key as it is shown, and the key, action or function that it runs.

    A key has a `name` for the configuration.
    """

    sentence: str
    shown: str = ""
    place: str = ""
    key: str = ""
    action: str = ""
    run: Callable[[], object] | None = None
    name: str = ""
    as_text: str = ""


THEME = PaletteCommand("Choose a theme: the colours of the browser", action="app.change_theme")


def commands(panes: Sequence[str], more: Sequence[PaletteCommand] = ()) -> list[PaletteCommand]:
    """Return the common commands, the answers with their names, the others, and some more."""
    keys = [(key, where) for where in panes for key in keys_of(where)]
    # The sort keeps the order of the others.
    keys.sort(key=lambda each: 0 if each[0].is_common else 1 if each[0].is_answer else 2)
    found = [
        PaletteCommand(
            f"{key.as_text.partition(' ')[0]}: " * key.is_answer + key.sentence.rstrip("."),
            written_key(key.shown),
            HEADINGS[where].lower(),
            first_key(key.name),
            action=f"screen.{key.textual_action}",
            name=key.name,
            as_text=f"as text: spackscope {key.as_text}" if key.as_text else "",
        )
        for key, where in keys
        if (key.keys or key.is_answer) and where != FILTERS and not key.moves
        if key.action != _PALETTE
    ]
    return [*found, *more, THEME]


def named_query_commands(
    named: NamedQueries, take: Callable[[str], object]
) -> list[PaletteCommand]:
    """Return a command for each named query, which passes it as a text to `take`."""
    return [
        PaletteCommand(
            f"View {name}: {without_secrets(text)}",
            place="named in the configuration",
            run=partial(take, f"{VIEW}={name}"),
        )
        for name, text in sorted(named.texts.items())
    ]


def open_palette(
    app: App[list[str]], panes: Sequence[str], more: Sequence[PaletteCommand] = ()
) -> None:
    """Open the commands over the screen, and run the one that is chosen."""

    async def run(command: PaletteCommand | None) -> None:
        if command is None:
            return
        if command.run is not None:
            command.run()
        elif command.key:
            app.simulate_key(command.key)
        else:
            await app.run_action(command.action)

    picks = [
        Pick(
            command,
            command.sentence,
            command.shown,
            "accent",
            " · ".join(
                filter(None, (command.sentence, *command[1:3], command.name, command.as_text))
            ),
            command.name,
        )
        for command in commands(panes, more)
    ]
    app.push_screen(PickDialog("commands", "command", picks, fills=True, choose="run it"), run)
