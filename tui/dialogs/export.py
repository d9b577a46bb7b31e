"""Choose rows, a format and a name, and watch the file being written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from textual import getters, on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Input, Static

from spackscope.model.core.frozen import Frozen
from spackscope.model.core.text import clean, counted, shorten
from spackscope.model.report.progress import Progress
from spackscope.model.report.sheet import FORMATS, Format, Sheet
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

FILE_FORMATS = tuple(format_ for format_ in FORMATS if format_.name != "tab")
_BAR = 24
_MARGIN = 8
"""Cells of the screen beside a line of the dialog."""


class RowSet(Frozen):
    """Rows that can be written: their name, their sheet, and the word for one of them."""

    name: str
    sheet: Sheet[Any]
    noun: str


class ExportRequest(Frozen):
    """The rows to write, the format, and the file name; whether it `replaces` an existing file."""

    rows: RowSet
    format: Format
    name: str
    replaces: bool = False


class ExportDialog(Dialog[None]):
    """A box with the rows to write, the format, and the name of the file.

    The ending of the name chooses the format, and the format changes the ending. `write` begins
    to write, and `stop` ends it; the methods of this dialog show progress and failures.
    """

    PANE = EXPORTING
    BINDINGS = bindings(EXPORTING)
    AUTO_FOCUS = "Input"

    _input = getters.query_one(Input)

    def __init__(
        self,
        row_sets: Sequence[RowSet],
        name: str,
        write: Callable[[ExportRequest], object],
        stop: Callable[[], object],
    ) -> None:
        super().__init__()
        self._row_sets, self._rows, self._format = row_sets, 0, 0
        self._first_name = name
        self._write, self._stop = write, stop
        self._old_name = ""
        self._is_writing = False

    def box(self) -> ComposeResult:
        """Lay out the choices above the name, and the note on it below."""
        with Vertical(classes="dialog export") as box:
            box.border_title = Content("write a file")
            yield Static(id="export-rows")
            yield Static(id="export-format")
            with Horizontal(classes="file-line"):
                yield Static("file  ", classes="file-label")
                yield Input(
                    self._first_name, compact=True, select_on_focus=False, classes="file-name"
                )
            yield Static(id="export-note")

    def on_mount(self) -> None:
        """Show the choices, with the cursor at the end of the name."""
        self._input.cursor_position = len(self._input.value)
        self._show_choices()
        self._show_path()

    def key_hints(self) -> Iterable[Hint]:
        """Return the keys of the dialog, except letters, which are typed into the name."""
        has_choice = len(self._row_sets) > 1
        words = {"dialogs-choose": "write"}
        every = hints(DIALOGS, EXPORTING, words=words, is_letter_typed=True)
        return [hint for hint in every if has_choice or hint.word != "rows"]

    def show_rows(self, row_sets: Sequence[RowSet]) -> None:
        """Show the rows that can be written from now on."""
        self._row_sets, self._rows = row_sets, 0
        self._show_choices()

    def _show_choices(self) -> None:
        rows = [row_set.name for row_set in self._row_sets]
        formats = [format_.label for format_ in FILE_FORMATS]
        self.query_one("#export-rows", Static).update(_choice("rows", rows, self._rows))
        self.query_one("#export-format", Static).update(_choice("form", formats, self._format))

    def _show_path(self) -> None:
        try:
            path = os.path.abspath(os.path.expanduser(self._input.value))
        except (OSError, ValueError):
            path = self._input.value
        self._show_note(clean(path) if self._input.value.strip() else "")

    def _show_note(self, text: str, style: str = "dim") -> None:
        room = max(1, self.app.size.width - _MARGIN)
        note = self.query_one("#export-note", Static)
        note.update(Content.styled(shorten(text, 2 * room), style))

    @on(Input.Changed)
    def _name_changed(self) -> None:
        """Choose the format by the ending of the name, unless the chosen one has this ending."""
        ending = os.path.splitext(self._input.value)[1]
        endings = [format_.ending for format_ in FILE_FORMATS]
        if ending in endings and endings[self._format] != ending:
            self._format = endings.index(ending)
            self._show_choices()
        self._old_name = ""
        self._show_path()

    def action_form(self) -> None:
        """Choose the next format, and change the ending of the name."""
        if not self._is_writing:
            self._take_format((self._format + 1) % len(FILE_FORMATS))

    def _take_format(self, number: int) -> None:
        self._format = number
        stem, ending = os.path.splitext(self._input.value)
        at = self._input.cursor_position
        if ending in {format_.ending for format_ in FILE_FORMATS}:
            with self.prevent(Input.Changed):
                self._input.value = stem + FILE_FORMATS[self._format].ending
            is_in_stem = at <= len(stem)
            self._input.cursor_position = at if is_in_stem else len(self._input.value)
        self._old_name = ""
        self._show_choices()
        self._show_path()

    def action_rows(self) -> None:
        """Choose the next rows."""
        if len(self._row_sets) == 1:
            self.say("There are no other rows to write: nothing is marked")
        elif not self._is_writing:
            self._rows = (self._rows + 1) % len(self._row_sets)
            self._take_format(self._format)

    @on(Input.Submitted)
    def action_choose(self) -> None:
        """Write the file; an existing file is replaced only at the second time."""
        if self._is_writing:
            return
        name, format_ = self._input.value, FILE_FORMATS[self._format]
        replaces = bool(name) and self._old_name == name
        self._is_writing = self._input.disabled = True
        self._write(ExportRequest(self._row_sets[self._rows], format_, name, replaces))

    def show_progress(self, done: int, total: int) -> None:
        """Show how many of the lines are written."""
        if self._is_writing and self.is_mounted:
            progress = Progress("", "", "", done / total if total else 0.0)
            stops = with_written_keys(f"{shown('dialogs-close')} stops")
            self._show_note(f"{progress.bar(_BAR)}  {counted(done, 'line')}  {stops}", "")

    def show_failure(self, sentence: str) -> None:
        """Show why nothing was written, so that another name can be typed."""
        self._resume()
        self._show_note(sentence, "$error")

    def ask(self, name: str, sentence: str) -> None:
        """Ask whether to replace an existing file."""
        self._resume()
        self._old_name = name
        again = with_written_keys(shown("dialogs-choose"))
        self._show_note(f"{sentence}: press {again} again to replace it", "bold")

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


def _choice(label: str, names: Sequence[str], chosen: int) -> Content:
    """Return names in a line, with the chosen one marked."""
    parts: list[tuple[str, str]] = [(f"{label}  ", "dim")]
    for number, name in enumerate(names):
        is_chosen = number == chosen
        parts.append((f"▸{name}  " if is_chosen else f" {name}  ", "bold" if is_chosen else ""))
    return Content.assemble(*parts)
