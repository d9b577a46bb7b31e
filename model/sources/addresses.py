"""Addresses of places: how they are told from paths, shown without secrets, and joined."""

from __future__ import annotations

import base64
import re
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from spackscope.model.sources.documents import SourceError

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_REMOTE = frozenset({"http", "https", "s3", "gs", "oci", "oci+http", "oci+https"})
_LIKE_UNQUOTED = "/~:@!$&'()*+,;="


def scheme_of(source: str) -> str:
    """Give the scheme of an address in lower case, or nothing where it is a path."""
    found = _SCHEME.match(source)
    return found[1].lower() if found else ""


def is_remote(source: str) -> bool:
    """Tell whether a source is an address whose files have to be brought from far away."""
    return scheme_of(source) in _REMOTE


def shown_url(url: str) -> str:
    """Give an address as it may be shown: without user, password and query, which hold secrets."""
    if not scheme_of(url):
        return url
    try:
        parts = urlsplit(url)
    except ValueError:
        return f"{scheme_of(url)}://…"
    host = parts.netloc.rpartition("@")[2]
    shown = urlunsplit((parts.scheme, host, parts.path, "", ""))
    # urlsplit calls a host that is empty none at all.
    shown = shown if "://" in shown else f"{parts.scheme}://{host}{parts.path}"
    return f"{shown}?…" if parts.query else shown


def host_of(url: str) -> str:
    """Give the host of an address with its port, and without user and password."""
    return urlsplit(url).netloc.rpartition("@")[2]


def joined(url: str, name: str) -> str:
    """Give the address of a file below another, whose query is kept: it may be what opens it."""
    parts = urlsplit(url)
    path = f"{parts.path.rstrip('/')}/{quote(name)}" if name else parts.path
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def without_password(url: str) -> str:
    """Give an address as copies of its files are kept under: with its user, if it names one."""
    parts = urlsplit(url)
    user, _, host = parts.netloc.rpartition("@")
    user = user.partition(":")[0]
    return urlunsplit(
        (parts.scheme, f"{user}@{host}" if user else host, parts.path, parts.query, "")
    )


def basic_authorization(url: str) -> str:
    """Give the Authorization header for the user and password in an address, if it has them."""
    parts = urlsplit(url)
    if parts.username is None:
        return ""
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode("ascii")


def checked_address(url: str) -> str:
    """Give an address of the web back, percent-encoded where it has to be.

    Raises SourceError where it names no host, or a port that is none.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
        encoded = host.encode("ascii" if ":" in host else "idna").decode() if host else ""
    except (ValueError, UnicodeError):
        raise SourceError(f"{shown_url(url)} is no address: its host cannot be read") from None
    if not encoded:
        raise SourceError(f"{shown_url(url)} is no address: it names no host")
    user = parts.netloc.rpartition("@")[0]
    place = f"[{encoded}]" if ":" in encoded else encoded
    place = f"{user}@{place}" if user else place
    place = f"{place}:{port}" if port is not None else place
    path = quote(parts.path, safe=_LIKE_UNQUOTED + "%")
    query = quote(parts.query, safe=_LIKE_UNQUOTED + "%?")
    return urlunsplit((parts.scheme.lower(), place, path, query, ""))
