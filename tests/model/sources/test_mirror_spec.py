"""What mirrors have of a spec is read from their own files and put into words.

The mirrors are those that Spack 1.2 and 0.23 pushed, with manifests that GnuPG signed.
"""

import json
import os
import shutil
from collections.abc import Callable, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from spackscope.model.core.errors import Cancelled
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import SourceStatus, Spec
from spackscope.model.core.tasks import cancelled_when
from spackscope.model.core.text import clean
from spackscope.model.index.load import load
from spackscope.model.report.detail import entries_json, signing_lines
from spackscope.model.sources.mirror_spec import Mirrors
from spackscope.model.sources.session import Session
from tests.builders.catalogs import all_records
from tests.builders.manifests import ARCHIVE_TYPE, BZIP2_ARCHIVE, Files, entry, manifest
from tests.builders.mirrors import mirror_v3, serve_files, signed_v2, signed_v3, under, write_files
from tests.builders.nodes import ZLIB
from tests.builders.pages import SAMPLE_PAGES
from tests.builders.spack import PROJECT_SUBKEY, SIGNED, SITE_KEY, zlib_index
from tests.program import write_script
from tests.web_server import responds

BZIP2 = f"blobs/sha256/27/{BZIP2_ARCHIVE}"
SITE = "Example Site (GPG created for Spack) <spack@example.org>"
BY_SITE = [f"signed|by key {SITE_KEY}", "|2026-11-22", "|not verified"]
UNSIGNED = "signed|no: spack install needs --no-check-signature"


class Reader:
    """Sources that are read, with an environment."""

    def __init__(self, environ: Mapping[str, str], *sources: str) -> None:
        self.session = Session(environ)
        self.catalog = load(sources, self.session)
        self.mirrors = Mirrors(self.catalog.sources, self.session, sources)

    def spec(self, package: str) -> Spec:
        return next(spec for spec in all_records(self.catalog) if spec.package == package)

    def json(self, package: str) -> Any:
        (entry,) = entries_json(self.mirrors.entries(self.spec(package)))
        return json.loads(json.dumps(entry))

    def texts(self, package: str, *, is_full: bool = True) -> list[str]:
        lines = [*signing_lines(self.mirrors.entries(self.spec(package)), is_full=is_full)]
        values = groupby(lines, lambda line: line.label)
        texts = [(label, [line.lead + line.text for line in its]) for label, its in values]
        return [f"{label * (n == 0)}|{text}" for label, its in texts for n, text in enumerate(its)]


def changed(files: Files, part: str, change: Callable[[bytes], bytes]) -> Files:
    """Change the files whose names contain something."""
    return {name: change(data) if part in name else data for name, data in files.items()}


def without(files: Files, part: str) -> Files:
    """Remove the files whose names contain something."""
    return {name: data for name, data in files.items() if part not in name}


def to(data: bytes) -> Callable[[bytes], bytes]:
    return lambda _: data


HTML = to(b"<html>Please log in</html>")
BZIP2_FILE, ZLIB_NG = f"{{top}}/{BZIP2}", "linux-debian12-x86_64_v3-gcc-12.2.0-zlib-ng-2.2.1-"
GONE = "archive|listed, but the archive is missing"
ZLIB_NG_GONE = [
    GONE,
    f"|{{top}}/build_cache/linux-debian12-x86_64_v3/gcc-12.2.0/zlib-ng-2.2.1/{ZLIB_NG}"
    "klmb5rwk2ga45gbxbi2iu3k6akiongct.spack",
]
UNNAMED = "the manifest names no archive"
NOT_JSON = "unknown: the manifest cannot be read: it is not JSON: Expecting value at character 0"
ODD = b'{"version": 3, "data": [{"mediaType": "x", "checksumAlgorithm": "md5"}]}'
WHY_ODD = f"unknown: {UNNAMED}: checksumAlgorithm is 'md5', expected sha256"


@pytest.mark.parametrize(
    ("files", "package", "is_signed", "archive", "texts"),
    [
        (signed_v3(), "bzip2", True, "present",
         [*BY_SITE, "archive|present"]),
        (signed_v3() | {BZIP2: b"cut off"}, "bzip2", True, "wrong size",
         [*BY_SITE,
          "archive|listed, but the archive is incomplete: it has 7 bytes, and the mirror records"
          " 5,636", f"|{BZIP2_FILE}"]),
        (signed_v2(), "zlib-ng", True, "missing", [*BY_SITE, *ZLIB_NG_GONE]),
        # Of a mirror with both layouts the second may have it.
        (signed_v3() | signed_v2(), "zlib-ng", True, "missing",
         [*BY_SITE, *ZLIB_NG_GONE]),
        ({name.replace(".json.sig", ".yaml"): data for name, data in signed_v2().items()},
         "zlib-ng", None, "missing", ZLIB_NG_GONE),
        (without(signed_v3(), "/bzip2-"), "bzip2", None, "missing",
         ["archive|listed, but the mirror has no spec manifest for it"]),
        (without(signed_v2(), "-zlib-ng-"), "zlib-ng", None, "missing",
         ["archive|listed, but the mirror has no spec file for it"]),
        # A signature that is damaged, and what is no manifest, are unknown, and not unsigned.
        (changed(signed_v3(), "/bzip2-", lambda data: data.replace(b"\niQ", b"\n\xc3\xa4Q")),
         "bzip2", None, "present",
         ["signed|unknown: its signature is missing", "archive|present"]),
        (changed(signed_v3(), "/bzip2-", HTML), "bzip2", None, "unknown",
         [f"signed|{NOT_JSON}", f"archive|{NOT_JSON}"]),
        (changed(signed_v2(), ".sig", HTML), "zlib-ng", None, "missing", ZLIB_NG_GONE),
        (changed(signed_v3(), "/bzip2-", to(b'{"version": 3, "data": []}')), "bzip2", None,
         "missing", [f"{GONE}: {UNNAMED}"]),
        (changed(signed_v3(), "/bzip2-", to(ODD)), "bzip2", None, "unknown",
         [f"signed|{WHY_ODD}", f"archive|{WHY_ODD}"]),
    ],
)  # fmt: skip
def test_what_a_local_mirror_has_is_told(
    files: Files,
    package: str,
    is_signed: bool | None,
    archive: str,
    texts: list[str],
    home: dict[str, str],
    tmp_path: Path,
) -> None:
    top = write_files(tmp_path / "m", files)
    reader = Reader(home, str(top))
    told, answer = reader.texts(package), reader.json(package)
    assert told == [text.format(top=top) for text in texts]
    assert (answer["signed"], answer["archive"]) == (is_signed, archive)
    assert [text for text in told if not text.endswith("|present")] == reader.texts(
        package, is_full=False
    ) + [text for text in told if text.startswith("archive|unknown")]


def test_an_archive_of_layout_v2_is_found_and_unsigned_specs_need_an_option(
    home: dict[str, str], tmp_path: Path
) -> None:
    top = write_files(tmp_path / "m", signed_v2())
    (path,) = top.glob("build_cache/*-gmake-*.json")
    hash_ = path.name.removesuffix(".spec.json")[-32:]
    archive = (
        f"build_cache/linux-debian12-x86_64_v3/gcc-12.2.0/gmake-4.4.1/{path.name[:-10]}.spack"
    )
    write_files(top, {archive: b"x"})
    for source in (top, top / "build_cache"):
        answer = Reader(home, str(source)).json("gmake")
        assert (answer["document"], answer["archive_file"]) == (str(path), f"{top}/{archive}")
        assert (answer["signed"], answer["key"], answer["archive"]) == (False, None, "present")
        assert hash_ in answer["document"]


def test_scripts_get_the_key_and_that_nothing_is_verified(
    home: dict[str, str], tmp_path: Path
) -> None:
    top = str(write_files(tmp_path / "m", signed_v3()))
    answer = Reader(home, top).json("ncurses")
    assert answer["key"] == {
        "fingerprint": PROJECT_SUBKEY,
        "key_id": PROJECT_SUBKEY[-16:],
        "owner": "",
        "created": 1795325720,
        "verified": False,
    }
    assert (answer["source"], answer["layout"]) == (top, "v3")
    assert answer["problem"] == f"{answer['archive_file']} does not exist"


def test_a_remote_mirror_is_asked_without_showing_its_password(home: dict[str, str]) -> None:
    with serve_files(signed_v3()) as server:
        host = server.url.removeprefix("http://")
        reader = Reader(home, f"http://ada:s3cret@{host}")
        texts, answer = reader.texts("ncurses"), reader.json("bzip2")
    assert texts[0] == f"signed|by key {PROJECT_SUBKEY}"
    assert texts[3] == "archive|listed, but the archive is missing: HTTP 404"
    assert texts[4].startswith(f"|{server.url}/blobs/sha256/cd/")
    assert (answer["archive"], answer["archive_file"]) == ("present", f"{server.url}/{BZIP2}")
    assert "s3cret" not in json.dumps([answer, texts])
    assert {r.headers.get("authorization") for r in server.requests} == {"Basic YWRhOnMzY3JldA=="}
    assert {r.path for r in server.requests if r.method == "HEAD"} >= {f"/{BZIP2}"}


def test_an_unsigned_spec_needs_an_option_unless_its_mirror_is_configured_so(
    home: dict[str, str], tmp_path: Path
) -> None:
    mirror = write_files(tmp_path / "m", signed_v2())
    environ = {**home, "SPACK_ROOT": str(tmp_path / "spack")}
    unchecked = "signed|no, and your Spack does not require it of this mirror"
    for signed, text in (("false", unchecked), ("true", UNSIGNED)):
        yaml = f"mirrors:\n  site:\n    url: {mirror}\n    signed: {signed}\n".encode()
        write_files(tmp_path / "spack", {"etc/spack/mirrors.yaml": yaml})
        for source in ("spack:site", str(mirror)):
            assert Reader(environ, source).texts("gmake")[0] == text
    assert Reader(home, str(mirror)).texts("gmake")[0] == UNSIGNED


@pytest.mark.skipif(shutil.which("gpg") is None, reason="gpg is not installed")
def test_a_key_in_the_keyring_of_spack_has_its_owner(home: dict[str, str], tmp_path: Path) -> None:
    gpg = tmp_path / "spack" / "opt" / "spack" / "gpg"
    gpg.mkdir(parents=True, mode=0o700)
    mirror = str(write_files(tmp_path / "m", signed_v3()))
    environ = {**home, "PATH": os.environ["PATH"]}
    of_spack = {**environ, "SPACK_ROOT": str(tmp_path / "spack")}
    signed, *more = BY_SITE
    assert Reader(of_spack, mirror).texts("bzip2", is_full=False) == BY_SITE
    assert not [*gpg.iterdir()]

    shutil.copy(SIGNED / "pubring.kbx", gpg)
    for each in (of_spack, {**environ, "SPACK_GNUPGHOME": str(gpg)}):
        reader = Reader(each, mirror)
        owner = f"|{SITE}, in the keyring of your Spack"
        assert reader.texts("bzip2", is_full=False) == [signed, owner, *more]
        # A subkey signed it.
        assert reader.json("ncurses")["key"]["owner"] == "Example Project <builds@example.org>"
    assert [path.name for path in gpg.iterdir()] == ["pubring.kbx"]

    (gpg / "pubring.kbx").write_bytes(b"damaged")
    assert Reader(of_spack, mirror).texts("bzip2", is_full=False) == BY_SITE


@pytest.mark.parametrize(
    ("script", "owner"),
    [
        ("sleep 9", ""),
        ("exit 2", ""),
        ("echo '<html>'", ""),
        (
            r"echo 'uid:-::::1::0::A\\x3a B \\xc3\\xa9\\x1b[31m <a@b>::::::::::0:'",
            "A: B é\x1b[31m <a@b>",
        ),
    ],
)
def test_a_gpg_that_hangs_or_prints_anything_does_no_harm(
    home: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, owner: str
) -> None:
    if "sleep" in script:
        monkeypatch.setattr("spackscope.model.sources.mirror_spec._GPG_TIMEOUT", 0.1)
    mirror = str(write_files(tmp_path / "m", signed_v3()))
    write_script(tmp_path / "gpg", f"#!/bin/sh\n{script}\n")
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    reader = Reader({**home, "PATH": path, "SPACK_GNUPGHOME": str(SIGNED)}, mirror)
    assert reader.json("bzip2")["key"]["owner"] == owner
    assert all(clean(text) == text for text in reader.texts("bzip2"))


def test_what_a_server_refuses_or_fails_to_tell_is_told(home: dict[str, str]) -> None:
    with serve_files(signed_v3()) as server:
        reader = Reader(home, server.url)
        server.handlers[f"/{BZIP2}"] = responds(403)
        assert reader.json("bzip2")["archive"] == "forbidden"
        assert reader.texts("bzip2")[-2] == (
            "archive|listed, but the mirror refuses the archive: HTTP 403"
        )
        server.handlers[f"/{BZIP2}"] = responds(405)
        assert reader.json("bzip2")["archive"] == "unknown"
        assert "HTTP 405" in reader.texts("bzip2")[-1]
        server.default = responds(403)
        state = replace(reader.catalog.sources[0], remark="")
        (entry,) = Mirrors([state], Session({})).entries(reader.spec("bzip2"))
        assert (entry.is_signed, entry.archive) == (None, "unknown")
        assert "is forbidden: HTTP 403" in entry.problem
        before = len(server.requests)
        stale = replace(state, remark="the server is silent")
        (entry,) = Mirrors([stale], Session({})).entries(reader.spec("bzip2"))
        assert (entry.problem, len(server.requests)) == ("the server is silent", before)
        with pytest.raises(Cancelled), cancelled_when(lambda: True):
            Mirrors([state], Session({})).entries(reader.spec("bzip2"))


def test_names_cannot_leave_the_mirror(home: dict[str, str]) -> None:
    with serve_files(signed_v3()) as server:
        reader = Reader(home, server.url)
        spec, before = reader.spec("bzip2"), len(server.requests)
        odd = replace(spec, package="../../x", version="git.a/b=1?")
        reader.mirrors.entries(odd)
        (dots,) = reader.mirrors.entries(replace(odd, package=".."))
    assert server.paths()[before] == (
        f"/v3/manifests/spec/.._.._x/.._.._x-git.a_b_1_-{spec.hash}.spec.manifest.json"
    )
    assert dots.problem == "its name in the mirror is unknown: a part of it is empty"


def test_several_mirrors_are_told_apart(home: dict[str, str], tmp_path: Path) -> None:
    a, b = (str(write_files(tmp_path / name, signed_v3())) for name in "ab")
    texts = Reader(home, a, b).texts("bzip2")
    assert [text for text in texts if f"|{a}: " in text or f"|{b}: " in text] == [
        f"signed|{a}: by key {SITE_KEY}",
        f"|{b}: by key {SITE_KEY}",
        f"archive|{a}: present",
        f"|{b}: present",
    ]


def test_a_mirror_is_found_by_the_document_of_a_spec(home: dict[str, str], tmp_path: Path) -> None:
    write_files(tmp_path, under("a/site", signed_v3()) | under("b", signed_v2()))
    reader = Reader(home, str(tmp_path))
    for package, layout in (("bzip2", "v3"), ("zlib-ng", "v2")):
        answer = reader.json(package)
        assert (answer["signed"], answer["layout"]) == (True, layout)


def test_what_is_no_mirror_is_not_asked(home: dict[str, str]) -> None:
    reader = Reader(home, str(SAMPLE_PAGES))
    listed = replace(all_records(reader.catalog)[0], source="oci://h/m", listed_in=())
    for cached, kind, layout, failure, texts in (
        (True, "mirror", "OCI", "",
         ["signed|no: Spack does not sign what it pushes to a registry"]),
        (False, "mirror", "OCI", "", []),
        (True, "pages", "", "", []),
        (True, "mirror", "v3", "it is gone", []),
    ):  # fmt: skip
        state = SourceStatus("oci://h/m", kind, layout, 1, 0.0, "", failure, 0)
        mirrors = Mirrors([state], reader.session)
        lines = signing_lines(mirrors.entries(replace(listed, cached=cached, in_cache=cached)))
        assert [f"{line.label}|{line.text}" for line in lines] == texts


def test_a_size_is_requested_once(home: dict[str, str]) -> None:
    name = f"v3/manifests/spec/zlib/zlib-1.3.1-{ZLIB}.spec.manifest.json"
    archive = manifest(entry(ARCHIVE_TYPE, b"", contentLength=1234))
    with serve_files(mirror_v3(zlib_index()) | {name: archive}) as server:
        reader = Reader(home, server.url)
        spec = reader.spec("zlib")
        (state,) = reader.catalog.sources
        before = len(server.requests)
        assert reader.mirrors.sizes([spec], is_offline=True) == {}
        assert len(server.requests) == before
        for offline in (False, False, True):
            assert reader.mirrors.sizes([spec], is_offline=offline) == {ZLIB: 1234.0}
        # A source of several mirrors is found by the document.
        public = replace(
            spec, source="public", listed_in=(), origin=f"{server.url}/blobs/sha256/ab/abc"
        )
        state = replace(state, name="public", kind="public cache", layout="")
        assert Mirrors([state], reader.session).sizes([public]) == {ZLIB: 1234.0}
        assert server.paths()[before:] == [f"/{name}"]
        for other in (
            replace(spec, size=5.0),
            replace(spec, cached=False),
            replace(spec, source="spack:none", listed_in=()),
            replace(spec, package="../../x"),
        ):
            assert reader.mirrors.sizes([other]) == {}
