"""The indexes of a mirror are found in every layout, and never taken for what they are not."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from spackscope.model.core.records import SourceStatus, Spec
from spackscope.model.readers.detect import read_document
from spackscope.model.sources.archive_size import archive_size
from spackscope.model.sources.document import Document
from spackscope.model.sources.mirror import Mirror
from spackscope.model.sources.mirror_layouts import discover_mirror
from spackscope.model.sources.session import Session
from spackscope.model.storage.http_client import Client
from spackscope.model.storage.local import LocalFolder
from spackscope.model.storage.patience import Patience
from tests.builders import (
    ARCHIVE_TYPE,
    DATABASE_TYPE,
    INDEX_OF_0_23,
    INDEX_OF_1_2,
    MANIFEST,
    SPACK_DATA,
    SPEC_TYPE,
    ZLIB,
    Files,
    blob,
    contents,
    discover_one,
    entry,
    files_in,
    manifest,
    mirror_v2,
    mirror_v3,
    problem_text,
    read,
    serve_files,
    write_files,
    zlib_index,
)

ONE, TWO = zlib_index(version="1.1"), zlib_index(version="1.2")


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """Give an environment with a cache directory that is kept between two looks."""
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


def asked_size(
    source: str,
    home: dict[str, str],
    sources: Sequence[str] = (),
    package: str = "zlib",
    origin: str = "",
) -> float | None:
    (zlib, *_), _ = read(zlib_index())
    spec = replace(zlib, source=source, package=package, origin=origin, size=None)
    state = SourceStatus(source, "mirror", "v3", 1, 0.0, "", "", 0)
    return archive_size(spec, [state], Session(home), sources)


def specs_of(document: Document) -> list[Spec]:
    items = read_document(Path(document.path).read_bytes(), origin=document.origin)
    return [item for item in items if isinstance(item, Spec)]


# On this machine


def test_the_index_of_a_v3_mirror_that_spack_wrote_is_found() -> None:
    found = discover_one(SPACK_DATA / "mirror-v3")

    first, *sizes = found.documents
    assert (found.kind, found.layout, found.problems) == ("mirror", "v3", ())
    assert Path(first.path) == INDEX_OF_1_2
    assert first.origin == str(INDEX_OF_1_2)
    assert (first.kind, first.cached) == ("known", True)
    assert {document.kind for document in sizes} == {"sizes"}
    assert len(sizes) == 2


def test_the_index_of_a_v2_mirror_that_spack_wrote_is_found() -> None:
    found = discover_one(SPACK_DATA / "mirror-v2")

    (document,) = found.documents
    assert (found.kind, found.layout, found.problems) == ("mirror", "v2", ())
    assert (Path(document.path), document.cached) == (INDEX_OF_0_23, True)


def test_both_layouts_are_read_as_spack_does(tmp_path: Path) -> None:
    found = discover_one(write_files(tmp_path, mirror_v3(ONE) | mirror_v2(TWO)))

    assert found.layout == "v3 and v2"
    assert contents(found) == [ONE, TWO]


def test_a_blob_that_is_not_what_its_checksum_says_is_refused(tmp_path: Path) -> None:
    files = mirror_v3(ONE) | dict.fromkeys(blob(ONE), TWO)

    found = discover_one(write_files(tmp_path, files))

    assert found.documents == ()
    assert f"{tmp_path}/blobs/sha256/" in found.failure
    assert "does not match its checksum" in found.failure


def test_a_blob_that_changes_after_it_was_good_is_refused(
    tmp_path: Path, home: dict[str, str]
) -> None:
    files = mirror_v3(ONE)
    mirror = write_files(tmp_path / "mirror", files)
    assert discover_one(mirror, home).failure == ""
    assert discover_one(mirror, home).failure == ""

    (name,) = blob(ONE)
    (mirror / name).write_bytes(TWO)

    assert "does not match its checksum" in discover_one(mirror, home).failure


def test_a_refused_v3_index_leaves_the_v2_index(tmp_path: Path) -> None:
    files = mirror_v3(ONE) | dict.fromkeys(blob(ONE), b"") | mirror_v2(TWO)

    found = discover_one(write_files(tmp_path, files))

    assert contents(found) == [TWO]
    assert "does not match its checksum" in problem_text(found)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<html>", "the manifest cannot be read"),
        (b"{}", "it is not a manifest of a mirror"),
        (manifest(entry(SPEC_TYPE, b"x")), "the manifest names no index"),
        (
            manifest(entry(DATABASE_TYPE, b"gone")),
            "does not exist, but the manifest of the mirror names",
        ),
    ],
)
def test_a_manifest_that_leads_nowhere_is_said(data: bytes, reason: str, tmp_path: Path) -> None:
    found = discover_one(write_files(tmp_path, mirror_v3(ONE) | {MANIFEST: data}))

    assert reason in found.failure
    assert found.failure.startswith(str(tmp_path))


def test_views_are_read_where_only_they_are_there(tmp_path: Path) -> None:
    views = mirror_v3(ONE, "v3/manifests/index/one/index.manifest.json")
    views |= mirror_v3(TWO, "v3/manifests/index/two/index.manifest.json")

    assert contents(discover_one(write_files(tmp_path, views))) == [ONE, TWO]


def test_a_view_that_is_asked_for_is_read_alone(tmp_path: Path) -> None:
    files = (
        mirror_v3(ONE)
        | mirror_v3(TWO, "v3/manifests/index/two/index.manifest.json")
        | mirror_v2(ONE)
    )
    place = LocalFolder(str(write_files(tmp_path, files)), "mirror")

    found = discover_mirror(Mirror("mirror", place, Session({}), view="two"))

    assert contents(found) == [TWO]


def test_an_index_that_does_not_fit_its_hash_is_read_and_said(tmp_path: Path) -> None:
    found = discover_one(write_files(tmp_path, mirror_v2(ONE, noted="0" * 64)))

    assert contents(found) == [ONE]
    assert "build_cache/index.json: does not match its checksum" in problem_text(found)


@pytest.mark.parametrize("noted", ["", "x" * 64, "\x1b[31m", "0" * 63])
def test_a_hash_that_is_none_is_said(noted: str, tmp_path: Path) -> None:
    write_files(tmp_path, mirror_v2(ONE) | {"build_cache/index.json.hash": noted.encode()})

    found = discover_one(tmp_path)

    assert contents(found) == [ONE]
    assert "not a sha256" in problem_text(found)


def test_an_index_without_a_hash_is_read(tmp_path: Path) -> None:
    found = discover_one(write_files(tmp_path, mirror_v2(ONE, noted=None)))

    assert (contents(found), found.problems) == ([ONE], ())


def test_spec_files_serve_where_a_v2_mirror_has_no_index(tmp_path: Path) -> None:
    files = files_in(SPACK_DATA / "mirror-v2")
    specs = {name: data for name, data in files.items() if name.endswith(".spec.json")}
    signed = f"{min(specs)}.sig"

    found = discover_one(write_files(tmp_path, {**specs, signed: specs[min(specs)]}))

    assert (found.kind, found.layout) == ("mirror", "v2 spec files")
    assert len(found.documents) == len(specs)
    assert all(document.cached for document in found.documents)
    assert {spec.hash for document in found.documents for spec in specs_of(document)[:1]} == {
        name.removesuffix(".spec.json")[-32:] for name in specs
    }


def test_blobs_of_spec_files_serve_where_a_v3_mirror_has_no_index(tmp_path: Path) -> None:
    files = files_in(SPACK_DATA / "mirror-v3")
    del files[MANIFEST]

    found = discover_one(write_files(tmp_path, files))

    asked = [document for document in found.documents if document.kind == "known"]
    assert (found.layout, found.problems) == ("v3 spec files", ())
    assert [specs_of(document)[0].package for document in asked] == ["bzip2", "ncurses"]
    assert all(specs_of(document)[0].hash in document.origin for document in asked)
    assert len(found.documents) == 4


def test_a_blob_that_is_missing_or_wrong_hides_no_other_spec_file(tmp_path: Path) -> None:
    good, bad = gzip.compress(b"{}"), b"bad"
    files = {
        f"v3/manifests/spec/a/{name}-1-{ZLIB}.spec.manifest.json": manifest(entry(SPEC_TYPE, data))
        for name, data in (("good", good), ("gone", b"gone"), ("bad", bad))
    }
    files |= blob(good) | dict.fromkeys(blob(bad), b"other")
    files["v3/manifests/spec/a/none.spec.manifest.json"] = b"[]"

    found = discover_one(write_files(tmp_path, files))

    assert contents(found) == [good]
    assert "does not exist" in problem_text(found)
    assert "does not match its checksum" in problem_text(found)
    assert "none.spec.manifest.json: it is not a manifest" in problem_text(found)


def test_a_mirror_without_anything_is_told_what_makes_an_index(tmp_path: Path) -> None:
    found = discover_one(write_files(tmp_path, {"v3/layout.json": b"{}"}))

    assert found.failure == (
        f"the mirror {tmp_path} has no index:"
        f" create one with `spack buildcache update-index {tmp_path}`"
    )


# Far away


def test_mirrors_that_spack_wrote_are_read_over_the_web(home: dict[str, str]) -> None:
    for layout, real in (("v3", INDEX_OF_1_2), ("v2", INDEX_OF_0_23)):
        with serve_files(files_in(SPACK_DATA / f"mirror-{layout}")) as server:
            found = discover_one(server.url, home)

        (document,) = found.documents
        assert (found.kind, found.layout, found.failure) == ("mirror", layout, "")
        assert Path(document.path).read_bytes() == real.read_bytes()
        assert document.origin.startswith(server.url)
        assert document.cached
        assert found.checked is not None


def test_a_second_look_downloads_nothing(home: dict[str, str]) -> None:
    for files, end in ((mirror_v3(ONE), f"/{MANIFEST}"), (mirror_v2(ONE), "/build_cache")):
        with serve_files(files) as server:
            first = discover_one(server.url + end, home)
            before = len(server.requests)
            second = discover_one(server.url + end, home)

            assert first.documents == second.documents
            (asked,) = server.requests[before:]
            assert "if-none-match" in asked.headers


def test_a_new_index_is_brought(home: dict[str, str]) -> None:
    for make in (mirror_v3, mirror_v2):
        files = make(ONE)
        with serve_files(files) as server:
            assert contents(discover_one(server.url, home)) == [ONE]
            files.update(make(TWO))

            assert contents(discover_one(server.url, home)) == [TWO]


def test_a_v2_index_that_is_replaced_between_two_requests_is_brought_anew() -> None:
    files = mirror_v2(TWO) | {
        "build_cache/index.json.hash": mirror_v2(ONE)["build_cache/index.json.hash"]
    }

    with serve_files(files) as server:
        found = discover_one(server.url)

    assert contents(found) == [TWO]
    assert "does not match its checksum" in problem_text(found)


def test_a_v3_index_that_is_replaced_between_two_requests_is_brought_anew() -> None:
    old, files = mirror_v3(ONE)[MANIFEST], mirror_v3(TWO)
    with serve_files(files) as server:
        there = server.default
        server.default = lambda exchange: (
            exchange.respond(200, old) if len(server.requests) == 1 else there(exchange)
        )
        found = discover_one(server.url)

    assert (contents(found), found.remark) == ([TWO], "")


def test_the_index_of_a_registry_is_read() -> None:
    digest = entry(DATABASE_TYPE, ONE)["checksum"]
    layers = json.dumps({"layers": [{"digest": f"sha256:{digest}"}]}).encode()
    files = {"v2/site/cache/manifests/index.spack": layers}
    files[f"v2/site/cache/blobs/sha256:{digest}"] = ONE
    with serve_files(files) as server:
        found = discover_one(f"oci+{server.url}/site/cache")

    assert (found.kind, found.layout, found.failure) == ("mirror", "OCI", "")
    assert contents(found) == [ONE]


def test_a_wrong_blob_is_refused_far_away() -> None:
    with serve_files(mirror_v3(ONE) | dict.fromkeys(blob(ONE), TWO)) as server:
        found = discover_one(server.url)

    assert found.documents == ()
    assert "does not match its checksum" in found.failure


def test_the_index_of_before_serves_while_the_new_one_is_wrong(home: dict[str, str]) -> None:
    files = mirror_v3(ONE)
    with serve_files(files) as server:
        discover_one(server.url, home)
        files.update(mirror_v3(TWO) | dict.fromkeys(blob(TWO), b"broken"))

        found = discover_one(server.url, home)

    assert contents(found) == [ONE]
    assert "does not match its checksum" in found.remark
    assert "the previous index is used" in found.remark


def test_a_server_that_is_gone_leaves_the_copy(home: dict[str, str]) -> None:
    with serve_files(mirror_v3(ONE)) as server:
        discover_one(server.url, home)

    found = discover_one(server.url, home)

    assert contents(found) == [ONE]
    assert "cannot be reached" in found.remark
    assert found.checked is not None


@pytest.mark.parametrize(
    "files", [mirror_v2(ONE), mirror_v2(ONE, None), mirror_v3(ONE)], ids=["v2", "bare v2", "v3"]
)
def test_the_copy_serves_whatever_is_the_matter_with_the_server(
    files: Files, home: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    patience = Patience(pause=0.01)
    client = property(lambda session: Client(session.environ, patience=patience))
    monkeypatch.setattr(Session, "client", client)
    with serve_files(files) as server:
        discover_one(server.url, home)
        for script in (
            lambda exchange: exchange.respond(500),
            lambda exchange: exchange.respond(200, b"<!DOCTYPE html><title>Log in</title>"),
        ):
            server.default = script
            found = discover_one(server.url, home)
            assert contents(found) == [ONE]
            assert found.remark

    found = discover_one(server.url, home)

    assert contents(found) == [ONE]
    assert "cannot be reached" in found.remark
    assert found.problems == ()


def test_the_index_of_before_serves_while_the_manifest_is_none(home: dict[str, str]) -> None:
    files = mirror_v3(ONE)
    with serve_files(files) as server:
        discover_one(server.url, home)
        files[MANIFEST] = b"{"

        found = discover_one(server.url, home)

    assert contents(found) == [ONE]
    assert "the previous index is used" in found.remark


def test_a_build_cache_an_index_and_any_file_may_be_named() -> None:
    files = {f"m/{name}": data for name, data in (mirror_v2(ONE) | mirror_v3(TWO)).items()}
    files["m/spack.lock"] = b"{}"
    with serve_files(files) as server:
        for end, expected in (
            ("m", [TWO, ONE]),
            ("m/", [TWO, ONE]),
            ("m/build_cache", [ONE]),
            ("m/build_cache/index.json", [ONE]),
            (f"m/{MANIFEST}", [TWO]),
            ("m/spack.lock", [b"{}"]),
        ):
            found = discover_one(f"{server.url}/{end}")
            assert (contents(found), found.failure) == (expected, ""), end


def test_a_web_server_without_an_index_is_told_what_makes_one() -> None:
    with serve_files({}) as server:
        found = discover_one(f"{server.url}/m")

    assert found.failure == (
        f"the mirror {server.url}/m has no index:"
        f" create one with `spack buildcache update-index {server.url}/m`"
    )


def test_a_server_that_answers_everything_with_a_page_has_no_index() -> None:
    with serve_files({}) as server:
        server.default = lambda exchange: exchange.respond(200, b"<!DOCTYPE html><html></html>")
        found = discover_one(f"{server.url}/m")

    assert found.documents == ()
    assert found.failure == (
        f"{server.url}/m/{MANIFEST} cannot be read: the server returned a web page"
    )


def test_a_server_that_has_a_page_for_all_it_lacks_has_its_v2_index() -> None:
    files = mirror_v2(ONE)
    with serve_files(files) as server:
        there = server.default
        server.default = lambda exchange: (
            there(exchange)
            if exchange.request.path.lstrip("/") in files
            else exchange.respond(200, b"<html></html>")
        )
        found = discover_one(server.url)

    assert (found.layout, contents(found)) == ("v2", [ONE])
    assert "the server returned a web page" in problem_text(found)


def test_a_size_is_asked_for_by_one_request_and_once(home: dict[str, str]) -> None:
    name = f"v3/manifests/spec/zlib/zlib-1.3.1-{ZLIB}.spec.manifest.json"
    archive = entry(ARCHIVE_TYPE, b"", contentLength=1234)
    with serve_files(mirror_v3(zlib_index()) | {name: manifest(archive)}) as server:
        blob_of = f"{server.url}/blobs/sha256/ab/abc"
        sizes = [asked_size(server.url, home) for _ in range(2)]
        public = asked_size("public:develop", home, origin=blob_of)

        assert (sizes, public) == ([1234.0, 1234.0], 1234.0)
        assert server.paths() == [f"/{name}"]


def test_a_size_is_asked_for_with_the_password_of_the_source(home: dict[str, str]) -> None:
    with serve_files({}) as server:
        host = server.url.removeprefix("http://")
        asked_size(server.url, home, sources=["m", f"http://ada:s3cret@{host}"])

    assert [asked.headers.get("authorization") for asked in server.requests] == [
        "Basic YWRhOnMzY3JldA=="
    ]


def test_a_size_that_nobody_tells_is_none(home: dict[str, str]) -> None:
    for source in ("sample_data", "spack:none", "-", "http://127.0.0.1:1/m"):
        assert asked_size(source, home) is None
    assert asked_size("http://127.0.0.1:1/m", home, package="../../x") is None


def test_what_is_remembered_may_be_spoilt(tmp_path: Path, home: dict[str, str]) -> None:
    mirror = write_files(tmp_path / "mirror", mirror_v3(ONE))
    discover_one(mirror, home)
    (kept,) = Path(home["XDG_CACHE_HOME"], "spackscope", "mirrors").iterdir()

    for spoilt in (b"", b"[]", b"{}", b'["x", 1, 2, 3]', json.dumps([None] * 4).encode()):
        kept.write_bytes(spoilt)
        assert contents(discover_one(mirror, home)) == [ONE]
    os.unlink(kept)
    kept.mkdir()
    assert contents(discover_one(mirror, home)) == [ONE]
