"""Remember which directories a walk has visited, so that links lead to each of them once."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

_KERNEL = ("/proc", "/sys", "/dev")
_SAMPLE = 8
MOUNTS = "/proc/self/mountinfo"


class Visited:
    """The directories that were visited below one, which is the first.

    Without links, and without mounted file systems, each directory is there once. So the status
    of a directory, which takes as long as that of the only file in it, is not asked for before
    it is needed: until a link leads to a directory, the numbers in the listings are enough.
    """

    def __init__(self, top: str, status: os.stat_result) -> None:
        self._top, self._device = top, status.st_dev
        self._numbers = array("Q", [status.st_ino])
        self._identities: set[tuple[int, int]] = set()
        self._are_listed: bool | None = None
        self._parents = _identities_of(_parents(os.path.realpath(top)))
        # Where one of these is a plain directory, it is on the device of the root.
        devices = {status.st_dev, *(device for device, _ in _identities_of(["/"]))}
        self._kernel = {device for device, _ in _identities_of(_KERNEL)} - devices

    def add_listed(self, directories: Sequence[os.DirEntry[str]]) -> bool:
        """Add directories of a listing, the first time those of the top; all of them are new.

        Returns whether that is certain; from the first time that it is not, none is added here.
        """
        if self._are_listed is None:
            self._are_listed = _are_listed(self._top, directories)
        if self._are_listed and not any(map(os.DirEntry.is_symlink, directories)):
            self._numbers.extend(map(os.DirEntry.inode, directories))
            return True
        self._are_listed = False
        return False

    def add(self, status: os.stat_result) -> bool:
        """Add a directory; return whether it is new."""
        self._are_listed = False
        if not self._identities:
            self._identities.update((self._device, number) for number in self._numbers)
        identity = (status.st_dev, status.st_ino)
        is_new = identity not in self._identities
        self._identities.add(identity)
        return is_new

    def why_left_out(self, status: os.stat_result) -> str:
        """Return why a directory is left out on purpose, or an empty text."""
        if (status.st_dev, status.st_ino) in self._parents:
            return "is not followed: it leads to a directory that contains the source"
        if status.st_dev in self._kernel:
            return "is not read: it is a kernel file system"
        return ""


def _are_listed(top: str, directories: Sequence[os.DirEntry[str]]) -> bool:
    """Check whether listings have the numbers that identify directories, as some of the top.

    Some network and layered file systems list other numbers than they give as a status, and a
    mounted file system is listed with the number of what it covers.
    """
    try:
        with open(MOUNTS, "rb") as table:
            # As proc(5) says, odd characters are octal escapes.
            mounts = [line.split()[4].decode("unicode_escape") for line in table]
        below = os.fsencode(os.path.join(os.path.realpath(top), "")).decode("latin-1")
        return not any(mount.startswith(below) for mount in mounts) and all(
            directory.inode() == directory.stat().st_ino for directory in directories[:_SAMPLE]
        )
    except (OSError, ValueError, IndexError):
        return False


def _parents(path: str) -> Iterator[str]:
    """Yield all directories that contain a path."""
    while (parent := os.path.dirname(path)) != path:
        yield parent
        path = parent


def _identities_of(directories: Iterable[str]) -> set[tuple[int, int]]:
    """Return device and inode of each directory that exists."""
    identities = set()
    for directory in directories:
        with suppress(OSError):
            status = os.stat(directory)
            identities.add((status.st_dev, status.st_ino))
    return identities
