"""Write the shown or the marked rows to a file, in the format that the ending of its name is."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from threading import Event
from typing import Any

from textual import events, getters, on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, Static

from spackscope.model.assist.offers import complete_path
from spackscope.model.core.columns import size_text
from spackscope.model.core.errors import Cancelled, Unwritable, reason
from spackscope.model.core.file_access import temporary_file
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.suggestions import listed
from spackscope.model.core.tasks import cancelled_when, check_cancelled
from spackscope.model.core.text import clean, counted, shorten
from spackscope.model.index.catalog import Catalog
from spackscope.model.report.progress import Progress
from spackscope.model.report.sheet import Sheet
from spackscope.model.report.writers import FORMATS, Format
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost, CallOnLoop
from spackscope.tui.browser.remembered import QueryRecall
from spackscope.tui.browser.state import LOADING, BrowserState
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
    """A line with the name of a file, and a note below it; choosing writes the rows shown.

    `rows` says how many these are, and `name` is the name to begin with.
    """

    PANE = EXPORTING
    BINDINGS = bindings(EXPORTING)
    AUTO_FOCUS = "Input"

    _input = getters.query_one(Input)

    def __init__(self, host: BrowserHost, recall: QueryRecall, rows: str, name: str) -> None:
        super().__init__()
        self._host, self._recall, self._rows, self._first_name = host, recall, rows, name
        self._old_name = ""
        self._is_writing = self._is_completing = False
        # Ends the writing: a cancelled job would have no result.
        self._stopped = Event()

    def box(self) -> ComposeResult:
        """Lay out the name above the note on it."""
        with Vertical(classes="dialog") as box:
            box.border_title = Content(f"write {self._rows}")
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
        self._show_note(f"{shorten(clean(path), self._room)}\n{' '.join(_formats())}")

    @property
    def _room(self) -> int:
        return max(1, min(_LINE, self.app.size.width - _MARGIN))

    def _show_note(self, text: str, style: str = "dim") -> None:
        self.query_one("#export-note", Static).update(Content.styled(text, style))

    def action_complete(self) -> None:
        """Complete the path that is typed."""
        if not self._is_writing:
            self._is_completing, typed = True, self._input.value
            self._host.run(lambda _: completed(typed), self._take_path, jobs.PATHS)

    def _take_path(self, path: str) -> None:
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
        self._stopped.clear()
        writing = partial(self._write, self._host.state, name, replaces)
        self._host.run(writing, lambda show: show(), jobs.EXPORT)

    def _write(
        self, state: BrowserState, name: str, replaces: bool, report: CallOnLoop
    ) -> Callable[[], object]:
        """Write the file in a worker thread; return the function that shows the outcome."""

        def on_lines(count: int) -> None:
            report(lambda: self._show_progress(min(count, total), total))

        if (why_not := state.table.why_not_shown(state)) or state.catalog is None:
            return partial(self._resume, why_not or LOADING)
        try:
            output, format_ = find_output(name), format_of(name)
            if output.size is not None and not replaces:
                sentence = f"{clean(name)} exists, {size_text(output.size)}"
                return partial(self._ask, name, sentence)
            with cancelled_when(self._stopped.is_set):
                rows = rows_to_write(state, state.catalog)
                total = len(rows.sheet.rows)
                count = write_lines(output, format_.of_sheet(rows.sheet), on_lines=on_lines)
        except Unwritable as error:
            return partial(self._resume, str(error))
        except Cancelled:
            return partial(self._resume, "Stopped: nothing was written")
        is_list = format_.name == "hashes"
        written = counted(count, "hash") if is_list else counted(total, rows.noun)
        remark = f" · {state.catalog.part}" if state.catalog.part else ""
        return partial(self._leave, f"Wrote {written} to {clean(output.path)}{remark}")

    def _show_progress(self, done: int, total: int) -> None:
        """Show how many of the lines are written."""
        if self._is_writing and self.is_mounted:
            progress = Progress("", "", "", done / total if total else 0.0)
            stops = with_written_keys(f"{shown('dialogs-close')} stops")
            line = f"{progress.bar(_BAR)}  {counted(done, 'line')}  {stops}"
            self._show_note(shorten(line, 2 * self._room), "")

    def _resume(self, sentence: str, style: str = "$error") -> None:
        """Show why nothing was written, and let another name be typed."""
        self._is_writing = self._input.disabled = False
        self._input.focus()
        self._show_note(shorten(sentence, 2 * self._room), style)

    def _ask(self, name: str, sentence: str) -> None:
        """Ask whether to replace an existing file."""
        self._old_name = name
        again = with_written_keys(shown("dialogs-choose"))
        self._resume(f"{sentence}: press {again} again to replace it", "bold")

    def _leave(self, sentence: str) -> None:
        self._recall.remember()
        self.dismiss()
        self._host.say(sentence)

    def action_close(self) -> None:
        """Stop writing; if nothing is being written, close the dialog."""
        if self._is_writing:
            self._stopped.set()
            self._show_note("stopping…")
        else:
            super().action_close()


_NAME = "specs"
"""The name of a file for specs of several packages, without its ending."""
_MAX_NUMBER = 1000
_MAX_STEM = 240
"""Letters of a name, which with a number and the longest ending is a file name of 255 bytes."""
_NOT_WRITTEN = "cannot be written"
_STEM = "spackscope"
"""The beginning of the temporary name: with the name of the file it might be too long."""
_NEW_MODE = 0o666
"""The mode of a new file, from which the umask takes rights."""
_STEP = 500
"""Lines after which progress is shown."""


def open_export(host: BrowserHost, recall: QueryRecall) -> None:
    """Ask for the name of a file, whose ending is the format, and write it."""
    state = host.state
    if (why_not := state.table.why_not_shown(state)) or (catalog := state.catalog) is None:
        host.say(why_not or LOADING, error=True)
        return

    def read(_: object) -> tuple[str, str]:
        stem = state.table.name
        packages = [] if stem else catalog.packages(state.view.query)
        stem = packages[0].name if len(packages) == 1 else stem
        rows = rows_to_write(state, catalog).text
        return f"{rows} so far" if catalog.part else rows, proposed_name(stem, FORMATS[0].ending)

    def show(found: tuple[str, str]) -> None:
        host.open(ExportDialog(host, recall, *found))

    host.run(read, show, jobs.MENU)


class RowsToWrite(Frozen):
    """The rows to write, and the word for one of them."""

    sheet: Sheet[Any]
    noun: str
    is_marked: bool = False

    @property
    def text(self) -> str:
        """The number of rows in words, and whether only marked ones are written."""
        noun = f"marked {self.noun}" if self.is_marked else self.noun
        return counted(len(self.sheet.rows), noun)


def rows_to_write(state: BrowserState, catalog: Catalog) -> RowsToWrite:
    """Return the rows of marked specs in sight, if there are any, else all shown rows.

    Where columns are about specs, as in a diff, marks choose no rows.
    """
    table, in_sight = state.table, state.marks_in_sight
    noun = "row" if table.name else "record"
    shown = table.sheet_of(catalog, state.view)
    if in_sight and not any(column.hash for column in shown.columns):
        marked = table.sheet_of(catalog, state.view, in_sight)
        if marked.rows:
            return RowsToWrite(marked, noun, is_marked=True)
    return RowsToWrite(shown, noun)


def _formats() -> dict[str, Format]:
    """Return the formats of files by the endings of names."""
    return {format_.ending: format_ for format_ in FORMATS if format_.ending}


def format_of(name: str) -> Format:
    """Return the format that the ending of a name stands for. Raises Unwritable."""
    formats, ending = _formats(), os.path.splitext(name)[1]
    if ending in formats:
        return formats[ending]
    problem = f"There is no format {clean(ending)}" if ending else "The name has no ending"
    raise Unwritable(f"{problem}: use {listed([*formats], 'or')}")


def completed(path: str) -> str:
    """Return a path as far as all paths that begin so agree."""
    # Letter by letter, as a shell does.
    names = [each.text for each in complete_path(path)]
    return os.path.commonprefix(names) or path  # noqa: RUF071


def proposed_name(package: str, ending: str) -> str:
    """Return a name that no file has in the current directory."""
    stem = re.sub(r"[^A-Za-z0-9_.-]", "_", package)[:_MAX_STEM].strip(".-_") or _NAME
    name, number = f"{stem}{ending}", 1
    while os.path.lexists(name) and number < _MAX_NUMBER:
        number += 1
        name = f"{stem}-{number}{ending}"
    return name


class OutputFile(Frozen):
    """A file to write: its path with all links resolved, and the size of the present file.

    `size` is None where there is no file yet.
    """

    path: str
    size: int | None


def find_output(name: str) -> OutputFile:
    """Return the file that a name means here, with `~` for the home directory.

    Raises Unwritable where no regular file can be written there.
    """
    if not name.strip():
        raise Unwritable("Type the name of a file")
    status = None
    try:
        path = os.path.realpath(os.path.expanduser(name))
        with contextlib.suppress(FileNotFoundError):
            status = os.stat(path)
    except (OSError, ValueError) as error:
        raise Unwritable(f"{clean(name)} {reason(error, _NOT_WRITTEN)}") from None
    directory = path if name.endswith("/") else os.path.dirname(path)
    if status is None:
        if name.endswith("/") or not os.path.isdir(directory):
            raise Unwritable(f"There is no directory {clean(directory)}")
        return OutputFile(path, None)
    if stat.S_ISDIR(status.st_mode) or name.endswith("/"):
        raise Unwritable(f"{clean(name)} is a directory: add a file name")
    if not stat.S_ISREG(status.st_mode):
        raise Unwritable(f"{clean(name)} is not a regular file")
    return OutputFile(path, status.st_size)


def write_lines(
    output: OutputFile,
    lines: Iterator[str],
    *,
    on_lines: Callable[[int], object] = lambda count: None,
) -> int:
    """Write lines in UTF-8, each with a line end; return how many.

    `on_lines` is called with the number of lines written so far. The file is replaced once all
    lines are written, and keeps its owner, group and mode. Raises Unwritable, also for a full
    disk, for an owner, group or mode that cannot be kept, and for a new file that has appeared
    meanwhile. Raises Cancelled, and any error of the iterator of lines.
    """
    count = 0
    try:
        directory, path = os.path.dirname(output.path), output.path
        with temporary_file(directory, _STEM, mode=_NEW_MODE, replaces=path) as file:
            for line in lines:
                if count % _STEP == 0:
                    on_lines(count)
                    check_cancelled()
                file.write(f"{line}\n".encode())
                count += 1
            file.flush()
            # A full disk is often noticed only here.
            os.fsync(file.fileno())
            check_cancelled()
            if output.size is None and os.path.lexists(path):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
            os.replace(file.name, path)
    except OSError as error:
        raise Unwritable(f"{clean(output.path)} {reason(error, _NOT_WRITTEN)}") from None
    return count
