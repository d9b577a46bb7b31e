"""Find the files of a source on this machine: one file, or all below a directory."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from spackscope.model.sources.choice import location
from spackscope.model.sources.documents import Document, SourceError, document_of, reason


def files_of(source: str) -> Iterator[Document]:
    """Give the files of a source on this machine, in the order of their paths.

    Links are followed, a directory once. Raises SourceError where the source does not exist or
    is no file or directory.
    """
    top = location(source)
    try:
        status = os.stat(top)
    except (OSError, ValueError) as error:
        why = "does not exist" if isinstance(error, FileNotFoundError) else reason(error)
        raise SourceError(f"the source {source} {why}") from None
    if stat.S_ISREG(status.st_mode):
        yield document_of(source, str(top), source, status, kind="asked for")
    elif stat.S_ISDIR(status.st_mode):
        try:
            os.listdir(top)
        except OSError as error:
            raise SourceError(f"the source {source} {reason(error)}") from None
        yield from below(source, str(top), status)
    else:
        raise SourceError(f"the source {source} is neither a file nor a directory")


Enter = Callable[[str, Sequence["os.DirEntry[str]"]], bool]
"""Called with each directory and what is in it; tells whether its files are to be listed."""


def below(
    source: str,
    top: str,
    status: os.stat_result,
    enter: Enter | None = None,
    *,
    named: str | None = None,
) -> Iterator[Document]:
    """Give the files below a directory whose status is known, in the order of their paths."""
    named = os.path.join(shown_top(source) if named is None else named, "")

    def origin(path: str) -> str:
        return named + path[len(top) :].lstrip(os.sep)

    # No recursion: directories can be nested deeper than Python's calls.
    waiting, seen = [top], {(status.st_dev, status.st_ino)}
    while waiting:
        directory = waiting.pop()
        try:
            entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
        except OSError as error:
            yield Document(source, directory, origin(directory), unreadable=reason(error))
            continue
        if enter is not None and not enter(directory, entries):
            continue
        found: list[str] = []
        for entry in entries:
            path = entry.path
            try:
                status = entry.stat()
            except OSError as error:
                yield Document(source, path, origin(path), unreadable=reason(error))
                continue
            if stat.S_ISREG(status.st_mode):
                yield document_of(source, path, origin(path), status)
            elif stat.S_ISDIR(status.st_mode) and (status.st_dev, status.st_ino) not in seen:
                seen.add((status.st_dev, status.st_ino))
                found.append(path)
        waiting += reversed(found)


def shown_top(source: str) -> str:
    """Give how the user names the top of a source, without what a path does not need."""
    return "" if Path(source) == Path() else str(Path(source))
