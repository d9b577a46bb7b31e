"""A place that holds the files of a mirror, wherever it lies: on this machine or far away."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from spackscope.model.core.bounded_files import LARGEST, open_file, too_large
from spackscope.model.core.errors import (
    NotFound,
    SourceError,
    WrongContent,
    reason,
)
from spackscope.model.storage.urls import shown_url


@dataclass(frozen=True, slots=True)
class Fetched:
    """Hold a file of a place, or the copy that was made of it on this machine.

    `path` is where it lies now, `origin` what the user is told of where it came from, without
    any password. Of a copy, `checked` is when it was last known to be as the original, in seconds
    since 1970, and `remark` says why it serves though it may be old.
    """

    path: str
    origin: str
    checked: float | None = None
    remark: str = ""


class Place(Protocol):
    """Give the files of a place by their names, which are relative to its top, with `/`."""

    @property
    def origin(self) -> str:
        """What the user is told of the place, without any password."""

    def fetch(
        self, name: str, *, sha256: str = "", changing: bool = True, largest: int = LARGEST
    ) -> Fetched:
        """Bring a file to this machine, unless it is there.

        With `sha256`, the hexadecimal digest of the file, its content is checked. A file that is
        not `changing` is asked for once only, and of one far away no more than `largest` bytes are
        brought. Raises NotFound, WrongContent, other SourceErrors where there is neither the file
        nor an older copy, and Cancelled.
        """

    def is_at_hand(self, name: str) -> bool:
        """Tell whether a file, or a copy of it, is on this machine."""

    def names(self, under: str) -> Iterator[str]:
        """Return the sorted names of all files below. Raises ListingUnsupported, SourceError."""


class Folder:
    """Be a place that is a directory on this machine, where nothing is copied."""

    def __init__(self, top: str, origin: str) -> None:
        self.top, self.origin = top, origin

    def fetch(
        self, name: str, *, sha256: str = "", changing: bool = True, largest: int = LARGEST
    ) -> Fetched:
        """Give a file where it lies."""
        path = os.path.join(self.top, *name.split("/"))
        origin = os.path.join(self.origin, *name.split("/"))
        if not os.path.isfile(path):
            raise NotFound(f"{shown_url(origin)} does not exist")
        if sha256:
            check(path, sha256, origin)
        return Fetched(path, origin)

    def is_at_hand(self, name: str) -> bool:
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
    digest = hashlib.sha256()
    try:
        with open_file(path) as file:
            if (size := os.fstat(file.fileno()).st_size) > LARGEST:
                raise too_large(size, LARGEST)
            while part := file.read(1 << 20):
                digest.update(part)
    except OSError as error:
        raise SourceError(f"{origin} {reason(error)}") from None
    if digest.hexdigest() != sha256.lower():
        raise WrongContent(
            f"{origin} is not what its checksum says: sha256 is {digest.hexdigest()[:12]}…,"
            f" and should be {sha256[:12]}…"
        )
