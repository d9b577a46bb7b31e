"""A manifest of a mirror lists its blobs, and a hostile one does no harm."""

from __future__ import annotations

import json
from typing import Any

import pytest

from spackscope.model.core.errors import Unreadable
from spackscope.model.readers.formats import (
    DATABASE,
    MAX_MANIFEST_SIZE,
    Blob,
    Manifest,
    archive_size_in,
    read_manifest,
)
from tests.builders import (
    ARCHIVE_TYPE,
    DATABASE_TYPE,
    SPACK_DATA,
    SPEC_TYPE,
    ZLIB,
    entry,
    manifest,
)
from tests.hostile import HOSTILE_TEXT

NAMED = f"v3/manifests/spec/zlib/zlib-1.3.1-{ZLIB}.spec.manifest.json"
REAL = sorted(SPACK_DATA.glob("mirror-v3/v3/manifests/spec/*/*.json"))
SIGNED = b"""-----BEGIN PGP SIGNED MESSAGE-----
Hash: SHA512

%s
-----BEGIN PGP SIGNATURE-----

iQIzBAEB
-----END PGP SIGNATURE-----
"""


def blob_of(**fields: Any) -> Manifest:
    return read_manifest(manifest(entry(DATABASE_TYPE, b"index", **fields)))


def test_the_manifest_of_an_index_that_spack_wrote_names_its_blob() -> None:
    data = (SPACK_DATA / "mirror-v3/v3/manifests/index/index.manifest.json").read_bytes()

    blob = read_manifest(data).blob(DATABASE)

    assert blob.media_type == DATABASE_TYPE
    assert blob.size == 25_699
    assert (SPACK_DATA / "mirror-v3" / blob.name).stat().st_size == blob.size


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.parent.name)
def test_the_manifest_of_a_spec_that_spack_wrote_names_spec_file_and_size(path: Any) -> None:
    data = path.read_bytes()

    blob = read_manifest(data).blob(SPEC_TYPE)
    manifest = archive_size_in(data, origin=str(path))

    assert (SPACK_DATA / "mirror-v3" / blob.name).stat().st_size == blob.size
    assert manifest is not None
    assert manifest[0] in path.name
    assert f'"contentLength":{manifest[1]},' in data.decode()


def test_a_signature_is_removed() -> None:
    plain = manifest(entry(SPEC_TYPE, b"spec"), entry(ARCHIVE_TYPE, b"archive"))

    assert read_manifest(SIGNED % plain) == read_manifest(plain)


def test_a_size_needs_a_hash_in_the_name_and_an_archive() -> None:
    data = manifest(entry(ARCHIVE_TYPE, b"archive"), entry(SPEC_TYPE, b"spec"))

    assert archive_size_in(data, origin=NAMED) == (ZLIB, 7)
    assert archive_size_in(data, origin="zlib.spec.manifest.json") is None
    no_size = manifest(entry(ARCHIVE_TYPE, b"archive", contentLength=...))
    assert archive_size_in(no_size, origin=NAMED) is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"<html>", "the manifest cannot be read"),
        (manifest(entry(SPEC_TYPE, b"spec")), "the manifest names no archive"),
        (
            manifest(entry(ARCHIVE_TYPE, b"", contentLength=-5)),
            "contentLength is -5, expected a number of bytes",
        ),
        (
            manifest(entry(ARCHIVE_TYPE, b"", contentLength="x")),
            "contentLength is 'x', expected a number of bytes",
        ),
        (
            manifest(entry(ARCHIVE_TYPE, b"", contentLength=float("nan"))),
            "contentLength is NaN, expected a number of bytes",
        ),
        (manifest(entry(ARCHIVE_TYPE, b"", contentLength=None)), "contentLength is missing"),
    ],
)
def test_a_manifest_without_a_size_is_a_problem(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        archive_size_in(data, origin=NAMED)


@pytest.mark.parametrize("length", [..., -1, 1.5, "7", None, True, [7], 10**30, float("nan")])
def test_an_invalid_length_is_ignored(length: object) -> None:
    assert blob_of(contentLength=length).blob(DATABASE).size is None


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"checksum": ...}, "checksum is missing"),
        ({"checksum": ""}, "checksum is missing"),
        ({"checksum": 5}, "checksum is 5, expected 64 hexadecimal digits"),
        ({"checksum": "../../../etc/passwd"}, "expected 64 hexadecimal digits"),
        ({"checksum": "a" * 63 + "/"}, "expected 64 hexadecimal digits"),
        ({"checksum": "a" * 64 + "\n"}, "expected 64 hexadecimal digits"),
        ({"checksumAlgorithm": "md5"}, "checksumAlgorithm is 'md5', expected sha256"),
        ({"checksumAlgorithm": {}}, "checksumAlgorithm is an object"),
        ({"mediaType": ...}, "mediaType is missing"),
        ({"mediaType": ["x"]}, "mediaType is a list"),
    ],
)
def test_an_entry_that_is_wrong_is_named(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(Unreadable, match="the manifest names no index: ") as refusal:
        blob_of(**fields).blob(DATABASE)

    assert reason in str(refusal.value)


def test_a_wrong_entry_spoils_no_other() -> None:
    read = read_manifest(
        manifest(
            None, 5, "x", [], entry(DATABASE_TYPE, b"x", checksum=1), entry(DATABASE_TYPE, b"y")
        )
    )

    assert len(read.blobs) == 1
    assert read.blob(DATABASE).checksum == entry(DATABASE_TYPE, b"y")["checksum"]
    assert len(read.remarks) == 5


def test_a_checksum_is_compared_in_lower_case() -> None:
    checksum = entry(DATABASE_TYPE, b"index")["checksum"]

    assert blob_of(checksum=checksum.upper()).blob(DATABASE).checksum == checksum


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"null",
        b"5",
        b"[]",
        b"{}",
        b'{"data": {}}',
        b'{"data": null}',
        b"<html>404</html>",
        b"\x1f\x8b\x08",
        b"\xff\xfe",
        b"\xff\xff\xff",
        b"[" * 100_000,
        b'{"data": ' * 100_000,
        b" " * (MAX_MANIFEST_SIZE + 1),
        SIGNED,
        manifest(entry(DATABASE_TYPE, b"index"))[:-20],
    ],
)
def test_a_text_that_is_not_a_manifest_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable, match="manifest"):
        read_manifest(data)


@pytest.mark.parametrize("text", [text for _, text in HOSTILE_TEXT])
@pytest.mark.parametrize("field", ["mediaType", "checksum", "checksumAlgorithm", "compression"])
def test_hostile_texts_are_survived_anywhere(field: str, text: str) -> None:
    data = json.dumps({"data": [entry(DATABASE_TYPE, b"index", **{field: text})]}).encode()

    read = read_manifest(data)

    for told in (*read.remarks, *(blob.media_type for blob in read.blobs)):
        told.encode()
        assert len(told) < 300


def test_a_blob_is_below_the_first_digits_of_its_checksum() -> None:
    assert Blob(DATABASE_TYPE, "ab" + "0" * 62).name == "blobs/sha256/ab/ab" + "0" * 62
