"""A mirror that is being read, and the documents and problems of its files."""

from __future__ import annotations

import os

from spackscope.model.core.errors import SourceError, Unreadable, reason
from spackscope.model.core.files import MAX_FILE_SIZE, read_head
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import Problem
from spackscope.model.readers.detect import check_document
from spackscope.model.readers.manifest import MAX_MANIFEST_SIZE, read_manifest
from spackscope.model.sources.document import Document, Kind, document_at
from spackscope.model.sources.session import Session
from spackscope.model.sources.url_target import BUILD_CACHE, UrlTarget
from spackscope.model.storage.base import FetchedFile, Storage
from spackscope.model.storage.local import LocalFolder


class Mirror(Frozen):
    """A mirror of a source, and which part of it is read.

    `view` is the part of a v3 mirror that the user's configuration names. `build_cache` is the
    folder of layout v2; it is empty where the storage is that folder. `layout` is `v2` or `v3`
    where only that is meant. All specs get `tag` and `stack`, if they are given.
    """

    source: str
    storage: Storage
    session: Session
    view: str = ""
    build_cache: str = BUILD_CACHE
    layout: str = ""
    tag: str = ""
    stack: str = ""

    @property
    def is_local(self) -> bool:
        """Whether it is a directory on this machine."""
        return isinstance(self.storage, LocalFolder)

    def origin_of(self, name: str) -> str:
        """Return what the user is shown for a file of the mirror."""
        return os.path.join(self.storage.origin, *name.split("/"))

    def document(self, file: FetchedFile, kind: Kind = "known") -> Document:
        """Return the document of a file. Raises SourceError."""
        document = document_at(self.source, file.path, file.origin)
        return replace(document, kind=kind, cached=True, tag=self.tag, stack=self.stack)

    def fetch_manifest(self, name: str, *, immutable: bool = False) -> FetchedFile:
        """Fetch a manifest of layout v3. Raises what `Storage.fetch` raises."""

        def check(data: bytes) -> None:
            if not (manifest := read_manifest(data)).blobs:
                raise Unreadable("; ".join(manifest.remarks) or "the manifest names no files")

        return self.storage.fetch(
            name, immutable=immutable, max_size=MAX_MANIFEST_SIZE, check=check
        )

    def fetch_document(self, name: str, max_size: int = MAX_FILE_SIZE) -> FetchedFile:
        """Fetch a document without a checksum. Raises what `Storage.fetch` raises."""
        return self.storage.fetch(name, max_size=max_size, check=check_document)

    def read(self, file: FetchedFile, size: int = MAX_MANIFEST_SIZE + 1) -> bytes:
        """Read at most `size` bytes from the start of a file. Raises SourceError."""
        try:
            return read_head(file.path, size)
        except OSError as error:
            raise SourceError(f"{file.origin} {reason(error)}") from None


class MirrorIndex(Frozen):
    """An index of a mirror, of layout `v2` or `v3`, and the path of its document."""

    mirror: Mirror
    layout: str
    path: str


def mirror_at(source: str, storage: Storage, target: UrlTarget, session: Session) -> Mirror:
    """Return the mirror, or the part of one, that a URL or path names."""
    return Mirror(source, storage, session, target.view, target.build_cache, target.layout)


def problem_from(error: SourceError, origin: str) -> Problem:
    """Return a failure as the problem of one file, where the other files can be read."""
    message = str(error)
    if origin and message.startswith(f"{origin}/"):
        name, _, why = message.removeprefix(origin).partition(" ")
        return Problem(origin + name.rstrip(":"), "", why)
    return Problem(origin, "", message.removeprefix(origin).lstrip(": "))
