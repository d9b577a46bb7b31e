"""Recognise what a URL or path names by its end, and a tag list by how it begins."""

from __future__ import annotations

import re
from collections.abc import Callable

from spackscope.model.core.files import read_head
from spackscope.model.core.frozen import Frozen
from spackscope.model.storage.schemes import scheme_of

BUILD_CACHE = "build_cache/"
"""The folder of layout v2 in a mirror."""

_MANIFEST = r"(?:(?P<top>.*)/)?v3/manifests/index/(?:(?P<view>.+)/)?index\.manifest\.json"
_BUILD_CACHE = r"(?P<top>.*/build_cache)/?(?:index\.json(?:\.hash)?)?"
_FILE = r"(?P<top>.*)/(?P<name>[^/]+\.(?:json|lock|sig|yaml|md|gz|zst))"


_HEAD_SIZE = 512
_TAG_LIST = rb'\s*\{\s*"[^"]*"\s*:\s*\[\s*(?:\{\s*"(?:label|url)"|\])'


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
    plain: Callable[[str], str] = str
    if server:
        from spackscope.model.storage.urls import percent_decoded

        plain = percent_decoded
    if match := re.fullmatch(_MANIFEST, path):
        view = plain(match["view"] or "")
        return UrlTarget(server + (match["top"] or "") + query, view=view, layout="v3")
    if match := re.fullmatch(_BUILD_CACHE, path):
        return UrlTarget(server + match["top"] + query, build_cache="", layout="v2")
    if match := re.fullmatch(_FILE, path):
        return UrlTarget(server + match["top"] + query, plain(match["name"]))
    return UrlTarget(url)


def is_tag_list(path: str) -> bool:
    """Check by its start whether a file is a tag list."""
    try:
        return begins_tag_list(read_head(path, _HEAD_SIZE))
    except OSError:
        return False


def begins_tag_list(data: bytes) -> bool:
    """Check by its start whether a file is a tag list."""
    return re.match(_TAG_LIST, data[:_HEAD_SIZE]) is not None
