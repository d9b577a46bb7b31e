"""Documents are unpacked as far as possible, and the key that signed them is read.

The files in `tests/data/spack/signed` were made with GnuPG as Spack makes them: `gpg --clearsign`
with a key of RSA, and one with a signing subkey, as that of the Spack project has.
"""

import base64
import gzip
import importlib
import re
import sys
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.errors import Unreadable
from spackscope.model.readers.formats import read_document
from spackscope.model.readers.unpack import Signature, read_signature
from tests.builders.catalogs import read, reasons, split_problems
from tests.builders.spack import INDEX_OF_1_2, PROJECT_SUBKEY, SIGNED, SITE_KEY, zlib_index
from tests.model.readers.test_formats import specfile


def test_a_cut_gzip_keeps_what_came() -> None:
    packed = gzip.compress(INDEX_OF_1_2.read_bytes())

    specs, problems = read(packed[: len(packed) // 2])

    assert len(specs) > 3
    assert problems[0].reason == "it cannot be unpacked completely: file is cut off"
    assert "file is cut off at character" in problems[1].reason


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda packed: packed + b"\0" * 100, ""),
        (lambda packed: packed + b"\0x", "."),
        (lambda packed: packed + b"PK", "."),
        (lambda packed: packed[:-6] + bytes([packed[-6] ^ 0xFF]) + packed[-5:], "incorrect data"),
    ],
)
def test_only_padding_may_follow_gzip_and_its_checksum_is_checked(
    change: Callable[[bytes], bytes], reason: str
) -> None:
    specs, problems = read(change(gzip.compress(zlib_index())))

    assert specs == read(zlib_index())[0]
    assert [bool(re.search(reason, each.reason)) for each in problems] == [True] * bool(reason)


def zstd_frame(data: bytes) -> bytes:
    """Write a zstd frame of one uncompressed block, as RFC 8878 has it."""
    block = (len(data) << 3 | 1).to_bytes(3, "little")
    return b"\x28\xb5\x2f\xfd\xa0" + len(data).to_bytes(4, "little") + block + data


def zstd(data: bytes) -> bytes:
    name = "compression.zstd" if sys.version_info >= (3, 14) else "zstandard"
    packed: bytes = importlib.import_module(name).compress(data)
    return packed


def test_zstd_is_read() -> None:
    assert read(zstd_frame(specfile())) == read(specfile())
    assert read(zstd(zlib_index())) == read(zlib_index())
    assert read(zstd(zlib_index()[:100]) + zstd(zlib_index()[100:])) == read(zlib_index())


@pytest.mark.parametrize("pack", [gzip.compress, zstd])
def test_a_file_that_is_cut_anywhere_is_a_problem(pack: Callable[[bytes], bytes]) -> None:
    packed = pack(INDEX_OF_1_2.read_bytes())

    for length in range(4, len(packed), 97):
        assert read(packed[:length])[1]


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: gzip.compress(data) * 3, zstd])
def test_what_unpacks_to_too_much_is_not_read(
    pack: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spackscope.model.readers.unpack.MAX_FILE_SIZE", 5_000_000)
    bomb = pack(b" " * 10_000_000)

    specs, problems = split_problems(read_document(bomb, origin="o"))

    assert specs == []
    assert reasons(problems) == [": it unpacks to more than 5,000,000 bytes"]


def test_a_python_without_zstd_names_the_package_that_it_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("compression.zstd", "backports.zstd", "zstandard"):
        monkeypatch.setitem(sys.modules, name, None)

    specs, problems = read(zstd_frame(specfile()))

    assert specs == []
    assert reasons(problems) == [
        ": it is compressed with zstd, for which Python before 3.14 needs the package zstandard"
    ]


BZIP2, NCURSES, ZLIB_NG = (
    (SIGNED / name).read_bytes()
    for name in ("bzip2.spec.manifest.json", "ncurses.spec.manifest.json", "zlib-ng.spec.json.sig")
)
SITE_SIGNATURE = Signature(SITE_KEY, SITE_KEY[-16:], 1_795_325_720)


def armoured(packets: bytes) -> bytes:
    body = base64.encodebytes(packets).decode()
    text = f"-----BEGIN PGP SIGNATURE-----\n\n{body}-----END PGP SIGNATURE-----\n"
    return f"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n{{}}\n{text}".encode()


def packet(tag: int, body: bytes) -> bytes:
    return bytes([0xC0 | tag, 0xFF]) + len(body).to_bytes(4, "big") + body


def signature_packet(hashed: bytes, unhashed: bytes = b"", version: int = 4) -> bytes:
    size = 4 if version == 6 else 2
    areas = (len(area).to_bytes(size, "big") + area for area in (hashed, unhashed))
    return packet(2, bytes([version, 1, 1, 10]) + b"".join(areas) + b"\xab\xcd")


def subpacket(kind: int, value: bytes) -> bytes:
    return bytes([len(value) + 1, kind]) + value


def test_a_signature_names_its_key() -> None:
    assert read_signature(BZIP2) == read_signature(ZLIB_NG) == SITE_SIGNATURE
    signature = read_signature(NCURSES)
    assert signature is not None
    assert signature.fingerprint == PROJECT_SUBKEY


def test_line_ends_and_headers_of_armour_may_differ() -> None:
    assert read_signature(BZIP2.replace(b"\n", b"\r\n")) == SITE_SIGNATURE
    version = b"-----BEGIN PGP SIGNATURE-----\nVersion: GnuPG v2\nComment: made: twice\n"
    text = BZIP2.replace(b"-----BEGIN PGP SIGNATURE-----\n", version)
    assert read_signature(text) == SITE_SIGNATURE
    without_checksum = b"\n".join(
        line for line in BZIP2.split(b"\n") if not (line.startswith(b"=") and len(line) == 5)
    )
    assert read_signature(without_checksum) == SITE_SIGNATURE


def test_all_versions_of_signatures_are_read() -> None:
    key_id = bytes(range(8))
    new = bytes(range(32))
    only_id = signature_packet(subpacket(2, (1_000).to_bytes(4, "big")), subpacket(16, key_id))

    assert read_signature(armoured(only_id)) == Signature("", "0001020304050607", 1_000)
    for version in (5, 6):
        issuer = subpacket(33, bytes([version]) + new)
        signature = read_signature(armoured(signature_packet(issuer, version=version)))
        assert signature == Signature(new.hex().upper(), "0001020304050607")
    assert read_signature(armoured(signature_packet(b""))) == Signature()
    wrong_length = signature_packet(subpacket(33, b"\x04" + new))
    assert read_signature(armoured(wrong_length)) == Signature()


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (BZIP2[:700], "its signature is missing"),
        (armoured(b""), "its signature cannot be read: it is empty"),
        (armoured(b"\x00"), "it is not OpenPGP: byte 0 begins no packet"),
        (armoured(packet(2, b"")), "its signature has the unknown version 0"),
        (armoured(packet(2, b"\x07" * 30)), "its signature has the unknown version 7"),
        (armoured(packet(2, b"\x04\0\1\1\xff\xff")), "its signature is cut off"),
        (armoured(signature_packet(b"\x09\x02")), "its signature is cut off"),
        (armoured(packet(2, b"\x04" * 300)[:100]), "its OpenPGP packets are cut off"),
        (armoured(bytes([0xC2, 0xE5])), "the length of an OpenPGP packet cannot be read"),
        (armoured(b"abc").replace(b"YWJj", b"YWJjZ"), "its OpenPGP armour cannot be read: Inval"),
    ],
)
def test_a_broken_signature_is_a_sentence(data: bytes, why: str) -> None:
    with pytest.raises(Unreadable) as raised:
        read_signature(data)
    assert str(raised.value).startswith(why)


@given(st.binary(max_size=300), st.sampled_from([0, 4, 90, 200]))
def test_any_bytes_are_read_or_refused(data: bytes, at: int) -> None:
    (signature,) = (base64.b64decode(b"".join(NCURSES.split(b"-----\n\n")[1].split(b"\n")[:3])),)
    for text in (armoured(data), armoured(signature[:at] + data)):
        try:
            read = read_signature(text)
        except Unreadable:
            continue
        assert read is not None
