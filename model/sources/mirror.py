"""A mirror that is being read, and the documents and problems of its files."""

from __future__ import annotations

import os
import re

from spackscope.model.core.bounded_files import read_head
from spackscope.model.core.errors import SourceError, reason
from spackscope.model.core.frozen import Frozen, replace
from spackscope.model.core.records import Problem
from spackscope.model.readers.manifest import MAX_MANIFEST_SIZE
from spackscope.model.sources.document import Document, Kind, document_at
from spackscope.model.sources.session import Session
from spackscope.model.storage.base import FetchedFile, Storage
from spackscope.model.storage.local import LocalFolder
from spackscope.model.storage.urls import percent_decoded, scheme_of

BUILD_CACHE = "build_cache/"
"""The folder of layout v2 in a mirror."""

_MANIFEST = re.compile(
    r"(?:(?P<top>.*)/)?v3/manifests/index/(?:(?P<view>.+)/)?index\.manifest\.json"
)
_BUILD_CACHE = re.compile(r"(?P<top>.*/build_cache)/?(?:index\.json(?:\.hash)?)?")
_FILE = re.compile(r"(?P<top>.*)/(?P<name>[^/]+\.(?:json|lock|sig|yaml|md|gz|zst))")


class UrlTarget(Frozen):
    """The `top` of a mirror or folder, and which part of it is meant.

    `name` is one file. `layout` is that of the mirror where the URL contains it.
    """

    top: str
    name: str = ""
    view: str = ""
    build_cache: str = BUILD_CACHE
    layout: str = ""


def parse_target(url: str) -> UrlTarget:
    """Parse the end of a URL or path; the query of a URL stays with the top.

    parse_target("https://h/m/v3/manifests/index/index.manifest.json").top  # https://h/m
    """
    path, mark, query = url.partition("?")
    query = mark + query
    server = ""
    if scheme_of(url):
        # A host may be named like a directory of a mirror.
        scheme, _, rest = path.partition("://")
        host, slash, path = rest.partition("/")
        server, path = f"{scheme}://{host}", slash + path
    # Storages take plain names, and encode them where they have to.
    plain = percent_decoded if scheme_of(url) else str
    if match := _MANIFEST.fullmatch(path):
        view = plain(match["view"] or "")
        return UrlTarget(server + (match["top"] or "") + query, view=view, layout="v3")
    if match := _BUILD_CACHE.fullmatch(path):
        return UrlTarget(server + match["top"] + query, build_cache="", layout="v2")
    if match := _FILE.fullmatch(path):
        return UrlTarget(server + match["top"] + query, plain(match["name"]))
    return UrlTarget(url)


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

    def read(self, file: FetchedFile, size: int = MAX_MANIFEST_SIZE + 1) -> bytes:
        """Read at most `size` bytes from the start of a file. Raises SourceError."""
        try:
            return read_head(file.path, size)
        except OSError as error:
            raise SourceError(f"{file.origin} {reason(error)}") from None


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
