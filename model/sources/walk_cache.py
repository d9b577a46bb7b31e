"""Remember the names below a directory, so that they need not be listed again.

The times of a directory change whenever a name in it is added, removed or renamed: POSIX demands
it, and the file systems named here do it. A change within one tick of a clock does not show, so
directories that changed in the last minute are not remembered, which also allows for a server
whose clock is late. Directories with links are not remembered either, since the targets of links
change elsewhere. Of files only the names are remembered: the caller looks at each file.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from array import array
from collections.abc import Iterator
from typing import TYPE_CHECKING

from spackscope.model.core.errors import Unwritable
from spackscope.model.core.file_access import read_private, sha256, write_private, xdg_path
from spackscope.model.core.tasks import check_cancelled

if TYPE_CHECKING:
    from spackscope.model.sources.session import Session

SUFFIX = ".walk"

MIN_DIRECTORIES = 64
"""The fewest directories for which a file is written."""

SETTLED_SECONDS = 60
"""Seconds after a change of a directory until the next change is sure to show."""

_MAX_SIZE = 2**28
_CHECK_EVERY = 256
_DIGEST_LENGTH = 64
MOUNTS = "/proc/self/mounts"
_DATED = {
    *("bcachefs", "beegfs", "btrfs", "ceph", "ext2", "ext3", "ext4", "f2fs", "gpfs", "jfs"),
    *("lustre", "nfs", "nfs4", "overlay", "reiserfs", "tmpfs", "xfs", "zfs"),
}
"""File systems that date directories; one that shows a bucket as files, for example, need not."""


class WalkCache:
    """The names below a directory: read from a file, or collected in a walk and saved there.

    The file begins with a digest of all names and of the times of all directories. Then there is
    a line for each directory, its path from `top` between slashes, and after it one for each file
    in it.
    """

    def __init__(self, top: str, session: Session) -> None:
        self._top, self._session = top.rstrip("/"), session
        name = sha256(os.fsencode(top)).hexdigest()[:16]
        self._path = xdg_path(session.environ, "cache", name + SUFFIX) or ""
        self._started = time.time()
        self._device: int | None = None
        self._names, self._times = bytearray(), array("Q")
        self.is_plain = bool(self._path)
        """Whether all names so far are of files and directories of one file system."""

    def files(self) -> Iterator[str] | None:
        """Return the paths of all files in the order of the walk; None where it has to be made.

        Raises Cancelled.
        """
        if self._session.asks_anew or not self._path:
            return None
        try:
            data = read_private(self._path, _MAX_SIZE)
            data, digest = data[_DIGEST_LENGTH:], data[:_DIGEST_LENGTH]
            top, times = os.fsencode(self._top), array("Q")
            for number, line in enumerate(re.finditer(rb"^/.*", data, re.MULTILINE)):
                if number % _CHECK_EVERY == 0:
                    check_cancelled()
                status = os.stat(top + line[0])
                times.extend((status.st_mtime_ns, status.st_ctime_ns))
        except (OSError, OverflowError):
            return None
        return self._paths(data) if _digest(data, times) == digest else None

    def _paths(self, names: bytes) -> Iterator[str]:
        prefix = ""
        # As a text, or a list of names, they would take several times the memory.
        for line in re.finditer(rb".+", names):
            name = os.fsdecode(line[0])
            if name[0] == "/":
                prefix = self._top + name
            else:
                yield prefix + name

    def enter(self, directory: str) -> None:
        """Add a directory that is to be listed."""
        try:
            status = os.stat(directory)
            self._times.append(status.st_mtime_ns)
            self._times.append(status.st_ctime_ns)
        except (OSError, OverflowError):
            self.is_plain = False
        else:
            self.is_plain &= self._device in (None, status.st_dev)
            self._device = status.st_dev
            self.add(os.path.join(directory, "")[len(self._top) :])

    def add(self, name: str) -> None:
        """Add a file of the directory that was entered last."""
        self.is_plain &= "\n" not in name
        self._names += os.fsencode(name) + b"\n"

    def save(self) -> None:
        """Save the names that were added, unless names may change without a trace."""
        if not self.is_plain or len(self._times) < 2 * MIN_DIRECTORIES:
            return
        settled = (self._started - SETTLED_SECONDS) * 1e9
        if min(self._times) > 0 and max(self._times) < settled and dates_directories(self._top):
            data = _digest(self._names, self._times) + self._names
            with contextlib.suppress(Unwritable):
                write_private(self._path, data)


def _digest(data: bytes | bytearray, times: array[int]) -> bytes:
    digest = sha256(data)
    digest.update(times)
    return digest.hexdigest().encode()


def dates_directories(path: str) -> bool:
    """Check whether a directory is on one of the file systems that date them."""
    real, kind, longest = os.path.join(os.path.realpath(path), ""), "", 0
    with contextlib.suppress(OSError, ValueError), open(MOUNTS, "rb") as mounts:
        for line in mounts:
            _, place, its_kind, *_ = line.split(b" ")
            # Blanks and the like are written as three octal digits.
            place = place.decode("unicode_escape").encode("latin-1")
            point = os.path.join(os.fsdecode(place), "")
            if real.startswith(point) and len(point) >= longest:
                kind, longest = its_kind.decode(), len(point)
    return kind in _DATED
