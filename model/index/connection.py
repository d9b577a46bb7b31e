"""Hold an index open: a connection for each thread, and statements that can be given up."""

from __future__ import annotations

import contextlib
import functools
import sqlite3
import threading
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from spackscope.model.core.errors import (
    Cancelled,
    IndexDamaged,
)
from spackscope.model.core.progress import ShouldStop
from spackscope.model.index.schema import INDEXES, TABLES

_STEPS = 20_000
"""Steps of a statement, about a millisecond, after which it is asked whether to go on."""
_INTERRUPTED = "interrupted"
"""What SQLite says of a statement that its progress handler ended."""

Method = TypeVar("Method", bound=Callable[..., Any])


def _cancellable(method: Method) -> Method:
    """Make a method raise Cancelled where its statement is ended."""

    @functools.wraps(method)
    def call(*arguments: object) -> object:
        try:
            return method(*arguments)
        except sqlite3.OperationalError as error:
            if str(error) == _INTERRUPTED:
                raise Cancelled from None
            raise

    return call  # type: ignore[return-value]


class _Cursor(sqlite3.Cursor):
    """Raise Cancelled where a signal or another thread ends a statement: no index is damaged."""

    execute = _cancellable(sqlite3.Cursor.execute)
    executemany = _cancellable(sqlite3.Cursor.executemany)
    executescript = _cancellable(sqlite3.Cursor.executescript)
    fetchone = _cancellable(sqlite3.Cursor.fetchone)
    fetchmany = _cancellable(sqlite3.Cursor.fetchmany)
    fetchall = _cancellable(sqlite3.Cursor.fetchall)
    __next__ = _cancellable(sqlite3.Cursor.__next__)


MOST_STATEMENTS = 16
"""Compiled statements that each connection keeps; most hold ids or codes, and come never again."""


class _Connection(sqlite3.Connection):
    """Let signal handlers run during statements.

    It closes itself when it is dropped, by whatever thread; Python 3.13 warns of one left open.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        _let_signals_in(self)

    # The methods of SQLite's own connection use its own cursors.

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        """Run a statement; what it gives is read by a cursor of ours."""
        return self.cursor(_Cursor).execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        """Run a statement for each of some parameters."""
        return self.cursor(_Cursor).executemany(*arguments)

    def executescript(self, *arguments: Any) -> sqlite3.Cursor:
        """Run several statements."""
        return self.cursor(_Cursor).executescript(*arguments)

    def __del__(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self.close()


def connect(uri: str) -> sqlite3.Connection:
    """Open a database that several threads may hold and any may drop.

    Nothing in the file is run, should somebody else have written it, and cells are checked.
    """
    connection = sqlite3.connect(
        uri,
        uri=True,
        check_same_thread=False,
        factory=_Connection,
        cached_statements=MOST_STATEMENTS,
    )
    connection.execute("PRAGMA trusted_schema=0")
    connection.execute("PRAGMA cell_size_check=1")
    return connection


class Database:
    """Hold one index open; safe to use from several threads.

    `meta` is what the index says of itself: schema, fingerprint, time of its making. Raises
    sqlite3.Error where the index cannot be opened, and IndexDamaged where it has other tables
    than it should have.
    """

    def __init__(self, uri: str, keep: sqlite3.Connection | None = None) -> None:
        self._uri = uri
        # An index in memory lives as long as one connection to it, and so does the content of a
        # file that another process replaces.
        self._keep = keep or connect(uri)
        if _tables(self._keep) != _expected_tables():
            raise IndexDamaged("its tables are not those of an index")
        self._copying = threading.Lock()
        self._local = threading.local()
        self.meta = _meta(self._keep)

    @property
    def _connection(self) -> sqlite3.Connection:
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = self._local.connection = self._connect()
        return connection

    def _connect(self) -> sqlite3.Connection:
        """Connect a thread: to the index, or to a copy where its file is another one by now."""
        with contextlib.suppress(sqlite3.Error):
            connection = connect(self._uri)
            connection.execute("PRAGMA query_only=1")
            connection.execute("PRAGMA read_uncommitted=1")
            # A full disk is no reason not to sort.
            connection.execute("PRAGMA temp_store=MEMORY")
            if _meta(connection) == self.meta:
                return connection
        copy = connect(":memory:")
        with self._copying:
            self._keep.backup(copy)
        return copy

    def execute(self, sql: str, parameters: Iterable[str | float | bytes] = ()) -> sqlite3.Cursor:
        """Run one statement in the connection of this thread."""
        return self._connection.execute(sql, tuple(parameters))

    def stoppable(self, should_stop: ShouldStop) -> Stoppable:
        """Give a context in which statements end with Cancelled where `should_stop` says so."""
        return Stoppable(self._connection, should_stop)


def _let_signals_in(connection: sqlite3.Connection) -> None:
    """Call a function of Python now and then: signal handlers run, and may raise, in none else."""
    connection.set_progress_handler(lambda: 0, _STEPS)


class Stoppable:
    """End statements with Cancelled where `should_stop` says so, or a signal handler raises."""

    def __init__(self, connection: sqlite3.Connection, should_stop: ShouldStop) -> None:
        self._connection = connection
        self._should_stop = should_stop

    def __enter__(self) -> None:
        if self._should_stop():
            raise Cancelled
        self._connection.set_progress_handler(lambda: int(self._should_stop()), _STEPS)

    def __exit__(self, kind: type[BaseException] | None, error: object, _trace: object) -> None:
        _let_signals_in(self._connection)
        if kind is sqlite3.OperationalError and str(error) == _INTERRUPTED:
            raise Cancelled from None


def _tables(connection: sqlite3.Connection) -> frozenset[tuple[str, str, str]]:
    # A view or a trigger would run statements of whoever wrote the file.
    return frozenset(connection.execute("SELECT type, name, sql FROM sqlite_master"))


@functools.cache
def _expected_tables() -> frozenset[tuple[str, str, str]]:
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(TABLES + INDEXES)
        return _tables(connection)


def _meta(connection: sqlite3.Connection) -> dict[str, object]:
    return dict(connection.execute("SELECT key, value FROM meta"))
