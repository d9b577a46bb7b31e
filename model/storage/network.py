"""Connections that can be cancelled at any moment, and that count the bytes of a response.

A network backend of httpcore, which is slow to import: import this module where it is needed.
"""

from __future__ import annotations

import contextlib
import math
import re
import socket
import ssl
import time
from collections.abc import Iterable, Iterator
from typing import Any

import httpcore

from spackscope.model.core.errors import Cancelled, TemporaryFailure, Unreachable
from spackscope.model.core.redaction import library_message
from spackscope.model.core.tasks import TICK, ShouldStop, run_cancellable
from spackscope.model.storage.timeouts import Timeouts

_HEAD = re.compile(rb"[^ ]* (1?).*?\n\r?\n", re.DOTALL)
"""The head of a response; one whose status begins with 1 is followed by another."""


class _SlowHead(httpcore.ReadTimeout):
    """The head of a response has begun, and does not end in time."""


class CancellableBackend(httpcore.SyncBackend):
    """Backend whose connections raise Cancelled soon after `should_stop` returns True."""

    def __init__(self, should_stop: ShouldStop) -> None:
        self._should_stop = should_stop

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address of a host that answers."""
        limit = math.inf if timeout is None else timeout
        try:
            stream = run_cancellable(
                lambda: self._connect(host, port, limit), self._should_stop, limit
            )
        except TimeoutError:
            raise httpcore.ConnectTimeout("it does not answer in time") from None
        return CancellableStream(stream, self._should_stop)

    def _connect(self, host: str, port: int, limit: float) -> httpcore.NetworkStream:
        until = time.monotonic() + limit
        try:
            addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "no such host"
            raise httpcore.ConnectError(f"its name cannot be resolved: {why}") from None
        failure: Exception = httpcore.ConnectError("it has no address")
        for index, (*_, address) in enumerate(addresses):
            # An address that does not answer leaves the others their share of the time.
            share = max(TICK, (until - time.monotonic()) / (len(addresses) - index))
            try:
                return super().connect_tcp(str(address[0]), port, share)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure


class CancellableStream(httpcore.NetworkStream):
    """Stream that never blocks for longer than a tick, and counts the body of a response.

    A server may send more bytes than it announces, which httpcore does not notice.
    """

    def __init__(self, stream: httpcore.NetworkStream, should_stop: ShouldStop) -> None:
        self._stream, self._should_stop = stream, should_stop
        self._head: bytes | None = b""
        self._has_begun, self._written = False, time.monotonic()
        self.body_size = 0
        """Bytes that came after the head of the last response, as they are on the wire."""

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Return the next bytes, none at the end. Raises ReadError, ReadTimeout, Cancelled.

        The time-out applies to the whole head of a response, and to each read of its body.
        """
        limit = math.inf if timeout is None else timeout
        if self._head is None:
            part = self._read(max_bytes, time.monotonic() + limit)
            self.body_size += len(part)
            return part
        until = self._written + limit
        if self._has_begun and time.monotonic() > until:
            raise _SlowHead
        try:
            part = self._read(max_bytes, until)
        except httpcore.ReadTimeout:
            raise (_SlowHead if self._has_begun else httpcore.ReadTimeout) from None
        self._has_begun = True
        self._head += part
        while self._head is not None and (head := _HEAD.match(self._head)):
            rest = self._head[head.end() :]
            if head[1]:
                self._head = rest
            else:
                self._head, self.body_size = None, len(rest)
        return part

    def _read(self, max_bytes: int, until: float) -> bytes:
        while True:
            if self._should_stop():
                raise Cancelled
            try:
                return self._stream.read(max_bytes, TICK)
            except httpcore.ReadTimeout:
                if time.monotonic() > until:
                    raise

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send a request, or a part of one. Raises httpcore.WriteError and WriteTimeout."""
        self._head, self._has_begun, self.body_size = b"", False, 0
        self._written = time.monotonic()
        self._stream.write(buffer, timeout)

    def close(self) -> None:
        """Close the connection."""
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """Return the same stream encrypted. Raises httpcore.ConnectError and ConnectTimeout."""
        try:
            stream = run_cancellable(
                lambda: self._stream.start_tls(ssl_context, server_hostname, timeout),
                self._should_stop,
                math.inf if timeout is None else timeout,
            )
        except (TimeoutError, httpcore.ConnectTimeout):
            raise httpcore.ConnectTimeout("it does not answer TLS in time") from None
        return CancellableStream(stream, self._should_stop)

    def get_extra_info(self, info: str) -> Any:
        """Return what httpcore asks of the stream below."""
        return self._stream.get_extra_info(info)


@contextlib.contextmanager
def translate_errors(host: str, timeouts: Timeouts, proxy: str = "") -> Iterator[None]:
    """Turn exceptions of httpcore into Unreachable and TemporaryFailure, which name the host."""
    through = f" through the proxy {proxy}" if proxy else ""
    try:
        yield
    except (
        httpcore.ConnectError,
        httpcore.ConnectTimeout,
        httpcore.ProxyError,
        ImportError,
    ) as error:
        raise Unreachable(f"{host} cannot be reached{through}: {_reason(error)}", host) from None
    except _SlowHead:
        message = f"{host} has not ended the head of its response in {timeouts.stalled:g} seconds"
        raise Unreachable(f"{message}{through}", host) from None
    except httpcore.TimeoutException:
        message = f"{host} has sent nothing for {timeouts.stalled:g} seconds{through}"
        raise TemporaryFailure(message, silent=host) from None
    except (httpcore.NetworkError, httpcore.RemoteProtocolError) as error:
        why = library_message(_reason(error))
        raise TemporaryFailure(f"the connection to {host}{through} broke: {why}") from None


def _reason(error: Exception) -> str:
    """Return why a connection failed: httpcore raises with the exception of the socket."""
    cause = error.args[0] if error.args and isinstance(error.args[0], OSError) else error
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate cannot be trusted: {cause.verify_message}"
    if isinstance(cause, ssl.SSLError):
        return f"TLS fails: {cause.reason or cause}"
    if isinstance(cause, TimeoutError):
        return "it does not answer in time"
    text = str(getattr(cause, "strerror", None) or cause)
    return text[:1].lower() + text[1:]
