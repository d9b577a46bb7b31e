"""The indexes of a mirror are verified by their checksums."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from spackscope.model.sources.mirror import Mirror, discover_mirror
from spackscope.model.sources.session import Session
from spackscope.model.storage.base import LocalFolder
from spackscope.model.storage.cache import Timeouts
from spackscope.model.storage.http import Client
from tests.builders import (
    DATABASE_TYPE,
    INDEX_OF_0_23,
    INDEX_OF_1_2,
    MANIFEST,
    SPACK_DATA,
    SPEC_TYPE,
    Files,
    blob,
    contents,
    discover_one,
    entry,
    manifest,
    mirror_v2,
    mirror_v3,
    problem_text,
    serve_files,
    write_files,
    zlib_index,
)

ONE, TWO = zlib_index(version="1.1"), zlib_index(version="1.2")


def test_the_index_of_a_v3_mirror_that_spack_wrote_is_found() -> None:
    discovered = discover_one(SPACK_DATA / "mirror-v3")

    first, *sizes = discovered.documents
    assert (discovered.kind, discovered.layout, discovered.problems) == ("mirror", "v3", ())
    assert Path(first.path) == INDEX_OF_1_2
    assert first.origin == str(INDEX_OF_1_2)
    assert (first.kind, first.cached) == ("known", True)
    assert {document.kind for document in sizes} == {"sizes"}
    assert len(sizes) == 2


def test_the_index_of_a_v2_mirror_that_spack_wrote_is_found() -> None:
    discovered = discover_one(SPACK_DATA / "mirror-v2")

    (document,) = discovered.documents
    assert (discovered.kind, discovered.layout, discovered.problems) == ("mirror", "v2", ())
    assert (Path(document.path), document.cached) == (INDEX_OF_0_23, True)


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
    place = LocalFolder(str(write_files(tmp_path, files)), "mirror")

    discovered = discover_mirror(Mirror("mirror", place, Session({}), view="two"))

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


def test_a_wrong_remote_blob_is_refused() -> None:
    with serve_files(mirror_v3(ONE) | dict.fromkeys(blob(ONE), TWO)) as server:
        discovered = discover_one(server.url)

    assert not discovered.documents
    assert "does not match its checksum" in discovered.failure


def test_the_previous_index_is_used_while_the_new_one_is_wrong(home: dict[str, str]) -> None:
    files = mirror_v3(ONE)
    with serve_files(files) as server:
        discover_one(server.url, home)
        files.update(mirror_v3(TWO) | dict.fromkeys(blob(TWO), b"broken"))

        discovered = discover_one(server.url, home)

    assert contents(discovered) == [ONE]
    assert "does not match its checksum" in discovered.remark
    assert "the previous index is used" in discovered.remark


def test_a_server_that_is_gone_leaves_the_copy(home: dict[str, str]) -> None:
    with serve_files(mirror_v3(ONE)) as server:
        discover_one(server.url, home)

    discovered = discover_one(server.url, home)

    assert contents(discovered) == [ONE]
    assert "cannot be reached" in discovered.remark
    assert discovered.checked is not None


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
