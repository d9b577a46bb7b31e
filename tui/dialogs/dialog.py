"""The base of all dialogs, over the browser, and the dialog to pick one of many.

Commands, queries, columns and the help are picked from; what is typed searches them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any, Generic, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Static

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.suggestions import matching
from spackscope.model.core.text import cell_width, clean, pad, shorten, wrap_cut
from spackscope.model.report.report import Piece, filter_needles, highlight
from spackscope.tui import keymap
from spackscope.tui.keymap import DIALOGS, Hint, first_key, hints, key_names, shown_key
from spackscope.tui.process.stdio import is_plain
from spackscope.tui.widgets.frame import StatusLine, Toast
from spackscope.tui.widgets.virtual_list import VirtualList

Result = TypeVar("Result")


WIDTHS = [(0, "-single"), (60, "-narrow"), (96, "-wide"), (140, "-broad")]
"""The classes of screens, each with its width at the least."""

HEIGHTS = [(0, "-tiny"), (9, "-flat"), (14, "-low"), (24, "-short"), (28, "-high"), (40, "-tall")]
"""The same by their height."""


_RULES = """
.search-line { height: 1; }

.search-line Static { width: 2; color: $text-accent; text-style: bold; }

.dialog {
    width: 76;
    max-width: 100%;
    height: auto;
    max-height: 90%;
    border: round $accent;
    border-title-color: $text-accent;
    border-title-style: bold;
    background: $background;
    padding: 0 1;
}

.dialog.menu { width: 108; }

.dialog.tall {
    width: 90;
    height: 90%;
}

.-single .dialog, .-narrow .dialog.tall { padding: 0; }

.dialog.searched, .-single .dialog.tall, .-narrow .dialog.tall {
    width: 100%;
    height: 100%;
    max-height: 100%;
}

.reading { height: 2; padding: 0 2; text-style: dim; }

Dialog > StatusLine {
    dock: bottom;
    background: $background;
}
"""
"""The layout of dialogs; it is read when the first one is opened."""


class Dialog(ModalScreen[Result], Generic[Result]):
    """A box over the browser, closed by Escape or `q`; its result is None if nothing was chosen.

    `PANE` names its keys in the table of keys; they are shown in the last line of the screen, over
    the keys of the browser. Messages are shown above this line.

    >>> app.push_screen(PickDialog("columns", "column", picks), go_to)
    """

    BINDINGS = [
        *keymap.bindings(keymap.DIALOGS),
        *keymap.bindings(keymap.ANYWHERE, names=("suspend",)),
        Binding("ctrl+c", "app.interrupt", show=False),
    ]
    DEFAULT_CSS = _RULES
    SCOPED_CSS = False
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    PANE: str = keymap.DIALOGS
    choose_word = ""
    """The word for Enter in the last line, in place of the word in the table of keys."""
    is_working = False
    """Whether what was chosen in the dialog is being read or written."""

    def __init__(self) -> None:
        super().__init__()
        # A screen reader would read the browser at both sides of the box.
        self.set_class(is_plain(), "full")
        self.status, self._toast = StatusLine(lambda: (self.key_hints(), "")), Toast()

    def compose(self) -> ComposeResult:
        """Lay out the box, the last line below it, and the place of messages over both."""
        yield self._toast
        yield from self.box()
        yield self.status

    @abstractmethod
    def box(self) -> ComposeResult:
        """Lay out the content of the dialog."""

    @property
    def key_panes(self) -> tuple[str, ...]:
        """The parts of the table of keys that work in the dialog, its own first."""
        return (self.PANE, keymap.LISTS, keymap.DIALOGS)

    def key_hints(self) -> Iterable[Hint]:
        """Return the keys of the dialog, the most useful first."""
        return hints(keymap.DIALOGS, self.PANE, words={"dialogs-choose": self.choose_word})

    def say(self, text: str, *, error: bool = False) -> None:
        """Show a message for some seconds."""
        if self._toast.is_mounted:
            self._toast.say(text, error=error)

    def show_progress(self, text: str) -> None:
        """Show the progress of reading or writing what was chosen here."""
        if self.is_working and self._toast.is_mounted:
            self._toast.show_progress(text)

    @on(events.Resize)
    def _place_toast(self) -> None:
        """Keep the message in its corner."""
        if self._toast.is_mounted:
            self._toast.place()

    @on(events.ScreenSuspend)
    def _forget_lines(self) -> None:
        """Forget the drawn lines: Textual keeps the lines of a thousand closed widgets."""
        self.query("*").refresh()

    def must_wait(self, event: events.Key | events.Paste) -> bool:
        """Check whether a key or paste has to wait until the dialog has shown its content."""
        return False

    def goes_back(self, event: events.Key | events.Paste) -> bool:
        """Check whether a key goes back from the dialog, for which nothing is awaited."""
        return isinstance(event, events.Key) and event.key in key_names("dialogs-close")

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close the dialog, but only once: two clicks must not close the screen under it."""
        return super().dismiss(result) if self.app.screen is self else AwaitComplete()

    def action_choose(self) -> None:
        """Choose the item under the cursor."""

    def action_close(self) -> None:
        """Go back to the browser with nothing chosen."""
        self.dismiss(None)


_MAX_LENGTH = 1000
"""Characters of a search or of a path."""
_READING_LINES = 2
"""Lines below the list for the row under the cursor."""


class SearchInput(Input, inherit_bindings=False):
    """The line of a search; the dialog handles keys that type or erase nothing."""

    BINDINGS = [
        Binding("left", "cursor_left", show=False),
        Binding("right", "cursor_right", show=False),
        Binding("backspace", "delete_left", show=False),
        Binding("ctrl+w", "delete_left_word", show=False),
        Binding("ctrl+u", "delete_left_all", show=False),
    ]

    def __init__(self) -> None:
        super().__init__(
            placeholder="type to search", max_length=_MAX_LENGTH, select_on_focus=False
        )
        # Each blink sends some hundred bytes, all the time.
        self.cursor_blink = False

    def validate_value(self, value: str) -> str:
        """Return the text as it is drawn, whether it was typed, pasted or completed."""
        return clean(value)


LIST_BINDINGS: list[BindingType] = [
    Binding("down,ctrl+n", "list('move', 1)", show=False),
    Binding("up,ctrl+p", "list('move', -1)", show=False),
    Binding("pagedown,ctrl+d", "list('page', 1)", show=False),
    Binding("pageup,ctrl+u", "list('page', -1)", show=False),
    Binding("home", "list('move_to', 0)", show=False),
    Binding("end", "list('move_to', -1)", show=False),
]


class Pick(Frozen):
    """An item to pick: its text, the keys before it, and a remark beside it.

    `value` is the result if it is picked; without one it cannot be picked, and is dim: a message
    then says `instead`, if anything. `heading` stands above the first of several picks that have
    it, and `reading` below the list, where by default the row is if it is cut. `words` are found
    by a search besides all these.
    """

    value: Any
    text: str
    remark: str = ""
    style: str = "dim"
    keys: str = ""
    heading: str = ""
    reading: str = ""
    words: str = ""
    instead: str = ""


_FEW_KEYS, _MAX_KEYS = 9, 32
"""Cells of the keys of most picks, and of any."""


class PickList(VirtualList, inherit_bindings=False):
    """Picks below their headings; with `fills` the remarks are at the right edge."""

    def __init__(self, *, fills: bool = False) -> None:
        super().__init__()
        self._fills = fills
        self._lines: Sequence[Pick | str] = ()
        self._needles: Sequence[str] = ()
        self._text_width = self._remark_width = 0
        self._keys_widths = dict[str, int]()

    @property
    def picks(self) -> list[Pick]:
        """The picks that are shown."""
        return [line for line in self._lines if isinstance(line, Pick)]

    @property
    def pick(self) -> Pick | None:
        """The pick under the cursor."""
        line = self._lines[self.cursor] if self.length else ""
        return line if isinstance(line, Pick) else None

    def widen(self, picks: Sequence[Pick]) -> None:
        """Leave room for the texts of some picks, whether or not they fit a search."""
        self._text_width = max((cell_width(pick.text) for pick in picks), default=0)
        widths = [cell_width(pick.keys) for pick in picks]
        # Keys are in one column; forms of queries and words need more, each for their headings.
        least = max((width for width in widths if width <= _FEW_KEYS), default=0)
        self._keys_widths = dict.fromkeys((pick.heading for pick in picks), least)
        for pick, width in zip(picks, widths, strict=True):
            self._keys_widths[pick.heading] = max(width, self._keys_widths[pick.heading])

    def show_picks(self, picks: Sequence[Pick], needles: Sequence[str], empty: str) -> None:
        """Show the picks that fit a search, with the cursor on the first."""
        lines = list[Pick | str]()
        for heading, under in groupby(picks, lambda pick: pick.heading):
            lines += [*([heading] if heading else []), *under]
        self._lines, self._needles, self.top = lines, needles, 0
        self._remark_width = max((cell_width(pick.remark) for pick in picks), default=0)
        self.show(len(lines), int(bool(lines) and self.is_heading(0)), empty=empty)

    def is_heading(self, row: int) -> bool:
        """Check whether a row is a heading."""
        return isinstance(self._lines[row], str)

    def pieces(self, row: int, width: int) -> list[Piece]:
        """Return the keys, the text and the remark, or a heading."""
        pick = self._lines[row]
        if isinstance(pick, str):
            return [("  ", ""), (pick, "strong")]
        keys_width = min(self._keys_widths[pick.heading], _MAX_KEYS, width // 3)
        keys = pad(shorten(pick.keys, keys_width, keep="start"), keys_width)
        keys += "  " if keys_width else ""
        room = width - 3 - cell_width(keys)
        # Remarks at the edge are keys, and whole; others have what the texts leave.
        room = room - 1 - self._remark_width if self._fills else min(room, self._text_width)
        room = max(1, room)
        # A sentence is cut at its end; a path keeps the name of its file.
        cut = shorten(pick.text, room, keep="start" if " " in pick.text else "ends")
        besides = f"{pick.keys} {pick.heading} {pick.words}".lower()
        is_fuzzy = not any(needle in besides for needle in self._needles)
        style = "" if pick.value else "dim"
        return [
            ("  ", ""),
            (keys, "accent"),
            *highlight(pad(cut, room), self._needles, style, is_fuzzy=is_fuzzy),
            (" " if self._fills else "  " if pick.remark else "", ""),
            (pick.remark, pick.style),
        ]

    def reading(self, row: int) -> str:
        """Return the reading of a row, by default the whole row if its line is cut."""
        pick, width = self._lines[row], self.size.width
        if isinstance(pick, str):
            return ""
        if pick.reading:
            return pick.reading
        line = shorten("".join(text for text, _ in self.pieces(row, width)).rstrip(), width)
        parts = [*filter(None, (pick.keys, pick.text, pick.remark))]
        return "" if all(part in line for part in parts) else "  ".join(parts)


class PickDialog(Dialog[Any]):
    """A box with a search line, a list, and below it what the row under the cursor cuts.

    The result is the value of the chosen pick. `noun` names a pick in a sentence, `empty` says why
    there are none, and `choose` is the word for Enter. `find_all` returns the picks that fit a
    search, by default the best first. With `letters`, which are
    values by Textual's names of keys, letters choose, and there is no search. A dialog that
    `is_full` fills the screen.

    >>> app.push_screen(PickDialog("columns", "column", [Pick("os", "os")]), go_to)
    """

    AUTO_FOCUS = "SearchInput, PickList"
    BINDINGS = LIST_BINDINGS
    first_search = ""
    """The text that the line has at first: Escape brings it back before it closes the dialog."""

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
        letters: Mapping[str, Any] = {},
        is_full: bool = False,
    ) -> None:
        super().__init__()
        self.list, self.input = PickList(fills=fills), SearchInput()
        self.list.is_searched = True
        self._noun, self._picks, self._empty = noun, picks, empty
        self._find_all, self.choose_word = find_all or best_first, choose
        self._letters, self._is_full, self._most = letters, is_full, 0
        if is_full:
            self.add_class("full")
        # Picks may come once the dialog is closed, and its parts are gone.
        self._reading = Static(classes="reading")
        kind = "menu" if letters else "tall searched" if is_full else "tall"
        self._box = Vertical(classes=f"dialog {kind}")
        self._box.border_title = Content(title)

    @property
    def search(self) -> str:
        """The text to search for."""
        return self.input.value

    def box(self) -> ComposeResult:
        """Lay out the search above the list, and the text of its row below it."""
        with self._box:
            if not self._letters:
                yield Horizontal(Static("› "), self.input, classes="search-line")
            yield self.list
            yield self._reading

    def show_picks(self, picks: Sequence[Pick]) -> None:
        """Show other picks."""
        self._picks = picks
        if self.list.is_mounted:
            self._find()

    @on(events.Mount)
    @on(Input.Changed)
    def _find(self) -> None:
        """Show the picks that fit the search."""
        picks, empty = self._find_all(self.search, self._picks), self._empty
        if self.search:
            close = shown_key(first_key("dialogs-close", is_letter_typed=True))
            empty = f"no {self._noun} matches {self.search}\n{close} removes the search"
        # The typed text may be a pick itself.
        self.list.widen([*self._picks, *picks])
        self.list.show_picks(picks, filter_needles(self.search), empty)
        self._most = max(self._most, self.list.length)
        self._fit()

    @on(events.Resize)
    def _fit(self) -> None:
        """Make the box as high as the longest list so far, and the reading if any row has one."""
        is_read = any(map(self.list.reading, range(self.list.length)))
        self._reading.display = is_read
        if not self._is_full:
            around = 2 + _READING_LINES * is_read + (not self._letters)
            self._box.styles.height = self._most + around
        self._read_on()

    @on(VirtualList.Highlighted)
    def _read_on(self) -> None:
        """Show the reading of the row under the cursor below the list."""
        self.status.refresh()
        text = self.list.reading(self.list.cursor) if self.list.length else ""
        width = max(1, self._reading.size.width or 40)
        lines = wrap_cut(clean(text), width, _READING_LINES)
        self._reading.update(Content("\n".join(lines)))

    def key_hints(self) -> Iterable[Hint]:
        """Return the keys of the dialog, except letters, which are typed into the search.

        Without picks the keys of `PANE` and Enter are left out: they would do nothing.
        """
        clear = "clear" if self.search != self.first_search else ""
        words = {"dialogs-choose": self.choose_word, "dialogs-close": clear}
        panes = (DIALOGS, self.PANE) if self.list.length else (DIALOGS,)
        left_out = () if self.list.length else key_names("dialogs-choose")
        every = hints(*panes, words=words, is_letter_typed=not self._letters)
        return [each for each in every if each.key not in left_out]

    def on_key(self, event: events.Key) -> None:
        """Choose by a letter, or say that it chooses nothing."""
        if event.key in self._letters:
            event.stop()
            self.take(self._letters[event.key])
        elif self._letters and event.is_printable and event.key not in self.active_bindings:
            self.say(f"No {self._noun} has the letter {event.character}")

    def action_list(self, name: str, step: int) -> None:
        """Move the cursor of the list, while letters go to the search."""
        getattr(self.list, f"action_{name}")(step)

    def action_choose(self) -> None:
        """Choose the row under the cursor."""
        self.list.action_choose()

    @on(VirtualList.Chosen)
    def _take(self) -> None:
        pick = self.list.pick
        if pick is None or self.is_working:
            # Two clicks choose, also while what was chosen is being written.
            return
        if pick.value:
            self.take(pick.value)
        else:
            self.say(pick.instead)

    def take(self, value: Any) -> None:
        """Close the dialog with a value."""
        self.dismiss(value)

    def action_close(self) -> None:
        """Remove the search; without one close the dialog."""
        if self.search != self.first_search:
            self.input.value = self.first_search
        else:
            super().action_close()


def best_first(search: str, picks: Sequence[Pick]) -> Sequence[Pick]:
    """Return the picks that fit a search, the best first."""
    return matching(search, picks, lambda pick: f"{pick.text} {pick.words}".rstrip())


def with_all_words(search: str, picks: Sequence[Pick]) -> Sequence[Pick]:
    """Return the picks that have all words of a search, in their order."""

    def fits(pick: Pick) -> bool:
        text = f"{pick.keys} {pick.text} {pick.heading} {pick.words}".lower()
        return all(word in text for word in search.lower().split())

    return list(filter(fits, picks))
