"""The index of a registry is read, and its passwords and tokens go nowhere else."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
import trustme

from spackscope.model.core.errors import NotFound, SourceError, WrongContent
from spackscope.model.sources.session import open_remote
from spackscope.model.storage.base import Storage, Wanted
from spackscope.model.storage.http import Client
from spackscope.model.storage.object_stores import INDEX
from tests.builders.manifests import sha256
from tests.model.storage.machine import PATIENT, Machine, tls_server
from tests.web_server import Exchange, Handler, WebServer, never_ends, responds, serving

DATA = b'{"database": {"version": "8", "installs": {}}}'
BEARER = 'Bearer realm="http://HOST/token",service="reg",scope="repository:site/cache:pull"'
OTHER = BEARER.replace("http://HOST", "{url}")
ANONYMOUS = base64.b64encode(b" may").decode()
NOT_SENT = "credentials are not sent there"


def digest(data: bytes) -> str:
    return f"sha256:{sha256(data)}"


@dataclass
class Images:
    """What a registry holds, and who may see it."""

    index: bytes = DATA
    digest: str = field(default_factory=lambda: digest(DATA))
    manifest: bytes | None = None
    admits: str = ""
    challenge: str = ""
    token_name: str = "token"

    def __call__(self, exchange: Exchange) -> None:
        path = exchange.request.path
        if path == "/token":
            self._token(exchange)
        elif self.admits and exchange.request.headers.get("authorization") != self.admits:
            host = exchange.request.headers["host"]
            exchange.respond(401, WWW_Authenticate=self.challenge.replace("HOST", host))
        elif path == "/v2/site/cache/manifests/index.spack":
            layers = {"schemaVersion": 2, "layers": [{"digest": self.digest, "size": 1}]}
            made = self.manifest or json.dumps(layers).encode()
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
            exchange.respond(200, json.dumps({self.token_name: token}).encode())
        else:
            exchange.respond(400)


def leads_to(other: WebServer, is_led: Callable[[str], bool], handler: Handler) -> Handler:
    """Redirect some paths to another server."""
    return lambda exchange: (
        exchange.respond(307, Location=other.url + exchange.request.target)
        if is_led(exchange.request.path)
        else handler(exchange)
    )


@dataclass
class Registries:
    machine: Machine

    def open(
        self,
        port: int,
        user: str = "",
        options: Mapping[str, object] = {},
        scheme: str = "oci+http",
        **variables: str,
    ) -> Storage:
        url = f"{scheme}://{user}127.0.0.1:{port}/site/cache"
        return open_remote(
            url, Client(self.machine.environ | variables, timeouts=PATIENT), options
        )

    def read(self, port: int, *how: object, **variables: str) -> bytes:
        storage = self.open(port, *how, **variables)  # type: ignore[arg-type]
        fetched = storage.fetch(Wanted(INDEX))
        assert "s3cr3t" not in repr(fetched) + storage.origin
        return Path(fetched.path).read_bytes()

    def refusal(self, server: WebServer, user: str = "") -> str:
        with pytest.raises(SourceError) as raised:
            self.open(server.port, user).fetch(Wanted(INDEX))
        return str(raised.value)


@pytest.fixture
def registry(machine: Machine) -> Registries:
    return Registries(machine)


def authorized(server: WebServer) -> bool:
    return any("authorization" in request.headers for request in server.requests)


def test_a_second_start_asks_for_the_tag_only_and_a_registry_may_be_gone(
    registry: Registries,
) -> None:
    with serving(Images()) as server:
        first = registry.open(server.port).fetch(Wanted(INDEX))
        second = registry.open(server.port).fetch(Wanted(INDEX))
    gone = registry.open(server.port).fetch(Wanted(INDEX))

    assert Path(first.path).read_bytes() == DATA
    assert first.origin == f"oci+http://127.0.0.1:{server.port}/site/cache/index.json"
    assert "application/vnd.oci.image.manifest.v1+json" in server.requests[0].headers["accept"]
    names = [path.rpartition("/")[2] for path in server.paths()]
    assert names == ["index.spack", digest(DATA), "index.spack"]
    assert second.path == gone.path == first.path
    assert second.checked > first.checked  # type: ignore[operator]
    assert gone.checked == second.checked
    assert gone.remark.endswith("cannot be reached: connection refused")


def test_an_index_that_is_not_what_it_has_to_be_is_refused(registry: Registries) -> None:
    with serving(Images()) as server:
        with pytest.raises(NotFound, match=r"has no index\.json of sha256 aaaaaaaaaaaa"):
            registry.open(server.port).fetch(Wanted(INDEX, sha256="a" * 64))
        with pytest.raises(SourceError, match="is too large: 46 bytes, and 45 are allowed"):
            registry.open(server.port).fetch(Wanted(INDEX, max_size=len(DATA) - 1))
        server.default = Images(index=DATA + b" ")
        with pytest.raises(WrongContent):
            registry.open(server.port).fetch(Wanted(INDEX))


ANN = {"access_pair": ["ann", "s3cr3t"]}


@pytest.mark.parametrize(
    ("user", "options", "who"),
    [
        ("", {}, ""),
        ("ann:s3cr3t@", {"access_pair": ["joe", "other"]}, "ann:s3cr3t"),
        ("", ANN, "ann:s3cr3t"),
        ("", {"access_pair": {"id": "ann", "secret_variable": "PW"}}, "ann:s3cr3t"),
        ("", {"access_pair": {"id_variable": "ME", "secret_variable": "PW"}}, "ann:s3cr3t"),
    ],
)
def test_a_token_is_asked_for_where_the_registry_wants_one(
    registry: Registries, user: str, options: dict[str, object], who: str
) -> None:
    known = "Basic " + base64.b64encode(who.encode()).decode() if who else ""
    token = base64.b64encode(f"{known} may".encode()).decode()
    with serving() as server:
        # Some servers call it otherwise.
        name = "access_token" if options is ANN else "token"
        server.default = Images(admits=f"Bearer {token}", challenge=BEARER, token_name=name)
        assert registry.read(server.port, user, options, ME="ann", PW="s3cr3t") == DATA


def test_a_registry_with_tls_is_asked_by_it_and_so_is_its_realm(
    registry: Registries, authority: trustme.CA
) -> None:
    challenge = BEARER.replace("http:", "https:")
    with tls_server(authority, "127.0.0.1", responds(404)) as server:
        storage = registry.open(server.port, scheme="oci")
        server.default = Images(admits=f"Bearer {ANONYMOUS}", challenge=BEARER)
        with pytest.raises(
            SourceError, match=r"its token server is invalid: .* must begin with https"
        ):
            storage.fetch(Wanted(INDEX))
        server.default = Images(admits=f"Bearer {ANONYMOUS}", challenge=challenge)
        assert Path(storage.fetch(Wanted(INDEX)).path).read_bytes() == DATA


def test_a_registry_that_wants_a_password_at_once_gets_it(registry: Registries) -> None:
    with serving(Images(admits="Basic YW5uOv8=", challenge='Basic realm="reg"')) as server:
        assert "needs credentials: HTTP 401" in registry.refusal(server)
        options = {"access_pair": {"id": "ann", "secret_variable": "PW"}}
        assert registry.read(server.port, "", options, PW="\udcff") == DATA
    with pytest.raises(SourceError) as raised:
        registry.open(1, options={"access_pair": ["ann", "s3cr3t\ud800"]})
    assert str(raised.value) == "its access_pair has characters that cannot be sent"


def test_a_realm_elsewhere_is_asked_for_an_anonymous_token(registry: Registries) -> None:
    with serving() as other, serving() as server:
        other.default = Images()
        challenge = OTHER.format(url=other.url)
        server.default = Images(admits=f"Bearer {ANONYMOUS}", challenge=challenge)
        assert registry.read(server.port, "ann:s3cr3t@") == DATA
    assert other.paths() == ["/token"]
    assert not authorized(other)
    assert not any("YW5u" in repr(request) for request in server.requests)


@pytest.mark.parametrize("status", [401, 403])
@pytest.mark.parametrize("gives_a_token", [True, False])
def test_a_realm_elsewhere_that_wants_a_password_gets_none(
    registry: Registries, gives_a_token: bool, status: int
) -> None:
    with serving() as other, serving() as server:
        refused = responds(401, WWW_Authenticate='Basic realm="tokens"')
        other.default = Images() if gives_a_token else refused
        images = Images(admits="somebody", challenge=OTHER.format(url=other.url))
        server.default = lambda exchange: (
            exchange.respond(status)
            if "authorization" in exchange.request.headers
            else images(exchange)
        )
        assert NOT_SENT not in registry.refusal(server)
        sentence = registry.refusal(server, "ann:s3cr3t@")

    assert sentence == (
        f"the registry 127.0.0.1:{server.port} asks for a password at {other.url},"
        f" another server; {NOT_SENT}"
    )
    assert not authorized(other)


@pytest.mark.parametrize("challenge", ['Basic realm="x"', OTHER])
def test_who_a_registry_leads_to_gets_no_credentials(registry: Registries, challenge: str) -> None:
    with serving() as other, serving() as server:
        other.default = Images(admits="x", challenge=challenge.format(url=other.url))
        server.default = leads_to(other, lambda path: True, responds(404))
        assert NOT_SENT in registry.refusal(server, "ann:s3cr3t@")
    assert not authorized(other)
    assert not authorized(server)


def test_neither_token_nor_password_is_sent_to_where_a_registry_leads(
    registry: Registries,
) -> None:
    with serving() as other, serving() as server:
        other.default = Images()
        images = Images(admits=f"Bearer {ANONYMOUS}", challenge=BEARER)
        server.default = leads_to(other, lambda path: "/blobs/" in path, images)
        assert registry.read(server.port) == DATA
        server.default = leads_to(other, lambda path: path == "/token", images)
        registry.machine.environ.clear()
        assert registry.read(server.port, "ann:s3cr3t@") == DATA

    assert authorized(server)
    assert [path.rpartition("/")[2] for path in other.paths()] == [digest(DATA), "token"]
    assert not authorized(other)


@pytest.mark.parametrize(
    ("challenge", "sentence"),
    [
        *(
            (f'Bearer realm="{realm}"', " is not a valid URL")
            for realm in ("http://[::1", "http://u:pw@h:no/", "http://", "/token", "file:///etc")
        ),
        *((each, "needs credentials: HTTP 401") for each in ("", "Bearer", "Negotiate x")),
    ],
)
def test_a_challenge_that_cannot_be_met_is_a_refusal(
    registry: Registries, challenge: str, sentence: str
) -> None:
    with serving(Images(admits="nobody", challenge=challenge)) as server:
        refusal = registry.refusal(server)
    assert "HTTP 401" in refusal
    assert sentence in refusal
    assert "pw" not in refusal


@pytest.mark.parametrize("reply", [b"", b"[]", b"{}", b'{"token": 7}', b'{"token": "a\\nb"}'])
def test_a_token_that_cannot_be_sent_is_a_sentence(registry: Registries, reply: bytes) -> None:
    with serving(Images(admits="x", challenge=BEARER)) as server:
        server.handlers["/token"] = lambda exchange: exchange.respond(200, reply)
        assert registry.refusal(server).endswith("/token?… returns no token")
        # Not even one that never ends.
        server.handlers["/token"] = never_ends
        assert registry.refusal(server).endswith("/token?… returns no token")


DIGESTS = (b'{"layers": %b}' % each for each in (b"[]", b"[7]", b'[{"digest": null}]'))
ELSEWHERE = b'{"layers": [{"digest": "sha256:../../x"}]}'
LARGE = b" " * (4 << 20) + b"{"


@pytest.mark.parametrize("manifest", [b"<html>", b"[]", b"{}", *DIGESTS, ELSEWHERE, LARGE])
def test_a_manifest_that_names_no_index_is_a_sentence(
    registry: Registries, manifest: bytes
) -> None:
    with serving(Images(manifest=manifest)) as server:
        refusal = registry.refusal(server)
    assert "/site/cache:index.spack" in refusal
    assert ("is too large: 4,194,305 bytes" in refusal) is (manifest == LARGE)


def test_a_registry_has_nothing_but_an_index_and_archives(registry: Registries) -> None:
    with serving() as server:
        storage = registry.open(server.port)
        with pytest.raises(NotFound, match=r"site/cache:index\.spack does not exist: HTTP 404"):
            storage.fetch(Wanted(INDEX))
        with pytest.raises(NotFound, match="registries have an index and archives"):
            storage.fetch(Wanted("v3/layout.json"))
