"""What every storage offers: the files below a URL or a path, by their names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

from spackscope.model.core.errors import ListingUnsupported, SourceError, WrongContent
from spackscope.model.core.files import MAX_FILE_SIZE
from spackscope.model.core.frozen import Frozen

Check = Callable[[bytes], object]
"""Raises Unreadable where the content of a file is cut off, or is not what it should be."""


class FetchedFile(Frozen):
    """A file of a storage, or the cached copy of it, at `path` on this machine.

    `origin` names it to the user, without any password. Of a cached file, `checked` is when it was
    last known to be current, in seconds since 1970, and `remark` says why a stale one serves.
    """

    path: str
    origin: str
    checked: float | None = None
    remark: str = ""


class Storage(ABC):
    """Files below a URL or a path; names are relative to it, with `/`.

    >>> storage = open_storage("https://example.org/cache", os.environ)
    >>> storage.fetch("build_cache/index.json").path
    '/home/ann/.cache/spackscope/copies/4f1d…'
    """

    origin: str
    """The URL or path as it is shown to the user, without any password."""

    @abstractmethod
    def fetch(
        self,
        name: str,
        sha256: str = "",
        immutable: bool = False,
        max_size: int = MAX_FILE_SIZE,
        check: Check | None = None,
    ) -> FetchedFile:
        """Return a file on this machine, downloading it unless the cached copy is current.

        `sha256`, in hexadecimal, is what the file is verified against; without it a server is
        asked whether the copy is current, except for an `immutable` file. No more than `max_size`
        bytes are downloaded. A download that `check` refuses does not replace a cached copy that
        it accepts, and otherwise is downloaded again the next time.

        Raises NotFound, WrongContent, other SourceErrors where there is neither the file nor a
        cached copy that may serve, and Cancelled.
        """

    @abstractmethod
    def is_cached(self, name: str) -> bool:
        """Check whether a file, or a cached copy of it, is on this machine."""

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


def check_digest(digest: str, sha256: str, origin: str) -> None:
    """Compare the digest of a file with its checksum. Raises WrongContent."""
    if digest != sha256.lower():
        raise WrongContent(
            f"{origin} does not match its checksum: sha256 is {digest[:12]}…,"
            f" expected {sha256[:12]}…"
        )
