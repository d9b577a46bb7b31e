"""Tell URLs from paths by how they begin; most sources need no more of a URL."""

from __future__ import annotations

import re

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_REMOTE = frozenset({"http", "https", "s3", "gs", "oci", "oci+http", "oci+https"})


def scheme_of(source: str) -> str:
    """Return the scheme of a URL in lower case, or nothing where it is a path."""
    match = _SCHEME.match(source)
    return match[1].lower() if match else ""


def is_remote(source: str) -> bool:
    """Check whether a source is a URL whose files have to be downloaded."""
    return scheme_of(source) in _REMOTE
