"""Any document is told by its structure, and one that is none of the known ones says so."""

from __future__ import annotations

import gzip
import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.records import Problem, Spec
from spackscope.model.readers.detect import read_document
from tests.builders import (
    INDEX_OF_1_2,
    INSTALL_TREE,
    SPACK_DATA,
    ZLIB,
    as_yaml,
    database,
    in_format,
    installs,
    leaf,
    page,
    read,
    record,
    split_problems,
    zlib_index,
    zlib_nodes,
)
from tests.model.readers.test_lockfile import lock
from tests.model.readers.test_spec_file import COMPRESSED, signed, specfile

OLDEST = {"spec": [in_format(1, new) for new in zlib_nodes()]}
YAML = as_yaml(OLDEST)
ROOT_AND_OTHERS: list[tuple[str, ...]] = [(), ("needed",), ("needed",), ("needed",)]
DOCUMENTS: list[tuple[str, bytes, list[tuple[str, ...]]]] = [
    ("page", page([record(1)]), [("cached",)]),
    ("database", zlib_index(), [("cached",)] * 4),
    ("lock file", lock(), [("explicit",), (), (), ()]),
    ("spec file", specfile(), ROOT_AND_OTHERS),
    ("oldest spec file", json.dumps(OLDEST).encode(), ROOT_AND_OTHERS),
    ("spec file in YAML", YAML, ROOT_AND_OTHERS),
    ("spack find --json", json.dumps(zlib_nodes()).encode(), [()] * 4),
    ("signed spec file", signed(specfile()), ROOT_AND_OTHERS),
    ("signed spec file in YAML", signed(YAML), ROOT_AND_OTHERS),
]
NOT_A = "it is not a page of cache.spack.io, a Spack database (index.json), a spack.lock,"
NOT_KNOWN = f"{NOT_A} a spec file or the output of spack find --json"


def reasons(problems: list[Problem]) -> list[str]:
    return [f"{problem.place}: {problem.reason}" for problem in problems]


# Structure


@pytest.mark.parametrize(
    ("data", "states"), [pytest.param(*rest, id=kind) for kind, *rest in DOCUMENTS]
)
def test_a_document_is_told_by_its_structure(data: bytes, states: list[tuple[str, ...]]) -> None:
    specs, problems = read(data)

    # Each format tells other states of the same specs.
    assert [spec.states for spec in specs] == states
    assert specs[0].package == "zlib"
    assert problems == []


@pytest.mark.parametrize("data", [pytest.param(data, id=kind) for kind, data, _ in DOCUMENTS])
@pytest.mark.parametrize(
    "change",
    [
        gzip.compress,
        lambda data: gzip.compress(data[:100]) + gzip.compress(data[100:]),
        lambda data: data.replace(b"\n", b"\r\n"),
    ],
    ids=["gzip", "gzip in two parts", "CRLF"],
)
def test_a_document_may_come_in_another_form(
    data: bytes, change: Callable[[bytes], bytes]
) -> None:
    assert read(change(data)) == read(data)


@pytest.mark.parametrize(
    "data", [zlib_index(), lock(), specfile()], ids=["index", "lock", "spec file"]
)
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.encode("utf-16"),
        lambda text: "\n \t" + text + "\n\n",
        lambda text: json.dumps(json.loads(text), indent=1),
        lambda text: json.dumps(json.loads(text), sort_keys=True, ensure_ascii=False),
    ],
    ids=["BOM", "UTF-16", "space around", "indented", "sorted"],
)
def test_json_may_be_written_in_another_way(
    data: bytes, change: Callable[[str], bytes | str]
) -> None:
    changed = change(data.decode())

    specs, problems = read(changed if isinstance(changed, bytes) else changed.encode())

    by_hash = {spec.hash: spec.package for spec in specs}
    assert by_hash == {spec.hash: spec.package for spec in read(data)[0]}
    assert problems == []


@pytest.mark.parametrize("path", COMPRESSED, ids=["bzip2", "ncurses"])
def test_a_spec_file_as_spack_1_stores_it_is_read(path: Path) -> None:
    specs, problems = read(path.read_bytes())

    assert len(specs) > 1
    assert problems == []


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", ": it is empty"),
        (b" \n", ": it is empty"),
        (b"\xef\xbb\xbf", ": it is empty"),
        (b"{}", f": {NOT_A} a spec file or"),
        (b"[]", f": {NOT_A} a spec file or"),
        (b"null", f": {NOT_A} a spec file or"),
        (b"1", f": {NOT_A} a spec file or"),
        (b'"database"', f": {NOT_A} a spec file or"),
        (b'{"version": 3, "data": []}', f": {NOT_A} a spec file or"),
        (b'{"signing": "gpg"}', f": {NOT_A} a spec file or"),
        (
            b"<!DOCTYPE html><title>502</title>",
            f": {NOT_KNOWN}: it is a web page",
        ),
        (
            b"\n<html>",
            f": {NOT_KNOWN}: it is a web page",
        ),
        (
            b"<?xml version='1.0'?><Error/>",
            f": {NOT_KNOWN}: it is a web page",
        ),
        (
            b"not found",
            f": {NOT_KNOWN}: it is not JSON: Expecting value at character 0",
        ),
        (
            b"{",
            f": {NOT_KNOWN}: it is not JSON: Expecting property name",
        ),
        (
            b"\xff\xfe{",
            f": {NOT_KNOWN}: byte 2 is not UTF-16 text",
        ),
        (
            "{}".encode("utf-16-le"),
            f": {NOT_KNOWN}: it is not JSON",
        ),
        (
            b'{"x": "\xe9"}',
            f": {NOT_KNOWN}: byte 7 is not UTF-8 text",
        ),
        (
            b"[" * 100_000,
            f": {NOT_KNOWN}: it is nested too deeply",
        ),
        (
            b'{"database":' * 100_000,
            f": {NOT_KNOWN}: it is nested too deeply",
        ),
        (
            b'{"database":{"installs":' + b"[" * 100_000,
            f": {NOT_KNOWN}: it is nested too deeply",
        ),
        (b"\x1f\x8b", ": it cannot be unpacked completely: File is cut off"),
        (b"\x1f\x8bnonsense", ": it cannot be unpacked completely: Error -3"),
    ],
    ids=range(23),
)
def test_what_is_none_of_them_says_so(data: bytes, reason: str) -> None:
    specs, problems = read(data)

    assert specs == []
    assert len(problems) == 1
    assert reasons(problems)[0].startswith(reason)


@pytest.mark.parametrize("data", [b"[1]", b'["zlib"]', b'[{"name": "zlib"}]', b'[{"hash": "a"}]'])
def test_a_list_of_anything_but_specs_is_none_of_them(data: bytes) -> None:
    specs, problems = read(data)

    assert (specs, reasons(problems)) == ([], [f": {NOT_KNOWN}"])


# What spack find --json prints


def test_what_spack_find_prints_are_the_nodes_of_the_install_tree() -> None:
    tree = INSTALL_TREE.read_bytes()
    installed = json.loads(tree)["database"]["installs"]
    printed = json.dumps([record["spec"] for record in installed.values()])

    specs, problems = read(printed.encode())

    of_tree = {"installed", "explicit", "path", "installed_at", "in_cache"}
    assert problems == []
    for spec, other in zip(specs, read(tree)[0], strict=True):
        for name in set(Spec.__slots__) - of_tree:
            assert getattr(spec, name) == getattr(other, name)


def test_what_spack_find_prints_need_not_hold_the_dependencies() -> None:
    specs, problems = read(json.dumps(zlib_nodes()[:1]).encode())

    assert [(spec.package, spec.compiler) for spec in specs] == [("zlib", "gcc")]
    assert problems == []


def test_what_is_none_in_a_list_of_specs_takes_no_other_along() -> None:
    specs, problems = read(
        json.dumps([7, *zlib_nodes()[:1], {**zlib_nodes()[0], "version": "2"}]).encode()
    )

    assert [spec.version for spec in specs] == ["1.3.1"]
    assert reasons(problems) == [
        "spec: hash is missing",
        f"zlib/{ZLIB[:7]}: it is listed twice with different content; the first one counts",
    ]


def test_gzip_within_gzip_is_none_of_them() -> None:
    _, (problem,) = read(gzip.compress(gzip.compress(zlib_index())))

    assert problem.reason.startswith(NOT_A)


# Documents that break off


SMALL = installs(leaf(ZLIB, "zlib", "1"), *zlib_nodes()[1:3])


@pytest.mark.parametrize(
    "data",
    [
        database(SMALL),
        json.dumps({"database": {"installs": SMALL, "version": "8"}}).encode(),
        lock({hash_: its["spec"] for hash_, its in SMALL.items()}),
        specfile([its["spec"] for its in SMALL.values()]),
        json.dumps({"spec": [in_format(1, its["spec"]) for its in SMALL.values()]}).encode(),
        json.dumps([its["spec"] for its in SMALL.values()]).encode(),
    ],
    ids=["index", "version last", "lock file", "spec file", "oldest spec file", "spack find"],
)
def test_a_document_cut_anywhere_says_where_and_keeps_the_specs_before_the_cut(
    data: bytes,
) -> None:
    whole, _ = read(data)
    kept = []

    for length in range(len(data)):
        specs, problems = read(data[:length])
        assert [spec.hash for spec in specs] == [spec.hash for spec in whole[: len(specs)]]
        assert [spec.version for spec in specs] == [spec.version for spec in whole[: len(specs)]]
        kept.append(len(specs))
        assert problems
        if length:
            assert "at character" in problems[0].reason
    assert kept == sorted(kept)
    assert set(kept) == {0, 1, 2, 3}


def test_a_large_index_cut_in_the_middle_keeps_what_came() -> None:
    data = INDEX_OF_1_2.read_bytes()

    specs, problems = read(data[: len(data) // 2])

    assert [spec.hash for spec in specs] == [spec.hash for spec in read(data)[0]][: len(specs)]
    assert len(specs) == 13
    assert problems[0].reason.startswith("File is cut off at character ")
    assert problems[0].reason.endswith("; the records before it were read")


def test_a_document_behind_a_document_is_told() -> None:
    specs, problems = read(zlib_index() + zlib_index())

    assert specs == read(zlib_index())[0]
    end = len(zlib_index())
    assert reasons(problems) == [
        f": Data after the end of the document (character {end}) was ignored"
    ]


def test_a_cut_gzip_keeps_what_came() -> None:
    packed = gzip.compress(INDEX_OF_1_2.read_bytes())

    specs, problems = read(packed[: len(packed) // 2])

    assert len(specs) > 3
    assert problems[0].reason == "it cannot be unpacked completely: File is cut off"
    assert "File is cut off at character" in problems[1].reason


@pytest.mark.parametrize("step", [1, 7])
def test_a_small_gzip_cut_anywhere_does_not_raise(step: int) -> None:
    packed = gzip.compress(specfile([leaf(ZLIB, "zlib", "1")]))

    for length in range(2, len(packed), step):
        specs, problems = read(packed[:length])
        assert len(specs) <= 1
        assert problems


def test_a_wrong_checksum_is_told() -> None:
    packed = bytearray(gzip.compress(zlib_index()))
    packed[-6] ^= 0xFF

    specs, problems = read(bytes(packed))

    assert specs == read(zlib_index())[0]
    assert len(problems) == 1
    assert "incorrect data check" in problems[0].reason


@pytest.mark.parametrize(("end", "count"), [(b"\0" * 100, 0), (b"\0x", 1), (b"PK", 1)])
def test_padding_behind_gzip_is_no_problem_and_all_else_is(end: bytes, count: int) -> None:
    specs, problems = read(gzip.compress(zlib_index()) + end)

    assert specs == read(zlib_index())[0]
    assert len(problems) == count


# Bombs, and what cannot be unpacked


@pytest.mark.parametrize("parts", [1, 3])
def test_what_unpacks_to_too_much_is_not_read(parts: int) -> None:
    bomb = gzip.compress(b" " * 10_000_000) * parts

    specs, problems = split_problems(read_document(bomb, origin="o", max_size=5_000_000))

    assert specs == []
    assert reasons(problems) == [": it unpacks to more than 5,000,000 bytes"]


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


def test_a_cut_zstd_does_not_raise_and_is_told() -> None:
    packed = zstd(INDEX_OF_1_2.read_bytes())

    for length in range(4, len(packed), 97):
        assert read(packed[:length])[1]


def test_zstd_that_unpacks_to_too_much_is_not_read() -> None:
    bomb = zstd(b" " * 10_000_000)

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


# Anything


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    packed = gzip.compress(data)
    for text in (data, packed, packed[:-9], b'{"database":' + data, b'{"spec": [' + data):
        assert all(isinstance(item, Spec | Problem) for item in read_document(text, origin="o"))


def test_the_tests_have_the_files_that_they_read() -> None:
    assert len(list(SPACK_DATA.glob("mirror-v3/blobs/sha256/*/*"))) == 3
