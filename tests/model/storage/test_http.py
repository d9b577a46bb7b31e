"""Files of web servers come whole, unpacked and in their current version."""

from __future__ import annotations

import gzip
import os

import pytest

from spackscope.model.core.errors import ListingUnsupported, NotFound, SourceError
from tests.model.storage.machine import NEW, Machine, sha256
from tests.web_server import Exchange, packed, responds, sends, serving


def test_names_are_asked_for_as_addresses_write_them(machine: Machine) -> None:
    with serving() as server:
        server.default = sends(NEW)
        machine.read(server, "build_cache/a b+c%20/é?#.json")

    assert server.requests[0].target == "/build_cache/a%20b%2Bc%2520/%C3%A9%3F%23.json"


@pytest.mark.parametrize(
    "version", [{"ETag": '"1"'}, {"Last_Modified": "Sat, 21 Nov 2026 08:00:00 GMT"}]
)
def test_a_second_start_downloads_nothing_and_keeps_the_file_as_it_is(
    machine: Machine, version: dict[str, str]
) -> None:
    with serving(index=sends(NEW, **version)) as server:
        first = machine.storage(server.url).fetch("index")
        was = os.stat(first.path)
        seen: list[int] = []
        storage = machine.storage(
            server.url, on_progress=lambda what, done, total: seen.append(done)
        )
        second = storage.fetch("index")

    assert second.path == first.path
    now = os.stat(second.path)
    assert (now.st_mtime_ns, now.st_ctime_ns) == (was.st_mtime_ns, was.st_ctime_ns)
    assert len(server.requests) == 2
    assert seen == []
    assert second.checked > first.checked  # type: ignore[operator]


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


def test_a_body_that_unpacks_to_very_much_is_refused(machine: Machine) -> None:
    with serving(index=packed(bytes(65 << 20))) as server:
        assert machine.failure(server) == "URL/index unpacks to more than 100 times its size"


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (gzip.compress(NEW, mtime=0)[:-9], "URL/index cannot be unpacked: it is cut off"),
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
        assert "is encoded as br, which was not requested" in machine.failure(server)


def test_what_a_server_sends_as_version_cannot_break_the_next_request(machine: Machine) -> None:
    with serving(index=sends(NEW, ETag="\x80\xff")) as server:
        for _ in range(2):
            assert machine.read(server) == NEW


def test_a_web_server_cannot_be_listed(machine: Machine) -> None:
    with pytest.raises(ListingUnsupported, match=r"https://example\.org/cache cannot be listed"):
        next(machine.storage("https://example.org/cache/").names("v3"))


def test_an_unrequested_304_is_not_a_file(machine: Machine) -> None:
    with serving(index=responds(304)) as server:
        assert machine.failure(server) == "URL/index cannot be read: 127.0.0.1 answers HTTP 304"


@pytest.mark.parametrize("address", ["http://", "http://:80", "http://host:no", "http://a b/"])
def test_an_address_that_cannot_be_asked_is_a_sentence(machine: Machine, address: str) -> None:
    with pytest.raises(SourceError):
        machine.storage(address).fetch("index")


def test_a_size_is_asked_for_without_the_file(machine: Machine) -> None:
    with serving(blob=sends(NEW), gone=responds(404), secret=responds(403)) as server:
        storage = machine.storage(server.url)

        assert storage.size_of("blob") == len(NEW)
        assert not storage.is_cached("blob")
        for name, forbidden in (("gone", False), ("secret", True)):
            with pytest.raises(NotFound) as raised:
                storage.size_of(name)
            assert raised.value.is_forbidden is forbidden
    assert {request.method for request in server.requests} == {"HEAD"}


def test_a_size_that_is_not_told_is_unknown(machine: Machine) -> None:
    def answers_without_a_length(exchange: Exchange) -> None:
        exchange.send_head(200, Connection="close")
        exchange.connection.close()

    with serving(blob=answers_without_a_length, old=responds(405)) as server:
        assert machine.storage(server.url).size_of("blob") is None
        with pytest.raises(SourceError, match="answers HTTP 405"):
            machine.storage(server.url).size_of("old")
