from __future__ import annotations

import gzip
import hashlib
import json
import os
import resource
import shutil
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import trustme

from spackscope.model.core.bounded_files import MAX_FILE_SIZE
from spackscope.model.core.errors import (
    Cancelled,
    ListingUnsupported,
    NotFound,
    SourceError,
    Unreachable,
    WrongContent,
)
from spackscope.model.sources.discover import discover
from spackscope.model.sources.session import Session
from spackscope.model.storage.download import Downloader
from spackscope.model.storage.download_cache import open_download_cache
from spackscope.model.storage.http import HttpStorage
from spackscope.model.storage.http_client import Client
from spackscope.model.storage.open import open_storage
from spackscope.model.storage.patience import Patience
from spackscope.model.storage.proxies_and_tls import proxy_of
from spackscope.model.storage.urls import is_remote, split_url
from tests.web_server import (
    Exchange,
    Handler,
    WebServer,
    announces,
    hangs_up,
    in_turn,
    is_silent,
    never_ends,
    packed,
    responds,
    sends,
    serving,
    stalls_after,
    trickles,
)

NO_URL = "is not a valid URL"
NO_PORT = "its port is not a number up to 65,535"
QUICK = Patience(connect=1.0, stalled=0.2, pause=0.01, max_pause=0.5)
OLD, NEW = b'{"old": true}', b'{"new": true}'


class Machine:
    """A machine with its own cache directory, on which spackscope is started again and again."""

    def __init__(self, home: Path) -> None:
        self.environ = {"XDG_CACHE_HOME": str(home)}
        self.copies = home / "spackscope" / "copies"

    def place(self, url: str, *, patience: Patience = QUICK, **more: Any) -> HttpStorage:
        client = Client(
            self.environ, patience=patience, should_stop=more.get("should_stop", lambda: False)
        )
        return HttpStorage(url, Downloader(open_download_cache(self.environ), client, **more))

    def read(self, server: WebServer, name: str = "index", **how: Any) -> bytes:
        return Path(self.place(server.url).fetch(name, **how).path).read_bytes()

    def failure(
        self, server: WebServer, name: str = "index", *, max_size: int = MAX_FILE_SIZE, **more: Any
    ) -> str:
        with pytest.raises(SourceError) as raised:
            self.place(server.url, **more).fetch(name, max_size=max_size)
        return str(raised.value).replace(server.url, "URL").replace(f":{server.port}", "")

    def left_behind(self) -> list[str]:
        return sorted(name for name in os.listdir(self.copies) if name.endswith(".tmp"))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "cache")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_a_file_comes_with_what_the_user_is_told_of_it(machine: Machine) -> None:
    with serving(index=sends(NEW)) as server:
        before = time.time()
        fetched = machine.place(server.url).fetch("index")

    assert Path(fetched.path).read_bytes() == NEW
    assert fetched.origin == f"{server.url}/index"
    assert fetched.checked is not None
    assert before <= fetched.checked <= time.time()
    assert fetched.remark == ""
    assert machine.left_behind() == []


def test_names_are_asked_for_as_addresses_write_them(machine: Machine) -> None:
    with serving() as server:
        server.default = sends(NEW)
        machine.read(server, "build_cache/a b+c%20/é?#.json")

    assert server.requests[0].target == "/build_cache/a%20b%2Bc%2520/%C3%A9%3F%23.json"


def test_a_full_disk_leaves_the_copy_of_before(machine: Machine) -> None:
    room = resource.getrlimit(resource.RLIMIT_FSIZE)
    with serving(index=in_turn(sends(OLD), sends(bytes(30 << 20)))) as server:
        machine.read(server)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20 << 20, room[1]))
        try:
            served = machine.place(server.url).fetch("index")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, room)

    assert Path(served.path).read_bytes() == OLD
    assert served.remark == f"{server.url}/index cannot be written to the cache: File too large"
    assert machine.left_behind() == []


def test_a_cache_that_is_removed_meanwhile_is_made_anew(machine: Machine) -> None:
    with serving(index=sends(NEW)) as server:
        place = machine.place(server.url)
        shutil.rmtree(machine.copies)

        assert Path(place.fetch("index").path).read_bytes() == NEW


def test_several_threads_share_the_connections_of_a_client(machine: Machine) -> None:
    with serving() as server:
        server.default = lambda exchange: exchange.respond(
            200, exchange.request.target.encode() * 9_000
        )
        place = machine.place(server.url)
        with ThreadPoolExecutor(8) as pool:
            paths = list(pool.map(lambda number: place.fetch(f"{number}").path, range(64)))

    for number, path in enumerate(paths):
        assert Path(path).read_bytes() == f"/{number}".encode() * 9_000


@pytest.mark.parametrize(
    "version", [{"ETag": '"1"'}, {"Last_Modified": "Sat, 21 Nov 2026 08:00:00 GMT"}]
)
def test_a_second_start_downloads_nothing_and_keeps_the_file_as_it_is(
    machine: Machine, version: dict[str, str]
) -> None:
    with serving(index=sends(NEW, **version)) as server:
        first = machine.place(server.url).fetch("index")
        was = os.stat(first.path)
        seen: list[int] = []
        place = machine.place(server.url, on_progress=lambda what, done, total: seen.append(done))
        second = place.fetch("index")

    assert second.path == first.path
    now = os.stat(second.path)
    assert (now.st_mtime_ns, now.st_ctime_ns) == (was.st_mtime_ns, was.st_ctime_ns)
    assert len(server.requests) == 2
    assert seen == []
    assert second.checked > first.checked  # type: ignore[operator]


def test_the_same_content_once_more_leaves_the_file_as_it_is(machine: Machine) -> None:
    with serving(index=sends(NEW)) as server:
        first = machine.place(server.url).fetch("index")
        was = os.stat(first.path)
        second = machine.place(server.url).fetch("index")

    assert os.stat(second.path).st_ctime_ns == was.st_ctime_ns


def test_a_changed_file_takes_the_place_of_its_copy(machine: Machine) -> None:
    with serving(index=in_turn(sends(OLD, ETag='"1"'), sends(NEW, ETag='"2"'))) as server:
        assert machine.read(server) == OLD
        assert machine.read(server) == NEW


def test_a_file_that_does_not_change_is_asked_for_once(machine: Machine) -> None:
    with serving(blob=sends(NEW)) as server:
        for _ in range(3):
            assert machine.read(server, "blob", sha256=sha256(NEW), immutable=True) == NEW

        assert server.paths() == ["/blob"]


def test_a_copy_that_was_tampered_with_is_fetched_anew(machine: Machine) -> None:
    with serving(blob=sends(NEW)) as server:
        path = machine.place(server.url).fetch("blob", sha256=sha256(NEW), immutable=True).path
        Path(path).write_bytes(OLD)
        assert len(OLD) == len(NEW)

        assert machine.read(server, "blob", sha256=sha256(NEW), immutable=True) == NEW


def test_a_checksum_that_is_not_that_of_the_file_refuses_it(machine: Machine) -> None:
    says_so = "does not match its checksum: sha256 is"
    with serving(blob=sends(NEW)) as server, pytest.raises(WrongContent, match=says_so):
        machine.place(server.url).fetch("blob", sha256=sha256(OLD), immutable=True)

    assert not [name for name in os.listdir(machine.copies) if "json" not in name]


def test_a_file_whose_checksum_is_known_and_that_is_there_is_not_asked_for(
    machine: Machine,
) -> None:
    with serving(index=sends(NEW)) as server:
        machine.read(server)

        assert machine.read(server, sha256=sha256(NEW)) == NEW
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        (is_silent, "127.0.0.1 has sent nothing for 0.2 seconds"),
        (stalls_after(b"{", 100), "127.0.0.1 has sent nothing for 0.2 seconds"),
        (hangs_up, "the connection to 127.0.0.1 broke: server disconnected without"),
        (announces(100, NEW), "the connection to 127.0.0.1 broke: peer closed connection"),
        (announces(5, NEW), "127.0.0.1 has sent more than the 5 bytes that it announced"),
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
        good = machine.place(server.url).fetch("index")
        server.handlers["/index"] = script
        served = machine.place(server.url).fetch("index")

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


def test_a_server_is_given_the_time_that_it_wants(machine: Machine) -> None:
    has_waited = threading.Event()

    def begin(exchange: Exchange) -> None:
        threading.Timer(0.9, has_waited.set).start()
        responds(429, Retry_After=1)(exchange)

    def answer(exchange: Exchange) -> None:
        (sends(NEW) if has_waited.is_set() else responds(500))(exchange)

    with serving(index=in_turn(begin, answer)) as server:
        place = machine.place(server.url, patience=Patience(attempts=2, pause=0.0, max_pause=2.0))
        assert Path(place.fetch("index").path).read_bytes() == NEW


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
            machine.place(server.url).fetch("index")
        assert raised.value.is_forbidden is (status in (401, 403))
        assert len(server.requests) == 2


def test_a_file_that_is_no_more_is_missing_although_there_is_a_copy(machine: Machine) -> None:
    with serving(index=in_turn(sends(OLD), responds(404))) as server:
        machine.read(server)

        with pytest.raises(NotFound):
            machine.read(server)


def test_a_file_that_is_forbidden_by_now_is_served_from_its_copy(machine: Machine) -> None:
    with serving(index=in_turn(sends(OLD), responds(403))) as server:
        machine.read(server)

        assert machine.place(server.url).fetch("index").remark.endswith("is forbidden: HTTP 403")


def test_a_host_that_vanished_is_said_once_and_not_waited_for_again(machine: Machine) -> None:
    with serving(index=sends(OLD)) as server:
        machine.read(server)
    place = machine.place(server.url)

    served = place.fetch("index")
    with pytest.raises(Unreachable, match="cannot be reached: connection refused"):
        place.fetch("other")

    assert Path(served.path).read_bytes() == OLD
    assert served.remark == f"127.0.0.1:{server.port} cannot be reached: connection refused"
    with socket.create_server(("127.0.0.1", server.port)), pytest.raises(Unreachable):
        place.fetch("other")


def test_a_host_without_an_address_is_named(machine: Machine) -> None:
    with pytest.raises(SourceError, match=r"^nowhere\.invalid cannot be reached: its name cannot"):
        machine.place("https://nowhere.invalid/cache").fetch("index.json")


def test_a_host_that_stayed_silent_is_not_waited_for_again(machine: Machine) -> None:
    with serving(index=is_silent) as server:
        place = machine.place(server.url)
        for _ in range(2):
            with pytest.raises(SourceError, match="has sent nothing"):
                place.fetch("index")

        assert len(server.requests) == 3


def test_a_silent_host_is_asked_once_where_there_is_a_copy(machine: Machine) -> None:
    with serving(index=sends(OLD)) as server:
        machine.read(server)
        server.handlers["/index"] = is_silent
        server.requests.clear()

        served = machine.place(server.url).fetch("index")

        assert len(server.requests) == 1
    assert Path(served.path).read_bytes() == OLD
    assert "has sent nothing" in served.remark


def test_a_body_that_would_never_end_is_given_up(machine: Machine) -> None:
    patience = Patience(slow_for=0.3)
    with serving(index=trickles(b"x" * 9_999, 0.01), other=sends(NEW)) as server:
        place = machine.place(server.url, patience=patience)
        for name in ("index", "other"):
            with pytest.raises(SourceError) as raised:
                place.fetch(name)
            sentence = str(raised.value).replace(f":{server.port}", "")
            slow = "has sent fewer than 1,024 bytes a second for 0.3 seconds"
            assert sentence == f"127.0.0.1 {slow}"

        # A host that is so slow is not asked again.
        assert len(server.requests) == 1


def test_a_small_file_that_comes_slowly_comes_to_its_end(machine: Machine) -> None:
    patience = Patience(slow_for=0.3, min_rate=5)
    with serving(index=trickles(NEW * 4, 0.01)) as server:
        fetched = machine.place(server.url, patience=patience).fetch("index")

    assert Path(fetched.path).read_bytes() == NEW * 4


def test_empty_members_of_gzip_without_an_end_are_given_up(machine: Machine) -> None:
    empty = gzip.compress(b"") * 70_000
    with serving(index=sends(empty, Content_Encoding="gzip")) as server:
        assert machine.failure(server) == "URL/index is packed in more than 65,536 parts"


def test_packed_bytes_that_unpack_to_nothing_are_counted(machine: Machine) -> None:
    def is_empty_for_ever(exchange: Exchange) -> None:
        exchange.send_head(200, Content_Encoding="gzip", Connection="close")
        exchange.send(gzip.compress(b"")[:10])
        while not exchange.server.ended.is_set():
            # A block that holds nothing, after which another one comes.
            exchange.send(b"\0\0\0\xff\xff" * 10_000)

    with serving(index=is_empty_for_ever) as server:
        sentence = machine.failure(server, max_size=100_000)

    assert sentence == "URL/index is larger than the 100,000 bytes allowed"


def test_a_cache_that_takes_no_copy_hides_no_file(machine: Machine) -> None:
    with serving(index=sends(NEW)) as server:
        (machine.copies / sha256(f"{server.url}/index".encode())[:40]).mkdir(parents=True)

        served = machine.place(server.url).fetch("index")

        assert Path(served.path).read_bytes() == NEW
    assert not served.path.startswith(str(machine.copies))


def test_an_endless_body_is_cut_off(machine: Machine) -> None:
    with serving(index=never_ends) as server:
        sentence = machine.failure(server, max_size=1_000_000)

    assert sentence == "URL/index is larger than the 1,000,000 bytes allowed"
    assert machine.left_behind() == []


def test_a_body_that_is_announced_as_too_large_is_not_begun(machine: Machine) -> None:
    with serving(index=stalls_after(b"", 10**12)) as server:
        sentence = machine.failure(server, max_size=1_000_000)

    assert sentence == "URL/index is too large: 1,000,000,000,000 bytes, and 1,000,000 are allowed"


def test_a_packed_body_is_unpacked(machine: Machine) -> None:
    with serving(index=packed(NEW * 1000)) as server:
        assert machine.read(server) == NEW * 1000
        assert server.requests[0].headers["accept-encoding"] == "gzip"


def test_a_checksum_may_be_that_of_the_packed_file_or_of_what_is_in_it(machine: Machine) -> None:
    with serving(blob=packed(NEW), other=packed(NEW)) as server:
        inside = machine.read(server, "blob", sha256=sha256(NEW))
        lying = gzip.compress(NEW)
        server.handlers["/other"] = sends(lying, Content_Encoding="gzip")
        outside = machine.read(server, "other", sha256=sha256(lying))

    assert inside == NEW
    assert outside == lying


def test_a_packed_body_that_stands_for_very_much_is_refused(machine: Machine) -> None:
    with serving(index=packed(bytes(65 << 20))) as server:
        assert machine.failure(server) == "URL/index unpacks to more than 100 times its size"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (gzip.compress(NEW, mtime=0)[:-9], "URL/index cannot be unpacked: it is cut short"),
        (NEW, "URL/index cannot be unpacked: Error -3"),
    ],
)
def test_a_body_that_is_packed_badly_is_refused(
    machine: Machine, body: bytes, sentence: str
) -> None:
    with serving(index=sends(body, Content_Encoding="gzip")) as server:
        assert machine.failure(server).startswith(sentence)


def test_an_encoding_that_nobody_asked_for_is_refused(machine: Machine) -> None:
    with serving(index=sends(NEW, Content_Encoding="br")) as server:
        assert "is encoded as br, which was not asked for" in machine.failure(server)


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
        ("//u:pw@h:x/", f"to a wrong URL: http://…@h:x/ {NO_URL}: {NO_PORT}"),
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


@pytest.mark.parametrize("script", [is_silent, stalls_after(b"{", 100), trickles(b"x" * 99, 0.5)])
def test_a_stop_is_heard_at_once_whatever_the_server_does(
    machine: Machine, script: Handler
) -> None:
    with serving(index=script) as server:
        patience = Patience(stalled=60.0)  # longer than the server waits
        place = machine.place(
            server.url, patience=patience, should_stop=lambda: server.waiting == 1
        )
        with pytest.raises(Cancelled):
            place.fetch("index")

        assert len(server.requests) == 1
    assert machine.left_behind() == []


def test_a_stop_is_heard_between_two_attempts(machine: Machine) -> None:
    polls: list[int] = []
    with serving(index=responds(503, Retry_After=20)) as server:

        def stops_after_five_polls_in_the_pause() -> bool:
            if server.requests and not server.waiting:
                polls.append(1)
            return len(polls) > 5

        place = machine.place(
            server.url, patience=Patience(), should_stop=stops_after_five_polls_in_the_pause
        )
        with pytest.raises(Cancelled):
            place.fetch("index")

        assert len(server.requests) == 1


def test_progress_tells_bytes_and_how_many_there_are(machine: Machine) -> None:
    seen: list[tuple[str, int, int | None]] = []
    with serving(index=sends(b"x" * 300_000)) as server:
        machine.place(server.url, on_progress=lambda *told: seen.append(told)).fetch("index")

    assert seen[-1] == ("bytes of index", 300_000, 300_000)
    assert [done for _, done, _ in seen] == sorted(done for _, done, _ in seen)


def test_user_and_password_are_sent_and_never_shown(machine: Machine) -> None:
    def only_for_ann(exchange: Exchange) -> None:
        if exchange.request.headers.get("authorization") == "Basic YW5uOnMzY3IzdEA=":
            exchange.respond(200, NEW)
        else:
            exchange.respond(401)

    with serving(index=only_for_ann) as server:
        address = f"http://ann:s3cr3t%40@127.0.0.1:{server.port}/?token=t0k3n"
        told: list[str] = []
        place = machine.place(address, on_progress=lambda what, *_: told.append(what))
        fetched = place.fetch("index")
        missing = machine.failure(server, "none").replace("URL", "")
        with pytest.raises(NotFound) as raised:
            place.fetch("none")

    assert Path(fetched.path).read_bytes() == NEW
    assert server.requests[0].target == "/index?token=t0k3n"
    kept = "".join(path.name + path.read_text() for path in machine.copies.iterdir())
    shown = [place.origin, repr(fetched), str(raised.value), kept, *told, missing]
    for secret in ("s3cr3t", "t0k3n", "ann"):
        assert secret not in "".join(shown)


def test_a_password_is_not_sent_to_where_a_redirect_leads(machine: Machine) -> None:
    with serving(index=sends(NEW)) as other:
        with serving(index=responds(302, Location=f"{other.url}/index")) as server:
            machine.place(f"http://ann:pw@127.0.0.1:{server.port}").fetch("index")

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
                machine.place(f"https://ann:pw@127.0.0.1:{server.port}").fetch("index")
        else:
            other.handlers["/first"] = responds(
                302, Location=f"http://localhost:{other.port}/index"
            )
            machine.place(f"http://ann:pw@127.0.0.1:{other.port}").fetch("first")

        assert other.requests[-1].path == "/index"
        assert "authorization" not in other.requests[-1].headers


def test_a_password_does_not_come_back_after_a_redirect_elsewhere(machine: Machine) -> None:
    with serving() as other, serving() as server:
        server.handlers["/index"] = responds(302, Location=f"{other.url}/on")
        other.handlers["/on"] = responds(302, Location=f"{server.url}/end")
        server.handlers["/end"] = sends(NEW)
        machine.place(f"http://ann:pw@127.0.0.1:{server.port}").fetch("index")

        assert "authorization" not in server.requests[-1].headers


@pytest.mark.parametrize("value", ["a\r\nX: y", "a\0", "\udcff", "\u0142"])
def test_a_header_that_http_does_not_allow_is_not_sent(machine: Machine, value: str) -> None:
    with serving(index=sends(NEW)) as server:
        client = Client(machine.environ, patience=QUICK)
        asking = client.get(split_url(f"{server.url}/index"), {"Authorization": value})
        with pytest.raises(SourceError) as raised, asking:
            pass

    assert server.requests == []
    assert str(raised.value).endswith(
        "the header Authorization has characters that HTTP does not allow"
    )


def test_what_a_server_tells_of_a_version_cannot_break_the_next_request(machine: Machine) -> None:
    with serving(index=sends(NEW, ETag="\x80\xff")) as server:
        for _ in range(2):
            assert machine.read(server) == NEW


def test_a_place_on_the_web_cannot_be_listed(machine: Machine) -> None:
    with pytest.raises(ListingUnsupported, match=r"https://example\.org/cache cannot be listed"):
        next(machine.place("https://example.org/cache/").names("v3"))


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1\r\n\r\n", b"\x00" * 400, b"SSH-2.0-x\r\n"])
def test_an_answer_that_is_not_http_is_a_sentence(machine: Machine, answer: bytes) -> None:
    def talks_otherwise(exchange: Exchange) -> None:
        exchange.send(answer)
        hangs_up(exchange)

    with serving(index=talks_otherwise) as server:
        assert machine.failure(server).startswith("the connection to 127.0.0.1 broke: ")


def test_a_header_that_is_not_http_is_not_printed(machine: Machine) -> None:
    def leads_on(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 302 Found\r\nLocation: http://h/?sig=s3cret\0\r\n\r\n")
        hangs_up(exchange)

    with serving(index=leads_on) as server:
        failure = machine.failure(server)

    assert failure == "the connection to 127.0.0.1 broke: illegal header line"


def test_a_304_that_nobody_asked_for_is_no_file(machine: Machine) -> None:
    with serving(index=responds(304)) as server:
        assert machine.failure(server) == "URL/index cannot be read: 127.0.0.1 answers HTTP 304"


@contextmanager
def tls_server(authority: trustme.CA, name: str, script: Handler) -> Iterator[WebServer]:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(name).configure_cert(context)
    with serving(tls=context, index=script) as server:
        yield server


def test_certificates_of_the_environment_are_trusted(machine: Machine, tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    with tls_server(authority, "127.0.0.1", sends(NEW * 50_000)) as server:
        for variable in ("SSL_CERT_FILE", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE"):
            machine.environ[variable] = str(tmp_path / "ca.pem")
            assert machine.read(server) == NEW * 50_000
            del machine.environ[variable]

        (tmp_path / "empty").mkdir()
        machine.environ["SSL_CERT_DIR"] = str(tmp_path / "empty")
        assert "certificate cannot be trusted" in machine.place(server.url).fetch("index").remark


@pytest.mark.parametrize("name", ["127.0.0.1", "example.org"])
def test_a_certificate_that_cannot_be_trusted_is_one_sentence(
    machine: Machine, tmp_path: Path, name: str
) -> None:
    authority = trustme.CA()
    if name == "example.org":
        authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        machine.environ["SSL_CERT_FILE"] = str(tmp_path / "ca.pem")
    with tls_server(authority, name, sends(NEW)) as server:
        sentence = machine.failure(server)

    assert sentence.startswith("127.0.0.1 cannot be reached: its certificate cannot be trusted: ")
    assert server.requests == []


def test_a_server_without_tls_under_https_is_one_sentence(machine: Machine) -> None:
    with serving() as server:
        place = machine.place(server.url.replace("http:", "https:"))
        with pytest.raises(SourceError, match=r"cannot be reached: TLS fails: "):
            place.fetch("index")


def test_a_server_that_does_not_answer_tls_cannot_be_reached(machine: Machine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        place = machine.place(
            f"https://127.0.0.1:{port}", patience=Patience(connect=0.2, stalled=5.0)
        )
        with pytest.raises(
            Unreachable, match=r"cannot be reached: it does not answer TLS in time$"
        ):
            place.fetch("index")


def test_a_head_that_comes_byte_by_byte_has_to_end_some_time(machine: Machine) -> None:
    def trickles_its_head(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 200 Yes\r\nX: ")
        while not exchange.server.ended.wait(0.05):
            exchange.send(b"x")

    with serving(index=trickles_its_head) as server:
        place = machine.place(server.url, patience=Patience(stalled=0.2, attempts=1))
        with pytest.raises(SourceError, match="broke: the head of its response does not end"):
            place.fetch("index")


def test_a_file_of_certificates_that_is_not_there_is_named(machine: Machine) -> None:
    machine.environ["SSL_CERT_FILE"] = "/nowhere/ca.pem"
    with pytest.raises(SourceError, match=r"SSL_CERT_FILE names /nowhere/ca\.pem, which cannot"):
        machine.place("https://127.0.0.1:1").fetch("index")


def forwards(exchange: Exchange) -> None:
    """Be an HTTP proxy, which is asked for whole addresses, or for a tunnel."""
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
                other.sendall(part)


def test_the_proxy_of_the_environment_is_asked_and_its_password_not_shown(
    machine: Machine,
) -> None:
    with serving() as proxy:
        proxy.default = forwards
        machine.environ["http_proxy"] = f"http://ann:s3cr3t@127.0.0.1:{proxy.port}"
        fetched = machine.place("http://example.org/cache").fetch("index")

        assert Path(fetched.path).read_bytes() == b"http://example.org/cache/index"
        assert proxy.requests[0].headers["proxy-authorization"] == "Basic YW5uOnMzY3IzdA=="
    with pytest.raises(SourceError) as raised:
        machine.place("http://example.org").fetch("other")
    assert str(raised.value) == (
        "example.org cannot be reached"
        f" through the proxy 127.0.0.1:{proxy.port}: connection refused"
    )


def test_tls_goes_through_the_tunnel_of_a_proxy(machine: Machine, tmp_path: Path) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    machine.environ["SSL_CERT_FILE"] = str(tmp_path / "ca.pem")
    with tls_server(authority, "127.0.0.1", sends(NEW)) as server, serving() as proxy:
        proxy.default = forwards
        machine.environ["HTTPS_PROXY"] = f"127.0.0.1:{proxy.port}"

        assert machine.read(server) == NEW
        assert proxy.requests[0].method == "CONNECT"


def test_a_socks_proxy_is_asked_to_find_the_host_itself(machine: Machine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as pool:
        listening.settimeout(5)
        asked = pool.submit(answers_as_socks, listening)
        machine.environ["all_proxy"] = f"socks5h://127.0.0.1:{listening.getsockname()[1]}"
        fetched = machine.place("http://only.known.there/cache").fetch("index")

    assert Path(fetched.path).read_bytes() == NEW
    assert asked.result() == b"only.known.there"


def answers_as_socks(listening: socket.socket) -> bytes:
    """Be a SOCKS 5 proxy (RFC 1928) and the server behind it, and give the host asked for."""
    connection, _ = listening.accept()
    with connection:
        connection.settimeout(5)
        connection.recv(100)
        connection.sendall(b"\x05\x00")
        asked = connection.recv(300)
        connection.sendall(b"\x05\x00\x00\x01\x7f\x00\x00\x01\x00\x50")
        connection.recv(9_000)
        connection.sendall(b"HTTP/1.1 200 Yes\r\nContent-Length: %d\r\n\r\n" % len(NEW) + NEW)
    return asked[5 : 5 + asked[4]]


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
        ("http://sub.x.org/", PROXIES | {"no_proxy": "x.org"}, ""),
        ("http://notx.org/", PROXIES | {"no_proxy": "x.org"}, "http://a:1"),
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


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy"])
@pytest.mark.parametrize(
    ("proxy", "reason"),
    [
        ("http://[::1", "http://[::1 is not a valid URL: its host cannot be read"),
        ("http://ann:s3cr3t@[::1", "http://…@[::1 is not a valid URL: its host cannot be read"),
        ("ftp://x", "ftp://x is not a valid URL: it must begin with http:// or "),
        ("http://ann:s3cr3t@x:no", f"http://…@x:no is not a valid URL: {NO_PORT}"),
        ("ann:s3cr3t@x:no", f"http://…@x:no is not a valid URL: {NO_PORT}"),
        ("http://", "http:// is not a valid URL: it has no host"),
        ("http://x\udcff", "http://x\udcff is not a valid URL: it has bytes that are not text"),
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


def test_what_is_far_away_is_told_by_its_scheme() -> None:
    far = ["http://x", "HTTPS://x", "s3://x", "gs://x", "oci://x", "oci+http://x"]
    assert all(map(is_remote, far))
    assert not any(map(is_remote, ["file:///x", "/x", "x", "a:b", "git://x"]))


def test_places_open_by_their_scheme(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "my cache").mkdir()
    (tmp_path / "my cache" / "index").write_bytes(NEW)
    for address in (
        tmp_path.joinpath("my cache").as_uri(),
        str(tmp_path / "my cache"),
        f"file://localhost{tmp_path}/my%20cache/",
    ):
        fetched = open_storage(address, machine.environ).fetch("index")
        assert Path(fetched.path).read_bytes() == NEW
        assert fetched.origin.startswith(address.rstrip("/"))
    with serving(index=sends(NEW)) as server:
        assert open_storage(server.url, machine.environ).fetch("index").origin.endswith("/index")


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("gopher://ann:pw@host/x", "gopher://host/x: gopher:// is not supported"),
        ("file://elsewhere/x", "file://elsewhere/x names files of elsewhere, another machine"),
        ("file://u:pw@[::1/x", "file://…@[::1/x is not a valid URL: its host cannot be read"),
        ("file://u:pw@there/x", "file://there/x names files of there, another machine"),
        ("http://[::1", "http://[::1 is not a valid URL: its host cannot be read"),
        ("s3:///x", "s3:///x is not a valid URL: it has no bucket"),
        ("oci://h/\udcff", "oci://h/\udcff is not a valid URL: it has bytes that are not text"),
        ("gs://h:x/a", f"gs://h:x/a is not a valid URL: {NO_PORT}"),
        ("a\ud800b", "a\ud800b cannot be read: its name is not text"),
    ],
)
def test_what_is_no_place_is_a_sentence(machine: Machine, address: str, sentence: str) -> None:
    with pytest.raises(SourceError) as raised:
        open_storage(address, machine.environ)

    assert str(raised.value).startswith(sentence)


@pytest.mark.parametrize("address", ["http://", "http://:80", "http://host:no", "http://a b/"])
def test_an_address_that_cannot_be_asked_is_a_sentence(machine: Machine, address: str) -> None:
    with pytest.raises(SourceError):
        machine.place(address).fetch("index")


def test_a_copy_is_described_without_secrets_in_a_small_file(machine: Machine) -> None:
    with serving(index=sends(NEW, ETag='"7"')) as server:
        path = machine.place(f"http://a:b@127.0.0.1:{server.port}").fetch("index").path

    described = json.loads(Path(path + ".json").read_text())
    assert described["url"] == f"{server.url}/index"
    assert (described["stamp"], described["size"]) == ('"7"', len(NEW))
    assert described["sha256"] == sha256(NEW)


MANIFEST = "v3/manifests/index/index.manifest.json"


@pytest.mark.parametrize("announced", [True, False])
@pytest.mark.parametrize(
    ("name", "at", "limit"),
    [
        (MANIFEST, "", 1_048_576),
        ("build_cache/index.json.hash", "", 1024),
        ("cache_spack_io_index.json", "/cache_spack_io_index.json", 67_108_864),
    ],
)
def test_of_each_kind_of_file_no_more_is_fetched_than_may_be_read(
    name: str, at: str, limit: int, announced: bool, machine: Machine
) -> None:
    sent: list[int] = []

    def endless(exchange: Exchange) -> None:
        length = {"Content_Length": 4 << 30} if announced else {}
        exchange.send_head(200, Connection="close", **length)
        while not exchange.server.ended.is_set():
            exchange.send(b"{" * 65_536)
            sent.append(65_536)

    with serving() as server:
        server.handlers[f"/{name}"] = endless
        (found,) = discover([server.url + at], Session(machine.environ))

    assert found.failure
    # What is on its way when the connection is closed are buffers of the kernel's.
    assert sum(sent) < (0 if announced else limit) + 16_000_000
    if name != "build_cache/index.json.hash":
        is_too_large = "is too large: 4,294,967,296 bytes, and" if announced else "is larger than"
        assert is_too_large in found.failure
        assert f"{limit:,}" in found.failure
