"""Files in a directory of this machine."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from spackscope.model.core.errors import NotFound, SourceError, reason
from spackscope.model.core.files import MAX_FILE_SIZE, open_file, sha256_of, too_large
from spackscope.model.core.redaction import shown_url
from spackscope.model.storage.base import Check, FetchedFile, Storage, check_digest


class LocalFolder(Storage):
    """Storage that is a directory on this machine, of which nothing is copied."""

    def __init__(self, top: str, origin: str) -> None:
        self.top, self.origin = top, origin

    def fetch(
        self,
        name: str,
        sha256: str = "",
        immutable: bool = False,
        max_size: int = MAX_FILE_SIZE,
        check: Check | None = None,
    ) -> FetchedFile:
        """Return a file where it is. Raises NotFound, WrongContent and SourceError."""
        path = self._path(name)
        origin = os.path.join(self.origin, *name.split("/"))
        if not os.path.isfile(path):
            raise NotFound(f"{shown_url(origin)} does not exist")
        if sha256:
            try:
                with open_file(path) as file:
                    if (size := os.fstat(file.fileno()).st_size) > MAX_FILE_SIZE:
                        raise too_large(size, MAX_FILE_SIZE)
                    digest = sha256_of(file)
            except OSError as error:
                raise SourceError(f"{origin} {reason(error)}") from None
            check_digest(digest, sha256, origin)
        return FetchedFile(path, origin)

    def is_cached(self, name: str) -> bool:
        """Check whether there is such a file."""
        return os.path.isfile(self._path(name))

    def size_of(self, name: str) -> int:
        """Return the size of a file. Raises NotFound and SourceError."""
        origin = os.path.join(self.origin, *name.split("/"))
        try:
            status = os.stat(self._path(name))
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(f"{shown_url(origin)} does not exist") from None
        except OSError as error:
            raise SourceError(f"{origin} {reason(error)}") from None
        if not stat.S_ISREG(status.st_mode):
            raise NotFound(f"{shown_url(origin)} is not a file")
        return status.st_size

    def names(self, under: str) -> Iterator[str]:
        """Yield the sorted names of all files below a folder, without following links."""
        for directory, folders, files in os.walk(self._path(under)):
            folders.sort()
            relative = os.path.relpath(directory, self.top).replace(os.sep, "/")
            for name in sorted(files):
                yield f"{relative}/{name}"

    def _path(self, name: str) -> str:
        return os.path.join(self.top, *name.split("/"))
