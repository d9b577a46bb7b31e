"""Files of web servers come whole, in their current version, and in time, or with a sentence."""

import gzip
import os
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import trustme

from spackscope.model.core.errors import Cancelled, NotFound, SourceError, Unreachable
from spackscope.model.core.frozen import replace
from spackscope.model.core.tasks import cancelled_when, progress_to
from spackscope.model.storage.base import Wanted
from spackscope.model.storage.http import proxy_of
from spackscope.model.storage.urls import split_url
from tests.examples import cases
from tests.model.storage.machine import (
    NEW,
    NO_PORT,
    NO_URL,
    OLD,
    PATIENT,
    QUICK,
    Machine,
    tls_server,
    without_port,
)
from tests.program import PATIENCE, wait_until
from tests.web_server import (
    Exchange,
    Handler,
    announces,
    hangs_up,
    in_turn,
    is_silent,
    packed,
    responds,
    sends,
    serving,
    stalls_after,
    trickles,
)


def test_names_are_asked_for_as_addresses_write_them(machine: Machine) -> None:
    with serving(index=responds(301, Location="/a;b=c/d;e?q;r#part")) as server:
        server.default = sends(NEW)
        assert machine.read(server, "build_cache/a b+c%20/é?#.json") == machine.read(server)

    written = "/build_cache/a%20b%2Bc%2520/%C3%A9%3F%23.json"
    assert [request.target for request in server.requests] == [written, "/index", "/a;b=c/d;e?q;r"]


@pytest.mark.parametrize(
    "version", [{"ETag": '"1"'}, {"Last_Modified": "Sat, 21 Nov 2026 08:00:00 GMT"}]
)
def test_a_second_start_downloads_nothing_and_keeps_the_file_as_it_is(
    machine: Machine, version: dict[str, str]
) -> None:
    seen: list[int] = []
    with serving(index=sends(NEW, **version)) as server:
        first = machine.fetch(server.url)
        was = os.stat(first.path)
        with progress_to(lambda _, done, __: seen.append(done)):
            second = machine.fetch(server.url)
        machine.fetch(server.url, asks_anew=True)

    assert (second.path, os.stat(second.path), seen) == (first.path, was, [])
    assert second.checked > first.checked  # type: ignore[operator]
    sent = [{"if-none-match", "if-modified-since"} & {*each.headers} for each in server.requests]
    assert [len(conditions) for conditions in sent] == [0, 1, 0]


def test_a_version_that_cannot_be_sent_is_not_asked_for(machine: Machine) -> None:
    with serving(index=sends(NEW, ETag="\x80\xff")) as server:
        assert machine.read(server) == machine.read(server) == NEW


def test_a_file_comes_as_it_is_on_the_server(machine: Machine) -> None:
    with serving(index=packed(NEW)) as server:
        assert gzip.decompress(machine.read(server)) == NEW
        assert server.requests[0].headers["accept-encoding"] == "identity"


def talks_otherwise(answer: bytes) -> Handler:
    def handler(exchange: Exchange) -> None:
        exchange.send(answer)
        hangs_up(exchange)

    return handler


BROKE = "the connection to 127.0.0.1 broke: "
WRONG = "127.0.0.1 redirects to a wrong URL:"
NOT_WEB = f"{NO_URL}: it must begin with http:// or https://"
NO_HTTP = (b"", b"HTTP/1.1\r\n\r\n", b"\x00" * 400, b"SSH-2.0-x\r\n", b"HTTP/1.1 200\r\n" * 200)
REDIRECTS = {
    "file:///etc/passwd": f"file:///etc/passwd {NOT_WEB}",
    "ftp://x:y@host/a?b": f"ftp://host/a?… {NOT_WEB}",
    "http://:80/": f"http://:80/ {NO_URL}: it has no host",
    "//h/?s=pw\0": f"//h/?… {NO_URL}: it has a control character",
    "//u:pw@h:x/": f"http://h:… {NO_URL}: {NO_PORT}",
}


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (sends(bytes(1_000_001)), "URL/index is too large: 1,000,001 bytes"),
        (responds(304), "URL/index cannot be read: 127.0.0.1 answers HTTP 304"),
        *((talks_otherwise(answer), BROKE) for answer in NO_HTTP),
        *((responds(302, Location=url), f"{WRONG} {told}") for url, told in REDIRECTS.items()),
    ],
)  # fmt: skip
def test_a_bad_answer_is_refused_in_a_sentence(
    machine: Machine, script: Handler, sentence: str
) -> None:
    with serving(index=script) as server:
        assert machine.failure(server, max_size=1_000_000).startswith(sentence)
        assert len(server.requests) == 1 or not sentence.startswith(WRONG)


def test_a_body_may_come_in_chunks(machine: Machine) -> None:
    def in_chunks(exchange: Exchange) -> None:
        exchange.send_head(200, Transfer_Encoding="chunked")
        for chunk in (NEW[:5], NEW[5:]):
            exchange.send(b"%x\r\n%b\r\n" % (len(chunk), chunk))
        if exchange.request.path == "/index":
            exchange.send(b"0\r\n\r\n")
        else:
            hangs_up(exchange)

    with serving(index=in_chunks, cut=in_chunks) as server:
        assert machine.read(server) == NEW
        sentence = "the connection to 127.0.0.1 broke: the body ends too early"
        assert machine.failure(server, "cut") == sentence


def test_a_size_is_asked_for_without_the_file(machine: Machine) -> None:
    def answers_without_a_length(exchange: Exchange) -> None:
        exchange.send_head(200, Connection="close")
        exchange.connection.close()

    with serving(blob=sends(NEW), zipped=packed(NEW), silent=is_silent) as server:
        server.handlers |= {f"/{status}": responds(status) for status in (403, 404, 405)}
        server.handlers["/untold"] = answers_without_a_length
        server.handlers["/long"] = lambda exchange: exchange.send_head(
            200, Content_Length="9" * 5_000
        )
        storage = machine.storage(server.url)
        sizes = [storage.size_of(name) for name in ("blob", "zipped", "untold", "long")]
        assert sizes == [len(NEW), None, None, None]
        assert not machine.has(storage, "blob")
        for name, forbidden in (("404", False), ("403", True)):
            with pytest.raises(NotFound) as raised:
                storage.size_of(name)
            assert raised.value.is_forbidden is forbidden
        with pytest.raises(SourceError, match="answers HTTP 405"):
            storage.size_of("405")
        with pytest.raises(SourceError, match="has sent nothing"):
            machine.storage(server.url, timeouts=QUICK).size_of("silent")
        assert list(storage.names("v3")) == []
        assert server.received(8)
    assert {request.method for request in server.requests} == {"HEAD"}
    assert server.paths()[-1] == "/silent"


def test_several_threads_share_the_connections_of_a_client(machine: Machine) -> None:
    with serving() as server:
        server.default = lambda exchange: exchange.respond(
            200, exchange.request.target.encode() * 9_000
        )
        storage = machine.storage(server.url)
        with ThreadPoolExecutor(8) as pool:
            paths = list(pool.map(lambda n: storage.fetch(Wanted(f"{n}")).path, range(64)))
        assert len(server.connections) <= 8

    for number, path in enumerate(paths):
        assert Path(path).read_bytes() == f"/{number}".encode() * 9_000


ANSWERS = "URL/index cannot be read: 127.0.0.1 answers HTTP"
SILENT = "127.0.0.1 has sent nothing for 0.2 seconds"


@pytest.mark.parametrize(
    ("script", "sentence", "attempts"),
    [
        (stalls_after(b"{", 100), SILENT, 3),
        (hangs_up, "the connection to 127.0.0.1 broke: remote end closed connection without", 3),
        (announces(100, NEW), "the connection to 127.0.0.1 broke: the body ends too early", 3),
        (responds(500), f"{ANSWERS} 500", 3),
        (responds(429), f"{ANSWERS} 429", 3),
        (responds(503, Retry_After="x"), f"{ANSWERS} 503", 3),
        pytest.param(is_silent, SILENT, 3, marks=pytest.mark.exhaustive),
    ],
)
def test_what_may_go_better_is_tried_again_and_then_the_old_copy_serves(
    machine: Machine, script: Handler, sentence: str, attempts: int
) -> None:
    is_silent = sentence == SILENT
    timeouts = QUICK if is_silent else PATIENT
    with serving(index=script) as server:
        storage = machine.storage(server.url, timeouts=timeouts)
        with pytest.raises(SourceError) as raised:
            storage.fetch(Wanted("index"))
        assert without_port(str(raised.value), server).startswith(sentence)
        if is_silent:
            # It is not waited for again.
            with pytest.raises(SourceError, match="has sent nothing"):
                storage.fetch(Wanted("other"))
        assert server.received(attempts)

        server.handlers["/index"] = in_turn(script, sends(OLD))
        # A busy server may seem silent once more.
        often = replace(timeouts, attempts=100)
        good = machine.fetch(server.url, timeouts=often)
        server.handlers["/index"] = script
        server.requests.clear()
        served = machine.fetch(server.url, timeouts=timeouts)
        # A silent host is not worth a second wait where there is a copy.
        assert server.received(1 if is_silent else attempts)

    assert (Path(served.path).read_bytes(), served.checked) == (OLD, good.checked)
    assert without_port(served.remark, server).startswith(sentence)
    assert machine.left_behind() == []


@pytest.mark.parametrize("seconds", [1, 3600])
def test_a_retry_waits_as_long_as_the_server_asks_but_not_for_an_hour(
    machine: Machine, seconds: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[float] = []
    monkeypatch.setattr("spackscope.model.storage.download.sleep", waits.append)
    timeouts = replace(PATIENT, max_pause=2.0)
    with serving(index=in_turn(responds(429, Retry_After=seconds), sends(NEW))) as server:
        if seconds == 1:
            assert Path(machine.fetch(server.url, timeouts=timeouts).path).read_bytes() == NEW
        else:
            assert machine.failure(server, timeouts=timeouts).endswith("HTTP 429")
            assert len(server.requests) == 1
    assert waits == [1] * (seconds == 1)


@pytest.mark.parametrize(
    ("status", "kind", "sentence"),
    [
        (404, NotFound, "URL/index does not exist: HTTP 404"),
        (410, NotFound, "URL/index does not exist: HTTP 410"),
        (403, NotFound, "URL/index is forbidden: HTTP 403"),
        (401, SourceError, "URL/index needs credentials: HTTP 401"),
        (418, SourceError, "URL/index cannot be read: 127.0.0.1 answers HTTP 418"),
    ],
)
def test_what_a_server_refuses_is_not_asked_for_again(
    machine: Machine, status: int, kind: type[SourceError], sentence: str
) -> None:
    with serving(index=responds(status)) as server:
        assert machine.failure(server) == sentence
        with pytest.raises(kind) as raised:
            machine.fetch(server.url)
        assert raised.value.is_forbidden is (status in (401, 403))
        assert len(server.requests) == 2


@pytest.mark.parametrize("status", [401, 403, 404])
def test_the_host_that_answers_is_named_where_another_was_asked(
    machine: Machine, status: int
) -> None:
    with serving(index=responds(status)) as other, serving() as server:
        server.default = responds(302, Location=f"{other.url}/index")
        host = other.url.removeprefix("http://")
        assert machine.failure(server).endswith(f": {host} answers HTTP {status}")


def test_a_host_that_vanished_is_reported_once_and_not_waited_for_again(machine: Machine) -> None:
    with serving(index=sends(OLD)) as server:
        machine.read(server)
    storage = machine.storage(server.url)

    served = storage.fetch(Wanted("index"))
    assert Path(served.path).read_bytes() == OLD
    assert served.remark == f"127.0.0.1:{server.port} cannot be reached: connection refused"
    with socket.create_server(("127.0.0.1", server.port)), pytest.raises(Unreachable):
        storage.fetch(Wanted("other"))
    with pytest.raises(SourceError, match=r"^nowhere\.invalid cannot be reached: its name cannot"):
        machine.fetch("https://nowhere.invalid/cache")


def trickles_its_head(exchange: Exchange) -> None:
    exchange.send(b"HTTP/1.1 100 Wait\r\nX: ")
    while not exchange.server.ended.wait(0.05):
        exchange.send(b"\r\n\r\nHTTP/1.1 100 Wait\r\nX: ")


@pytest.mark.parametrize("script", [trickles_its_head, trickles(b"x" * 9_999, 0.01)])
def test_what_comes_too_slowly_is_given_up(machine: Machine, script: Handler) -> None:
    with serving(index=script, small=trickles(NEW * 140, 0.05, 140)) as server:
        seen = [0]

        def waits_for_more() -> bool:
            polled = seen[-1]
            # The thread that receives asks, too.
            is_waiting = threading.current_thread() is threading.main_thread()
            if is_waiting and server.requests and polled < len(NEW * 140):
                wait_until(lambda: seen[-1] > polled)
            return False

        timeouts = replace(PATIENT, slow_for=0.3, min_rate=5)
        with cancelled_when(waits_for_more), progress_to(lambda _, done, __: seen.append(done)):
            small = machine.fetch(server.url, "small", timeouts=timeouts)
        assert Path(small.path).read_bytes() == NEW * 140
        server.requests.clear()
        storage = machine.storage(server.url, timeouts=replace(PATIENT, slow_for=0.3))
        for name in ("index", "other"):
            with pytest.raises(Unreachable) as raised:
                storage.fetch(Wanted(name))
            sentence = "has sent fewer than 1,024 bytes a second for 0.3 seconds"
            assert str(raised.value) == f"127.0.0.1:{server.port} {sentence}"
        # A host that is so slow is not asked again.
        assert server.received(1)
    assert machine.left_behind() == []


@pytest.mark.parametrize(
    "script",
    [
        is_silent,
        stalls_after(b"{", 100),
        trickles(b"x" * 99_999, 0.01),
        trickles_its_head,
        responds(503, Retry_After=20),
    ],
)
def test_a_stop_is_heard_at_once_whatever_the_server_does(
    machine: Machine, script: Handler
) -> None:
    with serving(index=script) as server:
        polls: list[int] = []

        def stops_after_five_polls() -> bool:
            polls.extend(bool(server.requests) * [1])
            return len(polls) > 5

        with pytest.raises(Cancelled), cancelled_when(stops_after_five_polls):
            machine.fetch(server.url, timeouts=replace(PATIENT, max_pause=30.0))
        assert server.received(1)
        assert machine.left_behind() == []
        # A thread that was abandoned while bytes came closes its connection.
        while server.waiting and "trickles." in str(script):
            assert not server.ended.wait(0.01)


@pytest.mark.parametrize("count", [10, 11])
def test_ten_redirects_are_followed(machine: Machine, count: int) -> None:
    statuses = (301, 302, 303, 307, 308)

    def further(exchange: Exchange) -> None:
        number = len(server.requests)
        last = number > count
        (sends(NEW) if last else responds(statuses[number % 5], Location=f"{number}"))(exchange)

    with serving(further) as server:
        if count == 10:
            assert machine.read(server) == NEW
        else:
            assert machine.failure(server) == "127.0.0.1 redirects more than 10 times"
        assert len(server.requests) == 11


def test_user_and_password_are_sent_and_never_shown(machine: Machine) -> None:
    def only_for_ann(exchange: Exchange) -> None:
        is_ann = exchange.request.headers.get("authorization") == "Basic YW5uOnMzY3IzdEA="
        exchange.respond(200 if is_ann else 401, NEW)

    with serving(index=only_for_ann) as server:
        address = f"http://ann:s3cr3t%40@127.0.0.1:{server.port}/?token=t0k3n"
        reports: list[str] = []
        storage = machine.storage(address)
        with progress_to(lambda what, *_: reports.append(what)):
            fetched = storage.fetch(Wanted("index"))
            with pytest.raises(NotFound) as raised:
                storage.fetch(Wanted("none"))

    assert Path(fetched.path).read_bytes() == NEW
    assert server.requests[0].target == "/index?token=t0k3n"
    kept = "".join(path.name + path.read_text() for path in machine.cache.iterdir())
    shown = "".join([storage.origin, repr(fetched), str(raised.value), kept, *reports])
    assert not any(secret in shown for secret in ("s3cr3t", "t0k3n", "ann"))


def test_a_password_is_sent_to_its_own_server_only(
    machine: Machine, authority: trustme.CA
) -> None:
    with serving() as other, serving() as server:
        other.handlers = {"/index": sends(NEW), "/back": responds(302, Location=server.url)}
        server.handlers = {
            "/other-port": responds(302, Location=f"{other.url}/index"),
            "/other-name": responds(302, Location=f"http://localhost:{server.port}/"),
            "/and-back": responds(302, Location=f"{other.url}/back"),
            "/same": responds(302, Location=f"{server.url}/with-password"),
            "/with-password": sends(NEW),
            "/": sends(NEW),
        }
        storage = machine.storage(f"http://ann:pw@127.0.0.1:{server.port}")
        for name in ("other-port", "other-name", "and-back", "same"):
            storage.fetch(Wanted(name))
        location = responds(302, Location=f"http://127.0.0.1:{other.port}/index")
        with tls_server(authority, "127.0.0.1", location) as secure:
            machine.fetch(f"https://ann:pw@127.0.0.1:{secure.port}")

    sent = [(each.path, "authorization" in each.headers) for each in server.requests]
    names = ["/other-port", "/other-name", "/", "/and-back", "/", "/same", "/with-password"]
    assert sent == [(name, name != "/") for name in names]
    assert other.paths() == ["/index", "/back", "/index"]
    assert "authorization" in secure.requests[0].headers
    assert not any("authorization" in each.headers for each in other.requests)


def test_certificates_of_the_environment_are_trusted(
    machine: Machine, authority: trustme.CA, tmp_path: Path
) -> None:
    path = machine.environ.pop("SSL_CERT_FILE")
    untrusted = "127.0.0.1 cannot be reached: its certificate cannot be trusted: "
    with tls_server(authority, "127.0.0.1", sends(NEW * 50_000)) as server:
        assert machine.failure(server).startswith(untrusted)
        for variable in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"):
            machine.environ[variable] = path
            assert machine.read(server) == NEW * 50_000
            del machine.environ[variable]

        (tmp_path / "empty").mkdir()
        machine.environ["SSL_CERT_DIR"] = str(tmp_path / "empty")
        assert "certificate cannot be trusted" in machine.fetch(server.url).remark
        machine.environ["SSL_CERT_FILE"] = "/nowhere/ca.pem"
        sentence = "SSL_CERT_FILE names /nowhere/ca.pem, which cannot be read: No such file"
        assert machine.failure(server, "other").startswith(sentence)
        machine.environ["SSL_CERT_FILE"] = __file__
        assert machine.failure(server, "other").endswith("cannot be read: no certificate in it")
    machine.environ["SSL_CERT_FILE"] = path
    with tls_server(authority, "example.org", sends(NEW)) as server:
        assert machine.failure(server).startswith(untrusted)
        assert server.requests == []


def test_a_server_that_does_not_answer_tls_cannot_be_reached(machine: Machine) -> None:
    with serving() as server, pytest.raises(SourceError, match=r"cannot be reached: TLS fails: "):
        machine.fetch(server.url.replace("http:", "https:"))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"https://127.0.0.1:{listening.getsockname()[1]}"
        with pytest.raises(Unreachable, match=r"reached: it does not answer TLS in time$"):
            machine.fetch(url, timeouts=replace(PATIENT, connect=0.2))


def forwards(exchange: Exchange) -> None:
    """Act as an HTTP proxy, which is asked for whole addresses, or for a tunnel."""
    if exchange.request.method != "CONNECT":
        exchange.respond(200, exchange.request.target.encode())
        return
    host, _, port = exchange.request.target.rpartition(":")
    with socket.create_connection((host, int(port))) as onward:
        exchange.send_head(200)
        onward.settimeout(0.02)
        exchange.connection.settimeout(0.02)
        while not exchange.server.ended.is_set():
            for one, other in ((onward, exchange.connection), (exchange.connection, onward)):
                try:
                    part = one.recv(65536)
                except TimeoutError:
                    continue
                if not part:
                    return
                other.settimeout(PATIENCE)
                other.sendall(part)
                other.settimeout(0.02)


def test_the_proxy_of_the_environment_is_asked_and_its_password_not_shown(
    machine: Machine,
) -> None:
    with serving() as proxy:
        proxy.default = forwards
        machine.environ["http_proxy"] = f"http://ann:s3cr3t@127.0.0.1:{proxy.port}"
        fetched = machine.fetch("http://example.org/cache")

        assert Path(fetched.path).read_bytes() == b"http://example.org/cache/index"
        assert proxy.requests[0].headers["proxy-authorization"] == "Basic YW5uOnMzY3IzdA=="
    for scheme in ("http", "socks5h"):
        machine.environ["http_proxy"] = f"{scheme}://ann:s3cr3t@127.0.0.1:{proxy.port}"
        with pytest.raises(Unreachable) as raised:
            machine.fetch("http://example.org")
        assert str(raised.value) == (
            "example.org cannot be reached"
            f" through the proxy 127.0.0.1:{proxy.port}: connection refused"
        )


@cases("is_encrypted", [True], more=[False])
def test_tls_goes_through_the_tunnel_of_a_proxy(
    machine: Machine, authority: trustme.CA, is_encrypted: bool
) -> None:
    body = NEW * 50_000
    with (
        tls_server(authority, "127.0.0.1", sends(body)) as server,
        tls_server(authority, "127.0.0.1", forwards) if is_encrypted else serving() as proxy,
    ):
        proxy.default = forwards
        machine.environ["HTTPS_PROXY"] = proxy.url

        assert machine.read(server) == body
        assert proxy.requests[0].method == "CONNECT"
        proxy.default = responds(403)
        assert "tunnel connection failed: 403" in machine.failure(server, "other")


def test_a_socks_proxy_is_asked_to_find_the_host_itself(machine: Machine) -> None:
    """The server acts as a SOCKS 5 proxy (RFC 1928, 1929) and the server after it."""

    def answer(listening: socket.socket) -> tuple[bytes, bytes]:
        connection, _ = listening.accept()
        with connection:
            connection.settimeout(PATIENCE)
            connection.recv(100)
            connection.sendall(b"\x05\x02")
            user = connection.recv(100)
            connection.sendall(b"\x01\x00")
            asked = connection.recv(300)
            connection.sendall(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50")
            connection.recv(9_000)
            connection.sendall(b"HTTP/1.1 200 Yes\r\nContent-Length: %d\r\n\r\n" % len(NEW) + NEW)
        return user, asked[5 : 5 + asked[4]]

    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as pool:
        listening.settimeout(PATIENCE)
        future = pool.submit(answer, listening)
        port = listening.getsockname()[1]
        machine.environ["all_proxy"] = f"socks5h://ann:p%40@127.0.0.1:{port}"
        fetched = machine.fetch("http://only.known.there/cache")

    assert Path(fetched.path).read_bytes() == NEW
    assert future.result() == (b"\x01\x03ann\x02p@", b"only.known.there")


PROXIES = {"http_proxy": "a:1", "HTTPS_PROXY": "http://b:2", "all_proxy": "socks5://c:3"}


@pytest.mark.parametrize(
    ("url", "environ", "proxy"),
    [
        ("http://x.org/", PROXIES, "http://a:1"),
        ("https://x.org/", PROXIES, "http://b:2"),
        ("https://x.org/", {"ALL_PROXY": "socks5://c:3"}, "socks5://c:3"),
        ("http://x.org/", {}, ""),
        ("http://x.org/", PROXIES | {"no_proxy": "y.org, x.org"}, ""),
        ("http://sub.x.org/", PROXIES | {"NO_PROXY": ".x.org"}, ""),
        ("http://sub.x.org/", PROXIES | {"NO_PROXY": "*.x.org"}, ""),
        ("http://sub.x.org/", PROXIES | {"no_proxy": "x.org"}, ""),
        ("http://notx.org/", PROXIES | {"no_proxy": "x.org"}, "http://a:1"),
        ("http://x.org/", PROXIES | {"no_proxy": "."}, "http://a:1"),
        ("http://x.org:81/", PROXIES | {"no_proxy": "x.org:81"}, ""),
        ("http://x.org:80/", PROXIES | {"no_proxy": "x.org:81"}, "http://a:1"),
        ("http://10.1.2.3/", PROXIES | {"no_proxy": "10.0.0.0/8"}, ""),
        ("http://[::1]/", PROXIES | {"no_proxy": "::1"}, ""),
        ("http://x.org/", PROXIES | {"no_proxy": "*"}, ""),
    ],
)
def test_proxies_are_chosen_as_curl_chooses_them(
    url: str, environ: dict[str, str], proxy: str
) -> None:
    chosen = proxy_of(split_url(url), environ)

    assert (chosen.address if chosen is not None else "") == proxy


@pytest.mark.parametrize(
    ("variable", "proxy", "reason"),
    [
        ("http_proxy", "http://ann:s3cr3t@[::1", f"http://[::1 {NO_URL}: its host cannot be read"),
        ("HTTP_PROXY", "ftp://x", f"ftp://x {NO_URL}: it must begin with http:// or "),
        ("all_proxy", "ann:s3cr3t@x:no", f"http://x:… {NO_URL}: {NO_PORT}"),
    ],
)
def test_a_proxy_that_cannot_be_asked_is_a_sentence(
    machine: Machine, variable: str, proxy: str, reason: str
) -> None:
    machine.environ[variable] = proxy
    with serving(index=sends(NEW)) as server:
        failure = machine.failure(server)

    wrong = f"127.0.0.1 cannot be reached: {variable.lower()} is invalid: {reason}"
    assert failure.startswith(wrong)
    assert "s3cr3t" not in failure
