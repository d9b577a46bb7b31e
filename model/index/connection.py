"""Open an index: one connection for each thread, and statements that can be stopped."""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

from spackscope.model.core.errors import Cancelled, IndexDamaged
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.index.schema import INDEXES, TABLES

MAX_STATEMENTS = 16
"""Compiled statements that each connection keeps; most hold ids or codes and are never reused."""

_STEPS = 20_000
"""Steps of a statement, about a millisecond, between two calls of the progress handler."""
_CACHE = 200
"""Kilobytes of pages that each connection keeps."""
_BATCH = 1024
"""Rows that are fetched at once."""
_ROWS = 48
"""Rows that are inserted at once; old versions of SQLite have at most 999 parameters."""
_INTERRUPTED = "interrupted"
"""The message of SQLite for a statement that its progress handler stopped."""

Method = TypeVar("Method", bound=Callable[..., Any])


def _cancellable(method: Method) -> Method:
    """Make a method raise Cancelled if its statement is stopped."""

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
    """Cursor that raises Cancelled if a signal or another thread stops a statement."""

    execute = _cancellable(sqlite3.Cursor.execute)
    executemany = _cancellable(sqlite3.Cursor.executemany)
    executescript = _cancellable(sqlite3.Cursor.executescript)
    fetchone = _cancellable(sqlite3.Cursor.fetchone)
    fetchmany = _cancellable(sqlite3.Cursor.fetchmany)
    fetchall = _cancellable(sqlite3.Cursor.fetchall)
    __next__ = _cancellable(sqlite3.Cursor.__next__)


class _Connection(sqlite3.Connection):
    """Connection that lets signal handlers run during statements.

    It closes itself when it is dropped, in any thread; Python 3.13 warns of one left open.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        _let_signals_in(self)

    # The methods of sqlite3.Connection use its own cursors.

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        return self.cursor(_Cursor).execute(*arguments)

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        return self.cursor(_Cursor).executemany(*arguments)

    def executescript(self, *arguments: Any) -> sqlite3.Cursor:
        return self.cursor(_Cursor).executescript(*arguments)

    def __del__(self) -> None:
        with contextlib.suppress(sqlite3.Error):
            self.close()


def connect(database: str) -> sqlite3.Connection:
    """Open a database, given by a path or a URI, that several threads may use and any may drop.

    Statements that are stopped raise Cancelled. Nothing in the file is run, should somebody else
    have written it, and cells are checked. Raises sqlite3.Error.
    """
    connection = sqlite3.connect(
        database,
        uri=True,
        check_same_thread=False,
        factory=_Connection,
        cached_statements=MAX_STATEMENTS,
    )
    connection.execute("PRAGMA trusted_schema=0")
    connection.execute("PRAGMA cell_size_check=1")
    return connection


def create_tables(connection: sqlite3.Connection) -> None:
    """Create the tables of an index in an empty database. Raises sqlite3.Error."""
    connection.executescript("PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;" + TABLES)


def insert(connection: sqlite3.Connection, table: str, rows: Iterable[Sequence[object]]) -> None:
    """Insert rows of at most 20 values into a table, which may name its columns after it.

    A statement for many rows takes half the time of one for each. Raises sqlite3.Error.
    """
    rows = iter(rows)
    while batch := list(islice(rows, _ROWS)):
        row = f"({', '.join('?' * len(batch[0]))})"
        values = ", ".join([row] * len(batch))
        connection.execute(f"INSERT INTO {table} VALUES {values}", [*chain.from_iterable(batch)])


def file_uri(path: str) -> str:
    """Return the URI of an index that is only read, and that nobody writes."""
    # As urllib.parse.quote, which takes long to import.
    quoted = "".join(
        chr(byte) if (chr(byte).isalnum() and byte < 128) or byte in b"/-._~" else f"%{byte:02X}"
        for byte in os.fsencode(path)
    )
    return f"file://{quoted}?mode=ro&immutable=1"


def _let_signals_in(connection: sqlite3.Connection) -> None:
    """Call a Python function now and then: only then signal handlers run, and may raise."""
    connection.set_progress_handler(lambda: 0, _STEPS)


@contextlib.contextmanager
def stoppable(connection: sqlite3.Connection, should_stop: ShouldStop) -> Iterator[None]:
    """Make statements of a connection of `connect` raise Cancelled once `should_stop` says so."""
    if should_stop():
        raise Cancelled
    connection.set_progress_handler(lambda: int(should_stop()), _STEPS)
    try:
        yield
    finally:
        _let_signals_in(connection)


class Database:
    """One open index; safe to use from several threads.

    `meta` is what the index says of itself: schema, fingerprint, time it was built. Raises
    sqlite3.Error if the index cannot be opened, and IndexDamaged if its tables are not those of
    an index.
    """

    def __init__(self, uri: str, keep: sqlite3.Connection | None = None) -> None:
        self.uri = uri
        # An index in memory lives as long as one connection to it, and so does the content of a
        # file that another process replaces.
        self._keep = keep or connect(uri)
        if not _has_tables_of_an_index(self._keep):
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
        """Connect a thread: to the index, or to a copy if its file has been replaced."""
        with contextlib.suppress(sqlite3.Error):
            connection = connect(self.uri)
            connection.execute("PRAGMA query_only=1")
            connection.execute("PRAGMA read_uncommitted=1")
            # Each thread has a connection, and the system caches the file for all of them.
            connection.execute(f"PRAGMA cache_size=-{_CACHE}")
            # Sorting must not need a disk with free space.
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

    def numbers(self, sql: str, parameters: Iterable[str | float | bytes] = ()) -> Iterator[int]:
        """Run a statement that selects one number; iterate over those of its rows.

        They are fetched in batches: a call for each of very many rows takes longer than SQLite.
        """
        cursor = self.execute(sql, parameters)
        batches = iter(functools.partial(cursor.fetchmany, _BATCH), [])
        return chain.from_iterable(chain.from_iterable(batches))

    def stoppable(self, should_stop: ShouldStop) -> contextlib.AbstractContextManager[None]:
        """Return a context in which statements raise Cancelled once `should_stop` says so."""
        return stoppable(self._connection, should_stop)


def _has_tables_of_an_index(connection: sqlite3.Connection) -> bool:
    """Check that nothing but the tables and indexes of the schema is in a database.

    A view or a trigger would run statements of whoever wrote the file. Indexes that SQLite makes
    itself have no statement.
    """
    rows = connection.execute("SELECT type, sql FROM sqlite_master").fetchall()
    statements = {statement.strip() for statement in (TABLES + INDEXES).split(";")} - {""}
    found = [sql for _, sql in rows if sql is not None]
    return (
        {*found} == statements
        and len(found) == len(statements)
        and all(type_ == "index" for type_, sql in rows if sql is None)
    )


def _meta(connection: sqlite3.Connection) -> dict[str, object]:
    return dict(connection.execute("SELECT key, value FROM meta"))
