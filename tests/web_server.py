"""A real web server on loopback that does what a script says, be it against all rules."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

HEAD_LIMIT = 1 << 16


@dataclass(frozen=True)
class Asked:
    """A request as the server got it."""

    method: str
    target: str
    headers: Mapping[str, str]

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


class Talk:
    """One request, and the means to answer it."""

    def __init__(self, asked: Asked, connection: socket.socket, server: WebServer) -> None:
        self.asked, self.connection, self.server = asked, connection, server

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def head(self, status: int, **headers: str | int) -> None:
        lines = [f"HTTP/1.1 {status} Said"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.send(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    def answer(self, status: int, body: bytes = b"", **headers: str | int) -> None:
        self.head(status, **{"Content_Length": len(body), **headers})
        self.send(body)

    def wait(self) -> None:
        """Send nothing until the server ends or the client disconnects, or for 30 seconds."""
        self.connection.settimeout(30.0)
        with suppress(OSError):
            self.connection.recv(1)


Script = Callable[[Talk], None]


@dataclass
class WebServer:
    """Answer each path by its script, and everything else with 404.

    `waiting` is the number of requests that are not answered yet.
    """

    scripts: dict[str, Script] = field(default_factory=dict)
    asked: list[Asked] = field(default_factory=list)
    waiting: int = 0
    tls: ssl.SSLContext | None = None
    ended: threading.Event = field(default_factory=threading.Event)
    default: Script = lambda talk: talk.answer(404)

    def __post_init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listening.getsockname()[1]
        self._threads = [threading.Thread(target=self._accept)]
        self._connections: list[socket.socket] = []
        self._threads[0].start()

    @property
    def url(self) -> str:
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}"

    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]

    def end(self) -> None:
        self.ended.set()
        socket.create_connection(("127.0.0.1", self.port)).close()  # wakes the accepting thread
        for connection in self._connections:
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
            self._connections.append(connection)
            thread = threading.Thread(target=self._serve, args=(connection,))
            self._threads.append(thread)
            thread.start()
        self._listening.close()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            connection.settimeout(0.1)
            try:
                if self.tls:
                    connection.settimeout(2)
                    with self.tls.wrap_socket(connection, server_side=True) as encrypted:
                        self._connections.append(encrypted)
                        encrypted.settimeout(0.1)
                        self._talk(encrypted)
                else:
                    self._talk(connection)
            except OSError:
                return

    def _talk(self, connection: socket.socket) -> None:
        while (head := self._head(connection)) is not None:
            line, *lines = head.decode("latin-1").split("\r\n")
            method, target, _version = line.split(" ")
            pairs = [line.partition(":")[::2] for line in lines if line]
            asked = Asked(method, target, {name.lower(): text.strip() for name, text in pairs})
            self.waiting += 1
            self.asked.append(asked)
            connection.settimeout(5)
            try:
                self.scripts.get(asked.path, self.default)(Talk(asked, connection, self))
            finally:
                self.waiting -= 1
            connection.settimeout(0.1)

    def _head(self, connection: socket.socket) -> bytes | None:
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
                connection.sendall(b"HTTP/1.1 400 This is no HTTP\r\n\r\n")
                return None
            head += part
        return head[:-4]


@contextmanager
def serving(tls: ssl.SSLContext | None = None, **scripts: Script) -> Iterator[WebServer]:
    """Run a server for as long as it is needed; a script `name` is that of the path /name."""
    server = WebServer({f"/{name}": script for name, script in scripts.items()}, tls=tls)
    try:
        yield server
    finally:
        server.end()


def gives(body: bytes, **headers: str | int) -> Script:
    """Give a body, and 304 for the version that the headers name."""

    def script(talk: Talk) -> None:
        known = talk.asked.headers
        same = "ETag" in headers and known.get("if-none-match") == headers["ETag"]
        same |= (
            "Last_Modified" in headers
            and known.get("if-modified-since") == headers["Last_Modified"]
        )
        if same:
            talk.head(304)
        else:
            talk.answer(200, body, **headers)

    return script


def says(status: int, **headers: str | int) -> Script:
    """Give a status without a body."""
    return lambda talk: talk.answer(status, b"", **headers)


def in_turn(*scripts: Script) -> Script:
    """Follow one script after the other, and the last one from then on."""
    left = list(scripts)
    return lambda talk: (left.pop(0) if len(left) > 1 else left[0])(talk)


def hangs_up(talk: Talk) -> None:
    """Close the connection without a word."""
    talk.connection.shutdown(socket.SHUT_RDWR)


def is_silent(talk: Talk) -> None:
    """Never answer."""
    talk.wait()


def stalls_after(part: bytes, length: int) -> Script:
    """Begin a body, and never end it."""

    def script(talk: Talk) -> None:
        talk.head(200, Content_Length=length)
        talk.send(part)
        talk.wait()

    return script


def announces(length: int, body: bytes) -> Script:
    """Give a body of another length than announced, and close the connection."""

    def script(talk: Talk) -> None:
        talk.answer(200, body, Content_Length=length)
        talk.connection.shutdown(socket.SHUT_RDWR)

    return script


def never_ends(talk: Talk) -> None:
    """Send bytes for as long as anybody takes them."""
    talk.head(200, Connection="close")
    while not talk.server.ended.is_set():
        talk.send(b"{" * 65536)


def trickles(body: bytes, seconds: float) -> Script:
    """Give a body byte by byte."""

    def script(talk: Talk) -> None:
        talk.head(200, Content_Length=len(body))
        for byte in body:
            talk.send(bytes([byte]))
            if talk.server.ended.wait(seconds):
                return

    return script


def packed(body: bytes) -> Script:
    """Give a body that is packed for the way."""
    return gives(gzip.compress(body), Content_Encoding="gzip")
