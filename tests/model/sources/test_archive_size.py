"""The size of an archive is fetched from its mirror, once."""

from __future__ import annotations

from collections.abc import Sequence

from spackscope.model.core.frozen import replace
from spackscope.model.core.records import SourceStatus
from spackscope.model.sources.mirror_spec import archive_size
from spackscope.model.sources.session import Session
from tests.builders import (
    ARCHIVE_TYPE,
    ZLIB,
    entry,
    manifest,
    mirror_v3,
    read,
    serve_files,
    zlib_index,
)


def asked_size(
    source: str,
    home: dict[str, str],
    sources: Sequence[str] = (),
    package: str = "zlib",
    origin: str = "",
) -> float | None:
    (zlib, *_), _ = read(zlib_index())
    spec = replace(zlib, source=source, package=package, origin=origin, size=None)
    kind = "public cache" if source.startswith("public") else "mirror"
    state = SourceStatus(source, kind, "v3", 1, 0.0, "", "", 0)
    return archive_size(spec, [state], Session(home), sources)


def test_a_size_is_requested_once(home: dict[str, str]) -> None:
    name = f"v3/manifests/spec/zlib/zlib-1.3.1-{ZLIB}.spec.manifest.json"
    archive = entry(ARCHIVE_TYPE, b"", contentLength=1234)
    with serve_files(mirror_v3(zlib_index()) | {name: manifest(archive)}) as server:
        blob_of = f"{server.url}/blobs/sha256/ab/abc"
        sizes = [asked_size(server.url, home) for _ in range(2)]
        public = asked_size("public:develop", home, origin=blob_of)

        assert (sizes, public) == ([1234.0, 1234.0], 1234.0)
        assert server.paths() == [f"/{name}"]


def test_a_size_is_requested_with_the_password_of_the_source(home: dict[str, str]) -> None:
    with serve_files({}) as server:
        host = server.url.removeprefix("http://")
        asked_size(server.url, home, sources=["m", f"http://ada:s3cret@{host}"])

    assert [request.headers.get("authorization") for request in server.requests] == [
        "Basic YWRhOnMzY3JldA=="
    ]


def test_an_unknown_size_is_none(home: dict[str, str]) -> None:
    for source in ("sample_data", "spack:none", "-", "http://127.0.0.1:1/m"):
        assert asked_size(source, home) is None
    assert asked_size("http://127.0.0.1:1/m", home, package="../../x") is None
