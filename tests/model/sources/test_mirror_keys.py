"""The public keys of a mirror are read as Spack reads them, and those that Spack trusts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from spackscope.model.readers.openpgp import PublicKey, Signature
from spackscope.model.sources.mirror import Mirror
from spackscope.model.sources.mirror_spec import KnownKeys, PublishedKeys, read_published_keys
from spackscope.model.sources.session import Session
from tests.builders import (
    PROJECT_KEY,
    PROJECT_SUBKEY,
    SIGNED,
    SITE_KEY,
    Files,
    serve_files,
    signed_v2,
    signed_v3,
    write_files,
)
from tests.web_server import responds

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
