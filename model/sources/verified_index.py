"""Remember which index of a mirror was found to be good: it serves while a newer one does not.

An index whose file did not change since it was held against its checksum is not held against it
again: that of a large mirror takes longer to digest than to open.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from spackscope.model.core.bounded_files import read_file
from spackscope.model.core.files import private_directory, write_atomically, xdg_dir
from spackscope.model.storage.base import FetchedFile

_LARGEST = 1024
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Good:
    """Hold the sha256 of an index, and the state of its file: size, mtime and ctime in ns."""

    checksum: str
    state: tuple[int, int, int]


class KnownGood:
    """Remember the good index of one mirror in the user's cache directory, if there is one."""

    def __init__(self, environ: Mapping[str, str], what: str) -> None:
        cache = xdg_dir(environ, "XDG_CACHE_HOME", ".cache")
        name = hashlib.sha256(what.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        self._path = cache and os.path.join(cache, "spackscope", "mirrors", f"{name}.json")

    def recall(self) -> Good | None:
        """Give what is remembered."""
        if not self._path:
            return None
        try:
            checksum, *state = json.loads(read_file(self._path, _LARGEST))
            size, mtime_ns, ctime_ns = (int(number) for number in state)
        except (OSError, ValueError, TypeError, RecursionError):
            return None
        if not isinstance(checksum, str) or not _SHA256.fullmatch(checksum):
            return None
        return Good(checksum, (size, mtime_ns, ctime_ns))

    def is_still(self, checksum: str, fetched: FetchedFile) -> bool:
        """Tell whether a file is known to have a checksum, and did not change since."""
        try:
            return self.recall() == Good(checksum, state_of(fetched.path))
        except OSError:
            return False

    def remember(self, checksum: str, path: str) -> None:
        """Remember that a file has a checksum, unless nothing can be kept."""
        with contextlib.suppress(OSError):
            good = Good(checksum, state_of(path))
            if not self._path or good == self.recall():
                return
            directory = os.path.dirname(self._path)
            private_directory(os.path.dirname(directory))
            private_directory(directory)
            write_atomically(self._path, json.dumps([good.checksum, *good.state]).encode())


def state_of(path: str) -> tuple[int, int, int]:
    """Give the state of a file, which changes when its content does. Raises OSError."""
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns
