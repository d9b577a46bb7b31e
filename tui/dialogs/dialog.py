"""The base of all dialogs: over the browser, closed by Escape, with its keys in the last line."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from typing import Generic, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding
from textual.screen import ModalScreen

from spackscope.tui import keymap
from spackscope.tui.keymap import Hint, hints, key_names
from spackscope.tui.process.stdio import is_plain
from spackscope.tui.widgets.frame import StatusLine, Toast

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

#export-note { height: auto; max-height: 2; }
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
        Binding("ctrl+c", "app.interrupt", show=False),
    ]
    DEFAULT_CSS = _RULES
    SCOPED_CSS = False
    HORIZONTAL_BREAKPOINTS = WIDTHS
    VERTICAL_BREAKPOINTS = HEIGHTS
    PANE: str = keymap.DIALOGS
    choose_word = ""
    """The word for Enter in the last line, in place of the word in the table of keys."""
    is_opening = False
    """Whether a source is being read that was chosen in the dialog."""

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

    def show_opening(self, text: str) -> None:
        """Show the progress of reading a source that was chosen here."""
        if self.is_opening and self._toast.is_mounted:
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

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Check whether a key or paste has to wait until the dialog has shown its content."""
        return False

    def goes_back(self, event: events.Key | events.Paste) -> bool:
        """Check whether a key goes back from the dialog, for which nothing is awaited."""
        return isinstance(event, events.Key) and event.key in key_names("dialogs-close")

    def dismiss(self, result: Result | None = None) -> AwaitComplete:
        """Close the dialog, and dialogs over it such as the help, where a job is done.

        It is closed only once: two clicks at once must not close the screen under it.
        """
        if self not in self.app.screen_stack:
            return AwaitComplete()
        while isinstance(top := self.app.screen, Dialog) and top is not self:
            top.dismiss()
        return super().dismiss(result)

    def action_choose(self) -> None:
        """Choose the item under the cursor."""

    def action_close(self) -> None:
        """Go back to the browser with nothing chosen."""
        self.dismiss(None)
