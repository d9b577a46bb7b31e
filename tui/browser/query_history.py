"""Keep the queries of earlier runs: one a line in a file, the newest last."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Mapping, Sequence

from spackscope.model.core.files import (
    make_directories,
    remove_abandoned,
    write_atomically,
    xdg_dir,
)
from spackscope.model.core.text import is_clean

MOST = 500
"""Queries that are kept."""
LONGEST = 2000
"""Characters of a query that is kept."""
_MOST_BYTES = MOST * LONGEST


class History:
    """Remember queries, in a file where there can be one, else for as long as the program runs.

    Nothing that is wrong with the file is an error: what is no query in it is passed over.
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._path = history_path(environ)
        self._queries: tuple[str, ...] | None = None

    @property
    def queries(self) -> tuple[str, ...]:
        """The queries, the newest last; the file is read the first time."""
        if self._queries is None:
            self._queries = _read(self._path)
        return self._queries

    def remember(self, query: str) -> None:
        """Put a query last.

        The file is read again before, so that the queries of another program that runs at the
        same time stay.
        """
        query = query.strip()
        if not query or len(query) > LONGEST or not is_clean(query):
            return
        self._queries = _newest_once([*self.queries, *_read(self._path), query])
        _write(self._path, self._queries)


class Walk:
    """Go through the queries from the newest, behind which stands what was being typed."""

    def __init__(self, queries: Sequence[str], typed: str) -> None:
        self._texts = [*queries, typed]
        if queries and queries[-1] == typed.strip():
            del self._texts[-2]
        self._at = len(self._texts) - 1

    @property
    def text(self) -> str:
        """The text that was come to."""
        return self._texts[self._at]

    def go(self, step: int) -> bool:
        """Go some queries on, or back where negative; False where there is none."""
        at = self._at + step
        if not 0 <= at < len(self._texts):
            return False
        self._at = at
        return True


def history_path(environ: Mapping[str, str]) -> str | None:
    """Give the file of the queries, or None without a home."""
    state = xdg_dir(environ, "state")
    return os.path.join(state, "history") if state is not None else None


def _newest_once(queries: Iterable[str]) -> tuple[str, ...]:
    newest_first = dict.fromkeys(reversed(list(queries)))
    return tuple(reversed(list(newest_first)[:MOST]))


def _read(path: str | None) -> tuple[str, ...]:
    if path is None:
        return ()
    try:
        # A pipe in the place of the file is not waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                return ()
            file.seek(max(0, status.st_size - _MOST_BYTES))
            data = file.read(_MOST_BYTES)
    except (OSError, ValueError):
        return ()
    queries = []
    for line in data.split(b"\n"):
        with contextlib.suppress(UnicodeDecodeError):
            query = line.decode().strip()
            if query and len(query) <= LONGEST and is_clean(query):
                queries.append(query)
    return _newest_once(queries)


def _write(path: str | None, queries: Iterable[str]) -> None:
    if path is None:
        return
    with contextlib.suppress(OSError, ValueError):
        # The file behind a link is replaced, not the link.
        path = os.path.realpath(path)
        if os.path.exists(path) and not os.path.isfile(path):
            return
        directory = os.path.dirname(path)
        make_directories(directory)
        remove_abandoned(directory)
        write_atomically(path, "".join(f"{query}\n" for query in queries).encode())
