"""Answers of web servers, and what can go wrong on the way to them, each in one sentence."""

from __future__ import annotations

import contextlib
import email.utils
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spackscope.model.core.errors import (
    Forbidden,
    NotFound,
    SourceError,
    TemporaryFailure,
    TooSlow,
    Unauthorized,
    Unreachable,
)
from spackscope.model.storage.redaction import without_secrets
from spackscope.model.storage.urls import Url

if TYPE_CHECKING:
    import httpcore

_AGAIN = frozenset({408, 425, 429})
_FAST = 16


@dataclass(frozen=True, slots=True)
class Patience:
    """Say how long servers are waited for, in seconds, and how often they are asked.

    `stalled` is how long not a byte may come, and `slow_for` how long fewer than `slowest` bytes a
    second. Before it is asked again a `pause` is made, three times as long each time, or as long
    as the server wants, but for no `longest_pause`.
    """

    connect: float = 10.0
    stalled: float = 20.0
    slow_for: float = 60.0
    slowest: int = 1024
    attempts: int = 3
    pause: float = 0.5
    longest_pause: float = 30.0


class Pace:
    """Check that a file comes as fast as patience demands."""

    def __init__(self, patience: Patience, host: str) -> None:
        self._patience, self._host = patience, host
        self._since, self._before = time.monotonic(), 0

    def check(self, done: int, total: int | None = None) -> bool:
        """Take how many bytes have come, and how many there are; return if that is fast by far.

        Raises TooSlow.
        """
        patience, now = self._patience, time.monotonic()
        waited = now - self._since
        is_fast = done - self._before > _FAST * patience.slowest * max(waited, 0.001)
        if waited < patience.slow_for or done == total:
            return is_fast
        if done - self._before < patience.slowest * waited:
            rate = f"fewer than {patience.slowest:,} bytes a second"
            message = f"{self._host} has sent {rate} for {patience.slow_for:g} seconds"
            raise TooSlow(message, self._host)
        self._since, self._before = now, done
        return is_fast


class Answer:
    """Hold the answer of a server: status, headers by their names in lower case, and its body."""

    def __init__(self, url: Url, response: httpcore.Response, patience: Patience) -> None:
        self.url, self.status = url, response.status
        self.headers = {
            name.decode("ascii", "replace").lower(): value.decode("latin-1")
            for name, value in response.headers
        }
        self._response, self._patience = response, patience

    @property
    def length(self) -> int | None:
        """The number of bytes that the body is announced to have."""
        length = self.headers.get("content-length", "")
        return int(length) if length.isdecimal() else None

    def parts(self) -> Iterator[bytes]:
        """Give the body as it comes over the wire.

        Raises TemporaryFailure where it breaks off, or where more than was announced comes, and
        TooSlow where it would never end.
        """
        pace, done = Pace(self._patience, self.url.place), 0
        with told(self.url, self._patience):
            for part in self._response.iter_stream():
                done += len(part)
                yield part
                pace.check(done, self.length)
        stream = self._response.extensions["network_stream"]
        if self.length is not None and "transfer-encoding" not in self.headers:
            body = stream.get_extra_info("body")
            if body > self.length:
                stream.close()
                more = f"more than the {self.length:,} bytes that it announced"
                raise TemporaryFailure(f"{self.url.place} has sent {more}")

    def demand(self, origin: str) -> None:
        """Raise what the status means for a file: NotFound, TemporaryFailure and so on."""
        status = self.status
        if status == 200:
            return
        if status in (404, 410):
            raise NotFound(f"{origin} does not exist: HTTP {status}")
        if status == 403:
            raise Forbidden(f"{origin} is forbidden: HTTP 403")
        if status == 401:
            challenge = self.headers.get("www-authenticate", "")
            raise Unauthorized(f"{origin} is only for known users: HTTP 401", challenge, self.url)
        message = f"{origin} cannot be read: {self.url.place} answers HTTP {status}"
        if status in _AGAIN or status >= 500:
            raise TemporaryFailure(message, after=_seconds(self.headers.get("retry-after", "")))
        raise SourceError(message)


@contextlib.contextmanager
def told(url: Url, patience: Patience, proxy: Url | None = None) -> Iterator[None]:
    """Say in one sentence, which names the host, what the network reports.

    Raises Unreachable, TemporaryFailure and other SourceErrors.
    """
    import httpcore

    host = url.place
    through = f" through the proxy {proxy.place}" if proxy else ""
    try:
        yield
    except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
        raise Unreachable(f"{host} cannot be reached{through}: {error}") from None
    except (httpcore.ProxyError, ImportError) as error:
        raise Unreachable(f"{host} cannot be reached{through}: {error}") from None
    except httpcore.TimeoutException:
        seconds = f"{patience.stalled:g} seconds"
        raise TemporaryFailure(
            f"{host} has sent nothing for {seconds}{through}", silent=host
        ) from None
    except (httpcore.NetworkError, httpcore.RemoteProtocolError) as error:
        why = without_secrets(str(error))
        why = f"{why[:1].lower()}{why[1:]}"
        raise TemporaryFailure(f"the connection to {host}{through} broke: {why}") from None
    except (httpcore.LocalProtocolError, httpcore.UnsupportedProtocol) as error:
        why = without_secrets(str(error))
        raise SourceError(f"{host} cannot be asked{through}: {why}") from None


def _seconds(retry_after: str) -> float | None:
    """Read a Retry-After header, which gives seconds or a date (RFC 9110, 10.2.3)."""
    if retry_after.strip().isdecimal():
        return float(retry_after)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
