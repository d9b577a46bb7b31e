"""The layouts of a mirror are read as Spack reads them, and verified by their checksums."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest

from spackscope.model.core.records import Spec
from spackscope.model.readers.formats import read_document
from spackscope.model.sources.document import Document
from spackscope.model.sources.mirror import discover_mirror, mirror_at
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import UrlTarget, parse_target
from spackscope.model.storage.download import Timeouts
from spackscope.model.storage.http import Client
from tests.builders import (
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
    serve_files,
    split_problems,
    write_files,
    zlib_index,
)


@pytest.mark.parametrize(
    ("url", "at"),
    [
        (f"http://{MANIFEST}", UrlTarget("http://v3/manifests/index", "index.manifest.json")),
        ("http://build_cache/index.json", UrlTarget("http://build_cache", "index.json")),
        ("http://x.json", UrlTarget("http://x.json")),
        (f"http://h/{MANIFEST}", UrlTarget("http://h", layout="v3")),
        ("http://h/index.json?q", UrlTarget("http://h?q", "index.json")),
    ],
)
def test_a_host_is_not_taken_for_a_part_of_a_mirror(url: str, at: UrlTarget) -> None:
    assert parse_target(url) == at


ONE, TWO = zlib_index(version="1.1"), zlib_index(version="1.2")


def test_both_layouts_are_read_as_spack_does(tmp_path: Path) -> None:
    discovered = discover_one(write_files(tmp_path, mirror_v3(ONE) | mirror_v2(TWO)))

    assert discovered.layout == "v3 and v2"
    assert contents(discovered) == [ONE, TWO]


def test_a_refused_v3_index_leaves_the_v2_index(tmp_path: Path) -> None:
    files = mirror_v3(ONE) | dict.fromkeys(blob(ONE), b"") | mirror_v2(TWO)

    discovered = discover_one(write_files(tmp_path, files))

    assert contents(discovered) == [TWO]
    assert "does not match its checksum" in problem_text(discovered)


def test_an_empty_mirror_is_reported_with_how_to_create_an_index(tmp_path: Path) -> None:
    discovered = discover_one(write_files(tmp_path, {"v3/layout.json": b"{}"}))

    assert discovered.failure == (
        f"the mirror {tmp_path} has no index:"
        f" create one with `spack buildcache update-index {tmp_path}`"
    )


def test_mirrors_that_spack_wrote_are_read_over_the_web(home: dict[str, str]) -> None:
    for layout, real in (("v3", INDEX_OF_1_2), ("v2", INDEX_OF_0_23)):
        with serve_files(files_in(SPACK_DATA / f"mirror-{layout}")) as server:
            discovered = discover_one(server.url, home)

        (document,) = discovered.documents
        assert (discovered.kind, discovered.layout, discovered.failure) == ("mirror", layout, "")
        assert Path(document.path).read_bytes() == real.read_bytes()
        assert document.origin.startswith(server.url)
        assert document.cached
        assert discovered.checked is not None


def test_a_second_look_downloads_nothing(home: dict[str, str]) -> None:
    for files, end in ((mirror_v3(ONE), f"/{MANIFEST}"), (mirror_v2(ONE), "/build_cache")):
        with serve_files(files) as server:
            first = discover_one(server.url + end, home)
            before = len(server.requests)
            second = discover_one(server.url + end, home)

            assert contents(first) == contents(second)
            (request,) = server.requests[before:]
            assert "if-none-match" in request.headers


def test_the_index_of_a_registry_is_read() -> None:
    digest = entry(DATABASE_TYPE, ONE)["checksum"]
    layers = json.dumps({"layers": [{"digest": f"sha256:{digest}"}]}).encode()
    files = {"v2/site/cache/manifests/index.spack": layers}
    files[f"v2/site/cache/blobs/sha256:{digest}"] = ONE
    with serve_files(files) as server:
        discovered = discover_one(f"oci+{server.url}/site/cache")

    assert (discovered.kind, discovered.layout, discovered.failure) == ("mirror", "OCI", "")
    assert contents(discovered) == [ONE]


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
            discovered = discover_one(f"{server.url}/{end}")
            assert (contents(discovered), discovered.failure) == (expected, ""), end


def test_a_web_server_without_an_index_is_reported_with_how_to_create_one() -> None:
    with serve_files({}) as server:
        discovered = discover_one(f"{server.url}/m")

    assert discovered.failure == (
        f"the mirror {server.url}/m has no index:"
        f" create one with `spack buildcache update-index {server.url}/m`"
    )


def test_a_server_that_answers_everything_with_a_page_has_no_index() -> None:
    with serve_files({}) as server:
        server.default = lambda exchange: exchange.respond(200, b"<!DOCTYPE html><html></html>")
        discovered = discover_one(f"{server.url}/m")

    assert not discovered.documents
    assert discovered.failure == (
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
        discovered = discover_one(server.url)

    assert (discovered.layout, contents(discovered)) == ("v2", [ONE])
    assert "the server returned a web page" in problem_text(discovered)


def test_the_index_of_a_v3_mirror_that_spack_wrote_is_found() -> None:
    discovered = discover_one(SPACK_DATA / "mirror-v3")

    first, *sizes = discovered.documents
    assert (discovered.kind, discovered.layout, discovered.problems) == ("mirror", "v3", ())
    assert Path(first.path) == INDEX_OF_1_2
    assert first.origin == str(INDEX_OF_1_2)
    assert (first.kind, first.cached) == ("known", True)
    assert {document.kind for document in sizes} == {"sizes"}
    assert len(sizes) == 2


def test_a_blob_with_a_wrong_checksum_is_refused(tmp_path: Path) -> None:
    files = mirror_v3(ONE) | dict.fromkeys(blob(ONE), TWO)

    discovered = discover_one(write_files(tmp_path, files))

    assert not discovered.documents
    assert f"{tmp_path}/blobs/sha256/" in discovered.failure
    assert "does not match its checksum" in discovered.failure


def test_a_blob_that_changes_after_its_verification_is_refused(
    tmp_path: Path, home: dict[str, str]
) -> None:
    files = mirror_v3(ONE)
    mirror = write_files(tmp_path / "mirror", files)
    assert discover_one(mirror, home).failure == ""
    assert discover_one(mirror, home).failure == ""

    (name,) = blob(ONE)
    (mirror / name).write_bytes(TWO)

    assert "does not match its checksum" in discover_one(mirror, home).failure


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
def test_a_manifest_without_an_index_is_reported(data: bytes, reason: str, tmp_path: Path) -> None:
    discovered = discover_one(write_files(tmp_path, mirror_v3(ONE) | {MANIFEST: data}))

    assert reason in discovered.failure
    assert discovered.failure.startswith(str(tmp_path))


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
    target = UrlTarget(str(write_files(tmp_path, files)), view="two")

    discovered = discover_mirror(mirror_at("mirror", target, Session({})))

    assert contents(discovered) == [TWO]


def test_an_index_that_does_not_match_its_hash_is_read_and_reported(tmp_path: Path) -> None:
    discovered = discover_one(write_files(tmp_path, mirror_v2(ONE, noted="0" * 64)))

    assert contents(discovered) == [ONE]
    assert "build_cache/index.json: does not match its checksum" in problem_text(discovered)


@pytest.mark.parametrize("noted", ["", "x" * 64, "\x1b[31m", "0" * 63])
def test_an_invalid_hash_file_is_reported(noted: str, tmp_path: Path) -> None:
    write_files(tmp_path, mirror_v2(ONE) | {"build_cache/index.json.hash": noted.encode()})

    discovered = discover_one(tmp_path)

    assert contents(discovered) == [ONE]
    assert "not a sha256" in problem_text(discovered)


def test_an_index_without_a_hash_is_read(tmp_path: Path) -> None:
    discovered = discover_one(write_files(tmp_path, mirror_v2(ONE, noted=None)))

    assert (contents(discovered), discovered.problems) == ([ONE], ())


def test_a_new_index_is_fetched(home: dict[str, str]) -> None:
    for make in (mirror_v3, mirror_v2):
        files = make(ONE)
        with serve_files(files) as server:
            assert contents(discover_one(server.url, home)) == [ONE]
            files.update(make(TWO))

            assert contents(discover_one(server.url, home)) == [TWO]


def test_a_v2_index_replaced_between_two_requests_is_fetched_again() -> None:
    files = mirror_v2(TWO) | {
        "build_cache/index.json.hash": mirror_v2(ONE)["build_cache/index.json.hash"]
    }

    with serve_files(files) as server:
        discovered = discover_one(server.url)

    assert contents(discovered) == [TWO]
    assert "does not match its checksum" in problem_text(discovered)


def test_a_v3_index_replaced_between_two_requests_is_fetched_again() -> None:
    old, files = mirror_v3(ONE)[MANIFEST], mirror_v3(TWO)
    with serve_files(files) as server:
        there = server.default
        server.default = lambda exchange: (
            exchange.respond(200, old) if len(server.requests) == 1 else there(exchange)
        )
        discovered = discover_one(server.url)

    assert (contents(discovered), discovered.remark) == ([TWO], "")


def test_the_previous_index_is_used_while_the_new_one_is_wrong(home: dict[str, str]) -> None:
    files = mirror_v3(ONE)
    with serve_files(files) as server:
        discover_one(server.url, home)
        files.update(mirror_v3(TWO) | dict.fromkeys(blob(TWO), b"broken"))

        discovered = discover_one(server.url, home)

    assert contents(discovered) == [ONE]
    assert "does not match its checksum" in discovered.remark
    assert "the previous index is used" in discovered.remark


@pytest.mark.parametrize(
    "files", [mirror_v2(ONE), mirror_v2(ONE, None), mirror_v3(ONE)], ids=["v2", "bare v2", "v3"]
)
def test_the_cached_copy_is_used_whatever_is_wrong_with_the_server(
    files: Files, home: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    timeouts = Timeouts(pause=0.01)
    client = property(lambda session: Client(session.environ, timeouts=timeouts))
    monkeypatch.setattr(Session, "client", client)
    with serve_files(files) as server:
        discover_one(server.url, home)
        for script in (
            lambda exchange: exchange.respond(500),
            lambda exchange: exchange.respond(200, b"<!DOCTYPE html><title>Log in</title>"),
        ):
            server.default = script
            discovered = discover_one(server.url, home)
            assert contents(discovered) == [ONE]
            assert discovered.remark

    discovered = discover_one(server.url, home)

    assert contents(discovered) == [ONE]
    assert "cannot be reached" in discovered.remark
    assert discovered.problems == ()


def test_the_previous_index_is_used_while_the_manifest_is_invalid(home: dict[str, str]) -> None:
    files = mirror_v3(ONE)
    with serve_files(files) as server:
        discover_one(server.url, home)
        files[MANIFEST] = b"{"

        discovered = discover_one(server.url, home)

    assert contents(discovered) == [ONE]
    assert "index.manifest.json cannot be read: " in discovered.remark


def test_a_damaged_record_of_the_verified_index_is_ignored(
    tmp_path: Path, home: dict[str, str]
) -> None:
    mirror = write_files(tmp_path / "mirror", mirror_v3(ONE))
    discover_one(mirror, home)
    (kept,) = Path(home["XDG_CACHE_HOME"], "spackscope", "mirrors").iterdir()

    for spoilt in (b"", b"[]", b"{}", b'["x", 1, 2, 3]', json.dumps([None] * 4).encode()):
        kept.write_bytes(spoilt)
        assert contents(discover_one(mirror, home)) == [ONE]
    os.unlink(kept)
    kept.mkdir()
    assert contents(discover_one(mirror, home)) == [ONE]


def specs_of(document: Document) -> list[Spec]:
    items = read_document(Path(document.path).read_bytes(), origin=document.origin)
    return split_problems(items)[0]


def test_a_v2_mirror_without_an_index_is_its_spec_files(tmp_path: Path) -> None:
    files = files_in(SPACK_DATA / "mirror-v2")
    specs = {name: data for name, data in files.items() if name.endswith(".spec.json")}
    signed = f"{min(specs)}.sig"

    discovered = discover_one(write_files(tmp_path, {**specs, signed: specs[min(specs)]}))

    assert (discovered.kind, discovered.layout) == ("mirror", "v2 spec files")
    assert len(discovered.documents) == len(specs)
    assert all(document.cached for document in discovered.documents)
    assert {spec.hash for document in discovered.documents for spec in specs_of(document)[:1]} == {
        name.removesuffix(".spec.json")[-32:] for name in specs
    }


def test_a_v3_mirror_without_an_index_is_its_spec_files(tmp_path: Path) -> None:
    files = files_in(SPACK_DATA / "mirror-v3")
    del files[MANIFEST]

    discovered = discover_one(write_files(tmp_path, files))

    documents = [document for document in discovered.documents if document.kind == "known"]
    assert (discovered.layout, discovered.problems) == ("v3 spec files", ())
    assert [specs_of(document)[0].package for document in documents] == ["bzip2", "ncurses"]
    assert all(specs_of(document)[0].hash in document.origin for document in documents)
    assert len(discovered.documents) == 4


def test_a_missing_or_wrong_blob_does_not_hide_other_spec_files(tmp_path: Path) -> None:
    good, bad = gzip.compress(b"{}"), b"bad"
    files = {
        f"v3/manifests/spec/a/{name}-1-{ZLIB}.spec.manifest.json": manifest(entry(SPEC_TYPE, data))
        for name, data in (("good", good), ("gone", b"gone"), ("bad", bad))
    }
    files |= blob(good) | dict.fromkeys(blob(bad), b"other")
    files["v3/manifests/spec/a/none.spec.manifest.json"] = b"[]"

    discovered = discover_one(write_files(tmp_path, files))

    assert contents(discovered) == [good]
    assert "does not exist" in problem_text(discovered)
    assert "does not match its checksum" in problem_text(discovered)
    assert "none.spec.manifest.json: it is not a manifest" in problem_text(discovered)
