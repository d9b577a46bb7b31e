"""Type the name of a file to write, and watch it being written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from spackscope.model.core.text import clean, counted, shorten
from spackscope.model.report.progress import Progress
from spackscope.tui.dialogs.dialog import Dialog
from spackscope.tui.keymap import (
    DIALOGS,
    EXPORTING,
    Hint,
    bindings,
    hints,
    shown,
    with_written_keys,
)

_BAR = 24
_LINE = 72
"""Cells of a line of the dialog."""
_MARGIN = 8
"""Cells of the screen beside it where the screen is narrow."""


class ExportDialog(Dialog[None]):
    """A line with the name of a file, and a note below it.

    `endings` are the endings that the name may have. `write` begins to write: it gets the name,
    and whether a present file is replaced. `stop` ends the writing, and `complete` begins to
    complete a path; the methods of this dialog show what becomes of it.
    """

    PANE = EXPORTING
    BINDINGS = bindings(EXPORTING)
    AUTO_FOCUS = "Input"

    _input = getters.query_one(Input)

    def __init__(
        self,
        title: str,
        name: str,
        endings: str,
        write: Callable[[str, bool], object],
        stop: Callable[[], object],
        complete: Callable[[str], object],
    ) -> None:
        super().__init__()
        self._title, self._first_name, self._endings = title, name, endings
        self._write, self._stop, self._complete = write, stop, complete
        self._old_name = ""
        self._is_writing = self._is_completing = False

    def box(self) -> ComposeResult:
        """Lay out the name above the note on it."""
        with Vertical(classes="dialog") as box:
            box.border_title = Content(self._title)
            yield Input(self._first_name, compact=True, select_on_focus=False, classes="file-name")
            yield Static(id="export-note")

    def on_mount(self) -> None:
        """Show the note, with the cursor at the end of the name."""
        self._input.cursor_position = len(self._input.value)
        self._name_changed()

    def key_hints(self) -> Iterable[Hint]:
        """Return the keys of the dialog, except letters, which are typed into the name."""
        words = {"dialogs-choose": "write"}
        return hints(DIALOGS, EXPORTING, words=words, is_letter_typed=True)

    def is_behind(self, event: events.Key | events.Paste) -> bool:
        """Check whether a key has to wait until the path is completed."""
        return self._is_completing and not self.goes_back(event)

    @on(Input.Changed)
    def _name_changed(self) -> None:
        """Show the whole path, and the endings."""
        self._old_name = ""
        name = self._input.value
        try:
            path = os.path.abspath(os.path.expanduser(name)) if name.strip() else ""
        except (OSError, ValueError):
            path = name
        self._show_note(f"{shorten(clean(path), self._room)}\n{self._endings}")

    @property
    def _room(self) -> int:
        return max(1, min(_LINE, self.app.size.width - _MARGIN))

    def _show_note(self, text: str, style: str = "dim") -> None:
        self.query_one("#export-note", Static).update(Content.styled(text, style))

    def _show_sentence(self, text: str, style: str) -> None:
        self._show_note(shorten(text, 2 * self._room), style)

    def action_complete(self) -> None:
        """Complete the path that is typed."""
        if not self._is_writing:
            self._is_completing = True
            self._complete(self._input.value)

    def take_path(self, path: str) -> None:
        """Take the completed path."""
        self._is_completing = False
        self._input.value, self._input.cursor_position = path, len(path)

    @on(Input.Submitted)
    def action_choose(self) -> None:
        """Write the file; an existing file is replaced only at the second time."""
        if self._is_writing:
            return
        name = self._input.value
        replaces = bool(name) and self._old_name == name
        self._is_writing = self._input.disabled = True
        self._write(name, replaces)

    def show_progress(self, done: int, total: int) -> None:
        """Show how many of the lines are written."""
        if self._is_writing and self.is_mounted:
            progress = Progress("", "", "", done / total if total else 0.0)
            stops = with_written_keys(f"{shown('dialogs-close')} stops")
            self._show_sentence(f"{progress.bar(_BAR)}  {counted(done, 'line')}  {stops}", "")

    def show_failure(self, sentence: str) -> None:
        """Show why nothing was written, so that another name can be typed."""
        self._resume()
        self._show_sentence(sentence, "$error")

    def ask(self, name: str, sentence: str) -> None:
        """Ask whether to replace an existing file."""
        self._resume()
        self._old_name = name
        again = with_written_keys(shown("dialogs-choose"))
        self._show_sentence(f"{sentence}: press {again} again to replace it", "bold")

    def _resume(self) -> None:
        self._is_writing = self._input.disabled = False
        self._input.focus()

    def action_close(self) -> None:
        """Stop writing; if nothing is being written, close the dialog."""
        if self._is_writing:
            self._stop()
            self._show_note("stopping…")
        else:
            super().action_close()
