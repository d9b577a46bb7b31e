"""A place that holds the files of a mirror, wherever it lies: on this machine or far away."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from spackscope.model.core.bounded_files import MAX_FILE_SIZE


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """Hold a file of a place, or the copy that was made of it on this machine.

    `path` is where it lies now, `origin` what the user is told of where it came from, without
    any password. Of a copy, `checked` is when it was last known to be as the original, in seconds
    since 1970, and `remark` says why it serves though it may be old.
    """

    path: str
    origin: str
    checked: float | None = None
    remark: str = ""


class Storage(Protocol):
    """Give the files of a place by their names, which are relative to its top, with `/`."""

    @property
    def origin(self) -> str:
        """What the user is told of the place, without any password."""

    def fetch(
        self,
        name: str,
        *,
        sha256: str = "",
        immutable: bool = False,
        max_size: int = MAX_FILE_SIZE,
    ) -> FetchedFile:
        """Bring a file to this machine, unless it is there.

        With `sha256`, the hexadecimal digest of the file, its content is checked. A file that is
        `immutable` is asked for once only, and of one far away no more than `max_size` bytes are
        brought. Raises NotFound, WrongContent, other SourceErrors where there is neither the file
        nor an older copy, and Cancelled.
        """

    def is_cached(self, name: str) -> bool:
        """Tell whether a file, or a copy of it, is on this machine."""

    def names(self, under: str) -> Iterator[str]:
        """Return the sorted names of all files below. Raises ListingUnsupported, SourceError."""
