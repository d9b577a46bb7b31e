"""Remember which index of a mirror had the right checksum.

It is used while a newer one cannot be. A local index whose file has not changed since it was
verified is not verified again: to hash that of a large mirror takes longer than to open it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Mapping
from typing import NamedTuple

from spackscope.model.core.bounded_files import read_file
from spackscope.model.core.files import private_directory, write_atomically, xdg_dir

_MAX_SIZE = 1024
_SHA256 = re.compile(r"[0-9a-f]{64}")


class VerifiedIndex(NamedTuple):
    """The sha256 of an index, and the size, mtime and ctime (in ns) of its file."""

    checksum: str
    size: int
    mtime_ns: int
    ctime_ns: int


class VerifiedIndexFile:
    """Keep the last verified index of a mirror in the user's cache directory, if there is one.

    `key` tells one index of one mirror from all others.
    """

    def __init__(self, environ: Mapping[str, str], key: str) -> None:
        cache = xdg_dir(environ, "cache")
        name = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._path = cache and os.path.join(cache, "mirrors", f"{name}.json")

    def read(self) -> VerifiedIndex | None:
        """Return the last verified index, or None."""
        if not self._path:
            return None
        try:
            checksum, size, mtime_ns, ctime_ns = json.loads(read_file(self._path, _MAX_SIZE))
            verified = VerifiedIndex(checksum, int(size), int(mtime_ns), int(ctime_ns))
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        return verified if isinstance(checksum, str) and _SHA256.fullmatch(checksum) else None

    def is_current(self, checksum: str, path: str) -> bool:
        """Check whether a file had this checksum, and has not changed since."""
        try:
            return self.read() == _state_of(checksum, path)
        except OSError:
            return False

    def write(self, checksum: str, path: str) -> None:
        """Remember that a file has a checksum; do nothing where that cannot be written."""
        with contextlib.suppress(OSError):
            verified = _state_of(checksum, path)
            if not self._path or verified == self.read():
                return
            directory = os.path.dirname(self._path)
            private_directory(os.path.dirname(directory))
            private_directory(directory)
            write_atomically(self._path, json.dumps(verified).encode())


def _state_of(checksum: str, path: str) -> VerifiedIndex:
    status = os.stat(path)
    return VerifiedIndex(checksum, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
