"""Find the files of a source on this machine: one file, or all below a directory."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from spackscope.model.core.errors import (
    SourceError,
    reason,
)
from spackscope.model.sources.document import (
    Document,
    document_of,
)
from spackscope.model.sources.resolve import location


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


MOST_FILES = 1_000_000
"""Files and directories of a source that are looked at; Spack's site has 113,000."""

_KERNEL = ("/proc", "/sys", "/dev")

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
    """Give the files below a directory whose status is known, in the order of their paths.

    What is left out on purpose is given as unreadable: what a link leads to that the source is
    in, the file systems of the kernel, and what is more than `MOST_FILES`.
    """
    named = os.path.join(shown_top(source) if named is None else named, "")

    def origin(path: str) -> str:
        return named + path[len(top) :].lstrip(os.sep)

    # No recursion: directories can be nested deeper than Python's calls.
    waiting, seen = [top], {(status.st_dev, status.st_ino)}
    above, kernel = _directories_above(top), _kernel_devices(status)
    left = MOST_FILES
    while waiting:
        directory = waiting.pop()
        try:
            with os.scandir(directory) as scan:
                entries = sorted(islice(scan, left + 1), key=lambda entry: entry.name)
        except OSError as error:
            yield Document(source, directory, origin(directory), unreadable=reason(error))
            continue
        if len(entries) > left:
            limit = f"{MOST_FILES:,} files and directories of a source are read"
            why = f"is not read, nor is what follows: at most {limit}"
            yield Document(source, directory, origin(directory), unreadable=why)
            return
        left -= len(entries)
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
            elif stat.S_ISDIR(status.st_mode):
                identity = (status.st_dev, status.st_ino)
                if identity in seen:
                    continue
                seen.add(identity)
                if identity in above:
                    why = "is not followed: it leads to a directory that the source is in"
                elif status.st_dev in kernel:
                    why = "is not read: it is a file system of the kernel"
                else:
                    found.append(path)
                    continue
                yield Document(source, path, origin(path), unreadable=why)
        waiting += reversed(found)


def _directories_above(top: str) -> set[tuple[int, int]]:
    """Return what tells the directories apart that a directory is in."""
    above = set()
    for directory in Path(os.path.realpath(top)).parents:
        with suppress(OSError):
            status = os.stat(directory)
            above.add((status.st_dev, status.st_ino))
    return above


def _kernel_devices(status: os.stat_result) -> set[int]:
    """Return the devices of the kernel's own file systems, unless a source lies on one."""
    devices = set()
    for directory in _KERNEL:
        with suppress(OSError):
            devices.add(os.stat(directory).st_dev)
    with suppress(OSError):
        devices.discard(os.stat("/").st_dev)
    return devices - {status.st_dev}


def shown_top(source: str) -> str:
    """Give how the user names the top of a source, without what a path does not need."""
    return "" if Path(source) == Path() else str(Path(source))
