"""Documents are unpacked as far as possible, bombs are not, and texts are decoded."""

from __future__ import annotations

import gzip
import importlib
import sys
from collections.abc import Callable

import pytest

from spackscope.model.readers.formats import read_document
from tests.builders import INDEX_OF_1_2, ZLIB, leaf, read, reasons, split_problems, zlib_index
from tests.model.readers.test_formats import specfile


def test_a_cut_gzip_keeps_what_came() -> None:
    packed = gzip.compress(INDEX_OF_1_2.read_bytes())

    specs, problems = read(packed[: len(packed) // 2])

    assert len(specs) > 3
    assert problems[0].reason == "it cannot be unpacked completely: file is cut off"
    assert "file is cut off at character" in problems[1].reason


def test_a_small_gzip_cut_anywhere_does_not_raise() -> None:
    packed = gzip.compress(specfile([leaf(ZLIB, "zlib", "1")]))

    for length in range(2, len(packed)):
        specs, problems = read(packed[:length])
        assert len(specs) <= 1
        assert problems


def test_a_wrong_checksum_is_a_problem() -> None:
    packed = bytearray(gzip.compress(zlib_index()))
    packed[-6] ^= 0xFF

    specs, problems = read(bytes(packed))

    assert specs == read(zlib_index())[0]
    assert len(problems) == 1
    assert "incorrect data check" in problems[0].reason


@pytest.mark.parametrize(("end", "count"), [(b"\0" * 100, 0), (b"\0x", 1), (b"PK", 1)])
def test_only_padding_may_follow_gzip(end: bytes, count: int) -> None:
    specs, problems = read(gzip.compress(zlib_index()) + end)

    assert specs == read(zlib_index())[0]
    assert len(problems) == count


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


def test_a_cut_zstd_is_a_problem() -> None:
    packed = zstd(INDEX_OF_1_2.read_bytes())

    for length in range(4, len(packed), 97):
        assert read(packed[:length])[1]


@pytest.mark.parametrize("pack", [gzip.compress, lambda data: gzip.compress(data) * 3, zstd])
def test_what_unpacks_to_too_much_is_not_read(pack: Callable[[bytes], bytes]) -> None:
    bomb = pack(b" " * 10_000_000)

    specs, problems = split_problems(read_document(bomb, origin="o", max_size=5_000_000))

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
