"""The dialog to pick one of many by typing: commands, queries, columns; the help, too."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Generic

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.suggestions import matching
from spackscope.model.core.text import cell_width, clean, pad, shorten, wrap
from spackscope.model.report.report import Piece, filter_needles, highlight
from spackscope.tui.dialogs.dialog import Dialog, Result
from spackscope.tui.keymap import (
    DIALOGS,
    OPENING,
    Hint,
    bindings,
    first_key,
    hint,
    hints,
    key_names,
    shown_key,
)
from spackscope.tui.widgets.virtual_list import VirtualList

_MAX_LENGTH = 200
"""Characters of a search."""
_READING_LINES = 2
"""Lines below the list for the row under the cursor."""


class SearchInput(Input, inherit_bindings=False):
    """The line of a search; the dialog handles keys that type or erase nothing."""

    BINDINGS = [
        Binding("backspace", "delete_left", show=False),
        Binding("ctrl+u", "delete_left_all", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(placeholder="type to search", max_length=_MAX_LENGTH)
        # Each blink sends some hundred bytes, all the time.
        self.cursor_blink = False


LIST_BINDINGS: list[BindingType] = [
    Binding("down,ctrl+n", "list('move', 1)", show=False),
    Binding("up,ctrl+p", "list('move', -1)", show=False),
    Binding("pagedown,ctrl+d", "list('page', 1)", show=False),
    Binding("pageup", "list('page', -1)", show=False),
    Binding("home", "list('move_to', 0)", show=False),
    Binding("end", "list('move_to', -1)", show=False),
]


class SearchDialog(Dialog[Result], Generic[Result]):
    """A box with a search line, a list, and below it the row under the cursor in full.

    Escape removes the search first. A full dialog fills the screen. Subclasses show the rows that
    fit a search with `find`, and return the text of a row with `reading`.
    """

    AUTO_FOCUS = "SearchInput"
    BINDINGS = LIST_BINDINGS

    def __init__(self, title: str, rows: VirtualList, *, is_full: bool = False) -> None:
        super().__init__()
        self._title, self.rows, self._is_full = title, rows, is_full
        if is_full:
            self.add_class("full")
        rows.is_searched = True
        # A text may come once the dialog is closed, and its parts are gone.
        self._reading = Static(classes="reading")
        self.input = SearchInput()

    @property
    def search(self) -> str:
        """The text to search for."""
        return clean(self.input.value)

    def find(self) -> None:
        """Show the rows that fit the search, with the cursor on the best."""

    def reading(self) -> str:
        """Return the text of the row under the cursor, to be read in full."""
        return ""

    def why_empty(self, noun: str) -> str:
        """Return the text to show if nothing fits the search."""
        close = shown_key(first_key("dialogs-close", is_letter_typed=True))
        return f"no {noun} matches {self.search}\n{close} removes the search"

    def box(self) -> ComposeResult:
        """Lay out the search above the list, and the text of its row below it."""
        with Vertical(classes=f"dialog tall {'searched' if self._is_full else ''}") as box:
            box.border_title = Content(self._title)
            yield Horizontal(Static("› "), self.input, classes="search-line")
            yield self.rows
            yield self._reading

    @on(events.Mount)
    @on(Input.Changed)
    def _find(self) -> None:
        self.find()
        self._read_on()

    @on(VirtualList.Highlighted)
    @on(events.Resize)
    def _read_on(self) -> None:
        self.status.refresh()
        self.show_reading()

    def show_reading(self) -> None:
        """Show the row under the cursor below the list, in full."""
        lines = wrap(clean(self.reading()), max(1, self.rows.size.width or 40))
        self._reading.update(Content("\n".join(lines[:_READING_LINES])))

    def key_hints(self) -> Iterable[Hint]:
        """Return the keys of the dialog, except letters, which are typed into the search.

        Without rows the keys of `PANE` and Enter are left out: they would do nothing.
        """
        clear = "clear" if self.search else ""
        words = {"dialogs-choose": self.choose_word, "dialogs-close": clear}
        panes = (DIALOGS, self.PANE) if self.rows.length else (DIALOGS,)
        left_out = () if self.rows.length else key_names("dialogs-choose")
        every = hints(*panes, words=words, is_letter_typed=True)
        return [each for each in every if each.key not in left_out]

    def action_list(self, name: str, step: int) -> None:
        """Move the cursor of the list, while letters go to the search."""
        getattr(self.rows, f"action_{name}")(step)

    def action_choose(self) -> None:
        """Choose the row under the cursor."""
        self.rows.action_choose()

    def action_close(self) -> None:
        """Remove the search; without one close the dialog."""
        if self.search:
            self.input.value = ""
        else:
            super().action_close()


class Pick(Frozen):
    """An item to pick: its text and a remark beside it, and `value`, the result if it is picked.

    `reading` is shown below the list, and `words` are found by a search besides the text.
    """

    value: Any
    text: str
    remark: str = ""
    style: str = "dim"
    reading: str = ""
    words: str = ""


class PickList(VirtualList, inherit_bindings=False):
    """The picks that fit a search; with `fills` the remarks are at the right edge."""

    def __init__(self, *, fills: bool) -> None:
        super().__init__()
        self.picks: Sequence[Pick] = ()
        self.needles: Sequence[str] = ()
        self._fills = fills
        self._text_width = self._remark_width = 0

    def widen(self, picks: Sequence[Pick]) -> None:
        """Leave room for the texts of some picks, whether or not they fit a search."""
        self._text_width = max((cell_width(pick.text) for pick in picks), default=0)

    def show_picks(self, picks: Sequence[Pick], needles: Sequence[str], empty: str) -> None:
        """Show the picks that fit a search, with the cursor on the first."""
        self.picks, self.needles, self.top = picks, needles, 0
        self._remark_width = max((cell_width(pick.remark) for pick in picks), default=0)
        self.show(len(picks), empty=empty)

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the text and the remark."""
        pick = self.picks[row]
        room = max(1, width - 3 - bool(self._remark_width) * (1 + self._remark_width))
        if not self._fills:
            room = max(1, min(width - 3, self._text_width))
        # A sentence is cut at its end; a path keeps the name of its file.
        cut = shorten(pick.text, room, keep="start" if " " in pick.text else "ends")
        text = pad(cut, room)
        words = pick.words.lower()
        return [
            ("  ", ""),
            *highlight(text, self.needles, is_fuzzy=not any(n in words for n in self.needles)),
            (" " if self._fills else "  ", ""),
            (pick.remark, pick.style),
        ]


class PickDialog(SearchDialog[Any]):
    """A dialog to pick an item; the result is the value of the item.

    `noun` names an item in a sentence, `empty` says why there are no items.
    `find_all` returns the picks that fit a search, by default the best first.

    >>> app.push_screen(PickDialog("columns", "column", [Pick("os", "os")]), go_to)
    """

    def __init__(
        self,
        title: str,
        noun: str,
        picks: Sequence[Pick],
        *,
        fills: bool = False,
        empty: str = "",
        choose: str = "",
        find_all: Callable[[str, Sequence[Pick]], Sequence[Pick]] | None = None,
    ) -> None:
        self.list = PickList(fills=fills)
        super().__init__(title, self.list)
        self._noun, self._picks, self._empty = noun, picks, empty
        self._find_all = find_all or best_first
        self.choose_word = choose

    def show_picks(self, picks: Sequence[Pick]) -> None:
        """Show other picks."""
        self._picks = picks
        if self.list.is_mounted:
            self._find()

    @property
    def pick(self) -> Pick | None:
        """The item under the cursor."""
        return self.list.picks[self.list.cursor] if self.list.length else None

    def find(self) -> None:
        """Show the items that fit the search."""
        picks = self._find_all(self.search, self._picks)
        empty = self.why_empty(self._noun) if self.search else self._empty
        # The typed text may be an item itself.
        self.list.widen([*self._picks, *picks])
        self.list.show_picks(picks, filter_needles(self.search), empty)

    def reading(self) -> str:
        """Return the text to read about the choice under the cursor."""
        return self.pick.reading if self.pick is not None else ""

    @on(VirtualList.Chosen)
    def _take(self) -> None:
        if self.pick is not None:
            self.take(self.pick.value)

    def take(self, value: Any) -> None:
        """Close the dialog with a value."""
        self.dismiss(value)


class SourceDialog(PickDialog):
    """Pick a source, or type one; its value is a list of names.

    `open_` opens a value in place of the open sources, or with `adds` beside them; the dialog
    stays until it is closed from outside, and `stop` ends the opening. With `only_adds` Enter
    adds, too. Picks are also the paths that begin with the typed text; `is_reading` is True while
    these are read.
    """

    PANE = OPENING
    BINDINGS = bindings(OPENING)
    is_reading = False

    def __init__(
        self,
        title: str,
        picks: Sequence[Pick],
        find_all: Callable[[str, Sequence[Pick]], Sequence[Pick]],
        open_: Callable[[Sequence[str], bool], object],
        stop: Callable[[], object],
        *,
        only_adds: bool,
    ) -> None:
        choose = "add" if only_adds else "open"
        super().__init__(title, "source", picks, choose=choose, find_all=find_all)
        self._open, self._stop, self._only_adds = open_, stop, only_adds

    def key_hints(self) -> Iterable[Hint]:
        """Return the keys, of which one stops the reading of a source."""
        if self.is_opening:
            return hint("dialogs-close", "stop", is_letter_typed=True)
        left_out = key_names("opening-add") if self._only_adds else ()
        return [each for each in super().key_hints() if each.key not in left_out]

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Check whether a key needs paths or a source that are still being read."""
        key = event.key if isinstance(event, events.Key) else ""
        if self.is_opening:
            return key != first_key("dialogs-close", is_letter_typed=True)
        on_paths = key_names("opening-complete", "opening-add", "dialogs-choose")
        return self.is_reading and key in on_paths

    def wait(self, *, is_opening: bool) -> None:
        """Wait for the source that is being read, or let another one be chosen."""
        self.is_opening = is_opening
        self.status.refresh()

    def take(self, value: Sequence[str]) -> None:
        """Open the sources of the row under the cursor."""
        self._open(value, self._only_adds)

    def action_add(self) -> None:
        """Add the sources of the row under the cursor to the open ones."""
        if self.pick is not None:
            self._open(self.pick.value, True)

    def action_close(self) -> None:
        """Stop the reading of a source, or remove the search, or close the dialog."""
        if self.is_opening:
            self._stop()
            self.wait(is_opening=False)
        else:
            super().action_close()

    def action_complete(self) -> None:
        """Complete the typed path as far as matches agree, or take the row under the cursor."""
        names = [pick.value[0] for pick in self.list.picks if len(pick.value) == 1]
        longer = [name for name in names if name.startswith(self.search) and name != self.search]
        chosen = self.pick.value[0] if self.pick is not None else ""
        if chosen == self.search and longer:
            # Letter by letter, as a shell does.
            common = os.path.commonprefix(longer)  # noqa: RUF071
            chosen = common if common != self.search else longer[0]
        self.input.value = chosen
        self.input.cursor_position = len(chosen)


def best_first(search: str, picks: Sequence[Pick]) -> Sequence[Pick]:
    """Return the picks that fit a search, the best first."""
    return matching(search, picks, lambda pick: f"{pick.text} {pick.words}".rstrip())


def with_all_words(search: str, picks: Sequence[Pick]) -> Sequence[Pick]:
    """Return the picks that have all words of a search, in their order."""
    words = search.lower().split()
    return [pick for pick in picks if all(word in pick.text.lower() for word in words)]
