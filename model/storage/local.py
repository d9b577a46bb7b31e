"""Files in a directory of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator

from spackscope.model.core.bounded_files import MAX_FILE_SIZE, open_file, too_large
from spackscope.model.core.errors import NotFound, SourceError, WrongContent, reason
from spackscope.model.core.files import sha256_of
from spackscope.model.storage.base import FetchedFile
from spackscope.model.storage.urls import shown_url


class LocalFolder:
    """Be a place that is a directory on this machine, where nothing is copied."""

    def __init__(self, top: str, origin: str) -> None:
        self.top, self.origin = top, origin

    def fetch(
        self,
        name: str,
        *,
        sha256: str = "",
        immutable: bool = False,
        max_size: int = MAX_FILE_SIZE,
    ) -> FetchedFile:
        """Give a file where it lies."""
        path = os.path.join(self.top, *name.split("/"))
        origin = os.path.join(self.origin, *name.split("/"))
        if not os.path.isfile(path):
            raise NotFound(f"{shown_url(origin)} does not exist")
        if sha256:
            check(path, sha256, origin)
        return FetchedFile(path, origin)

    def is_cached(self, name: str) -> bool:
        """Tell whether there is such a file."""
        return os.path.isfile(os.path.join(self.top, *name.split("/")))

    def names(self, under: str) -> Iterator[str]:
        """Give the names of all files below a folder, sorted, without following links."""
        top = os.path.join(self.top, *under.split("/"))
        for directory, folders, files in os.walk(top):
            folders.sort()
            between = os.path.relpath(directory, self.top).replace(os.sep, "/")
            for name in sorted(files):
                yield f"{between}/{name}"


def check(path: str, sha256: str, origin: str) -> None:
    """Hold a file against its checksum. Raises WrongContent, and SourceError."""
    try:
        with open_file(path) as file:
            if (size := os.fstat(file.fileno()).st_size) > MAX_FILE_SIZE:
                raise too_large(size, MAX_FILE_SIZE)
            digest = sha256_of(file)
    except OSError as error:
        raise SourceError(f"{origin} {reason(error)}") from None
    if digest != sha256.lower():
        raise WrongContent(
            f"{origin} is not what its checksum says: sha256 is {digest[:12]}…,"
            f" and should be {sha256[:12]}…"
        )
