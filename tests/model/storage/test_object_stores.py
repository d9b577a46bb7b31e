"""Objects of S3 and of Google come as files of other servers do, and are listed."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote
from urllib.request import Request, urlopen

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from spackscope.model.core.errors import (
    Cancelled,
    NotFound,
    SourceError,
    TemporaryFailure,
    WrongContent,
)
from spackscope.model.core.tasks import cancelled_when, progress_to
from spackscope.model.sources.discover import discover
from spackscope.model.sources.session import Session, open_remote
from spackscope.model.storage.base import Storage, Wanted
from spackscope.model.storage.download import Timeouts
from spackscope.model.storage.http import Client
from spackscope.model.storage.object_stores import read_credentials
from tests.builders.manifests import sha256
from tests.builders.mirrors import mirror_v3, tag_list, under
from tests.builders.spack import zlib_index
from tests.model.storage.machine import NEW, NO_PORT, OLD, PATIENT
from tests.web_server import (
    Exchange,
    Handler,
    WebServer,
    hangs_up,
    is_silent,
    responds,
    sends,
    serving,
)

KEYS = {"aws_access_key_id": "me", "aws_secret_access_key": "secret", "region_name": "us-east-1"}

LIST = "cache_spack_io_index.json"


@pytest.fixture(autouse=True)
def no_cloud_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_GCE_CHECK", "true")


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    """Run a server that speaks S3."""
    # It takes a second to import, in every worker of the tests.
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def bucket(endpoint: str) -> Iterator[Any]:
    import boto3

    client = boto3.client("s3", endpoint_url=endpoint, **KEYS)
    client.create_bucket(Bucket="caches")
    yield client
    client.close()
    with urlopen(Request(f"{endpoint}/moto-api/reset", method="POST")) as answer:
        assert answer.status == 200


@pytest.fixture
def environ(endpoint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "me")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    return {"XDG_CACHE_HOME": str(tmp_path / "cache"), "AWS_ENDPOINT_URL": endpoint}


class GoogleStore:
    """Answer as Google's store does."""

    def __init__(self, objects: dict[str, bytes]) -> None:
        self.objects = objects

    def __call__(self, exchange: Exchange) -> None:
        path = unquote(exchange.request.path)
        if (data := self.objects.get(path.removeprefix("/caches/"))) is None:
            exchange.respond(404)
        elif exchange.request.headers.get("if-none-match") == sha256(data):
            exchange.send_head(304)
        else:
            exchange.respond(200, data, ETag=sha256(data))


def gcs_storage(environ: dict[str, str]) -> Storage:
    return open_remote("gs://caches/develop", Client(environ, timeouts=PATIENT))


class Store(NamedTuple):
    """A folder of a bucket: how it is opened, and how an object is put into it."""

    address: str
    open: Callable[[], Storage]
    put: Callable[[str, bytes], object]


@pytest.fixture(params=["s3", "gs"])
def store(request: pytest.FixtureRequest, environ: dict[str, str]) -> Iterator[Store]:
    address = f"{request.param}://caches/develop"
    if request.param == "s3":
        bucket = request.getfixturevalue("bucket")
        yield Store(
            address,
            lambda: Session(environ).open(address),
            lambda name, data: bucket.put_object(Bucket="caches", Key=name, Body=data),
        )
        return
    objects: dict[str, bytes] = {}
    with serving(GoogleStore(objects)) as server:
        environ["STORAGE_EMULATOR_HOST"] = server.url
        yield Store(address, lambda: gcs_storage(environ), objects.__setitem__)


def test_an_object_comes_once_and_again_when_it_changed(store: Store) -> None:
    seen: list[tuple[str, int, int | None]] = []
    for body, downloads in ((OLD, 1), (OLD, 1), (NEW, 2)):
        store.put("develop/v3/my index", body)
        with progress_to(lambda *progress: seen.append(progress)):
            fetched = store.open().fetch(Wanted("v3/my index"))
        assert fetched.origin == f"{store.address}/v3/my index"
        assert Path(fetched.path).read_bytes() == body
        assert seen == [("bytes of my index", len(OLD), len(OLD))] * downloads
    assert store.open().size_of("v3/my index") == len(NEW)
    with pytest.raises(WrongContent, match=f"^{store.address}/v3/my index does not"):
        store.open().fetch(Wanted("v3/my index", sha256=sha256(OLD)))
    for act in (lambda: store.open().size_of("none"), lambda: store.open().fetch(Wanted("none"))):
        with pytest.raises(NotFound, match=f"^{store.address}/none does not exist"):
            act()


def test_the_list_of_a_public_cache_in_a_bucket_is_read_with_one_request_the_next_time(
    bucket: Any, environ: dict[str, str]
) -> None:
    files = {
        **under("develop", mirror_v3(zlib_index(version="1"))),
        **under("v2026.06.0", mirror_v3(zlib_index(version="2"))),
        **under("v2026.06.0/e4s", mirror_v3(zlib_index(version="3"))),
    }
    files[LIST] = tag_list(files, bucket="caches")
    for name, data in files.items():
        bucket.put_object(Bucket="caches", Key=name, Body=data)
    environ["SPACKSCOPE_PUBLIC"] = f"s3://caches/{LIST}"
    seen: list[str] = []
    stages = {f"bytes of {each}" for each in ("2 indexes", LIST)}
    for downloads in (stages, set[str]()):
        seen.clear()
        with progress_to(lambda what, *_: seen.append(what)):
            (source,) = discover(["public"], Session(environ))
        assert (source.source, source.failure) == ("public:v2026.06.0", "")
        assert [each.stack for each in source.documents] == ["root", "e4s"]
        assert {what for what in seen if what.startswith("bytes")} == downloads


def test_a_large_object_comes_whole_or_is_refused(bucket: Any, environ: dict[str, str]) -> None:
    large = os.urandom(3_000_000)
    for key in ("large", "blob"):
        bucket.put_object(Bucket="caches", Key=key, Body=large)
    storage = Session(environ).open("s3://caches/")

    fetched = storage.fetch(Wanted("large", sha256=sha256(large), immutable=True))
    assert Path(fetched.path).read_bytes() == large
    with pytest.raises(SourceError, match=r"^s3://caches/blob is too large: 3"):
        storage.fetch(Wanted("blob", max_size=9))
    with pytest.raises(NotFound, match=r"^s3://caches/none does not .* answers NoSuchKey"):
        storage.fetch(Wanted("none"))
    with pytest.raises(SourceError, match=r"^s3://other/none: there is no bucket other"):
        Session(environ).open("s3://other").fetch(Wanted("none"))


def test_the_beginning_of_an_object_is_all_that_comes(
    bucket: Any, environ: dict[str, str]
) -> None:
    large = os.urandom(3_000_000)
    bucket.put_object(Bucket="caches", Key="large", Body=large)
    storage = Session(environ).open("s3://caches/")
    seen = list[tuple[str, int, int | None]]()
    wanted = Wanted("large", max_size=100_000, only_start=True)
    for _ in range(2):
        with progress_to(lambda *progress: seen.append(progress)):
            part = Path(storage.fetch(wanted).path).read_bytes()
        assert part == large[:100_000]
    assert seen[0] == ("bytes of large", 4_096, 100_000)
    assert seen[-1] == ("bytes of large", 100_000, 100_000)


PAIR = {"access_pair": {"id": "ann", "secret_variable": "SECRET"}}


@pytest.mark.parametrize(
    ("options", "who"), [({}, "me"), (PAIR, "ann"), ({"profile": "site"}, "joe"), ({}, "")]
)
def test_requests_are_signed_by_the_mirror_or_the_environment_or_nobody(
    options: dict[str, object],
    who: str,
    environ: dict[str, str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = "[site]\naws_access_key_id = joe\naws_secret_access_key = secret\n"
    (tmp_path / "credentials").write_text(written)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    if who in ("joe", ""):
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with serving() as server:
        server.default = lambda exchange: exchange.respond(200, NEW, ETag='"1"')
        # The endpoint of the environment is another one.
        options = {**options, "endpoint_url": server.url}
        storage = Session({**environ, "SECRET": "secret"}).open("s3://caches", options)
        assert Path(storage.fetch(Wanted("index")).path).read_bytes() == NEW

    signed = server.requests[0].headers.get("authorization", "")
    assert f"Credential={who}/" in signed if who else signed == ""
    with pytest.raises(SourceError, match=r"profile \(none\) could not be found"):
        Session(environ).open("s3://caches", {"profile": "none"}).fetch(Wanted("other"))


def s3_storage(server: WebServer, environ: dict[str, str], **options: Any) -> Storage:
    client = Client(environ, **{"timeouts": PATIENT, **options})
    return open_remote("s3://caches", client, {"endpoint_url": server.url})


def test_a_store_that_refuses_or_vanished_leaves_the_copy_of_before(
    environ: dict[str, str],
) -> None:
    with serving(responds(403)) as server:
        refusal = f"s3://caches/index is forbidden: 127.0.0.1:{server.port} answers 403"
        with pytest.raises(NotFound, match=f"^{re.escape(refusal)}$") as raised:
            s3_storage(server, environ).fetch(Wanted("index"))
        assert raised.value.is_forbidden
        server.default = lambda exchange: exchange.respond(200, OLD, ETag='"1"')
        s3_storage(server, environ).fetch(Wanted("index"))
        server.default = responds(403)
        refused = s3_storage(server, environ).fetch(Wanted("index"))
    storage = s3_storage(server, environ)
    gone = storage.fetch(Wanted("index"))

    assert Path(refused.path).read_bytes() == OLD
    assert refused.remark.startswith("s3://caches/index is forbidden")
    assert Path(gone.path).read_bytes() == OLD
    assert gone.remark.startswith("s3://caches/index cannot be reached")
    with pytest.raises(SourceError, match="cannot be reached"):
        storage.fetch(Wanted("other"))


@pytest.mark.parametrize("script", [responds(503), responds(429), hangs_up])
def test_a_busy_store_is_asked_three_times(environ: dict[str, str], script: Handler) -> None:
    with serving(script) as server:
        with pytest.raises(TemporaryFailure, match=r"^s3://caches/index "):
            s3_storage(server, environ).fetch(Wanted("index"))
        assert len(server.requests) == 3


def test_a_stop_is_heard_while_a_store_is_silent(environ: dict[str, str]) -> None:
    with serving(is_silent) as server:
        storage = s3_storage(server, environ, timeouts=Timeouts())
        with pytest.raises(Cancelled), cancelled_when(lambda: server.waiting == 1):
            storage.fetch(Wanted("index"))


@pytest.mark.parametrize(
    ("scheme", "package", "library"),
    [("s3", "boto3", "boto3"), ("gs", "google.auth.transport.requests", "google-auth")],
)
def test_a_missing_library_is_named_with_the_python_that_needs_it(
    scheme: str, package: str, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(SourceError) as raised:
        Session({}).open(f"{scheme}://bucket/x")
    assert str(raised.value) == f"{scheme}:// needs the library {library} for {sys.executable}"


def test_access_is_read_as_spack_writes_it() -> None:
    environ = {"ID": "me", "PW": "pw", "TOKEN": "t"}
    for options, known in (
        ({"access_pair": ["me", "pw"]}, {"id": "me", "secret": "pw"}),
        (
            {"access_pair": {"id_variable": "ID", "secret_variable": "PW"}},
            {"id": "me", "secret": "pw"},
        ),
        ({"access_token_variable": "TOKEN"}, {"access_token": "t"}),
        ({"access_pair": 7, "profile": None, "access_token": []}, {}),
    ):
        credentials = read_credentials(options, environ)
        assert {name: value for name, value in credentials.items() if value} == known


@pytest.mark.parametrize("endpoint", ["ann:s3cr3t@h:no", "http://ann:s3cr3t@h:no"])
def test_an_endpoint_that_cannot_be_asked_is_a_sentence(endpoint: str) -> None:
    for options, environ in ({"endpoint_url": endpoint}, {}), ({}, {"AWS_ENDPOINT_URL": endpoint}):
        with pytest.raises(SourceError) as raised:
            Session(environ).open("s3://caches", options)
        assert str(raised.value).startswith("its endpoint is invalid: ")
        assert str(raised.value).endswith(f"h:… is not a valid URL: {NO_PORT}")
        assert "s3cr3t" not in str(raised.value)


def test_a_store_of_google_that_vanished_or_is_broken_is_a_sentence(
    environ: dict[str, str],
) -> None:
    with serving(GoogleStore({"develop/index": OLD})) as server:
        environ["STORAGE_EMULATOR_HOST"] = server.url
        gcs_storage(environ).fetch(Wanted("index"))
        assert gcs_storage(environ).fetch(Wanted("index")).remark == ""
        assert "if-none-match" in server.requests[1].headers
    served = gcs_storage(environ).fetch(Wanted("index"))
    assert Path(served.path).read_bytes() == OLD
    assert "cannot be reached" in served.remark


def test_google_is_told_who_asks_and_no_other_server(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving() as other, serving() as server:
        key = rsa.generate_private_key(65537, 2048).private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
        )
        user = {"type": "service_account", "client_email": "ann@x", "private_key": key.decode()}
        user |= {"token_uri": f"{server.url}/token", "project_id": "p"}
        (tmp_path / "user.json").write_text(json.dumps(user))
        monkeypatch.setenv("GOOGLE_APPLICATION_CREDENTIALS", str(tmp_path / "user.json"))
        environ["STORAGE_EMULATOR_HOST"] = server.url
        server.handlers["/token"] = sends(b'{"access_token": "t0k3n", "expires_in": 3600}')
        server.handlers["/caches/develop/index"] = responds(302, Location=f"{other.url}/index")
        other.default = sends(NEW)
        assert Path(gcs_storage(environ).fetch(Wanted("index")).path).read_bytes() == NEW

        assert server.requests[-1].headers["authorization"] == "Bearer t0k3n"
        assert "authorization" not in other.requests[0].headers
        server.handlers["/token"] = responds(400)
        with pytest.raises(SourceError, match=r"^gs://caches/develop cannot be read: "):
            gcs_storage(environ).fetch(Wanted("other"))
