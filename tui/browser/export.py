"""Write the shown or the marked rows to a file, in the format that the ending of its name is."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from threading import Event
from typing import Any, NamedTuple

from spackscope.model.assist.offers import complete_path
from spackscope.model.core.columns import size_text
from spackscope.model.core.errors import Cancelled, Unwritable, reason
from spackscope.model.core.file_access import temporary_file
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import cancelled_when, check_cancelled, report_progress
from spackscope.model.core.text import clean, counted, shorten
from spackscope.model.index.catalog import Catalog
from spackscope.model.report.progress import Progress
from spackscope.model.report.sheet import Sheet
from spackscope.model.report.writers import FORMATS, Format
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost, CallOnLoop, progress_shown
from spackscope.tui.browser.path_dialog import PathDialog
from spackscope.tui.browser.remembered import QueryRecall
from spackscope.tui.browser.state import LOADING, BrowserState
from spackscope.tui.dialogs.dialog import Pick
from spackscope.tui.keymap import shown


def formats_of_files() -> dict[str, Format]:
    """Return the formats of files by the endings of names."""
    return {format_.ending: format_ for format_ in FORMATS if format_.ending}


class _Found(NamedTuple):
    """The paths that begin with a typed text, and the directory that they are in."""

    paths: Sequence[str] = ()
    directory: str = ""


class ExportDialog(PathDialog):
    """Name a file, whose ending is the format, and write the rows that are shown to it.

    `rows` says how many these are, and `name` is the name to begin with. The dialog stays until
    the file is written. An existing file is replaced only if it is chosen a second time.
    """

    def __init__(self, host: BrowserHost, recall: QueryRecall, rows: str, name: str) -> None:
        super().__init__(host, f"write {rows}", "file", (), choose="write")
        self.input.placeholder = "type the name of a file"
        self.first_search = name
        self.type(name)
        self._recall = recall
        self._to_replace = ""
        # Ends the writing: a cancelled job would have no result.
        self._stopped = Event()

    def find(self, text: str) -> _Found:
        """Find the paths that begin with a text."""
        directory = os.path.dirname(text)
        # The current directory may be gone.
        with contextlib.suppress(OSError, ValueError):
            directory = os.path.abspath(os.path.expanduser(directory))
        return _Found([path.text for path in complete_path(text)], directory)

    def fitting(self, text: str, picks: Sequence[Pick]) -> Sequence[Pick]:
        """Return the name with the ending of each format, the typed first, then found paths."""
        found, formats = self.found or _Found(), formats_of_files()
        stem, ending = os.path.splitext(text)
        if ending not in formats:
            stem, ending = text, ""
        names = [f"{stem}{each}" for each in sorted(formats, key=lambda each: each != ending)]
        if not stem or stem.endswith("/"):
            names = []
        names += [path for path in found.paths if path not in names]

        def pick(name: str) -> Pick:
            format_ = formats.get(_ending(name))
            what = [format_.name] if format_ is not None else []
            what += ["exists"] if name in found.paths else []
            path = os.path.join(found.directory, os.path.basename(name))
            return Pick([name], name, ", ".join(what), reading=clean(path))

        return [pick(name) for name in names if name.endswith("/") or _ending(name) in formats]

    def action_complete(self) -> None:
        """Complete the typed path as far as all paths that begin so agree."""
        # Letter by letter, as a shell does.
        paths = self.found.paths
        self.type(os.path.commonprefix(paths) or self.search)  # noqa: RUF071

    def take(self, value: Sequence[str]) -> None:
        """Write the file under the cursor, or go on in a directory."""
        (name,) = value
        if name.endswith("/"):
            self.type(name)
            return
        replaces, self._to_replace = self._to_replace == name, ""
        self._stopped.clear()
        self.work(is_working=True)
        writing = partial(self._write, self._host.state, name, replaces)
        self._host.run(writing, self._end, jobs.EXPORT)

    def _write(
        self, state: BrowserState, name: str, replaces: bool, report: CallOnLoop
    ) -> Callable[[], object]:
        """Write the file in a worker thread; return the function that shows the outcome."""
        if (why_not := state.table.why_not_shown(state)) or state.catalog is None:
            return partial(self.say, why_not or LOADING, error=True)
        format_ = formats_of_files()[_ending(name)]

        def show(progress: Progress) -> None:
            self._host.show_progress(progress.line(f"{shown('dialogs-close')} stops"))

        try:
            output = find_output(name)
            if output.size is not None and not replaces:
                return partial(self._ask, name, output.size)
            with progress_shown(report, show), cancelled_when(self._stopped.is_set):
                rows = rows_to_write(state, state.catalog)
                total = len(rows.sheet.rows)
                count = write_lines(output, format_.of_sheet(rows.sheet), total)
        except Unwritable as error:
            return partial(self.say, str(error), error=True)
        except Cancelled:
            return partial(self.say, "Stopped: nothing was written")
        is_list = format_.name == "hashes"
        written = counted(count, "hash") if is_list else counted(total, rows.noun)
        remark = f" · {state.catalog.part}" if state.catalog.part else ""
        return partial(self._leave, f"Wrote {written} to {clean(output.path)}{remark}")

    def _end(self, show_outcome: Callable[[], object]) -> None:
        self._host.show_progress("")
        self.work(is_working=False)
        show_outcome()

    def _ask(self, name: str, size: int) -> None:
        """Ask whether to replace an existing file."""
        self._to_replace = name
        again = f"{shown('dialogs-choose')} again replaces it"
        self.say(f"{clean(name)} exists, {size_text(size)}: {again}")

    def _leave(self, sentence: str) -> None:
        self._recall.remember()
        self.dismiss()
        self._host.say(sentence)

    def stop(self) -> None:
        """Stop writing; the dialog stays."""
        self._stopped.set()
        self.say("stopping…")


def _ending(name: str) -> str:
    return os.path.splitext(name)[1]


_NAME = "specs"
"""The name of a file for specs of several packages, without its ending."""
_MAX_NUMBER = 1000
_MAX_STEM = 240
_MAX_NAMED = 120
"""Cells of a name in a sentence."""
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
    # The reason has to be seen, too.
    named = shorten(clean(name), _MAX_NAMED)
    status = None
    try:
        path = os.path.realpath(os.path.expanduser(name))
        with contextlib.suppress(FileNotFoundError):
            status = os.stat(path)
    except (OSError, ValueError) as error:
        raise Unwritable(f"{named} {reason(error, _NOT_WRITTEN)}") from None
    directory = path if name.endswith("/") else os.path.dirname(path)
    if status is None:
        if name.endswith("/") or not os.path.isdir(directory):
            raise Unwritable(f"There is no directory {clean(directory)}")
        return OutputFile(path, None)
    if stat.S_ISDIR(status.st_mode) or name.endswith("/"):
        raise Unwritable(f"{named} is a directory: add a file name")
    if not stat.S_ISREG(status.st_mode):
        raise Unwritable(f"{named} is not a regular file")
    return OutputFile(path, status.st_size)


def write_lines(output: OutputFile, lines: Iterator[str], total: int | None = None) -> int:
    """Write lines in UTF-8, each with a line end; return how many. About `total` are expected.

    The file is replaced once all lines are written, and keeps its owner, group and mode. Raises
    Unwritable, also for a full disk, for an owner, group or mode that cannot be kept, and for a
    new file that has appeared meanwhile. Raises Cancelled, and any error of the iterator of lines.
    """
    count = 0
    try:
        directory, path = os.path.dirname(output.path), output.path
        with temporary_file(directory, _STEM, mode=_NEW_MODE, replaces=path) as file:
            for line in lines:
                if count % _STEP == 0:
                    report_progress("lines", count, total)
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
