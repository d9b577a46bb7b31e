"""What every storage offers: a place that gives files by name, and how such a place is named.

What is here needs nothing of the network, since most sources are files of this machine.
"""

from __future__ import annotations

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

from spackscope.model.core.errors import (
    ListingUnsupported,
    NotFound,
    SourceError,
    WrongContent,
    naming,
    reason,
)
from spackscope.model.core.file_access import MAX_FILE_SIZE, open_file, sha256_of
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import check_cancelled

Check = Callable[[bytes], object]
"""Raises Unreadable where the content of a file is cut off, or is not what it should be."""

_IN_SCHEME = "abcdefghijklmnopqrstuvwxyz0123456789+.-"
_REMOTE = frozenset({"http", "https", "s3", "gs", "oci", "oci+http", "oci+https"})


def scheme_of(source: str) -> str:
    """Return the scheme of a URL in lower case, or nothing where it is a path."""
    scheme, mark, _ = source.partition("://")
    is_plain = scheme.isascii() and not scheme.lower().strip(_IN_SCHEME)
    return scheme.lower() if mark and scheme[:1].isalpha() and is_plain else ""


def is_remote(source: str) -> bool:
    """Check whether a source is a URL whose files have to be downloaded."""
    return scheme_of(source) in _REMOTE


class FetchedFile(Frozen):
    """A file of a storage, or the cached copy of it, at `path` on this machine.

    `origin` names it to the user, without any password. Of a cached file, `checked` is when it was
    last known to be current, in seconds since 1970, and `remark` says why a stale one serves.
    """

    path: str
    origin: str
    checked: float | None = None
    remark: str = ""


class Wanted(Frozen):
    """A file to fetch, by its name in the storage.

    `sha256`, in lower-case hexadecimal, is what the file is verified against; without it a server
    is asked whether a cached copy is current, except for an `immutable` file. No more than
    `max_size` bytes are downloaded. A download that `check` refuses does not replace a cached copy
    that it accepts, and otherwise is downloaded again the next time.
    """

    name: str
    sha256: str = ""
    immutable: bool = False
    max_size: int = MAX_FILE_SIZE
    check: Check | None = None

    def check_digest(self, digest: str, origin: str) -> None:
        """Compare the digest of a file with the checksum, if there is one. Raises WrongContent."""
        if self.sha256 and digest != self.sha256:
            raise WrongContent(
                f"{origin} does not match its checksum: sha256 is {digest[:12]}…,"
                f" expected {self.sha256[:12]}…"
            )


class Storage(ABC):
    """A place that gives files by name, each with a cached copy if that is current.

    Names are relative to its URL or path, with `/`.

    >>> storage = session.open("https://example.org/cache")
    >>> storage.fetch(Wanted("build_cache/index.json")).path
    '/home/ann/.cache/spackscope/copies/4f1d…'
    """

    origin: str
    """The URL or path as it is shown to the user, without any password."""

    @abstractmethod
    def fetch(self, wanted: Wanted) -> FetchedFile:
        """Return a file on this machine, downloading it unless the cached copy is current.

        Raises NotFound, WrongContent, other SourceErrors where there is neither the file nor a
        cached copy that may serve, and Cancelled.
        """

    @abstractmethod
    def is_cached(self, name: str) -> bool:
        """Check whether a file, or a cached copy of it, is on this machine."""

    def origin_of(self, name: str) -> str:
        """Return what the user is shown for a file; without a name, for what the URL names."""
        return os.path.join(self.origin, *filter(None, name.split("/")))

    def size_of(self, name: str) -> int | None:
        """Return the size of a file in bytes without downloading it; None if it is not told.

        Nothing is cached. Raises NotFound where there is no such file, other SourceErrors where
        that is unknown, and Cancelled.
        """
        raise SourceError(f"{self.origin} does not tell which files it has: {name}")

    def names(self, under: str) -> Iterator[str]:
        """Return the sorted names of all files below a folder.

        Raises ListingUnsupported, other SourceErrors and Cancelled.
        """
        raise ListingUnsupported(f"{self.origin} cannot be listed")


class LocalFolder(Storage):
    """Storage that is a directory on this machine, of which nothing is copied."""

    def __init__(self, top: str, origin: str) -> None:
        self.top, self.origin = top, origin

    def fetch(self, wanted: Wanted) -> FetchedFile:
        """Return a file where it is. Raises NotFound, WrongContent and other SourceErrors."""
        path, origin = self._path(wanted.name), self.origin_of(wanted.name)
        self.size_of(wanted.name)
        if wanted.sha256:
            with naming(origin), open_file(path) as file:
                digest = sha256_of(file)
            wanted.check_digest(digest, origin)
        return FetchedFile(path, origin)

    def is_cached(self, name: str) -> bool:
        """Check whether there is such a file."""
        return os.path.isfile(self._path(name))

    def size_of(self, name: str) -> int:
        """Return the size of a file. Raises NotFound and SourceError."""
        origin = self.origin_of(name)
        try:
            status = os.stat(self._path(name))
        except (FileNotFoundError, NotADirectoryError):
            raise NotFound(f"{origin} does not exist") from None
        except (OSError, ValueError) as error:
            raise SourceError(f"{origin} {reason(error)}") from None
        if not stat.S_ISREG(status.st_mode):
            raise NotFound(f"{origin} is not a file")
        return status.st_size

    def names(self, under: str) -> Iterator[str]:
        """Yield the sorted names of all files below a folder, without following links.

        Raises Cancelled.
        """
        for directory, folders, files in os.walk(self._path(under)):
            check_cancelled()
            folders.sort()
            relative = os.path.relpath(directory, self.top).replace(os.sep, "/")
            for name in sorted(files):
                yield f"{relative}/{name}"

    def _path(self, name: str) -> str:
        return os.path.join(self.top, *name.split("/"))
