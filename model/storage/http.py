"""Files on web servers, with the proxies and certificates of the user's environment.

Connections are those of urllib3, which is slow to import: it is imported by the first request.
"""

from __future__ import annotations

import contextlib
import email.utils
import http.client
import ipaddress
import os
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from spackscope.model.core.errors import (
    NotFound,
    SourceError,
    TemporaryFailure,
    Unauthorized,
    Unreachable,
)
from spackscope.model.core.files import MAX_EXPANSION, MAX_GZIP_MEMBERS, max_unpacked_size
from spackscope.model.core.redaction import library_message
from spackscope.model.core.tasks import MAX_THREADS
from spackscope.model.storage.base import Wanted
from spackscope.model.storage.cache import Download, Downloader, RemoteStorage, Timeouts
from spackscope.model.storage.urls import Url, web_url

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager

_MAX_REDIRECTS = 10
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_RETRY_STATUSES = frozenset({408, 425, 429})
_READ_SIZE = 1 << 16
_GZIP = 31
_PIECE_SIZE = 1 << 20
_BUNDLES = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE")
_PROXIES = ("http", "https", "socks5", "socks5h")
_SYSTEM_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Arch
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  # Fedora, RHEL
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # Alpine, macOS
)


class HttpStorage(RemoteStorage):
    """Storage below an http or https URL; 403, 404 and 410 mean that a file is not found."""

    def __init__(self, url: str, client: Client) -> None:
        super().__init__(url, client)
        self._url, self._client = web_url(url), client

    def _cache_key(self, name: str) -> str:
        return self._url.below(name).key

    def _request(self, download: Download) -> bool:
        return request_file(self._client, self._url.below(download.wanted.name), download)

    def size_of(self, name: str) -> int | None:
        """Return the size that a server announces. Raises SourceErrors and Cancelled."""
        url, headers = self._url.below(name), {"Accept-Encoding": "identity"}

        def ask(download: Download) -> int | None:
            with self._client.request("HEAD", url, headers, download) as response:
                response.check_status(download.origin)
                return None if response.encoding else response.length

        download = Download(self._client, Wanted(name), f"{self.origin}/{name}")
        # A server that is silent is not worth a second wait for an answer of this kind.
        return self._client.retry(download, ask, has_cached=True)


def request_file(
    client: Client, url: Url, download: Download, headers: Mapping[str, str] = {}
) -> bool:
    """Request a file once, and return whether it came: the cached copy is current else.

    Raises NotFound, Unauthorized, TemporaryFailure, other SourceErrors and Cancelled.
    """
    sha256, cached = download.wanted.sha256, download.cached
    # A checksum is that of the file on the server, which may itself be compressed.
    headers = {**headers, "Accept-Encoding": "identity" if sha256 else "gzip"}
    if cached is not None and cached.stamp:
        headers["If-None-Match"] = cached.stamp
    if cached is not None and cached.last_modified:
        headers["If-Modified-Since"] = cached.last_modified
    for unpack in (False, True) if sha256 else (True,):
        download.restart()
        with client.request("GET", url, headers, download) as response:
            if response.status == 304 and cached is not None:
                return False
            response.check_status(download.origin)
            if response.encoding not in ("", "gzip", "x-gzip"):
                encoded = f"is encoded as {response.encoding[:20]}, which was not requested"
                raise SourceError(f"{download.origin} {encoded}")
            chunks = response.chunks()
            if unpack and response.encoding:
                chunks = _unpacked(chunks, download.origin)
            for chunk in chunks:
                download.write(chunk)
        if not response.encoding or download.sha256 == sha256:
            break
    # What a server says of the version is kept so far as it can be sent back.
    download.stamp, download.last_modified = (
        value if value.isascii() and value.isprintable() else ""
        for value in (response.headers.get(name, "") for name in ("etag", "last-modified"))
    )
    return True


def _unpacked(chunks: Iterator[bytes], origin: str) -> Iterator[bytes]:
    """Unpack gzip piece by piece, since a few bytes may unpack to very many.

    urllib3 takes a body that is cut off for whole, and reads on without end for one that is empty.
    """
    member = zlib.decompressobj(_GZIP)
    packed_size = unpacked_size = 0
    members = 1
    for chunk in chunks:
        packed_size += len(chunk)
        rest = chunk
        while rest:
            if member.eof:
                members += 1
                if members > MAX_GZIP_MEMBERS:
                    parts = f"{MAX_GZIP_MEMBERS:,} parts"
                    raise SourceError(f"{origin} is packed in more than {parts}")
                member = zlib.decompressobj(_GZIP)
            try:
                piece = member.decompress(rest, _PIECE_SIZE)
            except zlib.error as error:
                raise TemporaryFailure(f"{origin} cannot be unpacked: {error}") from None
            unpacked_size += len(piece)
            if unpacked_size > max_unpacked_size(packed_size):
                raise SourceError(f"{origin} unpacks to more than {MAX_EXPANSION} times its size")
            yield piece
            rest = member.unused_data if member.eof else member.unconsumed_tail
    if not member.eof:
        raise TemporaryFailure(f"{origin} cannot be unpacked: it is cut off")


class Response:
    """A server's response: status, headers, and its body.

    `length` are the bytes that the body is announced to have, `encoding` is how it is compressed
    for the transfer.
    """

    def __init__(self, url: Url, response: BaseHTTPResponse, download: Download) -> None:
        self.url, self.status, self.headers = url, response.status, response.headers
        self._response, self._download = response, download
        length = self.headers.get("content-length", "")
        self.length = int(length) if length.isdecimal() and len(length) < 20 else None
        encoding = self.headers.get("content-encoding", "").strip().lower()
        self.encoding = "" if encoding == "identity" else encoding

    def check_status(self, origin: str) -> None:
        """Raise what any status but 200 means for a file: NotFound, TemporaryFailure and so on."""
        status = self.status
        if status == 200:
            return
        if status in (404, 410):
            raise NotFound(f"{origin} does not exist: HTTP {status}")
        if status == 403:
            raise NotFound(f"{origin} is forbidden: HTTP 403", is_forbidden=True)
        if status == 401:
            challenge = self.headers.get("www-authenticate", "")
            raise Unauthorized(f"{origin} needs credentials: HTTP 401", challenge, self.url)
        message = f"{origin} cannot be read: {self.url.netloc} answers HTTP {status}"
        if status in _RETRY_STATUSES or status >= 500:
            raise TemporaryFailure(message, after=_seconds(self.headers.get("retry-after", "")))
        raise SourceError(message)

    def chunks(self) -> Iterator[bytes]:
        """Yield the body as it comes over the wire.

        Raises TemporaryFailure where it breaks off, other SourceErrors and Cancelled.
        """
        self._download.expect_body(self.url.netloc, self.length)
        with _translated_errors(self.url.netloc, self._download.timeouts):
            while chunk := self._response.read1(_READ_SIZE, decode_content=False):
                self._download.receive(len(chunk))
                yield chunk


class Client(Downloader):
    """Downloader that keeps connections to web servers, which several storages share."""

    def __init__(self, environ: Mapping[str, str], **options: Any) -> None:
        super().__init__(environ, **options)
        self._pools: dict[tuple[str, Url | None], PoolManager] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def request(
        self, method: str, url: Url, headers: Mapping[str, str], download: Download
    ) -> Iterator[Response]:
        """Send a request with the method GET or HEAD, and follow redirects.

        User and password of the URL, or else the header Authorization, are sent to its own
        server only: same scheme, host and port. Raises Unreachable, TemporaryFailure,
        other SourceErrors and Cancelled.
        """
        headers = {"User-Agent": "spackscope", "Accept": "*/*", **headers}
        if url.authorization:
            headers["Authorization"] = url.authorization
        urls = [url]
        while True:
            response = self._send(method, urls[-1], headers, download)
            try:
                download.check_abandoned()
                target = _redirect_target(urls, response)
                if target is None:
                    yield Response(urls[-1], response, download)
                    return
            finally:
                if response.length_remaining == 0:
                    # Nothing more comes, and the connection can be used again.
                    response.drain_conn()
                response.close()
            if not target.is_same_server(urls[-1]):
                headers.pop("Authorization", None)
            urls.append(target)

    def _send(
        self, method: str, url: Url, headers: Mapping[str, str], download: Download
    ) -> BaseHTTPResponse:
        """Send one request, and return the response once its head has come."""
        import urllib3

        self.check_reachable(url.netloc)
        proxy = proxy_of(url, self.environ)
        seconds = urllib3.Timeout(connect=self.timeouts.connect, read=self.timeouts.stalled)
        pool = self._pool(url.scheme, proxy)
        download.expect_head(url.netloc)
        with _translated_errors(url.netloc, download.timeouts, proxy):
            return pool.urlopen(
                method,
                url.address,
                headers=headers,
                timeout=seconds,
                redirect=False,
                retries=False,
                preload_content=False,
            )

    def _pool(self, scheme: str, proxy: Url | None) -> PoolManager:
        with self._lock:
            if (scheme, proxy) not in self._pools:
                self._pools[scheme, proxy] = self._open_pool(scheme, proxy)
            return self._pools[scheme, proxy]

    def _open_pool(self, scheme: str, proxy: Url | None) -> PoolManager:
        import urllib3

        # Certificates take long to load, and are of no use without TLS.
        needs_tls = "https" in (scheme, proxy.scheme if proxy is not None else "")
        context = tls_context(self.environ) if needs_tls else None
        options: dict[str, Any] = {"maxsize": MAX_THREADS, "ssl_context": context}
        if proxy is None:
            return urllib3.PoolManager(**options)
        if proxy.scheme in ("http", "https"):
            headers = {"Proxy-Authorization": proxy.authorization} if proxy.userinfo else {}
            return urllib3.ProxyManager(
                proxy.server, proxy_headers=headers, proxy_ssl_context=context, **options
            )
        from urllib3.contrib.socks import SOCKSProxyManager

        user, password = (
            part.decode("utf-8", "replace") for part in proxy.credentials or (b"", b"")
        )
        return SOCKSProxyManager(proxy.server, user, password, **options)


def _redirect_target(urls: list[Url], response: BaseHTTPResponse) -> Url | None:
    """Return the URL that a response to the last URL redirects to, if it does.

    Raises SourceError for one that is not to be followed.
    """
    location = response.headers.get("location", "")
    if response.status not in _REDIRECTS or not location:
        return None
    host = urls[-1].netloc
    try:
        target = urls[-1].resolve(location)
        if target.scheme in ("http", "https"):
            web_url(target.address)
    except SourceError as error:
        raise SourceError(f"{host} redirects to a wrong URL: {error}") from None
    if target.scheme not in ("http", "https"):
        raise SourceError(f"{host} redirects to {target.shown}, which is not http or https")
    if target in urls:
        raise SourceError(f"{host} redirects in a circle, back to {target.shown}")
    if len(urls) > _MAX_REDIRECTS:
        raise SourceError(f"{urls[0].netloc} redirects more than {_MAX_REDIRECTS} times")
    return target


def _seconds(retry_after: str) -> float | None:
    """Parse a Retry-After header, which has seconds or a date (RFC 9110, 10.2.3)."""
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


@contextlib.contextmanager
def _translated_errors(host: str, timeouts: Timeouts, proxy: Url | None = None) -> Iterator[None]:
    """Turn exceptions of urllib3 into SourceErrors, which name the host."""
    from urllib3 import exceptions

    through = f" through the proxy {proxy.netloc}" if proxy is not None else ""
    try:
        yield
    except ValueError:
        # The message quotes what may be secret.
        forbidden = "its URL or a header has characters that HTTP does not allow"
        raise SourceError(f"{host} cannot be requested: {forbidden}") from None
    except exceptions.HTTPError as error:
        cause = _cause(error)
        why = library_message(_reason(cause))
        is_handshake = "handshake" in str(cause)
        if isinstance(error, exceptions.ReadTimeoutError) and not is_handshake:
            message = f"{host} has sent nothing for {timeouts.stalled:g} seconds{through}"
            raise TemporaryFailure(message, silent=host) from None
        never_began = (
            exceptions.ConnectTimeoutError,
            exceptions.NewConnectionError,
            exceptions.ProxyError,
            exceptions.ReadTimeoutError,
            exceptions.SSLError,
        )
        if isinstance(error, never_began) and not isinstance(cause, ssl.SSLEOFError):
            raise Unreachable(f"{host} cannot be reached{through}: {why}", host) from None
        raise TemporaryFailure(f"the connection to {host}{through} broke: {why}") from None


def _cause(error: BaseException) -> BaseException:
    """Return the exception of the socket, of TLS or of HTTP that one of urllib3 was raised for."""
    while not isinstance(error, http.client.HTTPException):
        inner = error.__cause__ or error.__context__
        if inner is None:
            break
        error = inner
    return error


def _reason(cause: BaseException) -> str:
    """Return why a connection failed."""
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate cannot be trusted: {cause.verify_message}"
    if isinstance(cause, TimeoutError):
        what = "TLS in time" if "handshake" in str(cause) else "in time"
        return f"it does not answer {what}"
    if isinstance(cause, ssl.SSLError):
        return f"TLS fails: {cause.reason or cause}"
    if isinstance(cause, socket.gaierror):
        return f"its name cannot be resolved: {cause.strerror}"
    if isinstance(cause, http.client.IncompleteRead):
        return "the body ends too early"
    if type(cause) is http.client.BadStatusLine:
        return "it does not answer as a web server"
    text = str(getattr(cause, "strerror", None) or cause)
    return text[:1].lower() + text[1:]


def proxy_of(url: Url, environ: Mapping[str, str]) -> Url | None:
    """Return the proxy that requests to a URL go through, if any.

    As in curl, it is `http_proxy` or `https_proxy`, else `all_proxy`, unless `no_proxy` names the
    host, a domain above it, or a network that its address is in. Lower case goes first. A proxy
    without a scheme is an http one. Raises SourceError for an invalid one.
    """

    def variable(name: str) -> str:
        return (environ.get(name) or environ.get(name.upper()) or "").strip()

    names = (f"{url.scheme}_proxy", "all_proxy")
    name = next(filter(variable, names), "")
    if not name or _is_exempt(url.host, url.port, variable("no_proxy")):
        return None
    proxy = variable(name)
    try:
        return web_url(proxy if "://" in proxy else f"http://{proxy}", _PROXIES)
    except SourceError as error:
        raise SourceError(f"{url.netloc} cannot be reached: {name} is invalid: {error}") from None


def _is_exempt(host: str, port: int | None, no_proxy: str) -> bool:
    for entry in no_proxy.lower().replace(",", " ").split():
        with contextlib.suppress(ValueError):
            network = ipaddress.ip_network(entry.strip("[]"), strict=False)
            if ipaddress.ip_address(host) in network:
                return True
        name, colon, entry_port = entry.rpartition(":") if ":" in entry else (entry, "", "")
        if colon and entry_port != str(port):
            continue
        domain = name.strip("*.")
        if entry == "*" or (domain and f".{host.rstrip('.')}".endswith(f".{domain}")):
            return True
    return False


def tls_context(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Return a TLS context that trusts the environment's, the system's or certifi's certificates.

    SSL_CERT_FILE and SSL_CERT_DIR name them, or as for curl and requests CURL_CA_BUNDLE and
    REQUESTS_CA_BUNDLE, which may be directories. Raises SourceError where they cannot be read.
    """
    bundle = next((name for name in _BUNDLES if environ.get(name)), "")
    named = [name for name in (bundle, "SSL_CERT_DIR") if environ.get(name)]
    if not named:
        return ssl.create_default_context(cafile=_system_bundle())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    for name in named:
        path = environ[name]
        if os.path.isdir(path):
            context.load_verify_locations(capath=path)
            continue
        try:
            context.load_verify_locations(cafile=path)
        except (OSError, ssl.SSLError) as error:
            why = error.strerror if not isinstance(error, ssl.SSLError) else "no certificate in it"
            raise SourceError(f"{name} names {path}, which cannot be read: {why}") from None
    return context


def _system_bundle() -> str:
    for path in (ssl.get_default_verify_paths().openssl_cafile, *_SYSTEM_BUNDLES):
        if os.path.isfile(path):
            return path
    import certifi

    return certifi.where()
