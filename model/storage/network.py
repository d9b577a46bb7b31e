"""Connections that can be given up at any moment, and that count what comes over them.

Sockets never block here for longer than a tick, after which it is asked whether to stop. This is
a network backend of httpcore, which is slow to import: import this module where it is needed.
"""

from __future__ import annotations

import contextlib
import functools
import os
import select
import socket
import ssl
import time
from collections.abc import Callable, Iterable
from typing import Any

import httpcore

from spackscope.model.core.errors import (
    Cancelled,
)
from spackscope.model.core.parallel import TICK, run_cancellable
from spackscope.model.core.progress import ShouldStop

_RECORD = 1 << 16
_HEAD_END = b"\r\n\r\n"
_LARGEST_HEAD = 1 << 20


class Backend(httpcore.NetworkBackend):
    """Connect to hosts, until `should_stop` says so."""

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
        until = _deadline(timeout)
        try:
            addresses = run_cancellable(
                lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM),
                self._should_stop,
                timeout or float("inf"),
            )
        except TimeoutError:
            raise httpcore.ConnectTimeout("its name is not resolved in time") from None
        except (socket.gaierror, UnicodeError) as error:
            why = getattr(error, "strerror", None) or "no such host"
            raise httpcore.ConnectError(f"its name cannot be resolved: {_small(why)}") from None
        failure: Exception = httpcore.ConnectError("it has no address")
        for number, (family, kind, protocol, _name, address) in enumerate(addresses):
            # An address that does not answer leaves its share of the time to the others.
            share = (until - time.monotonic()) / (len(addresses) - number)
            try:
                return self._connected(family, kind, protocol, address, share)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failure = error
        raise failure

    def _connected(
        self, family: int, kind: int, protocol: int, address: Any, timeout: float
    ) -> httpcore.NetworkStream:
        try:
            connection = socket.socket(family, kind, protocol)
        except OSError as error:
            raise httpcore.ConnectError(_small(error.strerror or str(error))) from None
        try:
            connection.setblocking(False)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            with contextlib.suppress(BlockingIOError):
                connection.connect(address)
            stream = _Socket(connection, self._should_stop)
            stream.wait(False, _deadline(timeout), httpcore.ConnectTimeout)
            if code := connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                raise OSError(code, os.strerror(code))
        except OSError as error:
            connection.close()
            raise httpcore.ConnectError(_small(error.strerror or str(error))) from None
        except BaseException:
            connection.close()
            raise
        return Counted(stream)


class _Socket(httpcore.NetworkStream):
    """Be a socket that never blocks for long."""

    def __init__(self, connection: socket.socket, should_stop: ShouldStop) -> None:
        self.connection, self._should_stop = connection, should_stop

    def wait(self, to_read: bool, until: float, late: Callable[[str], Exception]) -> None:
        """Wait until the socket can be read or written."""
        poll = select.poll()
        poll.register(self.connection, select.POLLIN if to_read else select.POLLOUT)
        while not poll.poll(TICK * 1000):
            if self._should_stop():
                raise Cancelled
            if time.monotonic() > until:
                raise late("it does not answer in time")
        if self._should_stop():
            raise Cancelled

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Give what has come, and nothing at the end. Raises ReadError, ReadTimeout, Cancelled."""
        until = _deadline(timeout)
        while True:
            self.wait(True, until, httpcore.ReadTimeout)
            try:
                return self.connection.recv(max_bytes)
            except BlockingIOError:
                continue
            except OSError as error:
                raise httpcore.ReadError(_small(error.strerror or str(error))) from None

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes. Raises WriteError, WriteTimeout, Cancelled."""
        left = memoryview(buffer)
        while left:
            self.wait(False, _deadline(timeout), httpcore.WriteTimeout)
            try:
                left = left[self.connection.send(left) :]
            except BlockingIOError:
                continue
            except OSError as error:
                raise httpcore.WriteError(_small(error.strerror or str(error))) from None

    def close(self) -> None:
        """Close the socket."""
        self.connection.close()

    def get_extra_info(self, info: str) -> Any:
        """Tell whether there is something to read, which between answers is the end."""
        if info != "is_readable":
            return None
        if self.connection.fileno() < 0:
            return True
        poll = select.poll()
        poll.register(self.connection, select.POLLIN)
        return bool(poll.poll(0))


class _Tls(httpcore.NetworkStream):
    """Encrypt a stream, which may itself be an encrypted one, to a proxy."""

    def __init__(
        self,
        inner: httpcore.NetworkStream,
        context: ssl.SSLContext,
        hostname: str | None,
        timeout: float | None,
    ) -> None:
        self._inner = inner
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._in, self._out, server_hostname=hostname)
        try:
            self._do(self._tls.do_handshake, timeout)
        except (httpcore.ReadTimeout, httpcore.WriteTimeout):
            raise httpcore.ConnectTimeout("TLS is not answered in time") from None
        except ssl.SSLCertVerificationError as error:
            raise httpcore.ConnectError(
                f"its certificate cannot be trusted: {error.verify_message}"
            ) from None
        except ssl.SSLError as error:
            raise httpcore.ConnectError(f"TLS fails: {error.reason or error}") from None

    def _do(self, act: Callable[[], Any], timeout: float | None) -> Any:
        """Repeat an action until neither side waits for the other any more."""
        while True:
            try:
                result = act()
            except ssl.SSLWantReadError:
                self._flush(timeout)
                if part := self._inner.read(_RECORD, timeout):
                    self._in.write(part)
                else:
                    self._in.write_eof()
            except ssl.SSLError:
                # The alert tells the other side why.
                with contextlib.suppress(httpcore.WriteError, httpcore.WriteTimeout):
                    self._flush(timeout)
                raise
            else:
                self._flush(timeout)
                return result

    def _flush(self, timeout: float | None) -> None:
        if part := self._out.read():
            self._inner.write(part, timeout)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Give what has come, and nothing at the end. Raises ReadError, ReadTimeout, Cancelled."""
        try:
            return bytes(self._do(lambda: self._tls.read(max_bytes), timeout))
        except (ssl.SSLZeroReturnError, ssl.SSLEOFError):
            # Whether that was all of it, the announced length tells.
            return b""
        except ssl.SSLError as error:
            raise httpcore.ReadError(f"TLS fails: {error.reason or error}") from None

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes. Raises WriteError, WriteTimeout, Cancelled."""
        left = memoryview(buffer)
        try:
            while left:
                write = functools.partial(self._tls.write, left[:_RECORD])
                left = left[self._do(write, timeout) :]
        except ssl.SSLError as error:
            raise httpcore.WriteError(f"TLS fails: {error.reason or error}") from None

    def close(self) -> None:
        """Close what lies below."""
        self._inner.close()

    def get_extra_info(self, info: str) -> Any:
        """Give the TLS object, which tells the chosen protocol; else ask what lies below."""
        return self._tls if info == "ssl_object" else self._inner.get_extra_info(info)


class Counted(httpcore.NetworkStream):
    """Count the bytes behind the head of an answer: a server may send more than it announces.

    The end that was announced is where httpcore stops, and nobody else would look at the rest.
    """

    def __init__(self, inner: httpcore.NetworkStream) -> None:
        self._inner = inner
        self._head = bytearray()
        self._in_head = True
        self._asked = time.monotonic()
        self.body = 0

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Give what has come, and nothing at the end. Raises ReadError, ReadTimeout, Cancelled."""
        part = self._inner.read(max_bytes, timeout)
        if self._in_head and timeout is not None and time.monotonic() - self._asked > 3 * timeout:
            raise httpcore.ReadError("the head of its answer does not end in time")
        if not self._in_head:
            self.body += len(part)
            return part
        self._head += part
        while self._in_head and (end := self._head.find(_HEAD_END)) >= 0:
            status = bytes(self._head).split(b" ", 2)[1:2]
            del self._head[: end + len(_HEAD_END)]
            # Heads of a status that begins with 1 only announce the one that counts.
            if not (status and status[0].startswith(b"1")):
                self._in_head, self.body = False, len(self._head)
                self._head.clear()
        if len(self._head) > _LARGEST_HEAD:
            raise httpcore.ReadError("the head of its answer has no end")
        return part

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send bytes, to which there will be another answer."""
        self._head.clear()
        self._in_head, self._asked, self.body = True, time.monotonic(), 0
        self._inner.write(buffer, timeout)

    def close(self) -> None:
        """Close what lies below."""
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """Give the same stream encrypted. Raises ConnectError."""
        try:
            return Counted(_Tls(self._inner, ssl_context, server_hostname, timeout))
        except BaseException:
            self.close()
            raise

    def get_extra_info(self, info: str) -> Any:
        """Give the number of bytes of the body so far; else ask what lies below."""
        return self.body if info == "body" else self._inner.get_extra_info(info)


def _deadline(timeout: float | None) -> float:
    return time.monotonic() + timeout if timeout is not None else float("inf")


def _small(text: str) -> str:
    return text[:1].lower() + text[1:]
