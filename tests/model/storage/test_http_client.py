"""Redirects, retries and credentials go where they should."""

from __future__ import annotations

import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import trustme

from spackscope.model.core.errors import Cancelled, NotFound, SourceError, Unreachable
from spackscope.model.storage.cache import Timeouts
from tests.model.storage.machine import NEW, NO_PORT, NO_URL, OLD, Machine, tls_server
from tests.web_server import (
    Exchange,
    Handler,
    announces,
    hangs_up,
    in_turn,
    is_silent,
    responds,
    sends,
    serving,
    stalls_after,
)


def test_several_threads_share_the_connections_of_a_client(machine: Machine) -> None:
    with serving() as server:
        server.default = lambda exchange: exchange.respond(
            200, exchange.request.target.encode() * 9_000
        )
        storage = machine.storage(server.url)
        with ThreadPoolExecutor(8) as pool:
            paths = list(pool.map(lambda number: storage.fetch(f"{number}").path, range(64)))

    for number, path in enumerate(paths):
        assert Path(path).read_bytes() == f"/{number}".encode() * 9_000


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (is_silent, "127.0.0.1 has sent nothing for 0.2 seconds"),
        (stalls_after(b"{", 100), "127.0.0.1 has sent nothing for 0.2 seconds"),
        (hangs_up, "the connection to 127.0.0.1 broke: remote end closed connection without"),
        (announces(100, NEW), "the connection to 127.0.0.1 broke: the body ends too early"),
        (responds(500), "URL/index cannot be read: 127.0.0.1 answers HTTP 500"),
        (responds(429), "URL/index cannot be read: 127.0.0.1 answers HTTP 429"),
        (responds(503, Retry_After=0), "URL/index cannot be read: 127.0.0.1 answers HTTP 503"),
    ],
)
def test_what_may_go_better_is_tried_three_times_and_then_the_old_copy_serves(
    machine: Machine, script: Handler, sentence: str
) -> None:
    with serving(index=script) as server:
        assert machine.failure(server).startswith(sentence)
        assert len(server.requests) == 3

        server.handlers["/index"] = sends(OLD)
        good = machine.storage(server.url).fetch("index")
        server.handlers["/index"] = script
        served = machine.storage(server.url).fetch("index")

    assert Path(served.path).read_bytes() == OLD
    assert served.checked == good.checked
    remark = served.remark.replace(server.url, "URL").replace(f":{server.port}", "")
    assert remark.startswith(sentence)
    assert machine.left_behind() == []


@pytest.mark.parametrize(
    "first", [responds(500), responds(429, Retry_After=0), hangs_up, announces(99, OLD), is_silent]
)
def test_a_server_that_recovers_is_waited_for(machine: Machine, first: Handler) -> None:
    with serving(index=in_turn(first, sends(NEW))) as server:
        assert machine.read(server) == NEW


def test_a_retry_waits_as_long_as_the_server_asks(machine: Machine) -> None:
    has_waited = threading.Event()

    def begin(exchange: Exchange) -> None:
        threading.Timer(0.9, has_waited.set).start()
        responds(429, Retry_After=1)(exchange)

    def answer(exchange: Exchange) -> None:
        (sends(NEW) if has_waited.is_set() else responds(500))(exchange)

    with serving(index=in_turn(begin, answer)) as server:
        storage = machine.storage(
            server.url, timeouts=Timeouts(attempts=2, pause=0.0, max_pause=2.0)
        )
        assert Path(storage.fetch("index").path).read_bytes() == NEW


def test_a_server_that_wants_an_hour_is_not_waited_for(machine: Machine) -> None:
    with serving(index=responds(503, Retry_After=3600)) as server:
        assert "HTTP 503" in machine.failure(server)
        assert len(server.requests) == 1


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
            machine.storage(server.url).fetch("index")
        assert raised.value.is_forbidden is (status in (401, 403))
        assert len(server.requests) == 2


def test_a_host_that_vanished_is_reported_once_and_not_waited_for_again(machine: Machine) -> None:
    with serving(index=sends(OLD)) as server:
        machine.read(server)
    storage = machine.storage(server.url)

    served = storage.fetch("index")
    with pytest.raises(Unreachable, match="cannot be reached: connection refused"):
        storage.fetch("other")

    assert Path(served.path).read_bytes() == OLD
    assert served.remark == f"127.0.0.1:{server.port} cannot be reached: connection refused"
    with socket.create_server(("127.0.0.1", server.port)), pytest.raises(Unreachable):
        storage.fetch("other")


def test_a_host_that_stayed_silent_is_not_waited_for_again(machine: Machine) -> None:
    with serving(index=is_silent) as server:
        storage = machine.storage(server.url)
        for _ in range(2):
            with pytest.raises(SourceError, match="has sent nothing"):
                storage.fetch("index")

        assert len(server.requests) == 3


def test_a_silent_host_is_asked_once_where_there_is_a_copy(machine: Machine) -> None:
    with serving(index=sends(OLD)) as server:
        machine.read(server)
        server.handlers["/index"] = is_silent
        server.requests.clear()

        served = machine.storage(server.url).fetch("index")

        assert len(server.requests) == 1
    assert Path(served.path).read_bytes() == OLD
    assert "has sent nothing" in served.remark


def test_a_url_is_requested_as_it_is(machine: Machine) -> None:
    with serving(index=responds(301, Location="/a;b=c/d;e?q;r#part")) as server:
        server.default = sends(NEW)
        machine.read(server)

    assert server.requests[-1].target == "/a;b=c/d;e?q;r"


def test_redirects_are_followed(machine: Machine) -> None:
    with serving(
        index=responds(301, Location="two"), two=responds(307, Location="/three")
    ) as server:
        server.handlers["/three"] = sends(NEW)

        assert machine.read(server) == NEW


@pytest.mark.parametrize(
    ("location", "sentence"),
    [
        ("/index", "in a circle, back to URL/index"),
        (
            "file:///etc/passwd",
            "to file:///etc/passwd, which is not http or https",
        ),
        (
            "ftp://x:y@host/a?b",
            "to ftp://host/a?…, which is not http or https",
        ),
        (
            "http://[::1",
            f"to a wrong URL: http://[::1 {NO_URL}: its host cannot be read",
        ),
        (
            "http://:80/",
            f"to a wrong URL: http://:80/ {NO_URL}: it has no host",
        ),
        (
            "/a\tb",
            f"to a wrong URL: /a\tb {NO_URL}: it has a control character",
        ),
        ("//u:pw@h:x/", f"to a wrong URL: http://h:x/ {NO_URL}: {NO_PORT}"),
    ],
)
def test_redirects_lead_to_the_web_only(machine: Machine, location: str, sentence: str) -> None:
    with serving(index=responds(302, Location=location)) as server:
        assert machine.failure(server) == f"127.0.0.1 redirects {sentence}"
        assert len(server.requests) == 1


def test_redirects_have_an_end(machine: Machine) -> None:
    def further(exchange: Exchange) -> None:
        exchange.respond(302, Location=f"/{len(server.requests)}")

    with serving() as server:
        server.default = further
        assert machine.failure(server) == "127.0.0.1 redirects more than 10 times"
        assert len(server.requests) == 11


def test_a_stop_is_heard_between_two_attempts(machine: Machine) -> None:
    polls: list[int] = []
    with serving(index=responds(503, Retry_After=20)) as server:

        def stops_after_five_polls_in_the_pause() -> bool:
            if server.requests and not server.waiting:
                polls.append(1)
            return len(polls) > 5

        storage = machine.storage(
            server.url, timeouts=Timeouts(), should_stop=stops_after_five_polls_in_the_pause
        )
        with pytest.raises(Cancelled):
            storage.fetch("index")

        assert len(server.requests) == 1


def test_user_and_password_are_sent_and_never_shown(machine: Machine) -> None:
    def only_for_ann(exchange: Exchange) -> None:
        if exchange.request.headers.get("authorization") == "Basic YW5uOnMzY3IzdEA=":
            exchange.respond(200, NEW)
        else:
            exchange.respond(401)

    with serving(index=only_for_ann) as server:
        address = f"http://ann:s3cr3t%40@127.0.0.1:{server.port}/?token=t0k3n"
        reports: list[str] = []
        storage = machine.storage(address, on_progress=lambda what, *_: reports.append(what))
        fetched = storage.fetch("index")
        missing = machine.failure(server, "none").replace("URL", "")
        with pytest.raises(NotFound) as raised:
            storage.fetch("none")

    assert Path(fetched.path).read_bytes() == NEW
    assert server.requests[0].target == "/index?token=t0k3n"
    kept = "".join(path.name + path.read_text() for path in machine.cache.iterdir())
    shown = [storage.origin, repr(fetched), str(raised.value), kept, *reports, missing]
    for secret in ("s3cr3t", "t0k3n", "ann"):
        assert secret not in "".join(shown)


def test_a_password_is_not_sent_to_where_a_redirect_leads(machine: Machine) -> None:
    with serving(index=sends(NEW)) as other:
        with serving(index=responds(302, Location=f"{other.url}/index")) as server:
            machine.storage(f"http://ann:pw@127.0.0.1:{server.port}").fetch("index")

        assert "authorization" in server.requests[0].headers
        assert "authorization" not in other.requests[0].headers


@pytest.mark.parametrize("secure", [True, False])
def test_a_password_is_sent_to_no_other_scheme_or_host_of_the_same_machine(
    machine: Machine, tmp_path: Path, secure: bool
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    machine.environ["SSL_CERT_FILE"] = str(tmp_path / "ca.pem")
    with serving(index=sends(NEW)) as other:
        if secure:
            location = f"http://127.0.0.1:{other.port}/index"
            with tls_server(authority, "127.0.0.1", responds(302, Location=location)) as server:
                machine.storage(f"https://ann:pw@127.0.0.1:{server.port}").fetch("index")
        else:
            other.handlers["/first"] = responds(
                302, Location=f"http://localhost:{other.port}/index"
            )
            machine.storage(f"http://ann:pw@127.0.0.1:{other.port}").fetch("first")

        assert other.requests[-1].path == "/index"
        assert "authorization" not in other.requests[-1].headers


def test_a_password_does_not_come_back_after_a_redirect_elsewhere(machine: Machine) -> None:
    with serving() as other, serving() as server:
        server.handlers["/index"] = responds(302, Location=f"{other.url}/on")
        other.handlers["/on"] = responds(302, Location=f"{server.url}/end")
        server.handlers["/end"] = sends(NEW)
        machine.storage(f"http://ann:pw@127.0.0.1:{server.port}").fetch("index")

        assert "authorization" not in server.requests[-1].headers
