"""Statements on an index are stopped in one way, however they are run."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable, Iterator

import pytest

from spackscope.model.core.errors import Cancelled
from spackscope.model.index.connection import connect, stoppable

LONG = "SELECT count(*) FROM number AS a, number AS b, number AS c"


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    with contextlib.closing(connect(":memory:")) as connection:
        connection.execute("CREATE TABLE number (n INTEGER)")
        connection.executemany("INSERT INTO number VALUES (?)", ((n,) for n in range(1000)))
        connection.commit()
        yield connection


@pytest.mark.parametrize(
    "run",
    [
        lambda connection: connection.execute(LONG).fetchone(),
        lambda connection: connection.execute(LONG).fetchmany(),
        lambda connection: connection.execute(LONG).fetchall(),
        lambda connection: list(connection.execute(LONG)),
        lambda connection: connection.execute(f"CREATE TABLE other AS {LONG}"),
        lambda connection: connection.executemany(
            f"INSERT INTO number {LONG} WHERE a.n < ?", [(1000,)]
        ),
        lambda connection: connection.executescript(f"CREATE TABLE other AS {LONG};"),
    ],
    ids=["fetchone", "fetchmany", "fetchall", "iterate", "execute", "executemany", "script"],
)
def test_a_statement_is_stopped_and_the_connection_stays_usable(
    run: Callable[[sqlite3.Connection], object], connection: sqlite3.Connection
) -> None:
    answers = iter([False, False])

    with pytest.raises(Cancelled), stoppable(connection, lambda: next(answers, True)):
        run(connection)

    assert connection.execute("SELECT count(*) FROM number").fetchone() == (1000,)


def test_nothing_begins_that_is_to_stop(connection: sqlite3.Connection) -> None:
    with pytest.raises(Cancelled), stoppable(connection, lambda: True):
        connection.execute("DROP TABLE number")

    assert connection.execute("SELECT count(*) FROM number").fetchone() == (1000,)
