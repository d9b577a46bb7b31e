"""Request files from web servers, with the proxies and certificates of the environment."""

from __future__ import annotations

import contextlib
import email.utils
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

from spackscope.model.core.errors import (
    NotFound,
    SourceError,
    TemporaryFailure,
    Unauthorized,
    Unreachable,
)
from spackscope.model.core.tasks import ShouldStop, never, sleep
from spackscope.model.storage import proxies_and_tls
from spackscope.model.storage.timeouts import RateCheck, Timeouts
from spackscope.model.storage.urls import Url, web_url

if TYPE_CHECKING:
    import httpcore

_Result = TypeVar("_Result")

_MAX_REDIRECTS = 10
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_RETRY_STATUSES = frozenset({408, 425, 429})


class Response:
    """A server's response: status, headers by their names in lower case, and its body."""

    def __init__(self, url: Url, response: httpcore.Response, timeouts: Timeouts) -> None:
        self.url, self.status = url, response.status
        self.headers = {
            name.decode("ascii", "replace").lower(): value.decode("latin-1")
            for name, value in response.headers
        }
        self._response, self._timeouts = response, timeouts

    @property
    def length(self) -> int | None:
        """The number of bytes that the body is announced to have."""
        length = self.headers.get("content-length", "")
        return int(length) if length.isdecimal() else None

    def chunks(self) -> Iterator[bytes]:
        """Yield the body as it comes over the wire.

        Raises TemporaryFailure where it breaks off or has more bytes than announced, and
        Unreachable where it is too slow.
        """
        from spackscope.model.storage.network import translate_errors

        rate, size = RateCheck(self._timeouts, self.url.netloc), 0
        with translate_errors(self.url.netloc, self._timeouts):
            for chunk in self._response.iter_stream():
                size += len(chunk)
                yield chunk
                rate.update(size, self.length)
        stream = self._response.extensions["network_stream"]
        if self.length is None or "transfer-encoding" in self.headers:
            return
        if stream.body_size > self.length:
            stream.close()
            announced = f"more than the {self.length:,} bytes that it announced"
            raise TemporaryFailure(f"{self.url.netloc} has sent {announced}")

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


class Client:
    """HTTP client that keeps connections, and raises Cancelled once `should_stop` returns True.

    A host that could not be reached is not tried again. Several storages may share one client.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        timeouts: Timeouts = Timeouts(),
        should_stop: ShouldStop = never,
    ) -> None:
        self._environ, self.timeouts, self._should_stop = environ, timeouts, should_stop
        self._pools: dict[tuple[str, Url | None], httpcore.ConnectionPool] = {}
        self._failed_hosts: dict[str, str] = {}
        self._lock = threading.Lock()
        # Python warns of a socket that is collected without having been closed.
        weakref.finalize(self, _close, self._pools)

    def get(
        self, url: Url, headers: Mapping[str, str] = {}
    ) -> contextlib.AbstractContextManager[Response]:
        """Request what is at a URL, as `request` does."""
        return self.request("GET", url, headers)

    @contextlib.contextmanager
    def request(
        self, method: str, url: Url, headers: Mapping[str, str] = {}
    ) -> Iterator[Response]:
        """Send a request with the method GET or HEAD, and follow redirects.

        User and password of the URL, or else the header Authorization, are sent to its own
        server only: same scheme, host and port. Raises Unreachable, TemporaryFailure,
        other SourceErrors and Cancelled.
        """
        headers = dict(headers)
        if url.authorization:
            headers["Authorization"] = url.authorization
        urls = [url]
        while True:
            response = self._send(method, urls[-1], headers)
            try:
                target = _redirect_target(urls, response)
                if target is None:
                    yield Response(urls[-1], response, self.timeouts)
                    return
            finally:
                response.close()
            if not target.is_same_server(urls[-1]):
                headers.pop("Authorization", None)
            urls.append(target)

    def retry(self, request: Callable[[], _Result], *, has_cached: bool = False) -> _Result:
        """Call what sends a request, as often as `timeouts.attempts`. Raises what it raises.

        Where there is a cached file, a host that stays silent is not asked a second time.
        """
        for attempt in range(1, self.timeouts.attempts + 1):
            try:
                return request()
            except Unreachable as failure:
                self._failed_hosts[failure.host] = str(failure)
                raise
            except TemporaryFailure as failure:
                wait = self.timeouts.pause * 3 ** (attempt - 1)
                wait = wait if failure.after is None else failure.after
                is_last = attempt >= self.timeouts.attempts or (has_cached and failure.silent)
                if is_last or wait > self.timeouts.max_pause:
                    if failure.silent:
                        self._failed_hosts[failure.silent] = str(failure)
                    raise
                sleep(wait, self._should_stop)
        raise AssertionError("no attempt is allowed")

    def _send(self, method: str, url: Url, headers: Mapping[str, str]) -> httpcore.Response:
        import httpcore

        from spackscope.model.storage.network import translate_errors

        host = url.netloc
        if host in self._failed_hosts:
            raise Unreachable(self._failed_hosts[host], host)
        proxy = proxies_and_tls.proxy_of(url, self._environ)
        timeouts = self.timeouts
        seconds = {"connect": timeouts.connect, "read": timeouts.stalled}
        seconds |= {"write": timeouts.stalled, "pool": timeouts.stalled}
        request = httpcore.Request(
            method.encode(),
            # As text, it would lose what follows a semicolon in the last name of the path.
            httpcore.URL(
                scheme=url.scheme.encode(),
                host=url.host.encode(),
                port=url.port,
                target=url.target.encode(),
            ),
            headers=_encoded(
                {"Host": host, "User-Agent": "spackscope", "Accept": "*/*", **headers}, host
            ),
            extensions={"timeout": seconds},
        )
        with translate_errors(host, timeouts, proxy.netloc if proxy else ""):
            return self._pool(url.scheme, proxy).handle_request(request)

    def _pool(self, scheme: str, proxy: Url | None) -> httpcore.ConnectionPool:
        with self._lock:
            if (scheme, proxy) not in self._pools:
                self._pools[scheme, proxy] = self._open_pool(scheme, proxy)
            return self._pools[scheme, proxy]

    def _open_pool(self, scheme: str, proxy: Url | None) -> httpcore.ConnectionPool:
        import httpcore

        from spackscope.model.storage.network import CancellableBackend

        # Certificates take long to load, and are of no use without TLS.
        is_proxy_encrypted = proxy is not None and proxy.scheme == "https"
        needs_tls = scheme == "https" or is_proxy_encrypted
        context = proxies_and_tls.tls_context(self._environ) if needs_tls else None
        through = None
        if proxy is not None:
            through = httpcore.Proxy(
                proxy.server,
                auth=proxy.credentials,
                ssl_context=context if is_proxy_encrypted else None,
            )
        return httpcore.ConnectionPool(
            ssl_context=context,
            proxy=through,
            keepalive_expiry=5.0,
            network_backend=CancellableBackend(self._should_stop),
        )


def _close(pools: dict[tuple[str, Url | None], httpcore.ConnectionPool]) -> None:
    for pool in pools.values():
        with contextlib.suppress(RuntimeError):
            pool.close()


def _redirect_target(urls: list[Url], response: httpcore.Response) -> Url | None:
    """Return the URL that a response to the last URL redirects to, if it does.

    Raises SourceError for one that is not to be followed.
    """
    if response.status not in _REDIRECTS:
        return None
    location = next(
        (value for name, value in response.headers if name.lower() == b"location"), b""
    )
    if not location:
        return None
    host = urls[-1].netloc
    try:
        target = urls[-1].resolve(location.decode("latin-1"))
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


def _encoded(headers: Mapping[str, str], host: str) -> list[tuple[bytes, bytes]]:
    """Return headers as they are sent. Raises SourceError for one that cannot be, unshown."""
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            forbidden = "has characters that HTTP does not allow"
            raise SourceError(f"{host} cannot be requested: the header {name} {forbidden}")
    return [(name.encode(), value.encode()) for name, value in headers.items()]


def _seconds(retry_after: str) -> float | None:
    """Parse a Retry-After header, which has seconds or a date (RFC 9110, 10.2.3)."""
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
