"""Proxies and certificates are those of the user's environment."""

from __future__ import annotations

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import trustme

from spackscope.model.core.errors import SourceError
from spackscope.model.storage.http import proxy_of
from spackscope.model.storage.urls import split_url
from tests.model.storage.machine import NEW, NO_PORT, Machine, tls_server
from tests.web_server import Exchange, sends, serving


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
        assert "certificate cannot be trusted" in machine.storage(server.url).fetch("index").remark


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


def test_a_file_of_certificates_that_is_not_there_is_named(machine: Machine) -> None:
    machine.environ["SSL_CERT_FILE"] = "/nowhere/ca.pem"
    with pytest.raises(SourceError, match=r"SSL_CERT_FILE names /nowhere/ca\.pem, which cannot"):
        machine.storage("https://127.0.0.1:1").fetch("index")


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
                other.sendall(part)


def test_the_proxy_of_the_environment_is_asked_and_its_password_not_shown(
    machine: Machine,
) -> None:
    with serving() as proxy:
        proxy.default = forwards
        machine.environ["http_proxy"] = f"http://ann:s3cr3t@127.0.0.1:{proxy.port}"
        fetched = machine.storage("http://example.org/cache").fetch("index")

        assert Path(fetched.path).read_bytes() == b"http://example.org/cache/index"
        assert proxy.requests[0].headers["proxy-authorization"] == "Basic YW5uOnMzY3IzdA=="
    with pytest.raises(SourceError) as raised:
        machine.storage("http://example.org").fetch("other")
    assert str(raised.value) == (
        "example.org cannot be reached"
        f" through the proxy 127.0.0.1:{proxy.port}: connection refused"
    )


@pytest.mark.parametrize("is_encrypted", [False, True])
def test_tls_goes_through_the_tunnel_of_a_proxy(
    machine: Machine, tmp_path: Path, is_encrypted: bool
) -> None:
    authority = trustme.CA()
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    machine.environ["SSL_CERT_FILE"] = str(tmp_path / "ca.pem")
    body = NEW * 50_000
    with (
        tls_server(authority, "127.0.0.1", sends(body)) as server,
        tls_server(authority, "127.0.0.1", forwards) if is_encrypted else serving() as proxy,
    ):
        proxy.default = forwards
        machine.environ["HTTPS_PROXY"] = proxy.url

        assert machine.read(server) == body
        assert proxy.requests[0].method == "CONNECT"


def test_a_socks_proxy_is_asked_to_find_the_host_itself(machine: Machine) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as pool:
        listening.settimeout(5)
        future = pool.submit(answers_as_socks, listening)
        machine.environ["all_proxy"] = f"socks5h://127.0.0.1:{listening.getsockname()[1]}"
        fetched = machine.storage("http://only.known.there/cache").fetch("index")

    assert Path(fetched.path).read_bytes() == NEW
    assert future.result() == b"only.known.there"


def answers_as_socks(listening: socket.socket) -> bytes:
    """Act as a SOCKS 5 proxy (RFC 1928) and the server after it, and return the requested host."""
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
        ("http://ann:s3cr3t@[::1", "http://[::1 is not a valid URL: its host cannot be read"),
        ("ftp://x", "ftp://x is not a valid URL: it must begin with http:// or "),
        ("http://ann:s3cr3t@x:no", f"http://x:no is not a valid URL: {NO_PORT}"),
        ("ann:s3cr3t@x:no", f"http://x:no is not a valid URL: {NO_PORT}"),
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
