"""Split, check, join and show URLs.

No other module imports `urlsplit` and similar functions: they raise for some broken URLs, drop
characters from others, and do not check ports, hosts, and characters that cannot be sent.
"""

from __future__ import annotations

import base64
import os
import re
from urllib.parse import quote, unquote, unquote_to_bytes, urlencode, urljoin, urlsplit

from spackscope.model.core.errors import SourceError
from spackscope.model.core.frozen import Frozen, field, replace
from spackscope.model.core.redaction import shown_url
from spackscope.model.storage.base import scheme_of

MAX_URL_LENGTH = 1 << 14
"""The most characters of a URL; a URL with a signature in its query has a few thousand."""

_MAX_HOST_LENGTH = 253
_PORTS = {"http": 80, "https": 443}
_BUCKETS = ("s3", "gs")
_CONTROL = r"[\x00-\x1f\x7f]"
_SURROGATE = r"[\ud800-\udfff]"
_HOST_AND_PORT = r"(\[.*\]|[^:\[\]]*)(?::(.*))?"
_HOST = r"[A-Za-z0-9._~-]*"
_PORT = r"[0-9]{0,5}"
_NOT_QUOTED = "/~:@!$&'()*+,;=%"
_NO_HOST = "its host cannot be read"


class Url(Frozen):
    """Parts of a valid URL, all of them ASCII and percent-encoded.

    The scheme and the host are in lower case, except the name of a bucket. `userinfo` is the part
    before the `@`. Parts that may be secret are not in `repr`.
    """

    scheme: str
    host: str
    port: int | None = None
    path: str = field(default="", repr=False)
    query: str = field(default="", repr=False)
    userinfo: str = field(default="", repr=False)

    @property
    def netloc(self) -> str:
        """The host with its port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port is None else f"{host}:{self.port}"

    @property
    def server(self) -> str:
        """The scheme and the host with its port; credentials are for one server."""
        return f"{self.scheme}://{self.netloc}"

    @property
    def address(self) -> str:
        """The whole URL except user and password."""
        return self.server + self.path + (f"?{self.query}" if self.query else "")

    @property
    def key(self) -> str:
        """The key of a cached file: the URL with its user and without the password."""
        user = self.userinfo.partition(":")[0]
        return self.address.replace("://", f"://{user}@", 1) if user else self.address

    @property
    def shown(self) -> str:
        """The URL to show, without user, password and query."""
        return shown_url(self.address)

    @property
    def credentials(self) -> tuple[bytes, bytes]:
        """User and password, empty if the URL has none."""
        user, _, password = self.userinfo.partition(":")
        return unquote_to_bytes(user), unquote_to_bytes(password)

    @property
    def authorization(self) -> str:
        """The Authorization header for user and password; empty if the URL has none."""
        return basic_authorization(*self.credentials) if self.userinfo else ""

    def is_same_server(self, other: Url) -> bool:
        """Check whether two URLs have the same scheme, host and port: the same credentials."""
        ours, theirs = (
            (url.scheme, url.host, _PORTS.get(url.scheme) if url.port is None else url.port)
            for url in (self, other)
        )
        return ours == theirs

    def below(self, name: str) -> Url:
        """Return the URL of a file below this one. The query is kept: it may grant access.

        Raises SourceError for a name that is not text.
        """
        if not name:
            return self
        if re.search(_SURROGATE, name) or "\0" in name:
            raise SourceError(f"{self.shown} cannot have a file whose name is not text")
        return replace(self, path=f"{self.path.rstrip('/')}/{quote(name)}")

    def with_query(self, query: dict[str, str]) -> Url:
        """Return this URL with parameters added to its query."""
        return replace(self, query="&".join(filter(None, (self.query, urlencode(query)))))

    def resolve(self, reference: str) -> Url:
        """Resolve a reference that is relative to this URL. Raises SourceError."""
        _check_characters(reference)
        try:
            return split_url(urljoin(self.address, reference))
        except ValueError:
            raise _invalid(reference, _NO_HOST) from None


def split_url(url: str) -> Url:
    """Split a URL and check its parts; the fragment is dropped.

    Raises SourceError, without secrets, for an invalid URL.
    """
    _check_characters(url)
    if not (scheme := scheme_of(url)):
        raise _invalid(url, "it has no scheme, such as https://")
    try:
        parts = urlsplit(url)
        userinfo, _, netloc = parts.netloc.rpartition("@")
        match = re.fullmatch(_HOST_AND_PORT, netloc)
        # Programs do not agree on the host of a URL with a backslash.
        if match is None or "\\" in parts.netloc:
            raise _invalid(url, _NO_HOST)
        host, port = match[1], match[2] or ""
        if not re.fullmatch(_PORT, port) or int(port or "0") > 65535:
            raise _invalid(url, "its port is not a number up to 65,535")
        if host.startswith("["):
            import ipaddress

            host = host[1:-1]
            # A zone (fe80::1%eth0) is not sent to servers.
            ipaddress.IPv6Address(host.replace("%", " "))
        else:
            host = host.encode("idna").decode("ascii") if len(host) <= _MAX_HOST_LENGTH else " "
            if not re.fullmatch(_HOST, host):
                raise _invalid(url, _NO_HOST)
    except ValueError:
        raise _invalid(url, _NO_HOST) from None
    if scheme not in _BUCKETS:
        host = host.lower()
    elif port:
        raise _invalid(url, "a bucket has no port")
    path, query, userinfo = (
        quote(part, safe=_NOT_QUOTED + safe)
        for part, safe in ((parts.path, ""), (parts.query, "?"), (userinfo, ""))
    )
    return Url(scheme, host, int(port) if port else None, path, query, userinfo)


def web_url(url: str, schemes: tuple[str, ...] = ("http", "https")) -> Url:
    """Split a URL; it must have one of the schemes, and a host. Raises SourceError."""
    split = split_url(url)
    if split.scheme not in schemes:
        raise _invalid(url, f"it must begin with {' or '.join(f'{each}://' for each in schemes)}")
    if not split.host:
        raise _invalid(url, "it has no host")
    return split


def local_path(url: str) -> str:
    """Return the path of a `file:` URL. Raises SourceError for a path of another machine."""
    split = split_url(url)
    if split.host not in ("", "localhost"):
        raise SourceError(f"{shown_url(url)} names files of {split.host}, another machine")
    path = unquote_to_bytes(split.path)
    if b"\0" in path:
        raise _invalid(url, "it has a NUL")
    return os.fsdecode(path)


def basic_authorization(user: bytes, password: bytes) -> str:
    """Return the Authorization header for a user and password."""
    return "Basic " + base64.b64encode(user + b":" + password).decode("ascii")


def shown_top(url: str) -> str:
    """Return the shown URL of a storage, to which names of files are added."""
    return shown_url(url).removesuffix("?…").rstrip("/")


def percent_decoded(part: str) -> str:
    """Return a part of a URL without percent-encoding."""
    return unquote(part)


def _invalid(url: str, why: str) -> SourceError:
    return SourceError(f"{shown_url(url)[:200]} is not a valid URL: {why}")


def _check_characters(url: str) -> None:
    """Raise SourceError for a text that is too long for a URL, or has forbidden characters."""
    if len(url) > MAX_URL_LENGTH:
        raise _invalid(url, f"it is longer than {MAX_URL_LENGTH:,} characters")
    if re.search(_CONTROL, url):
        raise _invalid(url, "it has a control character")
    if re.search(_SURROGATE, url):
        raise _invalid(url, "it has bytes that are not text, which have to be written as %XX")
