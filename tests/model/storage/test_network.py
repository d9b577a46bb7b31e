"""Connections end in time, whatever the server does."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from spackscope.model.core.errors import Cancelled, SourceError, Unreachable
from spackscope.model.storage.cache import Timeouts
from tests.model.storage.machine import NEW, Machine
from tests.web_server import (
    Exchange,
    Handler,
    hangs_up,
    is_silent,
    sends,
    serving,
    stalls_after,
    trickles,
)


def test_a_host_without_an_address_is_named(machine: Machine) -> None:
    with pytest.raises(SourceError, match=r"^nowhere\.invalid cannot be reached: its name cannot"):
        machine.storage("https://nowhere.invalid/cache").fetch("index.json")


def test_a_body_that_would_never_end_is_given_up(machine: Machine) -> None:
    timeouts = Timeouts(slow_for=0.3)
    with serving(index=trickles(b"x" * 9_999, 0.01), other=sends(NEW)) as server:
        storage = machine.storage(server.url, timeouts=timeouts)
        for name in ("index", "other"):
            with pytest.raises(SourceError) as raised:
                storage.fetch(name)
            sentence = str(raised.value).replace(f":{server.port}", "")
            slow = "has sent fewer than 1,024 bytes a second for 0.3 seconds"
            assert sentence == f"127.0.0.1 {slow}"

        # A host that is so slow is not asked again.
        assert len(server.requests) == 1


def test_a_small_file_that_comes_slowly_comes_to_its_end(machine: Machine) -> None:
    timeouts = Timeouts(slow_for=0.3, min_rate=5)
    with serving(index=trickles(NEW * 4, 0.01)) as server:
        fetched = machine.storage(server.url, timeouts=timeouts).fetch("index")

    assert Path(fetched.path).read_bytes() == NEW * 4


@pytest.mark.parametrize("script", [is_silent, stalls_after(b"{", 100), trickles(b"x" * 99, 0.5)])
def test_a_stop_is_heard_at_once_whatever_the_server_does(
    machine: Machine, script: Handler
) -> None:
    with serving(index=script) as server:
        timeouts = Timeouts(stalled=60.0)  # longer than the server waits
        storage = machine.storage(
            server.url, timeouts=timeouts, should_stop=lambda: server.waiting == 1
        )
        with pytest.raises(Cancelled):
            storage.fetch("index")

        assert len(server.requests) == 1
    assert machine.left_behind() == []


@pytest.mark.parametrize("answer", [b"", b"HTTP/1.1\r\n\r\n", b"\x00" * 400, b"SSH-2.0-x\r\n"])
def test_an_answer_that_is_not_http_is_a_sentence(machine: Machine, answer: bytes) -> None:
    def talks_otherwise(exchange: Exchange) -> None:
        exchange.send(answer)
        hangs_up(exchange)

    with serving(index=talks_otherwise) as server:
        assert machine.failure(server).startswith("the connection to 127.0.0.1 broke: ")


def test_a_header_that_http_does_not_allow_is_not_printed(machine: Machine) -> None:
    def leads_on(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 302 Found\r\nLocation: http://h/?sig=s3cret\0\r\n\r\n")
        hangs_up(exchange)

    with serving(index=leads_on) as server:
        failure = machine.failure(server)

    wrong = "http://h/?… is not a valid URL: it has a control character"
    assert failure == f"127.0.0.1 redirects to a wrong URL: {wrong}"


def test_a_server_without_tls_under_https_is_one_sentence(machine: Machine) -> None:
    with serving() as server:
        storage = machine.storage(server.url.replace("http:", "https:"))
        with pytest.raises(SourceError, match=r"cannot be reached: TLS fails: "):
            storage.fetch("index")


def test_a_server_that_does_not_answer_tls_cannot_be_reached(machine: Machine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        storage = machine.storage(
            f"https://127.0.0.1:{port}", timeouts=Timeouts(connect=0.2, stalled=5.0)
        )
        with pytest.raises(
            Unreachable, match=r"cannot be reached: it does not answer TLS in time$"
        ):
            storage.fetch("index")


@pytest.mark.parametrize("more", [b"x", b"\r\n\r\nHTTP/1.1 100 Wait\r\nX: "])
def test_a_head_that_comes_byte_by_byte_is_waited_for_once(machine: Machine, more: bytes) -> None:
    def trickles_its_head(exchange: Exchange) -> None:
        exchange.send(b"HTTP/1.1 100 Wait\r\nX: ")
        while not exchange.server.ended.wait(0.05):
            exchange.send(more)

    with serving(index=trickles_its_head) as server:
        failure = machine.failure(server)

    assert failure == "127.0.0.1 has not ended the head of its response in 1.5 seconds"
    assert len(server.requests) == 1
