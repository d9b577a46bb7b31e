"""Tell from an address what lies there: a mirror, one layout or view of it, or one file."""

from __future__ import annotations

import re
from dataclasses import dataclass

from spackscope.model.sources.mirror_files import BUILD_CACHE
from spackscope.model.storage.urls import scheme_of, unquoted

_MANIFEST = re.compile(
    r"(?:(?P<top>.*)/)?v3/manifests/index/(?:(?P<view>.+)/)?index\.manifest\.json"
)
_BUILD_CACHE = re.compile(r"(?P<top>.*/build_cache)/?(?:index\.json(?:\.hash)?)?")
_FILE = re.compile(r"(?P<top>.*)/(?P<name>[^/]+\.(?:json|lock|sig|yaml|md|gz|zst))")


@dataclass(frozen=True, slots=True)
class Addressed:
    """Hold the address of a mirror or folder, and what of it is meant.

    A `name` is one file. The `layout` is that of the mirror where the address tells it.
    """

    top: str
    name: str = ""
    view: str = ""
    build_cache: str = BUILD_CACHE
    layout: str = ""


def addressed(url: str) -> Addressed:
    """Tell by the end of an address or path what lies there; its query stays with the top."""
    path, mark, query = url.partition("?")
    query = mark + query
    server = ""
    if scheme_of(url):
        # A host may be called as a directory of a mirror is.
        scheme, _, rest = path.partition("://")
        host, slash, path = rest.partition("/")
        server, path = f"{scheme}://{host}", slash + path
    # Files of a place are asked for by names, which it encodes where it has to.
    plain = unquoted if scheme_of(url) else str
    if found := _MANIFEST.fullmatch(path):
        view = plain(found["view"] or "")
        return Addressed(server + (found["top"] or "") + query, view=view, layout="v3")
    if found := _BUILD_CACHE.fullmatch(path):
        return Addressed(server + found["top"] + query, build_cache="", layout="v2")
    if found := _FILE.fullmatch(path):
        return Addressed(server + found["top"] + query, plain(found["name"]))
    return Addressed(url)
