"""The histories of queries and of copied texts, each in a file, and stepping through queries."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from spackscope.model.core.errors import Unwritable
from spackscope.model.core.file_access import open_private, write_private, xdg_path
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.redaction import without_secrets
from spackscope.model.core.text import clean, is_clean
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost
from spackscope.tui.browser.state import QUERY

if TYPE_CHECKING:
    from spackscope.tui.copy_forms import CopyDone

MAX_LINES = 500
MAX_LENGTH = 2000
"""Characters of a line that is kept."""
_MAX_BYTES = MAX_LINES * MAX_LENGTH


class HistoryFile:
    """Lines that are kept in a file if possible, else for as long as the program runs.

    A line is a query, or a copied text with its time and its name as JSON. `lines` are the known
    ones, the newest last, and have the lines of earlier runs once `read` was called. A line of the
    file that cannot be kept is skipped. Safe to use from several threads. The first start
    `is_first`: there is no file yet.
    """

    def __init__(self, environ: Mapping[str, str], name: str = "history") -> None:
        self._path = xdg_path(environ, "state", name)
        self.lines: tuple[str, ...] = ()
        self.is_first = self._path is not None and not os.path.lexists(self._path)
        self._lock = threading.Lock()

    def read(self) -> None:
        """Read the file: for a worker thread."""
        with self._lock:
            self.lines = _newest_once([*_read(self._path), *self.lines])

    def begin(self) -> None:
        """Write the file, so that the next start is not the first one: for a worker thread."""
        with self._lock:
            _write(self._path, _newest_once([*_read(self._path), *self.lines]))

    def remember(self, *lines: str) -> None:
        """Append lines, and remove them from earlier in the history.

        The file is read again before, so that the lines of another program that runs at the same
        time stay.
        """
        new = [line for line in map(str.strip, lines) if _can_be_kept(line)]
        if not new:
            return
        with self._lock:
            self.lines = _newest_once([*self.lines, *_read(self._path), *new])
            _write(self._path, self.lines)


class CopiedText(Frozen):
    """A text that was copied, its name, and when, as local time."""

    time: str
    name: str
    text: str


class QueryRecall:
    """Step through earlier queries, in the query line or in a list, and remember used ones.

    The text being typed comes after the newest query, and an abandoned text before it.
    """

    def __init__(self, host: BrowserHost, history: HistoryFile, copied: HistoryFile) -> None:
        self._host, self._history, self._copied = host, history, copied
        self._texts: list[str] | None = None
        self._at = 0
        self._unsaved: tuple[str, ...] = ()

    @property
    def is_first_start(self) -> bool:
        """Whether no earlier start wrote the file of queries."""
        return self._history.is_first

    def begin(self) -> None:
        """Write the file of queries, by which later starts are not the first."""
        self._host.run(lambda _: self._history.begin(), lambda _: None, jobs.KEEP_QUERY)

    def load(self) -> None:
        """Read both files in a worker thread, before a key needs them."""

        def read(_: object) -> None:
            self._history.read()
            self._copied.read()

        self._host.run(read, lambda _: None, jobs.READ_QUERIES)

    def note_text(self, text: str) -> None:
        """Note the text of the query line: a letter restarts the walk through the queries."""
        if self._texts is not None and text != self._texts[self._at]:
            self._texts = None

    def stop(self) -> None:
        """Begin at the newest query the next time."""
        self._texts = None

    def go(self, step: int, typed: str, given_up: str) -> str | None:
        """Return an older query for -1, or a newer query for 1; None at an end."""
        if self._texts is None:
            queries = [*self._history.lines, *([given_up] if given_up.strip() else [])]
            if queries and queries[-1] == typed.strip():
                queries.pop()
            self._texts = [*queries, typed]
            self._at = len(queries)
        if not 0 <= self._at + step < len(self._texts):
            return None
        self._at += step
        return self._texts[self._at]

    def copy(
        self,
        copy: Callable[[], CopyDone],
        done: Callable[[CopyDone], object],
        kept: tuple[str, str] | None = None,
    ) -> None:
        """Copy in a worker thread; remember the name and the text that are `kept`, unless long."""

        def work(_: object) -> CopyDone:
            copied = copy()
            if kept is not None and not copied.failed:
                self._copied.remember(json.dumps([time.strftime("%Y-%m-%d %H:%M"), *kept]))
            return copied

        self._host.run(work, done, jobs.COPY)

    @property
    def copied(self) -> Sequence[CopiedText]:
        """The copied texts, the newest first."""
        texts = dict[str, CopiedText]()
        for line in reversed(self._copied.lines):
            with contextlib.suppress(ValueError, RecursionError):
                match json.loads(line):
                    case [str(when), str(name), str(text)]:
                        texts.setdefault(text, CopiedText(clean(when), clean(name), text))
        return [*texts.values()]

    def open(self, take: Callable[[str], object]) -> None:
        """Show queries and then copied texts, the newest first; take a query, or copy a text."""
        # A dialog is imported when it is first opened.
        from spackscope.tui.dialogs.pick import Pick, PickDialog, with_all_words

        here = self._query_text()
        known = reversed(_newest_once([*self._history.lines, *self._unsaved]))
        picks = [Pick(query, query, reading=query) for query in known if query != here]
        picks += [
            Pick(each, f"copied {each.name}", each.time, reading=each.text) for each in self.copied
        ]

        def name_key(value: str | CopiedText) -> None:
            dialog.choose_word = "take it" if isinstance(value, str) else "copy again"

        dialog = PickDialog(
            "queries and copied hashes",
            "query",
            picks,
            fills=True,
            empty="no queries yet",
            on_move=name_key,
            find_all=with_all_words,
        )

        def say(copied: CopyDone) -> None:
            self._host.say(copied.text, error=copied.failed)

        def taken(value: str | CopiedText | None) -> None:
            if isinstance(value, CopiedText):
                name, text = value.name, value.text
                self.copy(lambda: self._host.copy(text, name), say, (name, text))
            elif value is not None:
                take(value)

        self._host.open(dialog, taken)

    def keep(self) -> None:
        """Remember the query that is shown, however it was made."""
        if not (text := self._query_text()):
            return
        texts = self._unsaved = (*self._unsaved, text)

        def saved(_: None) -> None:
            self._unsaved = self._unsaved[len(texts) :]

        self._host.run(lambda _: self._history.remember(*texts), saved, jobs.KEEP_QUERY)

    def _query_text(self) -> str:
        """Return the shown query, as it was typed if it was typed."""
        line, query = self._host.where.line, self._host.state.view.query
        return line.settled_text.strip() if line.query == query else str(query)

    def remember(self, done: Callable[[], object] = lambda: None) -> None:
        """Save the query that is shown, and then call a function."""
        host, draft = self._host, self._host.state.draft
        is_wrong = draft is not None and draft.input == QUERY and draft.is_wrong
        if is_wrong or not host.state.view.query:
            done()
        else:
            text = host.where.line.settled_text
            host.run(lambda _: self._history.remember(text), lambda _: done(), jobs.REMEMBER_QUERY)


def _can_be_kept(text: str) -> bool:
    """Check that a text is one short line, without a password in the URL of a source."""
    return 0 < len(text) <= MAX_LENGTH and is_clean(text) and without_secrets(text) == text


def _newest_once(lines: Iterable[str]) -> tuple[str, ...]:
    newest_first = dict.fromkeys(reversed(list(lines)))
    return tuple(reversed(list(newest_first)[:MAX_LINES]))


def _read(path: str | None) -> tuple[str, ...]:
    if path is None:
        return ()
    try:
        with open_private(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _MAX_BYTES))
            data = file.read(_MAX_BYTES)
    except (OSError, ValueError):
        return ()
    lines = []
    for each in data.split(b"\n"):
        with contextlib.suppress(UnicodeDecodeError):
            line = each.decode().strip()
            if _can_be_kept(line):
                lines.append(line)
    return _newest_once(lines)


def _write(path: str | None, lines: Iterable[str]) -> None:
    if path is None:
        return
    with contextlib.suppress(Unwritable):
        write_private(path, "".join(f"{line}\n" for line in lines).encode())
