"""The layouts of a mirror are read as Spack reads them, verified, and what they lack is listed."""

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path
from shlex import quote

import pytest

from spackscope.model.core.errors import SourceError
from spackscope.model.index.load import load
from spackscope.model.query.parser import parse
from spackscope.model.readers.formats import read_document
from spackscope.model.sources.document import DiscoveredSource
from spackscope.model.sources.mirror import discover_mirror, mirror_at
from spackscope.model.sources.session import Session
from spackscope.model.sources.source_name import UrlTarget, parse_target
from tests.builders.catalogs import all_records, split_problems
from tests.builders.manifests import (
    BZIP2_ARCHIVE,
    DATABASE_TYPE,
    INDEX_TYPE,
    MANIFEST,
    SPEC_TYPE,
    Files,
    blob,
    entry,
    manifest,
)
from tests.builders.mirrors import (
    complete,
    contents,
    discover_one,
    files_in,
    mirror_v2,
    mirror_v3,
    problem_text,
    serve_files,
    write_files,
)
from tests.builders.nodes import leaf
from tests.builders.pages import hash_of
from tests.builders.spack import SPACK_DATA, database, installs, zlib_index
from tests.web_server import in_turn, sends, serving

ONE, TWO = zlib_index(version="1.1"), zlib_index(version="1.2")
VIEWS = mirror_v3(ONE, "v3/manifests/index/one/index.manifest.json") | mirror_v3(
    TWO, "v3/manifests/index/two/index.manifest.json"
)
NEWER, TYPE_9 = (
    database(installs(leaf(hash_of(9), "zlib", "9")), "9"),
    DATABASE_TYPE.replace("8", "9"),
)
HTML = b"<!DOCTYPE html><title>Log in</title>"
FoundAt = tuple[str, DiscoveredSource]
MISMATCH = "does not match its checksum"


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


EVERYWHERE = pytest.mark.parametrize("is_remote", [False, True])


def discover_files(is_remote: bool, files: Files, directory: Path, path: str = "") -> FoundAt:
    """Discover a mirror on a server or in a directory; return its top, too."""
    with serve_files(files) as server:
        top = server.url if is_remote else str(write_files(directory, files))
        return top, discover_one(f"{top}{path}")


@EVERYWHERE
@pytest.mark.parametrize(
    ("files", "layout", "read", "problem"),
    [
        (mirror_v3(ONE), "v3", [ONE], ""),
        (mirror_v2(ONE), "v2", [ONE], ""),
        (mirror_v3(ONE) | mirror_v2(TWO), "v3 and v2", [ONE, TWO], ""),
        (mirror_v3(ONE) | {MANIFEST: HTML} | mirror_v2(TWO), "v2", [TWO], "cannot be read"),
        (
            mirror_v3(ONE) | {MANIFEST: manifest(entry(TYPE_9, NEWER), entry(DATABASE_TYPE, ONE))},
            "v3",
            [ONE],
            ", but the manifest of the mirror names it",
        ),
    ],
)
def test_a_mirror_is_read_as_spack_does(
    is_remote: bool, files: Files, layout: str, read: list[bytes], problem: str, tmp_path: Path
) -> None:
    top, discovered = discover_files(is_remote, files, tmp_path)

    assert (discovered.kind, discovered.layout, discovered.failure) == ("mirror", layout, "")
    assert contents(discovered) == read
    assert len(discovered.problems) == (problem != "")
    assert problem in problem_text(discovered)
    assert all(document.cached for document in discovered.documents)
    assert all(document.origin.startswith(f"{top}/") for document in discovered.documents)
    assert (discovered.checked is not None) is is_remote


@EVERYWHERE
@pytest.mark.parametrize(
    ("files", "failure"),
    [
        ({"v3/layout.json": b"{}"}, "create one with `spack buildcache update-index {word}`"),
        (mirror_v3(ONE) | {MANIFEST: b"{}"}, "it is not a manifest of a mirror"),
        (mirror_v3(ONE) | {MANIFEST: manifest(entry(SPEC_TYPE, b"x"))}, "names no index"),
        (mirror_v3(ONE) | {MANIFEST: manifest(entry(DATABASE_TYPE, b"gone"))}, "mirror names it"),
        (mirror_v3(ONE) | {MANIFEST: b""}, MANIFEST),
    ],
)
def test_a_mirror_without_an_index_that_can_be_read_fails(
    is_remote: bool, files: Files, failure: str, tmp_path: Path
) -> None:
    top, discovered = discover_files(is_remote, files, tmp_path)

    assert failure.format(top=top, word=quote(top)) in discovered.failure
    assert top in discovered.failure
    assert not discovered.documents


def test_views_are_read_where_only_they_are_there(tmp_path: Path) -> None:
    assert contents(discover_one(write_files(tmp_path / "views", VIEWS))) == [ONE, TWO]
    top = write_files(tmp_path / "all", mirror_v3(ONE) | VIEWS | mirror_v2(ONE))
    for view, read in (("two", [TWO]), ("", [ONE, ONE])):
        mirror = mirror_at("mirror", UrlTarget(str(top), view=view), Session({}))
        assert contents(discover_mirror(mirror)) == read


@EVERYWHERE
def test_all_indexes_of_a_manifest_are_one_whatever_their_order(
    is_remote: bool, tmp_path: Path
) -> None:
    files = mirror_v3(ONE) | blob(TWO) | blob(NEWER)
    entries = [entry(DATABASE_TYPE, ONE), entry(TYPE_9, NEWER), entry(DATABASE_TYPE, TWO)]
    for order in (entries, entries[1:] + entries[:1], entries[:1]):
        files[MANIFEST] = manifest(*order)
        _, discovered = discover_files(is_remote, files, tmp_path)
        first_of_8 = ONE if order[0] is entries[0] else TWO
        assert contents(discovered) == [NEWER, first_of_8][len(order) == 1 :]
        assert discovered.layout == ("v3 (indexes v9, v8)" if len(order) > 1 else "v3")
        assert (discovered.failure, discovered.problems) == ("", ())


def test_indexes_beyond_the_limit_are_counted(tmp_path: Path) -> None:
    indexes = [b'{"database": {"installs": {}, "n": %d}}' % number for number in range(10)]
    types = [f"{INDEX_TYPE}.v{number}+json" for number in range(10)]
    files = {MANIFEST: manifest(*map(entry, types, indexes))}
    for index in indexes:
        files |= blob(index)
    discovered = discover_one(write_files(tmp_path, files))

    assert contents(discovered) == indexes[:1:-1]
    assert problem_text(discovered).endswith("it names 10 indexes; the newest 8 are read")


@EVERYWHERE
def test_a_view_that_does_not_exist_is_named_with_those_that_do(
    is_remote: bool, tmp_path: Path
) -> None:
    files = files_in(SPACK_DATA / "mirror-v3") | VIEWS
    path = "v3/manifests/index/nosuch/index.manifest.json"
    top, discovered = discover_files(is_remote, files, tmp_path, f"/{path}")

    views = "" if is_remote else ": it has one, two"
    assert discovered.failure.endswith(f": the mirror {top} has no view nosuch{views}")
    assert not discovered.documents


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


def test_a_server_that_has_a_page_for_all_it_lacks_has_only_its_v2_index() -> None:
    for files, read in ((mirror_v2(ONE), [ONE]), ({}, [])):
        with serving(sends(HTML)) as server:
            server.handlers = {f"/{name}": sends(data) for name, data in files.items()}
            discovered = discover_one(server.url)
        assert contents(discovered) == read
        told = problem_text(discovered) + discovered.failure
        assert told.startswith(f"{server.url}/{MANIFEST}")
        assert told.endswith("cannot be read: the server returned a web page")


def test_a_second_look_downloads_nothing_but_a_new_index(home: dict[str, str]) -> None:
    for make, end in ((mirror_v3, f"/{MANIFEST}"), (mirror_v2, "/build_cache")):
        files = make(ONE)
        with serve_files(files) as server:
            assert contents(discover_one(server.url + end, home)) == [ONE]
            before = len(server.requests)
            assert contents(discover_one(server.url + end, home)) == [ONE]
            (request,) = server.requests[before:]
            assert "if-none-match" in request.headers
            files.update(make(TWO))
            assert contents(discover_one(server.url + end, home)) == [TWO]


def test_an_index_replaced_between_two_requests_is_fetched_again() -> None:
    with serve_files(mirror_v3(TWO)) as server:
        server.handlers[f"/{MANIFEST}"] = in_turn(
            sends(mirror_v3(ONE)[MANIFEST]), sends(mirror_v3(TWO)[MANIFEST])
        )
        discovered = discover_one(server.url)

    assert (contents(discovered), discovered.remark, discovered.problems) == ([TWO], "", ())


@pytest.mark.parametrize(
    ("change", "remark"),
    [
        (mirror_v3(TWO) | dict.fromkeys(blob(TWO), b"broken"), MISMATCH),
        (mirror_v3(TWO) | dict.fromkeys(blob(TWO), b""), "; the previous index is used"),
        ({MANIFEST: b"{"}, "index.manifest.json cannot be read: "),
    ],
)
def test_the_previous_index_is_used_while_the_new_one_is_wrong(
    change: Files, remark: str, home: dict[str, str]
) -> None:
    files = mirror_v3(ONE)
    with serve_files(files) as server:
        first = discover_one(server.url, home)
        files.update(change)
        discovered = discover_one(server.url, home)

    assert contents(discovered) == [ONE]
    assert remark in discovered.remark
    assert first.checked is not None
    assert discovered.checked is not None
    assert abs(discovered.checked - first.checked) < 60


@EVERYWHERE
def test_an_index_is_verified_and_that_of_another_layout_read_in_its_place(
    is_remote: bool, home: dict[str, str], tmp_path: Path
) -> None:
    files = mirror_v3(ONE) | dict.fromkeys(blob(ONE), TWO)
    for more in (mirror_v2(TWO), {}):
        with serve_files(files | more) as server:
            local = write_files(tmp_path / str(len(more)), files | more)
            source = server.url if is_remote else str(local)
            if not more:
                with pytest.raises(SourceError, match=MISMATCH):
                    load([source], Session(home))
                continue
            catalog = load([source], Session(home))
        assert "1.2" in {spec.version for spec in all_records(catalog)}
        (problem,) = catalog.problems
        assert MISMATCH in problem.reason


@pytest.mark.parametrize("layout", ["v2", "v3"])
def test_a_mirror_without_an_index_is_its_spec_files(layout: str, tmp_path: Path) -> None:
    files = files_in(SPACK_DATA / f"mirror-{layout}")
    files = {name: data for name, data in files.items() if "index" not in name}
    hashes = sorted(re.findall(r"-([a-z2-7]{32})\.spec\.", "\n".join(files)))
    if layout == "v2":
        signed = min(name for name in files if name.endswith(".spec.json"))
        # Of one that has two forms, the signed one is read.
        files |= {f"{signed}.sig": files[signed], signed: b"[]"}
        # Only one has its archive.
        files[signed.replace(".spec.json", ".spack")] = b""

    discovered = discover_one(write_files(tmp_path, files))

    assert (discovered.kind, discovered.layout) == ("mirror", f"{layout} spec files")
    assert discovered.problems == ()
    first = []
    for document in discovered.documents:
        if document.kind == "known":
            items = read_document(Path(document.path).read_bytes(), origin=document.origin)
            spec = split_problems(items)[0][0]
            assert document.cached is (layout == "v2" and document.path.endswith(".sig"))
            assert spec.hash in document.origin
            first.append(spec.hash)
    assert sorted(first) == hashes
    assert len(discovered.documents) == len(hashes)


def test_a_missing_or_wrong_blob_does_not_hide_other_spec_files(tmp_path: Path) -> None:
    good, bad = gzip.compress(b"{}"), b"bad"
    files = {
        f"v3/manifests/spec/a/a-1-{hash_of(n)}.spec.manifest.json": manifest(
            entry(SPEC_TYPE, data)
        )
        for n, data in enumerate((good, b"gone", bad))
    }
    files |= blob(good) | dict.fromkeys(blob(bad), b"other")
    files[f"v3/manifests/spec/a/none-1-{hash_of(9)}.spec.manifest.json"] = b"[]"

    discovered = discover_one(write_files(tmp_path, files))

    assert contents(discovered) == [good]
    assert "does not exist" in problem_text(discovered)
    assert MISMATCH in problem_text(discovered)
    assert ".spec.manifest.json: it is not a manifest" in problem_text(discovered)


BZIP2 = "xb7lgxuszfsvwe7mgdjsuqrntq3ejdcm"
ARCHIVE = f"blobs/sha256/27/{BZIP2_ARCHIVE}"
BZIP2_MANIFEST = f"v3/manifests/spec/bzip2/bzip2-1.0.8-{BZIP2}.spec.manifest.json"
WHOLE = complete(files_in(SPACK_DATA / "mirror-v3"))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda top: (top / ARCHIVE).unlink(), "the archive is missing"),
        (lambda top: (top / BZIP2_MANIFEST).unlink(), "listed, but not in the mirror"),
        (lambda top: (top / ARCHIVE).rename(top / "other"), "the archive is missing"),
        (lambda top: (top / BZIP2_MANIFEST).write_text("{}"), "it is not a manifest of a mirror"),
        (lambda top: (top / ARCHIVE).write_bytes(b"cut"), "the archive is incomplete"),
    ],
)
def test_what_cannot_be_installed_is_not_cached(
    change: Callable[[Path], object], problem: str, tmp_path: Path, home: dict[str, str]
) -> None:
    mirror = write_files(tmp_path / "m", WHOLE)
    for is_whole in (True, False, True):
        write_files(mirror, WHOLE)
        if not is_whole:
            change(mirror)
        # The index of before is kept, and the document of the mirror's index has not changed.
        catalog = load([str(mirror)], Session(home), keep=True)
        specs = {spec.hash: spec for spec in all_records(catalog)}
        assert specs[BZIP2].cached is is_whole
        assert specs[BZIP2].in_cache
        assert catalog.count(parse("cached")) == len(specs) - (not is_whole)
        reasons = [each.reason for each in catalog.problems]
        assert len(reasons) == (not is_whole)
        assert all(f"bzip2/{BZIP2[:7]}: " in each for each in reasons)
        assert all(problem in each for each in reasons)


def test_an_index_alone_is_believed(tmp_path: Path) -> None:
    catalog = load([str(write_files(tmp_path, mirror_v3(zlib_index())))], Session({}))
    assert {spec.cached for spec in all_records(catalog)} == {True}
    assert not catalog.problems


def test_spec_files_without_an_index_are_looked_at_as_well(tmp_path: Path) -> None:
    files = files_in(SPACK_DATA / "mirror-v3")
    del files[MANIFEST]
    files[ARCHIVE] = bytes(5636)
    catalog = load([str(write_files(tmp_path, files))], Session({}))
    found = {spec.package: (spec.cached, spec.size) for spec in all_records(catalog)}
    assert found["bzip2"] == (True, 5636)
    assert found["ncurses"][0] is False


def test_a_spec_file_that_is_gone_keeps_no_archive_from_being_installed(tmp_path: Path) -> None:
    mirror = write_files(tmp_path, WHOLE)
    blobs = json.loads((mirror / BZIP2_MANIFEST).read_text())["data"]
    (digest,) = (each["checksum"] for each in blobs if "spec" in each["mediaType"])
    (mirror / "blobs" / "sha256" / digest[:2] / digest).unlink()
    catalog = load([str(mirror)], Session({}))
    assert {spec.hash: spec for spec in all_records(catalog)}[BZIP2].cached
    (problem,) = catalog.problems
    assert problem.reason == f"bzip2/{BZIP2[:7]}: the spec file is missing"
