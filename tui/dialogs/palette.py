"""The commands that work now, searched by typing: those of the pane with the focus first."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual import on
from textual.app import App

from spackscope.model.core.redaction import without_secrets
from spackscope.model.core.suggestions import matching
from spackscope.model.core.text import cell_width, pad, shorten
from spackscope.model.query.ast import VIEW
from spackscope.tui.dialogs.search import SearchDialog
from spackscope.tui.keymap import FILTERS, HEADINGS, first_key, keys_of, written_key
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.highlight import filter_needles, highlight
from spackscope.tui.widgets.search_list import ItemList
from spackscope.tui.widgets.virtual_list import VirtualList

if TYPE_CHECKING:
    from spackscope.model.query.parser import NamedQueries

_PALETTE = "app.command_palette"


class Command(NamedTuple):
    """A command: what it does, its key as it is shown, and what it runs.

    That is a key, an action, or a function. A key has a `name` for the configuration.
    """

    sentence: str
    shown: str = ""
    place: str = ""
    key: str = ""
    action: str = ""
    run: Callable[[], object] | None = None
    name: str = ""


THEME = Command("Choose a theme: the colours of the browser", action="app.change_theme")


def commands(panes: Sequence[str], more: Sequence[Command] = ()) -> list[Command]:
    """Return the commands of some panes, in their order, and some more after them."""
    found = [
        Command(
            key.sentence.rstrip("."),
            written_key(key.shown),
            HEADINGS[where].lower(),
            first_key(key.name),
            name=key.name,
        )
        for where in panes
        for key in keys_of(where)
        if key.action != _PALETTE and key.keys and where != FILTERS
    ]
    return [*found, *more, THEME]


def _searched(command: Command) -> str:
    """Return the text that a search finds a command by."""
    return f"{command.sentence} {command.name}"


class CommandList(ItemList[Command]):
    """The commands that fit the search, the best first."""

    def refill(self) -> None:
        """Show the commands that fit the search, with the cursor on the best."""
        self.shown = matching(self.search, self.items, _searched)
        self.top = 0
        empty = f"no command matches {self.search}\n{self.close_key} removes the search"
        self.show(len(self.shown), empty=empty)
        self.post_message(self.Highlighted(self, 0))

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the pieces of a command: what it does, and its key at the right."""
        command = self.shown[row]
        key_width = max(cell_width(each.shown) for each in self.shown)
        room = max(1, width - key_width - 4)
        sentence = shorten(command.sentence, room, keep="start")
        return [
            ("▸ " if row == self.cursor else "  ", "accent"),
            *highlight(sentence, filter_needles(self.search)),
            (" " * (room - cell_width(sentence) + 1), ""),
            (pad(command.shown, key_width), "accent"),
        ]


class PaletteDialog(SearchDialog[Command]):
    """The commands; its result is the one to run. `panes` are those whose keys work now."""

    def __init__(self, panes: Sequence[str], more: Sequence[Command] = ()) -> None:
        self._list = CommandList(commands(panes, more))
        super().__init__("commands", self._list)

    def reading(self) -> str:
        """Return the command under the cursor in full, and where it works."""
        command = self._list.item
        if command is None:
            return ""
        texts = (command.sentence, command.shown, command.place, command.name)
        return " · ".join(filter(None, texts))

    @on(VirtualList.Chosen)
    def _run(self) -> None:
        self.dismiss(self._list.item)


def named_query_commands(
    named: NamedQueries | None, take: Callable[[str], object]
) -> list[Command]:
    """Return a command for each named query, which is taken as a text."""
    return [
        Command(
            f"View {name}: {without_secrets(text)}",
            place="named in the configuration",
            run=partial(take, f"{VIEW}={name}"),
        )
        for name, text in sorted(named.texts.items() if named is not None else ())
    ]


def open_palette(app: App[list[str]], panes: Sequence[str], more: Sequence[Command] = ()) -> None:
    """Open the commands over the screen, and run the one that is chosen."""

    async def run(command: Command | None) -> None:
        if command is None:
            return
        if command.run is not None:
            command.run()
        elif command.key:
            app.simulate_key(command.key)
        else:
            await app.run_action(command.action)

    app.push_screen(PaletteDialog(panes, more), run)
