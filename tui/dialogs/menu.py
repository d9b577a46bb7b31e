"""A menu whose rows are chosen by a letter, and a line with the command that was chosen."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from typing import Any

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import clean, pad, shorten
from spackscope.tui.dialogs.dialog import Dialog
from spackscope.tui.keymap import DIALOGS, Hint, hints, shown_key

_MARGIN = 10
"""Cells of the screen beside an example."""
_EXAMPLE = 66
"""Cells of the example under each row, so that it stays on one line."""
_NAME = 30
"""Cells of a name before its example, where the screen is too low for lines of their own."""
_FRAME = 6
"""Lines of the screen around the list."""


class MenuItem(Frozen):
    """A row of a menu: its key, if any, by Textual's name, its name, an example, and its value.

    A row that `is_disabled` cannot be chosen: its example says why.
    """

    key: str
    name: str
    example: str
    value: Any
    is_disabled: bool = False


class MenuDialog(Dialog[Any]):
    """A menu of rows in parts, each below its heading, if any; the result is the value of a row.

    `noun` names a row in a sentence, and `choose` is the word for Enter.

    >>> items = [MenuItem("y", "hash", "2ggad67", HASH)]
    >>> app.push_screen(MenuDialog("copy", "form", [("", items)], "copy"), copy_form)
    """

    def __init__(
        self,
        title: str,
        noun: str,
        parts: Sequence[tuple[str, Sequence[MenuItem]]],
        choose: str,
    ) -> None:
        super().__init__()
        self.choose_word = choose
        self._title, self._noun, self._parts = title, noun, parts
        self._items = [item for _, items in parts for item in items]

    def box(self) -> ComposeResult:
        """List the rows, each with its example under it, or beside it on a low screen."""
        with Vertical(classes="dialog") as box:
            box.border_title = Content(self._title)
            yield OptionList(*self._options())

    def _options(self) -> Iterator[Option]:
        numbers = count()
        is_low = 2 * len(self._items) + _FRAME > self.app.size.height
        for heading, items in self._parts:
            if heading:
                yield Option(Content.styled(f" {heading}", "dim"), disabled=True)
            for item in items:
                prompt = self._prompt(item, is_low=is_low)
                yield Option(prompt, id=str(next(numbers)), disabled=item.is_disabled)

    def _prompt(self, item: MenuItem, *, is_low: bool) -> Content:
        key = shown_key(item.key)
        room = max(1, min(_EXAMPLE, self.app.size.width - _MARGIN))
        if is_low:
            name = pad(item.name, min(_NAME, room))
            example = shorten(clean(item.example), max(1, room - _NAME)) if room > _NAME else ""
            return Content.assemble((f" {key}  ", "bold $accent"), name, (example, "dim"))
        example = shorten(clean(item.example), room)
        return Content.assemble(
            (f" {key}  ", "bold $accent"), item.name, "\n", (f"    {example}", "dim")
        )

    def on_key(self, event: events.Key) -> None:
        """Choose a row by its letter, or say that there is none."""
        item = next((each for each in self._items if each.key == event.key), None)
        if item is not None:
            event.stop()
            if item.is_disabled:
                self.say(f"{item.name}: {clean(item.example)}", error=True)
            else:
                self.dismiss(item.value)
        elif event.is_printable and event.key not in self.active_bindings:
            self.say(f"No {self._noun} has the letter {event.character}")

    def action_choose(self) -> None:
        """Choose the row under the cursor."""
        self.query_one(OptionList).action_select()

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(self._items[int(event.option_id or 0)].value)


class CommandDialog(Dialog[str]):
    """A line with a command, and a note below it; the result is the command as it was edited."""

    AUTO_FOCUS = "Input"

    _input = getters.query_one(Input)

    def __init__(self, title: str, command: str, note: str) -> None:
        super().__init__()
        self._title, self._command, self._note = title, command, note

    def box(self) -> ComposeResult:
        """Lay out the command above the note."""
        with Vertical(classes="dialog") as box:
            box.border_title = Content(self._title)
            yield Input(self._command, compact=True, select_on_focus=False)
            yield Static(Content(clean(self._note)), classes="reading")

    def on_mount(self) -> None:
        """Begin at the end of the command."""
        self._input.cursor_position = len(self._input.value)

    def key_hints(self) -> Iterable[Hint]:
        """Return the keys of the dialog, except letters, which are typed."""
        return hints(DIALOGS, words={"dialogs-choose": "run"}, is_letter_typed=True)

    @on(Input.Submitted)
    def action_choose(self) -> None:
        """Run the command."""
        if self._input.value.strip():
            self.dismiss(self._input.value)
        else:
            self.say("Type a command, or go back")
