"""Write the shown or the marked rows to a file."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from threading import Event

from spackscope.model.core.columns import size_text
from spackscope.model.core.errors import Cancelled, Unwritable, reason
from spackscope.model.core.file_access import temporary_file
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import cancelled_when, check_cancelled
from spackscope.model.core.text import clean, counted
from spackscope.model.index.catalog import Catalog
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost, CallOnLoop
from spackscope.tui.browser.jobs import Job
from spackscope.tui.browser.query_history import QueryRecall
from spackscope.tui.browser.specs import marks_in_sight
from spackscope.tui.browser.state import BrowserState
from spackscope.tui.browser.tables import records_of
from spackscope.tui.dialogs.export import FILE_FORMATS, ExportDialog, ExportRequest, RowSet

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


class _Rows(Frozen):
    """The rows of a catalog that can be written, and a name for their file."""

    catalog: Catalog
    sets: Sequence[RowSet]
    name: str


def open_export(host: BrowserHost, recall: QueryRecall) -> None:
    """Open a dialog to choose rows, format and file name, and write the file."""
    if why_not := host.state.table.why_not_shown(host.state):
        host.say(why_not, error=True)
        return

    def show(rows: _Rows) -> None:
        stopped = Event()

        def leave(sentence: str) -> None:
            recall.remember()
            dialog.dismiss()
            host.say(sentence)

        def write(request: ExportRequest) -> None:
            stopped.clear()
            writing = partial(_write, request, dialog, stopped, leave)
            host.run(writing, lambda show: show(), jobs.EXPORT)

        def follow(newer: _Rows) -> None:
            nonlocal rows
            rows = newer
            dialog.show_rows(rows.sets)

        def ask() -> None:
            # Marked rows were chosen as they are.
            if rows.catalog is not host.state.catalog and not host.state.marks:
                _read(host, follow, jobs.ROW_SETS)

        dialog = ExportDialog(rows.sets, rows.name, write, stopped.set)
        host.open(dialog, ask=ask, job=jobs.ROW_SETS)

    _read(host, show, jobs.MENU)


def _read(host: BrowserHost, done: Callable[[_Rows], object], job: Job) -> None:
    """Read which rows can be written, and propose a name."""
    state = host.state
    if (catalog := state.catalog) is None:
        return

    def read(_: object) -> _Rows:
        stem = state.table.name
        packages = [] if stem else catalog.packages(state.view.query)
        stem = packages[0].name if len(packages) == 1 else stem
        name = proposed_name(stem, FILE_FORMATS[0].ending)
        return _Rows(catalog, row_sets(state, catalog), name)

    host.run(read, done, job)


def _write(
    request: ExportRequest,
    dialog: ExportDialog,
    stopped: Event,
    leave: Callable[[str], object],
    report: CallOnLoop,
) -> Callable[[], object]:
    """Write the file, and return the function that shows the outcome in the dialog.

    A cancelled job has no result, so `stopped` ends the writing, and the outcome says so.
    """
    sheet = request.rows.sheet
    total = len(sheet.rows)

    def on_lines(count: int) -> None:
        report(lambda: dialog.show_progress(min(count, total), total))

    try:
        output = find_output(request.name)
        if output.size is not None and not request.replaces:
            sentence = f"{clean(request.name)} exists, {size_text(output.size)}"
            return partial(dialog.ask, request.name, sentence)
        with cancelled_when(stopped.is_set):
            count = write_lines(output, request.format.of_sheet(sheet), on_lines=on_lines)
    except Unwritable as error:
        return partial(dialog.show_failure, str(error))
    except Cancelled:
        return partial(dialog.show_failure, "Stopped: nothing was written")
    is_list = request.format.name == "hashes"
    written = counted(count, "hash") if is_list else counted(total, request.rows.noun)
    return partial(leave, f"Wrote {written} to {clean(output.path)}")


def row_sets(state: BrowserState, catalog: Catalog) -> Sequence[RowSet]:
    """Return the rows that can be written: the marked ones in sight, all shown, all marked.

    Where columns are about specs, as in a diff, all shown come first.
    """
    table, view, in_sight = state.table, state.view, marks_in_sight(state)
    shown, noun = table.sheet_of(catalog, view), "row" if table.name else "record"
    sets = [RowSet(f"{len(shown.rows):,} shown", shown, noun)]
    if in_sight:
        marked = table.sheet_of(catalog, view, in_sight)
        # Marked specs without rows in an answer are written as records.
        its_noun = noun if marked.columns is shown.columns else "record"
        is_last = any(column.hash for column in shown.columns)
        sets.insert(int(is_last), RowSet(f"{len(marked.rows):,} marked", marked, its_noun))
    if len(state.marked) > len(in_sight):
        ids = list(dict.fromkeys(id_ for spec in state.marked for id_ in spec.ids))
        sets.append(
            RowSet(f"all {len(state.marked):,} marked", records_of(catalog, ids), "record")
        )
    return sets


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
