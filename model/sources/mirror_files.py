"""A mirror that is looked at, and what is made of the things that are found in it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from spackscope.model.core.bounded_files import read_head
from spackscope.model.core.errors import (
    SourceError,
    reason,
)
from spackscope.model.core.progress import ShouldStop, never
from spackscope.model.core.records import Problem
from spackscope.model.readers.manifest import MAX_MANIFEST_SIZE
from spackscope.model.sources.document import (
    DiscoveredSource,
    Document,
    Kind,
    document_of,
)
from spackscope.model.storage.base import FetchedFile, Storage
from spackscope.model.storage.local import LocalFolder

BUILD_CACHE = "build_cache/"
"""Where layout v2 has its files, from the top of a mirror."""


@dataclass(frozen=True, slots=True)
class Mirror:
    """Name a mirror to look at: its source, its place, and what of it is asked for.

    `view` is the part of a v3 mirror that the user's configuration names; `build_cache` is where
    layout v2 has its files, which is nothing where the place is the `build_cache` itself.
    `layout` is `v2` or `v3` where only that is meant. `tag` and `stack` are those of all specs.
    """

    source: str
    place: Storage
    environ: Mapping[str, str]
    view: str = ""
    build_cache: str = BUILD_CACHE
    layout: str = ""
    should_stop: ShouldStop = never
    tag: str = ""
    stack: str = ""

    @property
    def is_here(self) -> bool:
        """Whether it lies on this machine."""
        return isinstance(self.place, LocalFolder)

    def document(self, fetched: FetchedFile, kind: Kind = "asked for") -> Document:
        """Make the document of a file. Raises SourceError."""
        try:
            status = os.stat(fetched.path)
        except OSError as error:
            raise SourceError(f"{fetched.origin} {reason(error)}") from None
        return document_of(
            self.source,
            fetched.path,
            fetched.origin,
            status,
            kind=kind,
            cached=True,
            tag=self.tag,
            stack=self.stack,
        )

    def read(self, fetched: FetchedFile, most: int = MAX_MANIFEST_SIZE + 1) -> bytes:
        """Read a small file, or how one begins. Raises SourceError."""
        try:
            return read_head(fetched.path, most)
        except OSError as error:
            raise SourceError(f"{fetched.origin} {reason(error)}") from None


def together(found: Sequence[DiscoveredSource]) -> DiscoveredSource:
    """Make one of what was found in several layouts or views of a mirror."""
    checked = [each.checked for each in found if each.checked is not None]
    return replace(
        found[0],
        layout=" and ".join(dict.fromkeys(each.layout for each in found if each.layout)),
        documents=tuple(document for each in found for document in each.documents),
        problems=tuple(problem for each in found for problem in each.problems),
        checked=min(checked, default=None),
        remark="; ".join(dict.fromkeys(each.remark for each in found if each.remark)),
    )


def problem_of(error: SourceError, origin: str) -> Problem:
    """Make a problem of the failure of one of several things, the others of which are read."""
    told = str(error)
    if origin and told.startswith(f"{origin}/"):
        name, _, why = told.removeprefix(origin).partition(" ")
        return Problem(origin + name.rstrip(":"), "", why)
    return Problem(origin, "", told.removeprefix(origin).lstrip(": "))
