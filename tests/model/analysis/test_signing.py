"""Who signed specs and sources, and what to type to trust the key, is found out and worded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from spackscope.model.analysis.signing import SourceSigning, source_signing
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.frozen import replace
from spackscope.model.core.records import SourceStatus
from spackscope.model.core.text import clean
from spackscope.model.loader.load import load
from spackscope.model.presentation.signing import (
    entries_json,
    signing_cell,
    signing_lines,
    source_signing_lines,
)
from spackscope.model.sources.mirror_spec import KnownKeys, MirrorEntry, read_entries
from spackscope.model.sources.session import Session
from tests.builders import (
    MANIFEST,
    PROJECT_KEY,
    PROJECT_SUBKEY,
    SIGNED,
    SITE_KEY,
    all_records,
    serve_files,
    signed_v2,
    signed_v3,
    under,
    write_files,
)
from tests.hostile import HOSTILE_TEXT
from tests.web_server import responds


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    return {"XDG_CACHE_HOME": str(tmp_path / "cache")}


KEYS = "spack buildcache keys --install --trust"


class Reader:
    """Sources that are read, with an environment."""

    def __init__(self, environ: Mapping[str, str], *sources: str) -> None:
        self.session, self.sources = Session(environ), sources
        self.catalog: Catalog = load(sources, self.session)
        self.known = KnownKeys(environ)

    def spec(self, package: str) -> list[MirrorEntry]:
        specs = (spec for spec in all_records(self.catalog) if spec.package == package)
        spec, states = next(specs), self.catalog.sources
        return read_entries(spec, states, self.session, self.sources, self.known)

    def source(self) -> SourceSigning | None:
        (state,) = self.catalog.sources
        return source_signing(self.catalog, state, self.session, self.sources, self.known)

    def texts(self, package: str, *, is_full: bool = True) -> list[str]:
        lines = signing_lines(self.spec(package), is_full=is_full)
        return [f"{line.label}|{line.lead}{line.text}" for line in lines]


def test_a_local_mirror_names_the_file_of_its_key(home: dict[str, str], tmp_path: Path) -> None:
    reader = Reader(home, str(write_files(tmp_path / "m", signed_v2())))
    key = f"{tmp_path}/m/build_cache/_pgp/{SITE_KEY}.pub"

    assert reader.texts("zlib-ng")[:5] == [
        f"signed|by key {SITE_KEY}",
        "|Example Site (GPG created for Spack) <spack@example.org>",
        "|2026-11-22",
        "|not verified",
        f"trust|spack gpg trust {key}",
    ]
    assert reader.texts("gmake")[0] == "signed|no: spack install needs --no-check-signature"


@pytest.mark.skipif(shutil.which("gpg") is None, reason="gpg is not installed")
def test_the_key_that_is_named_verifies_the_manifest(home: dict[str, str], tmp_path: Path) -> None:
    mirror = write_files(tmp_path / "m", signed_v3())
    (signed,) = Reader(home, str(mirror)).spec("ncurses")
    assert signed.signer is not None
    key = signed.signer.trust.removeprefix("spack gpg trust ")
    keyring = tmp_path / "gpg"
    keyring.mkdir(mode=0o700)
    environ = {"GNUPGHOME": str(keyring), "PATH": os.environ["PATH"], "LANG": "C"}

    def gpg(*words: str) -> str:
        command = ["gpg", "--batch", "--no-autostart", "--status-fd", "1", *words]
        return subprocess.run(
            command, env=environ, check=True, capture_output=True, encoding="utf-8"
        ).stdout

    gpg("--import", key)
    assert f"VALIDSIG {PROJECT_SUBKEY}" in gpg("--verify", signed.document)


def test_a_subkey_is_shown_with_its_key(home: dict[str, str], tmp_path: Path) -> None:
    with serve_files(signed_v3()) as server:
        reader = Reader(home, server.url)
        texts = reader.texts("ncurses")

    host = server.url.removeprefix("http://").replace(":", "-")
    assert texts[0] == f"signed|by subkey {PROJECT_SUBKEY} of {PROJECT_KEY}"
    assert texts[4] == f"trust|spack mirror add {host} {server.url} && {KEYS}"
    assert texts[5] == "archive|listed, but the archive is missing: HTTP 404"
    assert texts[6].startswith(f"|{server.url}/blobs/sha256/cd/")


def test_the_folder_of_a_build_cache_is_no_url_of_a_mirror(home: dict[str, str]) -> None:
    with serve_files(under("site", signed_v2())) as server:
        texts = Reader(home, f"{server.url}/site/build_cache/").texts("zlib-ng")
    assert f"trust|spack mirror add site {server.url}/site && {KEYS}" in texts


def test_no_password_is_in_an_answer(home: dict[str, str]) -> None:
    with serve_files(signed_v3()) as server:
        host = server.url.removeprefix("http://")
        reader = Reader(home, f"http://ada:s3cret@{host}")
        answers = [json.dumps(entries_json(reader.spec(name))) for name in ("bzip2", "ncurses")]
    assert not any("s3cret" in answer for answer in answers)
    credentials = {request.headers.get("authorization") for request in server.requests}
    assert credentials == {"Basic YWRhOnMzY3JldA=="}


def test_a_configured_mirror_needs_only_its_keys(home: dict[str, str], tmp_path: Path) -> None:
    with serve_files(signed_v3()) as server:
        root = tmp_path / "spack"
        write_files(
            root, {"etc/spack/mirrors.yaml": f"mirrors:\n  site: {server.url}/\n".encode()}
        )
        environ = {**home, "SPACK_ROOT": str(root)}
        for source in ("spack:site", server.url):
            assert f"trust|{KEYS}" in Reader(environ, source).texts("bzip2")


def test_an_unsigned_spec_needs_an_option_unless_its_mirror_is_configured_so(
    home: dict[str, str], tmp_path: Path
) -> None:
    mirror = write_files(tmp_path / "m", signed_v2())
    root = tmp_path / "spack"
    yaml = "mirrors:\n  site:\n    url: {}\n    signed: {}\n"
    answers = []
    for signed in ("false", "true"):
        text = yaml.format(mirror, signed).encode()
        write_files(root, {"etc/spack/mirrors.yaml": text})
        environ = {**home, "SPACK_ROOT": str(root)}
        answers += [
            Reader(environ, source).texts("gmake")[0] for source in ("spack:site", f"{mirror}")
        ]
    unchecked = "signed|no, and your Spack does not ask this mirror for it"
    needed = "signed|no: spack install needs --no-check-signature"
    assert answers == [unchecked, unchecked, needed, needed]


def test_a_key_in_the_keyring_of_spack_needs_nothing(home: dict[str, str], tmp_path: Path) -> None:
    with serve_files(signed_v3()) as server:
        reader = Reader({**home, "SPACK_GNUPGHOME": str(SIGNED)}, server.url)
        texts = reader.texts("bzip2", is_full=False)
    assert texts[-1] == "trust|in the keyring of your Spack"
    assert not any("/key/" in path for path in server.paths())


def test_an_unpublished_key_needs_its_file(home: dict[str, str], tmp_path: Path) -> None:
    files = {name: data for name, data in signed_v2().items() if "_pgp" not in name}
    texts = Reader(home, str(write_files(tmp_path / "m", files))).texts("zlib-ng")
    assert texts[:4] == [
        f"signed|by key {SITE_KEY}",
        "|2026-11-22",
        "|not verified",
        "trust|the mirror does not publish the key: get its file, then spack gpg trust FILE",
    ]


def test_a_key_that_cannot_be_asked_for_is_unknown(home: dict[str, str]) -> None:
    with serve_files(signed_v2()) as server:
        server.handlers["/build_cache/_pgp/index.json"] = responds(500, Retry_After=0)
        texts = Reader(home, server.url).texts("zlib-ng")
    (trust,) = (text for text in texts if text.startswith("trust|"))
    assert trust.startswith(f"trust|unknown: {server.url}/build_cache/_pgp/index.json cannot be")


def test_several_mirrors_are_told_apart(home: dict[str, str], tmp_path: Path) -> None:
    files = signed_v3()
    a, b = (str(write_files(tmp_path / name, files)) for name in "ab")
    texts = Reader(home, a, b).texts("bzip2")
    assert [text for text in texts if str(tmp_path) in text.partition(": ")[0]] == [
        f"signed|{a}: by key {SITE_KEY}",
        f"|{b}: by key {SITE_KEY}",
        *(text for text in texts if text.startswith("trust|") or f"|{b}: spack gpg" in text),
        f"archive|{a}: present",
        f"|{b}: present",
    ]


def test_a_source_is_signed_as_far_as_its_specs_are(home: dict[str, str], tmp_path: Path) -> None:
    mirror = str(write_files(tmp_path / "m", signed_v3()))
    signing = Reader(home, mirror).source()
    assert signing is not None
    assert (signing.read, signing.signed, signing.is_index_signed) == (2, 2, False)
    assert signing_cell(signing) == "specs"
    lines = [text for _, text in source_signing_lines(signing)]
    assert lines[0] == "2 of 2 specs that were looked at, the index is not"
    assert sum(line.startswith("spack gpg trust ") for line in lines) == 2
    assert sum(f"by key {SITE_KEY}, Example Site (GPG" in line for line in lines) == 1

    old = Reader(home, str(write_files(tmp_path / "old", signed_v2()))).source()
    assert old is not None
    assert (old.read, old.signed, signing_cell(old)) == (3, 1, "some specs")
    assert signing_cell(replace(old, signed=0)) == "no"
    assert signing_cell(replace(old, signed=3, is_index_signed=True)) == "specs and index"
    assert signing_cell(replace(old, read=0, signed=0, problem="it is silent")) == "?"


def test_only_a_sample_of_a_remote_source_is_read(home: dict[str, str]) -> None:
    with serve_files(signed_v3()) as server:
        reader = Reader(home, server.url)
        before = len(server.requests)
        signing = reader.source()
    asked = [path for path in server.paths()[before:] if "/spec/" in path]
    assert len(asked) == 8
    assert signing is not None


def test_what_is_no_mirror_has_no_signatures(home: dict[str, str], tmp_path: Path) -> None:
    reader = Reader(home, "sample_data")
    assert reader.source() is None
    assert signing_cell(None) == "-"


def test_scripts_get_the_key_and_that_nothing_is_verified(
    home: dict[str, str], tmp_path: Path
) -> None:
    mirror = str(write_files(tmp_path / "m", signed_v3()))
    (entry,) = json.loads(json.dumps(entries_json(Reader(home, mirror).spec("ncurses"))))
    assert entry["signed"] is True
    assert entry["archive"] == "missing"
    assert {name: entry["key"][name] for name in ("fingerprint", "primary", "verified")} == {
        "fingerprint": PROJECT_SUBKEY,
        "primary": PROJECT_KEY,
        "verified": False,
    }


def test_hostile_names_of_keys_are_cleaned(home: dict[str, str], tmp_path: Path) -> None:
    (signed,) = Reader(home, str(write_files(tmp_path / "m", signed_v2()))).spec("zlib-ng")
    assert signed.signer is not None
    assert signed.signer.key is not None
    for _, text in HOSTILE_TEXT:
        key = replace(signed.signer.key, user_ids=(text,))
        hostile = replace(signed, signer=replace(signed.signer, key=key))
        assert all(line.text == clean(line.text) for line in signing_lines([hostile]))


def test_only_what_may_be_a_mirror_is_asked() -> None:
    def status(name: str, kind: str, failure: str = "") -> SourceStatus:
        return SourceStatus(name, kind, "", 1, None, "", failure, 0)

    assert status("m", "mirror").may_be_mirror
    assert status("m/build_cache/index.json", "file").may_be_mirror
    assert status("all", "directory").may_be_mirror
    assert not status("index.json", "file").may_be_mirror
    assert not status("tree", "install tree").may_be_mirror
    assert not status("m", "mirror", "it is gone").may_be_mirror


def test_a_signed_index_is_told(home: dict[str, str], tmp_path: Path) -> None:
    files = signed_v3()
    head, _, rest = (SIGNED / "bzip2.spec.manifest.json").read_bytes().partition(b"{")
    files[MANIFEST] = head + files[MANIFEST] + b"\n-----BEGIN" + rest.partition(b"-----BEGIN")[2]
    signing = Reader(home, str(write_files(tmp_path / "m", files))).source()
    assert signing is not None
    assert signing.is_index_signed
    assert signing_cell(signing) == "specs and index"
    assert next(text for _, text in source_signing_lines(signing)).endswith(", and the index")


def test_a_registry_has_no_signatures(home: dict[str, str]) -> None:
    registry = SourceStatus("oci://h/m", "mirror", "OCI", 1, 0.0, "", "", 0)
    reader = Reader(home, "sample_data")
    signing = source_signing(reader.catalog, registry, reader.session, (), reader.known)
    assert signing_cell(signing) == "no"
    (spec, *_) = all_records(reader.catalog)
    listed = replace(spec, source="oci://h/m", listed_in=(), cached=True)
    lines = signing_lines(read_entries(listed, [registry], reader.session, (), reader.known))
    assert [(line.label, line.text) for line in lines] == [
        ("signed", "no: Spack does not sign what it pushes to a registry")
    ]
