"""The interface of storages, which fetch files by name, and the storage of a local directory.

This module imports nothing for the network, since most sources are files on this machine.
"""

from __future__ import annotations

import os
import stat
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

from spackscope.model.core.errors import NotFound, SourceError, WrongContent, naming, reason
from spackscope.model.core.file_access import MAX_FILE_SIZE, open_file, sha256_of
from spackscope.model.core.frozen import Frozen
from spackscope.model.core.tasks import check_cancelled

Check = Callable[[bytes], object]
"""Raises Unreadable for the content of a file that is cut off or wrong."""

_IN_SCHEME = "abcdefghijklmnopqrstuvwxyz0123456789+.-"
_REMOTE = frozenset({"http", "https", "s3", "gs", "oci", "oci+http", "oci+https"})


def scheme_of(source: str) -> str:
    """Return the scheme of a URL in lower case; empty for a path."""
    scheme, mark, _ = source.partition("://")
    is_plain = scheme.isascii() and not scheme.lower().strip(_IN_SCHEME)
    return scheme.lower() if mark and scheme[:1].isalpha() and is_plain else ""


def is_remote(source: str) -> bool:
    """Check whether a source is a URL whose files have to be downloaded."""
    return scheme_of(source) in _REMOTE


class FetchedFile(Frozen):
    """A file of a storage, or its cached copy, at `path` on this machine.

    `origin` is the name that the user sees, without a password. For a cached copy, `checked` is
    the time in seconds since 1970 at which it was last known to be current, and `remark` says why
    a stale copy is used.
    """

    path: str
    origin: str
    checked: float | None = None
    remark: str = ""


class Wanted(Frozen):
    """A file to fetch, by its name in the storage.

    The file is verified against `sha256`, in lower-case hexadecimal. Without it, the server is
    asked whether a cached copy is current, except for an `immutable` file. A file whose name
    changes with each version has a name for its `copy`, which is used until a new version can be
    downloaded. No more than `max_size` bytes are downloaded. If `check` refuses a download, an
    accepted cached copy is kept; without one, the download is cached, and requested again the next
    time.

    With `only_start` only the first `max_size` bytes are downloaded. They cannot be verified, and
    their cached copy is kept for a name and checksum. Without `may_download` the file is not found
    unless it is cached.
    """

    name: str
    sha256: str = ""
    copy: str = ""
    immutable: bool = False
    max_size: int = MAX_FILE_SIZE
    check: Check | None = None
    only_start: bool = False
    may_download: bool = True

    @property
    def range(self) -> dict[str, str]:
        """The header Range of a request; empty for all bytes."""
        return {"Range": f"bytes=0-{self.max_size - 1}"} if self.only_start else {}

    def check_digest(self, digest: str, origin: str) -> None:
        """Raise WrongContent if there is a checksum and the digest of the file is another one."""
        if self.sha256 and digest != self.sha256:
            raise WrongContent(
                f"{origin} does not match its checksum: sha256 is {digest[:12]}…,"
                f" expected {self.sha256[:12]}…"
            )


class Storage(ABC):
    """A place from which files are fetched by name; a remote one has cached copies.

    Names are relative to its URL or path, with `/`.

    >>> storage = session.open("https://example.org/cache")
    >>> storage.fetch(Wanted("build_cache/index.json")).path
    '/home/ann/.cache/spackscope/copies/4f1d…'
    """

    origin: str
    """The URL or path that is shown to the user, without a password."""

    @abstractmethod
    def fetch(self, wanted: Wanted) -> FetchedFile:
        """Return a file on this machine, downloading it unless the cached copy is current.

        Raises NotFound, WrongContent, other SourceErrors if neither the file nor a cached copy can
        be used, and Cancelled.
        """

    def origin_of(self, name: str) -> str:
        """Return the URL or path of a file to show; without a name, that of the storage itself."""
        return os.path.join(self.origin, *filter(None, name.split("/")))

    def size_of(self, name: str) -> int | None:
        """Return the size of a file in bytes without downloading it; None if it is unknown.

        Nothing is cached. Raises NotFound if the file does not exist, other SourceErrors if that
        is unknown, and Cancelled.
        """
        raise SourceError(f"{self.origin} does not tell which files it has: {name}")

    def names(self, under: str) -> Iterator[str]:
        """Return the sorted names of all files below a folder; none of a server.

        Raises Cancelled.
        """
        return iter(())


class LocalFolder(Storage):
    """Storage that is a directory on this machine; its files are not copied."""

    def __init__(self, top: str, origin: str) -> None:
        self.top, self.origin = top, origin

    def fetch(self, wanted: Wanted) -> FetchedFile:
        """Return a file at its own path. Raises NotFound, WrongContent and other SourceErrors."""
        path, origin = self._path(wanted.name), self.origin_of(wanted.name)
        self.size_of(wanted.name)
        if wanted.sha256 and not wanted.only_start:
            with naming(origin), open_file(path) as file:
                digest = sha256_of(file)
            wanted.check_digest(digest, origin)
        return FetchedFile(path, origin)

    def size_of(self, name: str) -> int:
        """Return the size of a file in bytes. Raises NotFound and SourceError."""
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
