"""Documents are recognised by their structure, and unknown ones are a problem."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.records import Problem, Records
from spackscope.model.readers.formats import read_document
from tests.builders import (
    SPACK_DATA,
    as_yaml,
    in_format,
    page,
    read,
    reasons,
    record,
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


# Structure


@pytest.mark.parametrize(
    ("data", "states"), [pytest.param(*rest, id=kind) for kind, *rest in DOCUMENTS]
)
def test_a_document_is_recognised_by_its_structure(
    data: bytes, states: list[tuple[str, ...]]
) -> None:
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
        (b"\x1f\x8b", ": it cannot be unpacked completely: file is cut off"),
        (b"\x1f\x8bnonsense", ": it cannot be unpacked completely: Error -3"),
    ],
    ids=range(23),
)
def test_an_unknown_document_is_a_problem(data: bytes, reason: str) -> None:
    specs, problems = read(data)

    assert specs == []
    assert len(problems) == 1
    assert reasons(problems)[0].startswith(reason)


@pytest.mark.parametrize(
    "document",
    [{"spec": None}, {"spec": {}}, {"spec": 7}, {"_meta": {"lockfile-version": 6}}, "database"],
)
def test_an_object_of_anything_but_specs_is_none_of_them(document: object) -> None:
    assert reasons(read(json.dumps(document).encode())[1]) == [f": {NOT_KNOWN}"]


@pytest.mark.parametrize("data", [b"[1]", b'["zlib"]', b'[{"name": "zlib"}]', b'[{"hash": "a"}]'])
def test_a_list_of_anything_but_specs_is_none_of_them(data: bytes) -> None:
    specs, problems = read(data)

    assert (specs, reasons(problems)) == ([], [f": {NOT_KNOWN}"])


def test_gzip_within_gzip_is_none_of_them() -> None:
    _, (problem,) = read(gzip.compress(gzip.compress(zlib_index())))

    assert problem.reason.startswith(NOT_A)


# Anything


@given(st.binary(max_size=300))
def test_no_bytes_raise(data: bytes) -> None:
    packed = gzip.compress(data)
    heads = (
        b'{"database":',
        b'{"spec":',
        b'{"spec": [',
        b"spec:\n",
        b"-----BEGIN PGP SIGNED MESSAGE-----",
    )
    for text in (data, packed, packed[:-9], *(head + data for head in heads)):
        assert all(isinstance(item, Records | Problem) for item in read_document(text, origin="o"))


def test_the_tests_have_the_files_that_they_read() -> None:
    assert len(list(SPACK_DATA.glob("mirror-v3/blobs/sha256/*/*"))) == 3
