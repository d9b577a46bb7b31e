"""The list of themes: the one under the cursor is shown at once, and Escape takes it back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from textual import on

from spackscope.model.core.suggestions import matching
from spackscope.model.core.text import cell_width, pad
from spackscope.tui.dialogs.search import SearchDialog
from spackscope.tui.keymap import Hint, hint
from spackscope.tui.settings.themes import OWN, theme_names
from spackscope.tui.widgets.drawing import Piece
from spackscope.tui.widgets.highlight import filter_needles, highlight
from spackscope.tui.widgets.search_list import ItemList
from spackscope.tui.widgets.virtual_list import VirtualList

_OF_TERMINAL = (OWN.name, "ansi-dark", "ansi-light")


class ThemeList(ItemList[str]):
    """The themes whose names fit the search; `remarks` has what to know of some."""

    def __init__(self, names: Sequence[str], remarks: Mapping[str, str]) -> None:
        super().__init__(names)
        self._remarks = remarks
        self._width = max(map(cell_width, names))

    def refill(self) -> None:
        """Show the themes that fit the search, with the cursor on the best."""
        self.shown = matching(self.search, self.items, lambda name: name)
        self.top = 0
        self.show(len(self.shown), empty="no such theme")
        self.post_message(self.Highlighted(self, 0))

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the sign of the cursor, the name of a theme, and a remark on it."""
        name = self.shown[row]
        return [
            ("▸ " if row == self.cursor else "  ", "accent"),
            *highlight(pad(name, self._width), filter_needles(self.search)),
            ("  ", ""),
            (self._remarks.get(name, ""), "dim"),
        ]


def _remarks(name: str, present: str, configured: str) -> Iterator[str]:
    if name == present:
        yield "now"
    if name == configured:
        yield "the default" if name == OWN.name else "configured"
    if name in _OF_TERMINAL:
        yield "of the terminal"


class ThemeDialog(SearchDialog[str]):
    """A list of all themes, the present one first; the result is the one that is taken.

    `configured` is the theme to begin with where none was chosen.
    """

    def __init__(self, present: str, configured: str) -> None:
        names = [present, *(name for name in theme_names() if name != present)]
        remarks = {name: ", ".join(_remarks(name, present, configured)) for name in names}
        self._list = ThemeList(names, remarks)
        super().__init__("themes", self._list)

    def reading(self) -> str:
        """Return what taking the theme under the cursor means."""
        if (name := self._list.item) is None:
            return ""
        return f'In the configuration file: theme = "{name}"'

    def key_hints(self) -> Iterable[Hint]:
        """Return the keys of the list."""
        yield from hint("searched-choose", "take it")
        yield from hint("dialogs-close", is_letter_typed=True)

    @on(VirtualList.Highlighted)
    def _try(self) -> None:
        if (name := self._list.item) is not None:
            self.app.theme = name

    @on(VirtualList.Chosen)
    def _take(self) -> None:
        if (name := self._list.item) is not None:
            self.dismiss(name)
