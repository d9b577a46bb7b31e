"""Files on web servers, with the proxies and certificates of the user's environment.

urllib3 makes the connections. It is slow to import, so the first request imports it.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import os
import socket
import ssl
import threading
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from spackscope.model.core.errors import (
    NotFound,
    SourceError,
    TemporaryFailure,
    Unauthorized,
    Unreachable,
)
from spackscope.model.core.redaction import library_message
from spackscope.model.core.tasks import MAX_THREADS
from spackscope.model.storage.base import Wanted
from spackscope.model.storage.download import Download, Downloader, RemoteStorage
from spackscope.model.storage.urls import Url, web_url

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager

_MAX_REDIRECTS = 10
_READ_SIZE = 1 << 16
_VALIDATORS = {"If-None-Match": "etag", "If-Modified-Since": "last-modified"}
_BUNDLES = ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "SSL_CERT_DIR")
_PROXIES = ("http", "https", "socks5", "socks5h")
_SYSTEM_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Arch
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  # Fedora, RHEL
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # Alpine, macOS
)


class HttpStorage(RemoteStorage):
    """Storage below an http or https URL. 403, 404 and 410 raise NotFound."""

    def __init__(self, url: str, client: Client) -> None:
        super().__init__(url, client)
        self._url, self._client = web_url(url), client

    def _headers(self) -> dict[str, str]:
        """Return the headers that every request has. Raises SourceError."""
        return {}

    def _cache_key(self, name: str) -> str:
        return self._url.below(name).key

    def _request(self, download: Download) -> bool:
        url = self._url.below(download.wanted.name)
        return request_file(self._client, url, download, self._headers())

    def size_of(self, name: str) -> int | None:
        """Return the size that the server states, or None. Raises SourceErrors and Cancelled."""

        def ask(download: Download) -> int | None:
            url = self._url.below(name)
            with self._client.request("HEAD", url, self._headers(), download) as reply:
                length = reply.headers.get("content-length", "")
                is_size = length.isdecimal() and len(length) < 20
                return int(length) if is_size and "Content-Encoding" not in reply.headers else None

        download = Download(Wanted(name), self.origin_of(name))
        # A silent server is not asked a second time, just for a size.
        return self._client.retry(download, ask, is_patient=False)


def request_file(client: Client, url: Url, download: Download, headers: Mapping[str, str]) -> bool:
    """Request a file once. Return True if it came, False if the cached copy is current.

    Raises NotFound, Unauthorized, TemporaryFailure, other SourceErrors and Cancelled.
    """
    cached = download.cached
    headers = {
        **headers,
        **download.wanted.range,
        **(cached.validators if cached is not None else {}),
    }
    with client.request("GET", url, headers, download) as response:
        if response.status == 304:
            return False
        while not download.has_enough and (
            chunk := response.read1(_READ_SIZE, decode_content=False)
        ):
            download.receive(chunk)
    # Validators of the version are kept if they can be sent back.
    download.validators = {
        condition: value
        for condition, name in _VALIDATORS.items()
        if (value := response.headers.get(name, "")) and value.isascii() and value.isprintable()
    }
    return True


class Client(Downloader):
    """Downloader with connections to web servers, which several storages share."""

    def __init__(self, environ: Mapping[str, str], **options: Any) -> None:
        super().__init__(environ, **options)
        self._pools: dict[tuple[str, Url | None], PoolManager] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def request(
        self,
        method: str,
        url: Url,
        headers: Mapping[str, str],
        download: Download,
        origin: str = "",
    ) -> Iterator[BaseHTTPResponse]:
        """Send a request with the method GET or HEAD, follow redirects, and yield the response.

        Its status is 200, 304 if the request has conditions, or 206 if it has a range. User and
        password of the URL, or else the header Authorization, are only sent to the server of the
        URL: the same scheme, host and port. `origin` names the file in errors; by default it is
        the origin of the download. Raises NotFound, Unauthorized, Unreachable, TemporaryFailure,
        other SourceErrors and Cancelled.
        """
        import urllib3

        # A mapping that ignores the case of names. Files come as they are on the server: a
        # checksum is for the file there, and readers unpack what is compressed.
        usual = {"User-Agent": "spackscope", "Accept": "*/*", "Accept-Encoding": "identity"}
        headers = urllib3.HTTPHeaderDict({**usual, **headers})
        if url.authorization:
            headers["Authorization"] = url.authorization
        seconds = urllib3.Timeout(connect=self.timeouts.connect, read=self.timeouts.stalled)
        for _ in range(_MAX_REDIRECTS + 1):
            host = url.netloc
            self.check_reachable(host)
            proxy = proxy_of(url, self.environ)
            pool = self._pool(url.scheme, proxy)
            download.expect(host)
            with _translated_errors(host, self.timeouts.stalled, proxy):
                response = pool.urlopen(
                    method,
                    url.address,
                    headers=headers,
                    timeout=seconds,
                    redirect=False,
                    retries=False,
                    preload_content=False,
                )
                try:
                    download.check_abandoned()
                    location = response.get_redirect_location()
                    if not location:
                        _check_status(response, headers, url, origin or download.origin)
                        download.expect(host, response.length_remaining)
                        yield response
                        return
                finally:
                    if response.length_remaining == 0:
                        # The body is at its end: the connection can be used again.
                        response.drain_conn()
                    response.close()
            try:
                target = web_url(url.resolve(location).address)
            except SourceError as error:
                raise SourceError(f"{host} redirects to a wrong URL: {error}") from None
            if not target.is_same_server(url):
                headers.discard("Authorization")
            url = target
        raise SourceError(f"{host} redirects more than {_MAX_REDIRECTS} times")

    def _pool(self, scheme: str, proxy: Url | None) -> PoolManager:
        with self._lock:
            if (scheme, proxy) not in self._pools:
                self._pools[scheme, proxy] = self._open_pool(scheme, proxy)
            return self._pools[scheme, proxy]

    def _open_pool(self, scheme: str, proxy: Url | None) -> PoolManager:
        import urllib3

        # Loading certificates takes long, and only TLS needs them.
        needs_tls = "https" in (scheme, proxy.scheme if proxy is not None else "")
        context = _tls_context(self.environ) if needs_tls else None
        options: dict[str, Any] = {"maxsize": MAX_THREADS, "ssl_context": context}
        if proxy is None:
            return urllib3.PoolManager(**options)
        if proxy.scheme in ("http", "https"):
            headers = {"Proxy-Authorization": proxy.authorization} if proxy.userinfo else {}
            return urllib3.ProxyManager(
                proxy.server, proxy_headers=headers, proxy_ssl_context=context, **options
            )
        from urllib3.contrib.socks import SOCKSProxyManager

        user, password = (part.decode("utf-8", "replace") for part in proxy.credentials)
        return SOCKSProxyManager(proxy.server, user, password, **options)


def _check_status(
    response: BaseHTTPResponse, headers: Mapping[str, str], url: Url, origin: str
) -> None:
    """Raise the error for a status: NotFound, Unauthorized, TemporaryFailure or SourceError."""
    import urllib3

    status = response.status
    if (
        status == 200
        or (status == 206 and "Range" in headers)
        or (status == 304 and not headers.keys().isdisjoint(_VALIDATORS))
    ):
        return
    # After a redirect, and at an emulator of a store, another host answers than the name shows.
    is_named = url.netloc in origin.lower()
    answer = f"HTTP {status}" if is_named else f"{url.netloc} answers HTTP {status}"
    if status in (404, 410):
        raise NotFound(f"{origin} does not exist: {answer}")
    if status == 403:
        raise NotFound(f"{origin} is forbidden: {answer}", is_forbidden=True)
    if status == 401:
        challenge = response.headers.get("www-authenticate", "")
        raise Unauthorized(f"{origin} needs credentials: {answer}", challenge, url)
    message = f"{origin} cannot be read: {url.netloc} answers HTTP {status}"
    if status in (408, 425, 429) or status >= 500:
        after: float | None = None
        with contextlib.suppress(urllib3.exceptions.HTTPError, ValueError, OverflowError):
            after = urllib3.Retry().get_retry_after(response)
        raise TemporaryFailure(message, after=after)
    raise SourceError(message)


@contextlib.contextmanager
def _translated_errors(host: str, stalled: float, proxy: Url | None) -> Iterator[None]:
    """Turn exceptions of urllib3 into SourceErrors, which name the host."""
    from urllib3 import exceptions

    through = f" through the proxy {proxy.netloc}" if proxy is not None else ""
    try:
        yield
    except ValueError:
        # The message may quote a secret.
        forbidden = "its URL or a header has characters that HTTP does not allow"
        raise SourceError(f"{host} cannot be requested: {forbidden}") from None
    except exceptions.HTTPError as error:
        # urllib3 wraps errors of sockets, TLS and HTTP.
        cause: BaseException = error
        while not isinstance(cause, http.client.HTTPException):
            inner = cause.__cause__ or cause.__context__
            if inner is None:
                break
            cause = inner
        is_handshake = "handshake" in str(cause)
        if isinstance(error, exceptions.ReadTimeoutError) and not is_handshake:
            message = f"{host} has sent nothing for {stalled:g} seconds{through}"
            raise TemporaryFailure(message, silent=host) from None
        if isinstance(cause, ssl.SSLCertVerificationError):
            why = f"its certificate cannot be trusted: {cause.verify_message}"
        elif isinstance(cause, TimeoutError):
            why = f"it does not answer {'TLS ' if is_handshake else ''}in time"
        elif isinstance(cause, ssl.SSLError):
            why = f"TLS fails: {cause.reason or cause}"
        elif isinstance(cause, socket.gaierror):
            why = f"its name cannot be resolved: {cause.strerror}"
        elif isinstance(cause, http.client.IncompleteRead):
            why = "the body ends too early"
        elif type(cause) is http.client.BadStatusLine:
            why = "it does not answer as a web server"
        else:
            text = str(getattr(cause, "strerror", None) or cause)
            why = library_message(text[:1].lower() + text[1:])
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


def proxy_of(url: Url, environ: Mapping[str, str]) -> Url | None:
    """Return the proxy for requests to a URL; None for a direct connection.

    As in curl, it is `http_proxy` or `https_proxy`, else `all_proxy`, unless `no_proxy` names the
    host, a domain above it, or a network that its address is in. A variable in lower case goes
    before the same one in upper case. A proxy without a scheme is an http proxy. Raises
    SourceError for an invalid proxy.
    """

    def variable(name: str) -> str:
        return (environ.get(name) or environ.get(name.upper()) or "").strip()

    name = next(filter(variable, (f"{url.scheme}_proxy", "all_proxy")), "")
    if not name:
        return None
    for entry in variable("no_proxy").lower().replace(",", " ").split():
        with contextlib.suppress(ValueError):
            network = ipaddress.ip_network(entry.strip("[]"), strict=False)
            if ipaddress.ip_address(url.host) in network:
                return None
        domain, _, port = entry.partition(":")
        is_below = f".{url.host.rstrip('.')}".endswith(f".{domain.strip('*.')}")
        if entry == "*" or (is_below and port in ("", str(url.port))):
            return None
    proxy = variable(name)
    try:
        return web_url(proxy if "://" in proxy else f"http://{proxy}", _PROXIES)
    except SourceError as error:
        raise SourceError(f"{url.netloc} cannot be reached: {name} is invalid: {error}") from None


def _tls_context(environ: Mapping[str, str]) -> ssl.SSLContext:
    """Return a TLS context that trusts the environment's, the system's or certifi's certificates.

    SSL_CERT_FILE names the certificates of the environment, or else, as for curl and requests,
    CURL_CA_BUNDLE or REQUESTS_CA_BUNDLE, or SSL_CERT_DIR. It may be a file or a directory. Raises
    SourceError if they cannot be read.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    name = next((name for name in _BUNDLES if environ.get(name)), "the system")
    path = environ.get(name) or _system_bundle()
    is_folder = os.path.isdir(path)
    try:
        context.load_verify_locations(*((None, path) if is_folder else (path, None)))
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
