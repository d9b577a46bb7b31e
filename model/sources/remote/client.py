"""Ask web servers, through the proxies and with the certificates of the user's environment."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote, urljoin, urlsplit

from spackscope.model.progress import ShouldStop, never
from spackscope.model.sources.addresses import (
    basic_authorization,
    checked_address,
    host_of,
    shown_url,
)
from spackscope.model.sources.documents import SourceError
from spackscope.model.sources.remote import surroundings
from spackscope.model.sources.remote.answers import Answer, Failed, Patience, Unreachable, told
from spackscope.model.sources.remote.waiting import pause

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
        self._pools: dict[tuple[str, str], httpcore.ConnectionPool] = {}
        self._given_up: dict[str, str] = {}
        self._lock = threading.Lock()
        # A socket that is only forgotten is a warning of Python's.
        weakref.finalize(self, _close, self._pools)

    @contextlib.contextmanager
    def get(self, url: str, headers: Mapping[str, str] = {}) -> Iterator[Answer]:
        """Ask for an address, and follow to where the server says it is.

        User and password in the address are sent to its own host only, as is the header
        Authorization. Raises Unreachable, Failed, other SourceErrors and Cancelled.
        """
        url = checked_address(url)
        send = dict(headers)
        if authorization := basic_authorization(url):
            send["Authorization"] = authorization
        seen = [url]
        while True:
            response = self._send(seen[-1], send)
            try:
                target = _target(seen, response)
                if not target:
                    yield Answer(seen[-1], response, self.patience)
                    return
            finally:
                response.close()
            if _server(target) != _server(seen[-1]):
                send = {name: value for name, value in send.items() if name != "Authorization"}
            seen.append(target)

    def repeat(self, act: Callable[[], _Result], *, has_copy: bool = False) -> _Result:
        """Do what asks a server, up to as often as patience allows. Raises what it raises.

        Where there is a copy, a host that stays silent is not waited for a second time.
        """
        for attempt in range(1, self.patience.attempts + 1):
            try:
                return act()
            except Failed as failure:
                wait = self.patience.pause * 3 ** (attempt - 1)
                wait = wait if failure.after is None else failure.after
                is_last = attempt >= self.patience.attempts or (has_copy and failure.silent)
                if is_last or wait > self.patience.longest_pause:
                    if failure.silent:
                        self._given_up[failure.silent] = str(failure)
                    raise
                pause(wait, self._should_stop)
        raise AssertionError("patience allows no attempt")

    def _send(self, url: str, headers: Mapping[str, str]) -> httpcore.Response:
        import httpcore

        host = host_of(url)
        if host in self._given_up:
            raise Unreachable(self._given_up[host])
        proxy = surroundings.proxy_of(url, self._environ)
        patience = self.patience
        timeouts = {"connect": patience.connect, "read": patience.stalled}
        timeouts |= {"write": patience.stalled, "pool": patience.stalled}
        request = httpcore.Request(
            b"GET",
            _target_of(url),
            headers=[
                (b"Host", host.encode("ascii")),
                (b"User-Agent", b"spackscope"),
                (b"Accept", headers.get("Accept", "*/*").encode("ascii")),
                *(
                    (name.encode("ascii"), value.encode("latin-1", "replace"))
                    for name, value in headers.items()
                    if name != "Accept"
                ),
            ],
            extensions={"timeout": timeouts},
        )
        try:
            with told(url, patience, proxy):
                return self._pool(urlsplit(url).scheme, proxy).handle_request(request)
        except Unreachable as error:
            self._given_up[host] = str(error)
            raise

    def _pool(self, scheme: str, proxy: str) -> httpcore.ConnectionPool:
        """Give the connections that go through a proxy, or through none."""
        with self._lock:
            if (scheme, proxy) not in self._pools:
                self._pools[scheme, proxy] = self._opened(scheme, proxy)
            return self._pools[scheme, proxy]

    def _opened(self, scheme: str, proxy: str) -> httpcore.ConnectionPool:
        import httpcore

        from spackscope.model.sources.remote.network import Backend

        # Certificates take long to load, and are of no use without TLS.
        wanted = scheme == "https" or proxy.startswith("https:")
        context = surroundings.trusted(self._environ) if wanted else None
        through = None
        if proxy:
            parts = urlsplit(checked_address(proxy))
            user, password = unquote(parts.username or ""), unquote(parts.password or "")
            auth = (user.encode(), password.encode()) if user else None
            through = httpcore.Proxy(
                f"{parts.scheme}://{host_of(parts.geturl())}",
                auth=auth,
                ssl_context=context if parts.scheme == "https" else None,
            )
        return httpcore.ConnectionPool(
            ssl_context=context,
            proxy=through,
            keepalive_expiry=5.0,
            network_backend=Backend(self._should_stop),
        )


def _close(pools: dict[tuple[str, str], httpcore.ConnectionPool]) -> None:
    for pool in pools.values():
        with contextlib.suppress(RuntimeError):
            pool.close()


def _target(seen: list[str], response: httpcore.Response) -> str:
    """Give the address that an answer leads to, or nothing."""
    if response.status not in _REDIRECTS:
        return ""
    location = next(
        (value for name, value in response.headers if name.lower() == b"location"), b""
    )
    if not location:
        return ""
    host = host_of(seen[-1])
    try:
        target = urljoin(seen[-1], location.decode("latin-1"))
        scheme = urlsplit(target).scheme.lower()
    except ValueError:
        raise SourceError(f"{host} leads to what is no address") from None
    if scheme not in ("http", "https"):
        raise SourceError(f"{host} leads to {shown_url(target)}, which is not on the web")
    target = checked_address(target).partition("#")[0]
    if target in seen:
        raise SourceError(f"{host} leads in a circle, back to {shown_url(target)}")
    if len(seen) > _MOST_REDIRECTS:
        raise SourceError(f"{host_of(seen[0])} leads on more than {_MOST_REDIRECTS} times")
    return target


def _server(url: str) -> tuple[str, str]:
    return urlsplit(url).scheme, host_of(url)


def _target_of(url: str) -> httpcore.URL:
    """Give an address as httpcore takes it, without user and password."""
    import httpcore

    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return httpcore.URL(
        scheme=parts.scheme.encode(),
        host=(parts.hostname or "").encode("ascii"),
        port=parts.port,
        target=path.encode("ascii"),
    )
