"""Find all files below a directory."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from itertools import compress, islice
from operator import attrgetter

from spackscope.model.core.errors import Cancelled, reason
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import ShouldStop
from spackscope.model.sources.visited import Visited

MAX_ENTRIES = 1_000_000
"""Files and directories of a source that are visited; Spack's site has 113,000."""

_BATCH = 256
"""Files whose status is asked for before anybody can stop it, which may take long."""

_NAME, _PATH, _MODE = attrgetter("name"), attrgetter("path"), attrgetter("st_mode")

Entries = list["os.DirEntry[str]"]


class FoundFiles(Frozen):
    """The paths of some files, and the status of each."""

    paths: list[str]
    statuses: list[os.stat_result]


class LeftOut(Frozen):
    """The path of what is not read, and why."""

    path: str
    reason: str


class Walk:
    """Finds the files below a directory whose status is known.

    Arguments:
        top: The directory.
        status: Its status.
        markers: The names of entries by which it is recognised what a directory is to Spack.
        enter: Called with each directory with such an entry and the names of all its entries;
            returns whether these are visited.
        should_stop: Called for each directory.

    Links are followed, each directory is visited once. Besides what cannot be read, directories
    that contain the top are left out, kernel file systems, and whatever exceeds `MAX_ENTRIES`.

    A loop in Python would add a third to the time that a file takes. So files are collected from
    several directories, and go through functions written in C.
    """

    def __init__(
        self,
        top: str,
        status: os.stat_result,
        markers: Collection[str],
        enter: Callable[[str, Collection[str]], bool],
        should_stop: ShouldStop,
    ) -> None:
        self._visited = Visited(top, status)
        self._markers, self._enter, self._should_stop = markers, enter, should_stop
        # No recursion: directories can be nested deeper than Python's calls.
        self._pending = [top]
        self._files: Entries = []

    def found(self) -> Iterator[FoundFiles | LeftOut]:
        """Yield the files in the order of their paths, and what is left out. Raises Cancelled."""
        entries_left = MAX_ENTRIES
        while self._pending:
            if self._should_stop():
                raise Cancelled
            directory = self._pending.pop()
            try:
                # It is closed at its end.
                scan = os.scandir(directory)
                entries = list(islice(scan, entries_left + 1))
            except OSError as error:
                yield from self._left_out(directory, reason(error))
                continue
            if len(entries) > entries_left:
                scan.close()
                limit = f"at most {MAX_ENTRIES:,} files and directories of a source are read"
                why = f"is not read, nor is what follows: {limit}"
                yield from self._left_out(directory, why)
                return
            entries_left -= len(entries)
            if len(entries) > 1:
                entries.sort(key=_NAME)
            if self._are_files(entries):
                self._files += entries
            elif self._may_enter(directory, entries):
                yield from self._visit(entries)
            if len(self._files) >= _BATCH:
                yield from self._statuses()
        yield from self._statuses()

    def _are_files(self, entries: Entries) -> bool:
        """Check whether nothing among some entries is a directory or tells of Spack."""
        markers = self._markers
        try:
            for entry in entries:
                if entry.name in markers or entry.is_dir():
                    return False
        except OSError:
            # A link that leads nowhere.
            return False
        return True

    def _may_enter(self, directory: str, entries: Entries) -> bool:
        names = [entry.name for entry in entries]
        return not any(name in self._markers for name in names) or self._enter(directory, names)

    def _visit(self, entries: Entries) -> Iterator[FoundFiles | LeftOut]:
        """Take the files and directories of a directory."""
        with suppress(OSError):
            directories = list(filter(os.DirEntry.is_dir, entries))
            if self._visited.add_listed(directories):
                self._pending += map(_PATH, reversed(directories))
                self._files += [entry for entry in entries if not entry.is_dir()]
                return
        directories = []
        for entry in entries:
            try:
                status = entry.stat()
            except OSError as error:
                yield from self._left_out(entry.path, reason(error))
                continue
            if not stat.S_ISDIR(status.st_mode):
                self._files.append(entry)
            elif self._visited.add(status):
                if why := self._visited.why_left_out(status):
                    yield from self._left_out(entry.path, why)
                else:
                    directories.append(entry)
        self._pending += map(_PATH, reversed(directories))

    def _left_out(self, path: str, why: str) -> Iterator[FoundFiles | LeftOut]:
        yield from self._statuses()
        yield LeftOut(path, why)

    def _statuses(self) -> Iterator[FoundFiles | LeftOut]:
        """Yield the files that were collected."""
        files, self._files = self._files, []
        for start in range(0, len(files), _BATCH):
            yield from _files_of(files[start : start + _BATCH])


def _files_of(entries: Entries) -> Iterator[FoundFiles | LeftOut]:
    """Yield the regular files among some entries."""
    try:
        statuses = list(map(os.DirEntry.stat, entries))
    except OSError as error:
        if len(entries) == 1:
            yield LeftOut(entries[0].path, reason(error))
        else:
            for entry in entries:
                yield from _files_of([entry])
        return
    if not all(map(stat.S_ISREG, map(_MODE, statuses))):
        regular = [stat.S_ISREG(status.st_mode) for status in statuses]
        entries, statuses = list(compress(entries, regular)), list(compress(statuses, regular))
    if entries:
        yield FoundFiles(list(map(_PATH, entries)), statuses)
