"""A real web server on loopback whose handlers may break the rules of HTTP."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

HEAD_LIMIT = 1 << 16
_PATIENCE = 120.0


@dataclass(frozen=True)
class Request:
    """A request as the server received it."""

    method: str
    target: str
    headers: Mapping[str, str]

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


class Exchange:
    """One request, and the means to respond to it."""

    def __init__(self, request: Request, connection: socket.socket, server: WebServer) -> None:
        self.request, self.connection, self.server = request, connection, server

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def send_head(self, status: int, **headers: str | int) -> None:
        lines = [f"HTTP/1.1 {status} Reason"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    def respond(self, status: int, body: bytes = b"", **headers: str | int) -> None:
        self.send_head(status, **{"Content_Length": len(body), **headers})
        if self.request.method != "HEAD":
            self.send(body)

    def wait(self) -> None:
        """Send nothing until the server ends or the client disconnects, or for two minutes."""
        self.connection.settimeout(_PATIENCE)
        with suppress(OSError):
            self.connection.recv(1)


Handler = Callable[[Exchange], None]


def has_nothing(exchange: Exchange) -> None:
    """Respond to every path that it does not exist."""
    exchange.respond(404)


@dataclass
class WebServer:
    """Respond to each path by its handler, and to everything else by the default one.

    `waiting` is the number of requests without a response yet.
    """

    handlers: dict[str, Handler] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    waiting: int = 0
    tls: ssl.SSLContext | None = None
    ended: threading.Event = field(default_factory=threading.Event)
    default: Handler = has_nothing

    def __post_init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self.connections: list[socket.socket] = []
        self._threads[0].start()

    @property
    def url(self) -> str:
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}"

    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    def received(self, count: int) -> bool:
        """Wait for the requests of clients that gave up; check that there are just so many."""
        while len(self.requests) < count:
            assert not self.ended.wait(0.01)
        return len(self.requests) == count

    def end(self) -> None:
        self.ended.set()
        socket.create_connection(("127.0.0.1", self.port)).close()  # wakes the accepting thread
        for connection in self.connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(5)

    def _accept(self) -> None:
        while True:
            connection, _ = self._listening.accept()
            if self.ended.is_set():
                connection.close()
                break
            self.connections.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()
        self._listening.close()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(0.1)
            try:
                if self.tls:
                    connection.settimeout(_PATIENCE)
                    with self.tls.wrap_socket(connection, server_side=True) as encrypted:
                        self.connections.append(encrypted)
                        encrypted.settimeout(0.1)
                        self._respond(encrypted)
                else:
                    self._respond(connection)
            except OSError:
                return

    def _respond(self, connection: socket.socket) -> None:
        while (head := self._read_head(connection)) is not None:
            line, *lines = head.decode("latin-1").split("\r\n")
            method, target, _version = line.split(" ")
            pairs = [line.partition(":")[::2] for line in lines if line]
            headers = {name.lower(): text.strip() for name, text in pairs}
            request = Request(method, target, headers)
            self.waiting += 1
            self.requests.append(request)
            connection.settimeout(_PATIENCE)
            try:
                self.handlers.get(request.path, self.default)(Exchange(request, connection, self))
            finally:
                self.waiting -= 1
            connection.settimeout(0.1)

    def _read_head(self, connection: socket.socket) -> bytes | None:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            try:
                part = connection.recv(1)
            except TimeoutError:
                if self.ended.is_set():
                    return None
                continue
            if not part or len(head) > HEAD_LIMIT:
                return None
            if not head and not part.isalpha():
                connection.sendall(b"HTTP/1.1 400 This is not HTTP\r\n\r\n")
                return None
            head += part
        return head[:-4]


@contextmanager
def serving(
    default: Handler = has_nothing, /, *, tls: ssl.SSLContext | None = None, **handlers: Handler
) -> Iterator[WebServer]:
    """Run a server for as long as it is needed; a handler `name` is that of the path /name."""
    paths = {f"/{name}": handler for name, handler in handlers.items()}
    server = WebServer(paths, tls=tls, default=default)
    try:
        yield server
    finally:
        server.end()


def sends(body: bytes, **headers: str | int) -> Handler:
    """Send a body, and 304 for the version that the headers name."""

    def handler(exchange: Exchange) -> None:
        known = exchange.request.headers
        same = "ETag" in headers and known.get("if-none-match") == headers["ETag"]
        same |= (
            "Last_Modified" in headers
            and known.get("if-modified-since") == headers["Last_Modified"]
        )
        if same:
            exchange.send_head(304)
        else:
            exchange.respond(200, body, **headers)

    return handler


def responds(status: int, **headers: str | int) -> Handler:
    """Respond with a status and no body."""
    return lambda exchange: exchange.respond(status, b"", **headers)


def in_turn(*handlers: Handler) -> Handler:
    """Use one handler after the other, and the last one from then on."""
    left = list(handlers)
    return lambda exchange: (left.pop(0) if len(left) > 1 else left[0])(exchange)


def hangs_up(exchange: Exchange) -> None:
    """Close the connection without a response."""
    exchange.connection.shutdown(socket.SHUT_RDWR)


def is_silent(exchange: Exchange) -> None:
    """Never respond."""
    exchange.wait()


def stalls_after(part: bytes, length: int) -> Handler:
    """Begin a body, and never end it."""

    def handler(exchange: Exchange) -> None:
        exchange.send_head(200, Content_Length=length)
        exchange.send(part)
        exchange.wait()

    return handler


def announces(length: int, body: bytes) -> Handler:
    """Send a body of another length than announced, and close the connection."""

    def handler(exchange: Exchange) -> None:
        exchange.respond(200, body, Content_Length=length)
        exchange.connection.shutdown(socket.SHUT_RDWR)

    return handler


def never_ends(exchange: Exchange) -> None:
    """Send bytes as long as the client reads them."""
    exchange.send_head(200, Connection="close")
    while not exchange.server.ended.is_set():
        exchange.send(b"{" * 65536)


def trickles(body: bytes, seconds: float, size: int = 1) -> Handler:
    """Send a body in pieces, byte by byte unless told otherwise."""

    def handler(exchange: Exchange) -> None:
        exchange.send_head(200, Content_Length=len(body))
        for start in range(0, len(body), size):
            exchange.send(body[start : start + size])
            if exchange.server.ended.wait(seconds):
                return

    return handler


def packed(body: bytes) -> Handler:
    """Send a body that is compressed for the transfer."""
    return sends(gzip.compress(body), Content_Encoding="gzip")
