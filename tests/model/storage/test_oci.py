from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from spackscope.model.core.errors import ListingUnsupported, NotFound, SourceError, WrongContent
from spackscope.model.sources.session import Session
from spackscope.model.storage.base import Storage
from spackscope.model.storage.cache import Timeouts
from spackscope.model.storage.http import Client
from spackscope.model.storage.oci import INDEX
from spackscope.model.storage.open import open_remote
from tests.web_server import Exchange, responds, serving

DATA = b'{"database": {"version": "8", "installs": {}}}'
QUICK = Timeouts(connect=1.0, stalled=0.3, head=1.5, pause=0.01)


def digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


@dataclass
class Images:
    """What a registry holds, and who may see it."""

    index: bytes = DATA
    digest: str = field(default_factory=lambda: digest(DATA))
    manifest: bytes | None = None
    admits: str = ""
    challenge: str = ""

    def __call__(self, exchange: Exchange) -> None:
        path = exchange.request.path
        if path == "/token":
            self._token(exchange)
        elif self.admits and exchange.request.headers.get("authorization") != self.admits:
            host = exchange.request.headers["host"]
            exchange.respond(401, WWW_Authenticate=self.challenge.replace("HOST", host))
        elif path == "/v2/site/cache/manifests/index.spack":
            made = (
                self.manifest
                or json.dumps(
                    {"schemaVersion": 2, "layers": [{"digest": self.digest, "size": 1}]}
                ).encode()
            )
            if exchange.request.headers.get("if-none-match") == digest(made):
                exchange.send_head(304)
            else:
                exchange.respond(200, made, ETag=digest(made))
        elif path == f"/v2/site/cache/blobs/{self.digest}":
            exchange.respond(200, self.index)
        else:
            exchange.respond(404)

    def _token(self, exchange: Exchange) -> None:
        parameters = parse_qs(urlsplit(exchange.request.target).query)
        who = exchange.request.headers.get("authorization", "")
        if parameters == {"service": ["reg"], "scope": ["repository:site/cache:pull"]}:
            token = base64.b64encode(f"{who} may".encode()).decode()
            exchange.respond(200, json.dumps({"token": token}).encode())
        else:
            exchange.respond(400)


BEARER = 'Bearer realm="http://HOST/token",service="reg",scope="repository:site/cache:pull"'


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


def registry(
    port: int, environ: dict[str, str], user: str = "", options: Mapping[str, object] = {}
) -> Storage:
    url = f"oci+http://{user}127.0.0.1:{port}/site/cache"
    return open_remote(url, Client(environ, timeouts=QUICK), options)


def test_the_index_of_a_registry_comes_through_its_tag(environ: dict[str, str]) -> None:
    with serving() as server:
        server.default = Images()
        fetched = registry(server.port, environ).fetch(INDEX)

    assert Path(fetched.path).read_bytes() == DATA
    assert fetched.origin == f"oci+http://127.0.0.1:{server.port}/site/cache/index.json"
    assert "application/vnd.oci.image.manifest.v1+json" in server.requests[0].headers["accept"]


def test_a_second_start_asks_for_the_tag_only(environ: dict[str, str]) -> None:
    with serving() as server:
        server.default = Images()
        first = registry(server.port, environ).fetch(INDEX)
        second = registry(server.port, environ).fetch(INDEX)

    assert second.path == first.path
    assert second.checked > first.checked  # type: ignore[operator]
    assert [path.rpartition("/")[2] for path in server.paths()] == [
        "index.spack",
        digest(DATA),
        "index.spack",
    ]


def test_the_index_of_before_serves_where_the_registry_is_gone(environ: dict[str, str]) -> None:
    with serving() as server:
        server.default = Images()
        first = registry(server.port, environ).fetch(INDEX)

    fetched = registry(server.port, environ).fetch(INDEX)

    assert (fetched.path, fetched.checked) == (first.path, first.checked)
    assert fetched.remark.endswith("cannot be reached: connection refused")


def test_an_index_that_is_not_what_the_manifest_says_is_refused(environ: dict[str, str]) -> None:
    with serving() as server:
        server.default = Images(index=DATA + b" ")
        with pytest.raises(WrongContent):
            registry(server.port, environ).fetch(INDEX)


@pytest.mark.parametrize(
    ("user", "options", "who"),
    [
        ("", {}, ""),
        ("ann:s3cr3t@", {}, "ann:s3cr3t"),
        ("", {"access_pair": ["ann", "s3cr3t"]}, "ann:s3cr3t"),
        ("", {"access_pair": {"id": "ann", "secret_variable": "PW"}}, "ann:s3cr3t"),
        ("", {"access_pair": {"id_variable": "ME", "secret_variable": "PW"}}, "ann:s3cr3t"),
    ],
)
def test_a_token_is_asked_for_where_the_registry_wants_one(
    environ: dict[str, str], user: str, options: dict[str, object], who: str
) -> None:
    known = "Basic " + base64.b64encode(who.encode()).decode() if who else ""
    token = base64.b64encode(f"{known} may".encode()).decode()
    with serving() as server:
        server.default = Images(admits=f"Bearer {token}", challenge=BEARER)
        storage = registry(
            server.port, environ | {"ME": "ann", "PW": "s3cr3t"}, user, options=options
        )
        fetched = storage.fetch(INDEX)

    assert Path(fetched.path).read_bytes() == DATA
    assert "s3cr3t" not in repr(fetched) + storage.origin


def test_a_registry_that_wants_a_password_at_once_gets_it(environ: dict[str, str]) -> None:
    with serving() as server:
        server.default = Images(admits="Basic YW5uOnB3", challenge='Basic realm="reg"')
        assert Path(registry(server.port, environ, "ann:pw@").fetch(INDEX).path).exists()

        with pytest.raises(SourceError, match="needs credentials: HTTP 401"):
            registry(server.port, {}).fetch(INDEX)


OTHER = 'Bearer realm="{url}/token",service="reg",scope="repository:site/cache:pull"'
ANONYMOUS = base64.b64encode(b" may").decode()


def test_a_realm_elsewhere_is_asked_for_an_anonymous_token(environ: dict[str, str]) -> None:
    with serving() as other, serving() as server:
        other.default = Images()
        server.default = Images(
            admits=f"Bearer {ANONYMOUS}", challenge=OTHER.format(url=other.url)
        )
        fetched = registry(server.port, environ, "ann:s3cr3t@").fetch(INDEX)

    assert Path(fetched.path).read_bytes() == DATA
    assert other.paths() == ["/token"]
    assert not any("authorization" in request.headers for request in other.requests)
    assert not any("YW5u" in repr(request) for request in server.requests)


@pytest.mark.parametrize("gives_a_token", [True, False])
def test_a_realm_elsewhere_that_wants_a_password_gets_none(
    environ: dict[str, str], gives_a_token: bool
) -> None:
    with serving() as other, serving() as server:
        if gives_a_token:
            other.default = Images()
        else:
            other.default = responds(401, WWW_Authenticate='Basic realm="tokens"')
        server.default = Images(admits="somebody", challenge=OTHER.format(url=other.url))
        with pytest.raises(SourceError) as raised:
            registry(server.port, environ, "ann:s3cr3t@").fetch(INDEX)
        with pytest.raises(SourceError, match="needs credentials: HTTP 401"):
            registry(server.port, {}).fetch(INDEX)

    assert str(raised.value) == (
        f"the registry 127.0.0.1:{server.port} asks for a password at {other.url},"
        " another server; credentials are not sent there"
    )
    assert not any("authorization" in request.headers for request in other.requests)


def test_an_anonymous_token_that_is_not_enough_is_a_sentence(environ: dict[str, str]) -> None:
    with serving() as other, serving() as server:
        other.default = Images()
        wants = Images(admits="x", challenge=OTHER.format(url=other.url))
        server.default = lambda exchange: (
            exchange.respond(403)
            if "authorization" in exchange.request.headers
            else wants(exchange)
        )
        with pytest.raises(SourceError, match="credentials are not sent there"):
            registry(server.port, environ, "ann:s3cr3t@").fetch(INDEX)


@pytest.mark.parametrize("challenge", ['Basic realm="x"', OTHER])
def test_who_a_registry_leads_to_gets_no_credentials(
    environ: dict[str, str], challenge: str
) -> None:
    with serving() as other, serving() as server:
        other.default = Images(admits="x", challenge=challenge.format(url=other.url))
        server.default = lambda exchange: exchange.respond(
            307, Location=other.url + exchange.request.target
        )
        with pytest.raises(SourceError, match="credentials are not sent there"):
            registry(server.port, environ, "ann:s3cr3t@").fetch(INDEX)

    assert not any("authorization" in request.headers for request in other.requests)
    assert not any("authorization" in request.headers for request in server.requests)


def test_a_token_is_not_sent_to_where_a_registry_leads(environ: dict[str, str]) -> None:
    images = Images(admits="Bearer IG1heQ==", challenge=BEARER)
    with serving() as other, serving() as server:
        other.default = Images()

        def elsewhere(exchange: Exchange) -> None:
            if "/blobs/" in exchange.request.path:
                exchange.respond(307, Location=other.url + exchange.request.target)
            else:
                images(exchange)

        server.default = elsewhere
        assert Path(registry(server.port, environ).fetch(INDEX).path).read_bytes() == DATA

    assert any("authorization" in request.headers for request in server.requests)
    assert not any("authorization" in request.headers for request in other.requests)


def test_where_tokens_are_given_may_not_lead_the_password_elsewhere(
    environ: dict[str, str],
) -> None:
    with serving() as other, serving() as server:
        other.default = Images()
        images = Images(admits="Bearer x", challenge=BEARER)

        def elsewhere(exchange: Exchange) -> None:
            if exchange.request.path == "/token":
                exchange.respond(307, Location=other.url + exchange.request.target)
            else:
                images(exchange)

        server.default = elsewhere
        with pytest.raises(SourceError):
            registry(server.port, environ, "ann:s3cr3t@").fetch(INDEX)

    assert other.paths() == ["/token"]
    assert not any("authorization" in request.headers for request in other.requests)


@pytest.mark.parametrize("realm", ["http://[::1", "http://u:pw@h:no/", "http://", "/token"])
def test_a_realm_that_is_not_a_url_is_an_error(environ: dict[str, str], realm: str) -> None:
    with serving() as server:
        server.default = Images(admits="x", challenge=f'Bearer realm="{realm}"')
        with pytest.raises(SourceError, match=r"HTTP 401.* is not a valid URL") as raised:
            registry(server.port, environ).fetch(INDEX)

    assert "pw" not in str(raised.value)


def test_a_pair_that_cannot_be_sent_is_not_shown(environ: dict[str, str]) -> None:
    with pytest.raises(SourceError) as raised:
        registry(1, environ, options={"access_pair": ["ann", "s3cr3t\ud800"]})
    assert str(raised.value) == "its access_pair has characters that cannot be sent"

    with serving() as server:
        server.default = Images(admits="Basic YW5uOv8=", challenge="Basic")
        options = {"access_pair": {"id": "ann", "secret_variable": "PW"}}
        storage = registry(server.port, environ | {"PW": "\udcff"}, options=options)
        assert Path(storage.fetch(INDEX).path).exists()


@pytest.mark.parametrize("challenge", ["", "Bearer", 'Bearer realm="file:///etc"', "Negotiate x"])
def test_a_challenge_that_cannot_be_met_is_a_refusal(
    environ: dict[str, str], challenge: str
) -> None:
    with serving() as server:
        server.default = Images(admits="nobody", challenge=challenge)
        with pytest.raises(SourceError, match="needs credentials: HTTP 401"):
            registry(server.port, environ).fetch(INDEX)


@pytest.mark.parametrize(
    "manifest",
    [
        b"<html>",
        b"[]",
        b"{}",
        b'{"layers": []}',
        b'{"layers": [7]}',
        b'{"layers": [{"digest": "sha256:../../x"}]}',
        b'{"layers": [{"digest": null}]}',
    ],
)
def test_a_manifest_that_names_no_index_is_a_sentence(
    environ: dict[str, str], manifest: bytes
) -> None:
    with serving() as server:
        server.default = Images(manifest=manifest)
        with pytest.raises(SourceError, match=r"/site/cache:index\.spack"):
            registry(server.port, environ).fetch(INDEX)


def test_a_registry_without_the_tag_has_no_index(environ: dict[str, str]) -> None:
    says_so = r"site/cache:index\.spack does not exist: HTTP 404"
    with serving() as server, pytest.raises(NotFound, match=says_so):
        registry(server.port, environ).fetch(INDEX)


def test_a_registry_has_nothing_but_the_index(environ: dict[str, str]) -> None:
    storage = Session(environ).open("oci://ghcr.io/spack/cache")

    assert storage.origin == "oci://ghcr.io/spack/cache"
    with pytest.raises(NotFound):
        storage.fetch("v3/layout.json")
    with pytest.raises(ListingUnsupported):
        next(storage.names(""))
