"""What a mirror has of a spec is read from its own files: the signature, the archive, the size.

The mirrors are those that Spack 1.2 and 0.23 pushed, with manifests that GnuPG signed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import SourceStatus, Spec
from spackscope.model.core.tasks import ShouldStop, never
from spackscope.model.readers.openpgp import PublicKey, Signature
from spackscope.model.sources.mirror import Mirror
from spackscope.model.sources.mirror_spec import (
    KnownKeys,
    MirrorEntry,
    PublishedKeys,
    archive_size,
    read_entries,
    read_published_keys,
)
from spackscope.model.sources.session import Session
from tests.builders import (
    ARCHIVE_TYPE,
    BZIP2_ARCHIVE,
    PROJECT_KEY,
    PROJECT_SUBKEY,
    SIGNED,
    SITE_KEY,
    ZLIB,
    Files,
    all_records,
    catalog_of,
    entry,
    manifest,
    mirror_v3,
    read,
    serve_files,
    signed_v2,
    signed_v3,
    under,
    write_files,
    zlib_index,
)
from tests.web_server import responds, serving

BZIP2 = f"blobs/sha256/27/{BZIP2_ARCHIVE}"


def spec_of(package: str, source: str, files: Files, tmp_path: Path) -> Spec:
    """Return the record of a package of a mirror, as if read from a source."""
    mirror = write_files(tmp_path / "read" / package, files)
    (spec,) = (spec for spec in all_records(catalog_of(mirror)) if spec.package == package)
    return replace(spec, source=source, listed_in=(), origin="")


def asked(
    spec: Spec, states: Sequence[SourceStatus], should_stop: ShouldStop = never
) -> list[MirrorEntry]:
    return read_entries(spec, states, Session({}, should_stop=should_stop), (), KnownKeys({}))


def entry_of(source: str, spec: Spec, layout: str, **fields: object) -> MirrorEntry:
    state = SourceStatus(source, "mirror", layout, 1, 0.0, "", "", 0)
    (entry,) = asked(spec, [replace(state, **fields)])  # type: ignore[arg-type]
    return entry


@pytest.mark.parametrize("is_remote", [False, True])
def test_a_signed_manifest_names_its_key(is_remote: bool, tmp_path: Path) -> None:
    files = signed_v3()
    with serve_files(files) as server:
        top = server.url if is_remote else str(write_files(tmp_path / "m", files))
        bzip2, ncurses = (
            entry_of(top, spec_of(name, top, files, tmp_path), "v3")
            for name in ("bzip2", "ncurses")
        )

    assert bzip2.signature is not None
    assert ncurses.signature is not None
    assert bzip2.signature.fingerprint == SITE_KEY
    assert ncurses.signature.fingerprint == PROJECT_SUBKEY
    assert (bzip2.is_signed, bzip2.archive, bzip2.archive_file) == (
        True,
        "present",
        f"{top}/{BZIP2}",
    )
    assert ncurses.archive == "missing"
    assert " does not exist" in ncurses.archive_problem
    if is_remote:
        assert next(r.path for r in server.requests if r.method == "HEAD") == f"/{BZIP2}"


@pytest.mark.parametrize("is_remote", [False, True])
def test_a_signed_spec_file_names_its_key(is_remote: bool, tmp_path: Path) -> None:
    files = signed_v2()
    archive = (
        "build_cache/linux-debian12-x86_64_v3/gcc-12.2.0/gmake-4.4.1/"
        "linux-debian12-x86_64_v3-gcc-12.2.0-gmake-4.4.1-vkzb6dgmtcs4yf2wef25khcuzwbxkmfd.spack"
    )
    files[archive] = b"archive"
    with serve_files(files) as server:
        top = server.url if is_remote else str(write_files(tmp_path / "m", files))
        zlib, gmake = (
            entry_of(top, spec_of(name, top, files, tmp_path), "v2")
            for name in ("zlib-ng", "gmake")
        )

    assert zlib.signature is not None
    assert (zlib.signature.fingerprint, zlib.archive) == (SITE_KEY, "missing")
    assert zlib.document.endswith(".spec.json.sig")
    assert (gmake.is_signed, gmake.archive) == (False, "present")
    assert gmake.archive_file == f"{top}/{archive}"


def test_old_signatures_are_inside_the_archive(tmp_path: Path) -> None:
    files = {name.replace(".json.sig", ".yaml"): data for name, data in signed_v2().items()}
    top = str(write_files(tmp_path / "m", files))
    entry = entry_of(top, spec_of("zlib-ng", top, signed_v2(), tmp_path), "v2")
    assert entry.document.endswith(".spec.yaml")
    assert (entry.is_signed, entry.archive) == (None, "missing")
    assert entry.problem == "before Spack 0.18 the signature is inside the archive"


def test_a_build_cache_folder_is_a_mirror(tmp_path: Path) -> None:
    files = signed_v2()
    folder = f"{write_files(tmp_path / 'm', files)}/build_cache"
    entry = entry_of(folder, spec_of("zlib-ng", folder, files, tmp_path), "v2")
    assert entry.is_signed


def test_a_mirror_is_found_by_the_document_of_a_spec(tmp_path: Path) -> None:
    write_files(tmp_path, under("a/site", signed_v3()) | under("b", signed_v2()))
    catalog = catalog_of(tmp_path)
    signed = [
        (spec.package, entry.layout)
        for spec in all_records(catalog)
        if spec.package in ("bzip2", "zlib-ng")
        for entry in asked(spec, catalog.sources)
        if entry.is_signed
    ]
    assert sorted(signed) == [("bzip2", "v3"), ("zlib-ng", "v2")]


def test_an_archive_of_another_size_is_not_whole(tmp_path: Path) -> None:
    files = signed_v3() | {BZIP2: b"cut off"}
    top = str(write_files(tmp_path / "m", files))
    entry = entry_of(top, spec_of("bzip2", top, files, tmp_path), "v3")
    assert entry.archive == "wrong size"
    assert entry.archive_problem == "it has 7 bytes, and the mirror records 5,636"


def test_a_spec_without_a_manifest_is_only_listed(tmp_path: Path) -> None:
    files = signed_v3()
    top = str(write_files(tmp_path / "m", files))
    entry = entry_of(top, spec_of("zstd", top, files, tmp_path), "v3 and v2")
    assert (entry.is_signed, entry.archive) == (None, "missing")
    assert entry.problem == "listed, but the mirror has no spec manifest of it"


def test_a_mirror_that_refuses_or_fails_is_told(tmp_path: Path) -> None:
    files = signed_v3()
    with serve_files(files) as server:
        spec = spec_of("bzip2", server.url, files, tmp_path)
        server.handlers[f"/{BZIP2}"] = responds(403)
        forbidden = entry_of(server.url, spec, "v3")
        server.handlers[f"/{BZIP2}"] = responds(405)
        untold = entry_of(server.url, spec, "v3")
        stale = entry_of(server.url, spec, "v3", remark="the server is silent")
    assert (forbidden.archive, untold.archive) == ("forbidden", "unknown")
    assert "HTTP 405" in untold.archive_problem
    assert (stale.is_signed, stale.problem) == (None, "the server is silent")
    with serving() as silent:
        silent.default = responds(403)
        refused = entry_of(silent.url, replace(spec, source=silent.url), "v3")
    assert (refused.is_signed, refused.archive) == (None, "unknown")
    assert "is forbidden: HTTP 403" in refused.problem


def test_a_damaged_signature_is_unknown(tmp_path: Path) -> None:
    files = signed_v3()
    name = next(name for name in files if "/bzip2-" in name)
    files[name] = files[name].replace(b"\niQ", b"\n\xc3\xa4Q")
    spec = spec_of("bzip2", "", files, tmp_path)
    top = str(write_files(tmp_path / "m", files))
    entry = entry_of(top, replace(spec, source=top), "v3")
    assert (entry.is_signed, entry.problem) == (None, "its signature is missing")
    assert entry.archive == "present"


@pytest.mark.parametrize(
    ("files", "package", "layout", "archive"),
    [(signed_v3(), "bzip2", "v3", "unknown"), (signed_v2(), "zlib-ng", "v2", "missing")],
    ids=["v3", "v2"],
)
def test_what_is_no_manifest_says_nothing_of_signature_and_archive(
    files: Files, package: str, layout: str, archive: str, tmp_path: Path
) -> None:
    top = write_files(tmp_path / "m", files)
    spec = spec_of(package, str(top), files, tmp_path)
    for path in (*top.rglob(f"*{package}*.manifest.json"), *top.rglob(f"*{package}*.sig")):
        path.write_bytes(b"<html>Please log in</html>")
    entry = entry_of(str(top), spec, layout)
    # The names of layout v2 are known without the spec file.
    assert (entry.is_signed, entry.archive) == (None, archive)


@pytest.mark.parametrize(
    ("data", "archive"),
    [("[]", "missing"), ('[{"mediaType": "x", "checksumAlgorithm": "md5"}]', "unknown")],
)
def test_an_archive_that_no_entry_names_is_missing(
    data: str, archive: str, tmp_path: Path
) -> None:
    files = signed_v3()
    top = write_files(tmp_path / "m", files)
    spec = spec_of("bzip2", str(top), files, tmp_path)
    for path in top.rglob("*bzip2*.manifest.json"):
        path.write_text(f'{{"version": 3, "data": {data}}}')
    assert entry_of(str(top), spec, "v3").archive == archive


def test_names_cannot_leave_the_mirror(tmp_path: Path) -> None:
    spec = spec_of("bzip2", "", signed_v3(), tmp_path)
    with serve_files({}) as server:
        odd = replace(spec, source=server.url, package="../../x", version="git.a/b=1?")
        entry_of(server.url, odd, "v3")
        dots = entry_of(server.url, replace(odd, package=".."), "v3")
    assert server.paths()[0] == (
        f"/v3/manifests/spec/.._.._x/.._.._x-git.a_b_1_-{spec.hash}.spec.manifest.json"
    )
    assert dots.problem == "its name in the mirror is unknown: a part of it is empty"


def test_a_registry_and_what_is_not_cached_are_not_asked(tmp_path: Path) -> None:
    with serve_files({}) as server:
        spec = replace(spec_of("bzip2", "", signed_v3(), tmp_path), source=server.url)
        state = SourceStatus(server.url, "mirror", "OCI", 1, 0.0, "", "", 0)
        (registry,) = asked(spec, [state])
        pages = replace(state, kind="pages", layout="")
        assert asked(spec, [pages]) == []
        assert asked(replace(spec, cached=False), [state]) == []
        failed = replace(state, failure="the source is gone")
        assert asked(spec, [failed]) == []
    assert (registry.layout, registry.archive) == ("OCI", "unknown")
    assert server.requests == []


def test_a_stop_is_heard(tmp_path: Path) -> None:
    files = signed_v3()
    with serve_files(files) as server:
        spec = spec_of("bzip2", server.url, files, tmp_path)
        state = SourceStatus(server.url, "mirror", "v3", 1, 0.0, "", "", 0)
        with pytest.raises(Cancelled):
            asked(spec, [state], lambda: True)


SITE = PublicKey(SITE_KEY, ("Example Site (GPG created for Spack) <spack@example.org>",))
PROJECT = PublicKey(PROJECT_KEY, ("Example Project <builds@example.org>",), (PROJECT_SUBKEY,))


def published(top: str, *layouts: str) -> PublishedKeys:
    session = Session({})
    return read_published_keys(Mirror(top, session.open(top), session), layouts)


@pytest.mark.parametrize(
    ("layout", "files", "keys"),
    [("v3", signed_v3(), [SITE, PROJECT]), ("v2", signed_v2(), [SITE])],
    ids=["v3", "v2"],
)
def test_the_keys_of_a_mirror_are_read(
    layout: str, files: Files, keys: list[PublicKey], tmp_path: Path
) -> None:
    local = published(str(write_files(tmp_path, files)), layout)
    with serve_files(files) as server:
        remote = published(server.url, layout)

    assert [key for key, _ in local[0]] == [key for key, _ in remote[0]] == keys
    assert [Path(path).is_file() for _, path in local[0]] == [True] * len(keys)
    assert [path for _, path in remote[0]] == [""] * len(keys)
    (site,) = [path for key, path in local[0] if key.made(Signature(SITE_KEY))]
    assert Path(site).read_bytes() == (SIGNED / "site.pub").read_bytes()


def test_a_mirror_without_keys_has_none(tmp_path: Path) -> None:
    assert published(str(tmp_path), "v3", "v2") == ([], "")


def test_what_is_wrong_with_the_index_of_keys_is_told(tmp_path: Path) -> None:
    index = "build_cache/_pgp/index.json"
    for content, why in (
        (b"{", "cannot be read: "),
        (b"[]", "is not an index of keys"),
        (b'{"keys": []}', "is not an index of keys"),
    ):
        keys, problem = published(str(write_files(tmp_path, {index: content})), "v2")
        assert keys == []
        assert f"{index} {why}" in problem
    with serve_files({}) as server:
        server.handlers[f"/{index}"] = responds(500, Retry_After=0)
        assert "HTTP 500" in published(server.url, "v2")[1]


def test_names_of_keys_are_fingerprints_only(tmp_path: Path) -> None:
    names = ["../../etc/passwd", "x", SITE_KEY, "A" * 40]
    index = json.dumps({"keys": {key: {} for key in names}}).encode()
    with serve_files(signed_v2() | {"build_cache/_pgp/index.json": index}) as server:
        keys, _ = published(server.url, "v2")
    assert [key for key, _ in keys] == [SITE]
    assert server.paths()[0] == "/build_cache/_pgp/index.json"
    asked = {f"/build_cache/_pgp/{name}.pub" for name in (SITE_KEY, "A" * 40)}
    assert set(server.paths()[1:]) == asked


def test_the_keyring_of_spack_is_read(tmp_path: Path) -> None:
    root = tmp_path / "spack"
    home = root / "opt" / "spack" / "gpg"
    home.mkdir(parents=True)
    environ = {"SPACK_ROOT": str(root)}
    assert KnownKeys({}).trusted == KnownKeys(environ).trusted == []
    shutil.copy(SIGNED / "pubring.kbx", home)
    assert KnownKeys(environ).trusted == [SITE, PROJECT]
    (home / "pubring.kbx").write_bytes(b"damaged")
    assert KnownKeys(environ).trusted == []
    assert KnownKeys({"SPACK_GNUPGHOME": str(SIGNED)}).trusted == [SITE, PROJECT]


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
