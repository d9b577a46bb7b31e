"""The layouts of a mirror are read as Spack reads them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.builders import (
    DATABASE_TYPE,
    INDEX_OF_0_23,
    INDEX_OF_1_2,
    MANIFEST,
    SPACK_DATA,
    blob,
    contents,
    discover_one,
    entry,
    files_in,
    mirror_v2,
    mirror_v3,
    problem_text,
    serve_files,
    write_files,
    zlib_index,
)

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

            assert [*first.documents] == [*second.documents]
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
