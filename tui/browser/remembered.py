"""What is remembered between runs: the used queries, to walk through, and the hidden columns."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping

from spackscope.model.core.errors import Unwritable
from spackscope.model.core.file_access import open_private, read_private, write_private, xdg_path
from spackscope.model.core.redaction import without_secrets
from spackscope.model.core.text import clean, is_clean
from spackscope.tui.browser import jobs
from spackscope.tui.browser.browser_host import BrowserHost
from spackscope.tui.browser.jobs import Job
from spackscope.tui.dialogs.dialog import Pick, PickDialog, with_all_words
from spackscope.tui.settings.checks import KEPT, hidden_columns

MAX_QUERIES = 500
MAX_LENGTH = 2000
"""Characters of a query that is kept."""
_MAX_QUERY_BYTES = MAX_QUERIES * MAX_LENGTH


class QueryHistory:
    """Queries that are kept in a file if possible, else for as long as the program runs.

    The file has one query per line, the newest last. `queries` are the known queries, the newest
    last, and have the queries of earlier runs once `read` was called. Lines of the file that are
    not queries are skipped. Safe to use from several threads.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._path = xdg_path(environ, "state", "history")
        self.queries: tuple[str, ...] = ()
        self._lock = threading.Lock()

    def read(self) -> None:
        """Read the file: for a worker thread."""
        with self._lock:
            self.queries = _newest_once([*_read(self._path), *self.queries])

    def remember(self, *queries: str) -> None:
        """Append queries, and remove them from earlier in the history.

        The file is read again before, so that the queries of another program that runs at the
        same time stay.
        """
        new = [query for query in map(str.strip, queries) if _can_be_kept(query)]
        if not new:
            return
        with self._lock:
            self.queries = _newest_once([*self.queries, *_read(self._path), *new])
            _write(self._path, self.queries)


class QueryRecall:
    """Step through earlier queries, in the query line or in a list, and remember used ones.

    The text being typed comes after the newest query, and an abandoned text before it.
    """

    def __init__(self, host: BrowserHost, history: QueryHistory) -> None:
        self._host, self._history = host, history
        self._texts: list[str] | None = None
        self._at = 0
        self._unsaved: tuple[str, ...] = ()

    def load(self) -> None:
        """Read the file of queries in a worker thread, before a key needs it."""
        self._host.run(lambda _: self._history.read(), lambda _: None, jobs.READ_QUERIES)

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
            queries = [*self._history.queries, *([given_up] if given_up.strip() else [])]
            if queries and queries[-1] == typed.strip():
                queries.pop()
            self._texts = [*queries, typed]
            self._at = len(queries)
        if not 0 <= self._at + step < len(self._texts):
            return None
        self._at += step
        return self._texts[self._at]

    def open(self, take: Callable[[str], object]) -> None:
        """Show the used queries, the newest first, and take the chosen query."""
        here = self._query_text()
        known = reversed(_newest_once([*self._history.queries, *self._unsaved]))
        picks = [Pick(query, query) for query in known if query != here]
        dialog = PickDialog(
            "queries",
            "query",
            picks,
            fills=True,
            empty="no queries yet",
            choose="take it",
            find_all=with_all_words,
        )
        self._host.open(dialog, take)

    def remember(
        self, done: Callable[[], object] = lambda: None, job: Job = jobs.KEEP_QUERY
    ) -> None:
        """Save the query that is shown, however it was made, and then call a function."""
        draft = self._host.state.draft
        is_wrong = draft is not None and draft.is_wrong
        if is_wrong or not (text := self._query_text()):
            done()
            return
        texts = self._unsaved = (*self._unsaved, text)

        def saved(_: None) -> None:
            self._unsaved = self._unsaved[len(texts) :]
            done()

        self._host.run(lambda _: self._history.remember(*texts), saved, job)

    def _query_text(self) -> str:
        """Return the shown query, as it was typed if it was typed."""
        line, query = self._host.where.line, self._host.state.view.query
        return line.settled_text.strip() if line.query == query else str(query)


def _can_be_kept(query: str) -> bool:
    """Check that a query is one short line, without a password in the URL of a source."""
    return 0 < len(query) <= MAX_LENGTH and is_clean(query) and without_secrets(query) == query


def _newest_once(queries: Iterable[str]) -> tuple[str, ...]:
    newest_first = dict.fromkeys(reversed(list(queries)))
    return tuple(reversed(list(newest_first)[:MAX_QUERIES]))


def _read(path: str | None) -> tuple[str, ...]:
    if path is None:
        return ()
    try:
        with open_private(path) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _MAX_QUERY_BYTES))
            data = file.read(_MAX_QUERY_BYTES)
    except (OSError, ValueError):
        return ()
    queries = []
    for line in data.split(b"\n"):
        with contextlib.suppress(UnicodeDecodeError):
            query = line.decode().strip()
            if _can_be_kept(query):
                queries.append(query)
    return _newest_once(queries)


def _write(path: str | None, queries: Iterable[str]) -> None:
    if path is None:
        return
    with contextlib.suppress(Unwritable):
        write_private(path, "".join(f"{query}\n" for query in queries).encode())


MAX_COLUMNS = 500
"""Most hidden columns that the file keeps."""
_MAX_NAME, _MAX_COLUMN_BYTES = 100, 200_000

Hidden = frozenset[str]
"""The names of the columns that are hidden."""


def load_hidden(host: BrowserHost) -> None:
    """Read the columns that earlier runs hid or showed; a message names an unreadable file."""
    configured, path = hidden_columns(host.settings), _columns_path(host)
    if configured:
        host.change(hidden_columns=configured)

    def read() -> Hidden | str:
        try:
            data = b"{}" if path is None else read_private(path, _MAX_COLUMN_BYTES)
            return parse_hidden(data, configured)
        except FileNotFoundError:
            return configured
        except (OSError, ValueError) as error:
            return clean(f"Ignored {path}: {error}")

    def take(read: Hidden | str) -> None:
        if isinstance(read, str):
            host.say(read, error=True)
        else:
            host.change(hidden_columns=read | (host.state.hidden_columns - configured))

    host.run(lambda _: read(), take, jobs.COLUMNS)


def cannot_be_hidden(column: str) -> str:
    """Return the message on a column that names the rows."""
    return f"The column {column or 'of names'} cannot be hidden: it names the rows"


def change_hidden(host: BrowserHost, hidden: Hidden) -> None:
    """Set the hidden columns, and save their difference from the configuration."""
    if hidden == host.state.hidden_columns:
        return
    host.change(hidden_columns=hidden)
    configured, path = hidden_columns(host.settings), _columns_path(host)
    besides, shown = sorted(hidden - configured), sorted(configured - hidden)
    content = json.dumps({"hidden": besides[:MAX_COLUMNS], "shown": shown}, indent=1)

    def write(_: object) -> str:
        try:
            if path is not None:
                write_private(path, f"{content}\n".encode())
        except Unwritable as error:
            return clean(f"The columns will not be remembered: {error}")
        return ""

    def report(failure: str) -> None:
        if failure:
            host.say(failure, error=True)

    host.run(write, report, jobs.COLUMNS)


def _columns_path(host: BrowserHost) -> str | None:
    return xdg_path(host.session.environ, "state", "columns.json")


def parse_hidden(data: bytes, configured: Hidden = frozenset()) -> Hidden:
    """Return the hidden columns that the content of the file names, without invalid names.

    Raises ValueError where the content is not of that form.
    """
    try:
        content = json.loads(data)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(content, dict):
        raise ValueError("it is not an object")
    hidden, shown = content.get("hidden", []), content.get("shown", [])
    if not (isinstance(hidden, list) and isinstance(shown, list)):
        raise ValueError("hidden or shown is not a list")
    names = list(filter(_is_name, hidden))[:MAX_COLUMNS]
    return configured.difference(filter(_is_name, shown)).union(names).difference(KEPT)


def _is_name(name: object) -> bool:
    return isinstance(name, str) and 0 < len(name) <= _MAX_NAME and is_clean(name)


def column_word(column: str) -> str:
    """Return the name of a column in messages."""
    return clean(column.removeprefix("+"))
