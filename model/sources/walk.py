"""Find all files below a directory."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import islice

from spackscope.model.core.errors import reason
from spackscope.model.sources.document import Document, document_of

MAX_ENTRIES = 1_000_000
"""Files and directories of a source that are visited; Spack's site has 113,000."""

_KERNEL = ("/proc", "/sys", "/dev")

Enter = Callable[[str, Sequence["os.DirEntry[str]"]], bool]
"""Called with each directory and its entries; returns whether these are visited."""


def walk(
    source: str, top: str, status: os.stat_result, enter: Enter, *, origin: str
) -> Iterator[Document]:
    """Yield the files below a directory whose status is known, in the order of their paths.

    Links are followed, each directory is visited once. `origin` is what the user is shown for
    the top. What is left out on purpose is yielded as unreadable: directories that contain the
    source, kernel file systems, and whatever exceeds `MAX_ENTRIES`.
    """
    return _Walk(source, top, status, enter, os.path.join(origin, "")).documents()


class _Walk:
    """One walk, and which directories it has visited."""

    def __init__(
        self, source: str, top: str, status: os.stat_result, enter: Enter, prefix: str
    ) -> None:
        self._source, self._top, self._enter, self._prefix = source, top, enter, prefix
        self._visited = {(status.st_dev, status.st_ino)}
        self._parents = _identities(_parents(os.path.realpath(top)))
        # Where one of these is a plain directory, it is on the device of the root.
        devices = {status.st_dev, *(device for device, _ in _identities(["/"]))}
        self._kernel = {device for device, _ in _identities(_KERNEL)} - devices

    def documents(self) -> Iterator[Document]:
        # No recursion: directories can be nested deeper than Python's calls.
        pending = [self._top]
        entries_left = MAX_ENTRIES
        while pending:
            directory = pending.pop()
            try:
                with os.scandir(directory) as scan:
                    entries = sorted(islice(scan, entries_left + 1), key=lambda entry: entry.name)
            except OSError as error:
                yield self._unreadable(directory, reason(error))
                continue
            if len(entries) > entries_left:
                limit = f"at most {MAX_ENTRIES:,} files and directories of a source are read"
                yield self._unreadable(directory, f"is not read, nor is what follows: {limit}")
                return
            entries_left -= len(entries)
            if not self._enter(directory, entries):
                continue
            directories: list[str] = []
            for entry in entries:
                if document := self._visit(entry, directories):
                    yield document
            pending += reversed(directories)

    def _visit(self, entry: os.DirEntry[str], directories: list[str]) -> Document | None:
        """Return the document of a file or of an error; append a directory to `directories`."""
        try:
            status = entry.stat()
        except OSError as error:
            return self._unreadable(entry.path, reason(error))
        if stat.S_ISREG(status.st_mode):
            return document_of(self._source, entry.path, self._origin(entry.path), status)
        identity = (status.st_dev, status.st_ino)
        if not stat.S_ISDIR(status.st_mode) or identity in self._visited:
            return None
        self._visited.add(identity)
        if identity in self._parents:
            why = "is not followed: it leads to a directory that contains the source"
            return self._unreadable(entry.path, why)
        if status.st_dev in self._kernel:
            return self._unreadable(entry.path, "is not read: it is a kernel file system")
        directories.append(entry.path)
        return None

    def _origin(self, path: str) -> str:
        return self._prefix + path[len(self._top) :].lstrip(os.sep)

    def _unreadable(self, path: str, why: str) -> Document:
        return Document(self._source, path, self._origin(path), unreadable=why)


def _identities(directories: Iterable[str]) -> set[tuple[int, int]]:
    """Return device and inode of each directory that exists."""
    identities = set()
    for directory in directories:
        with suppress(OSError):
            status = os.stat(directory)
            identities.add((status.st_dev, status.st_ino))
    return identities


def _parents(path: str) -> Iterator[str]:
    """Yield the directories that contain an absolute path."""
    while (parent := os.path.dirname(path)) != path:
        yield parent
        path = parent
