"""Ask web servers, through the proxies and with the certificates of the user's environment."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar

from spackscope.model.core.errors import (
    InvalidUrl,
    SourceError,
    TemporaryFailure,
    TooSlow,
    Unreachable,
)
from spackscope.model.core.parallel import sleep
from spackscope.model.core.progress import ShouldStop, never
from spackscope.model.storage import proxies_and_tls
from spackscope.model.storage.http_responses import (
    Answer,
    Patience,
    told,
)
from spackscope.model.storage.urls import (
    Url,
    web_url,
)

if TYPE_CHECKING:
    import httpcore

_Result = TypeVar("_Result")

_MOST_REDIRECTS = 10
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class Client:
    """Ask web servers, until `should_stop` says so, and keep the connections to them.

    A host that could not be reached once is not waited for again. Several places may share one
    client.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        patience: Patience = Patience(),
        should_stop: ShouldStop = never,
    ) -> None:
        self._environ, self.patience, self._should_stop = environ, patience, should_stop
        self._pools: dict[tuple[str, Url | None], httpcore.ConnectionPool] = {}
        self._given_up: dict[str, str] = {}
        self._lock = threading.Lock()
        # A socket that is only forgotten is a warning of Python's.
        weakref.finalize(self, _close, self._pools)

    @contextlib.contextmanager
    def get(self, url: Url, headers: Mapping[str, str] = {}) -> Iterator[Answer]:
        """Ask for a URL, and follow redirects.

        User and password of the URL, or else the header Authorization, are sent to its own
        server only: same scheme, host and port. Raises Unreachable, TemporaryFailure,
        other SourceErrors and Cancelled.
        """
        send = dict(headers)
        if url.authorization:
            send["Authorization"] = url.authorization
        seen = [url]
        while True:
            response = self._send(seen[-1], send)
            try:
                target = _target(seen, response)
                if target is None:
                    yield Answer(seen[-1], response, self.patience)
                    return
            finally:
                response.close()
            if not target.is_same_server(seen[-1]):
                send = {name: value for name, value in send.items() if name != "Authorization"}
            seen.append(target)

    def repeat(self, act: Callable[[], _Result], *, has_copy: bool = False) -> _Result:
        """Do what asks a server, up to as often as patience allows. Raises what it raises.

        Where there is a copy, a host that stays silent is not waited for a second time, and one
        that is too slow never is.
        """
        for attempt in range(1, self.patience.attempts + 1):
            try:
                return act()
            except TooSlow as failure:
                self._given_up[failure.host] = str(failure)
                raise
            except TemporaryFailure as failure:
                wait = self.patience.pause * 3 ** (attempt - 1)
                wait = wait if failure.after is None else failure.after
                is_last = attempt >= self.patience.attempts or (has_copy and failure.silent)
                if is_last or wait > self.patience.longest_pause:
                    if failure.silent:
                        self._given_up[failure.silent] = str(failure)
                    raise
                sleep(wait, self._should_stop)
        raise AssertionError("patience allows no attempt")

    def _send(self, url: Url, headers: Mapping[str, str]) -> httpcore.Response:
        import httpcore

        host = url.place
        if host in self._given_up:
            raise Unreachable(self._given_up[host])
        proxy = proxies_and_tls.proxy_of(url, self._environ)
        patience = self.patience
        timeouts = {"connect": patience.connect, "read": patience.stalled}
        timeouts |= {"write": patience.stalled, "pool": patience.stalled}
        request = httpcore.Request(
            b"GET",
            httpcore.URL(
                scheme=url.scheme.encode(),
                host=url.host.encode(),
                port=url.port,
                target=url.target.encode(),
            ),
            headers=_encoded(
                {"Host": host, "User-Agent": "spackscope", "Accept": "*/*", **headers}, host
            ),
            extensions={"timeout": timeouts},
        )
        try:
            with told(url, patience, proxy):
                return self._pool(url.scheme, proxy).handle_request(request)
        except Unreachable as error:
            self._given_up[host] = str(error)
            raise

    def _pool(self, scheme: str, proxy: Url | None) -> httpcore.ConnectionPool:
        """Give the connections that go through a proxy, or through none."""
        with self._lock:
            if (scheme, proxy) not in self._pools:
                self._pools[scheme, proxy] = self._opened(scheme, proxy)
            return self._pools[scheme, proxy]

    def _opened(self, scheme: str, proxy: Url | None) -> httpcore.ConnectionPool:
        import httpcore

        from spackscope.model.storage.network import Backend

        # Certificates take long to load, and are of no use without TLS.
        is_proxy_encrypted = proxy is not None and proxy.scheme == "https"
        wanted = scheme == "https" or is_proxy_encrypted
        context = proxies_and_tls.trusted(self._environ) if wanted else None
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
            network_backend=Backend(self._should_stop),
        )


def _close(pools: dict[tuple[str, Url | None], httpcore.ConnectionPool]) -> None:
    for pool in pools.values():
        with contextlib.suppress(RuntimeError):
            pool.close()


def _target(seen: list[Url], response: httpcore.Response) -> Url | None:
    """Return the URL that an answer redirects to, if it does."""
    if response.status not in _REDIRECTS:
        return None
    location = next(
        (value for name, value in response.headers if name.lower() == b"location"), b""
    )
    if not location:
        return None
    host = seen[-1].place
    try:
        target = seen[-1].joined(location.decode("latin-1"))
        if target.scheme not in ("http", "https"):
            raise SourceError(f"{host} leads to {target.shown}, which is not on the web")
        target = web_url(target.address)
    except InvalidUrl as error:
        raise SourceError(f"{host} leads to a wrong place: {error}") from None
    if target in seen:
        raise SourceError(f"{host} leads in a circle, back to {target.shown}")
    if len(seen) > _MOST_REDIRECTS:
        raise SourceError(f"{seen[0].place} leads on more than {_MOST_REDIRECTS} times")
    return target


def _encoded(headers: Mapping[str, str], host: str) -> list[tuple[bytes, bytes]]:
    """Return headers as they are sent. Raises SourceError for one that cannot be, unshown."""
    for name, value in headers.items():
        if not (value.isascii() and value.isprintable()):
            forbidden = "has characters that HTTP does not allow"
            raise SourceError(f"{host} cannot be asked: the header {name} {forbidden}")
    return [(name.encode(), value.encode()) for name, value in headers.items()]
