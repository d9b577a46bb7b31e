"""A spec file gives its spec first, and then what that depends on."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Problem, Spec
from spackscope.model.readers.formats import is_yaml_spec_file, read_document
from tests.builders import (
    GCC,
    GLIBC,
    GMAKE,
    INDEX_OF_0_23,
    INDEX_OF_1_2,
    SPACK_DATA,
    SPEC_FILES,
    ZLIB,
    all_texts,
    as_yaml,
    each_record,
    edge,
    hash_of,
    in_format,
    leaf,
    node,
    read,
    reasons,
    zlib_nodes,
)
from tests.hostile import ODD_VALUES, any_json

COMPRESSED = [
    *SPACK_DATA.glob("mirror-v3/blobs/sha256/17/*"),
    *SPACK_DATA.glob("mirror-v3/blobs/sha256/f7/*"),
]


def specfile(listed: object = None, version: object = 5) -> bytes:
    listed = zlib_nodes() if listed is None else listed
    document = {"spec": {"_meta": {"version": version}, "nodes": listed}}
    return json.dumps({**document, "buildcache_layout_version": 2}).encode()


def signed(text: bytes) -> bytes:
    """Sign a document as GnuPG does in clear text, with a signature that says nothing."""
    lines = [b"- " + line if line.startswith(b"-") else line for line in text.split(b"\n")]
    return (
        b"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n" + b"\n".join(lines) + b"\n"
        b"-----BEGIN PGP SIGNATURE-----\n\niQIzBAEBCgAdFiEE\n=abcd\n-----END PGP SIGNATURE-----\n"
    )


WHOLE = read(specfile())[0]


def of_old(specs: list[Spec]) -> list[tuple[object, ...]]:
    """Return what every format states."""
    return [(s.package, s.hash, s.version, s.os, s.target, s.variants, s.in_cache) for s in specs]


# Real files


@pytest.mark.parametrize("path", SPEC_FILES, ids=lambda path: path.name[:50])
def test_a_spec_file_equals_the_index(path: Path) -> None:
    of_index = {spec.hash: spec for spec in read(INDEX_OF_0_23.read_bytes())[0]}

    specs, problems = read(path.read_bytes())

    assert problems == []
    assert specs[0].hash in path.name
    assert [spec.in_cache for spec in specs] == [True] + [False] * (len(specs) - 1)
    for spec in specs:
        assert spec == replace(of_index[spec.hash], in_cache=spec.in_cache, cached=False)


@pytest.mark.parametrize("path", COMPRESSED, ids=["bzip2", "ncurses"])
def test_a_spec_file_of_spack_1_equals_its_index(path: Path) -> None:
    of_index = {spec.hash: spec for spec in read(INDEX_OF_1_2.read_bytes())[0]}

    specs, problems = read(gzip.decompress(path.read_bytes()))

    assert problems == []
    for spec in specs:
        assert spec == replace(of_index[spec.hash], in_cache=spec.in_cache, cached=False)


# Formats


@pytest.mark.parametrize(("version", "number"), [(2, 3), (3, 3), (4, 4), (5, 5)])
def test_spec_files_of_all_formats_are_read_alike(version: int, number: int) -> None:
    listed = [in_format(number, new) for new in zlib_nodes()]

    specs, problems = read(specfile(listed, version))

    assert problems == []
    assert of_old(specs) == of_old(WHOLE)
    assert specs[0].compiler == "gcc@13.2.0"


def test_the_oldest_spec_files_are_a_list_of_named_nodes() -> None:
    listed = [in_format(1, new) for new in zlib_nodes()]

    specs, problems = read(json.dumps({"spec": listed}).encode())

    assert problems == []
    assert of_old(specs) == of_old(WHOLE)


@pytest.mark.parametrize("number", [1, 4])
def test_a_spec_file_may_be_yaml(number: int) -> None:
    listed = [
        in_format(number, new) for new in zlib_nodes(external={"path": None, "module": None})
    ]
    document = {"spec": listed if number == 1 else {"_meta": {"version": 4}, "nodes": listed}}
    data = as_yaml(document)

    specs, problems = read(data)

    assert is_yaml_spec_file(data)
    assert problems == []
    assert of_old(specs) == of_old(WHOLE)
    assert specs[0].external == ""
    assert read(b"---\n" + data) == (specs, problems)
    assert read(data.replace(b"\n", b"\r\n")) == (specs, problems)


def test_what_a_build_cache_adds_to_a_yaml_spec_file_may_come_first() -> None:
    added = {
        "binary_cache_checksum": {"hash_algorithm": "sha256", "hash": "a62b50"},
        "buildinfo": {"relative_prefix": "linux/zlib", "relative_rpaths": False},
        "full_hash": "6j4as6r3qd4qhf77yu44reyn2u6ggbuq",
    }
    listed = [in_format(1, new) for new in zlib_nodes()]
    before, behind = as_yaml({**added, "spec": listed}), as_yaml({"spec": listed, **added})

    assert is_yaml_spec_file(before)
    assert read(before) == read(behind)
    assert of_old(read(before)[0]) == of_old(WHOLE)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"spec:\n- [" + b"[" * 100_000, "nested too deeply"),
        (b"spec:\n- &a [*a]\n", "aliases"),
        (b"spec:\n\t- x\n", "token"),
        (b"spec:\n- a\n---\nspec:\n- b\n", "another document"),
        (b"spec:\n- \xff\n", "byte 8 is not UTF-8 text"),
        (b"spec:\n  x: 1\n", "it is not a page of cache.spack.io"),
    ],
    ids=["brackets", "alias", "tab", "two documents", "latin-1", "no nodes"],
)
def test_yaml_that_cannot_be_read_is_a_problem(data: bytes, reason: str) -> None:
    specs, problems = read(data)

    assert specs == []
    assert len(problems) == 1
    assert reason in problems[0].reason


@pytest.mark.parametrize("tag", ["!!python/object/apply:exit", "!!python/name:os.system", "!x"])
def test_tags_of_yaml_make_nothing(tag: str) -> None:
    data = f"spec:\n- zlib:\n    hash: {ZLIB}\n    version: {tag} [x]\n    arch: {tag} x\n"

    (spec,), problems = read(data.encode())

    assert spec.hash == ZLIB
    assert problems


@pytest.mark.parametrize(
    ("version", "shown"),
    [
        (1, "1, expected 2 to 5"),
        (6, "6, expected 2 to 5"),
        (None, "missing"),
        ([], "a list, expected 2 to 5"),
        (True, "true, expected 2 to 5"),
    ],
)
def test_a_spec_file_of_an_unknown_format_is_read_and_doubted(version: object, shown: str) -> None:
    specs, problems = read(specfile(version=version))

    assert specs == WHOLE
    assert reasons(problems) == [
        f": version of the spec file is {shown};"
        " the records are read as far as they are understood"
    ]


# Signed files


@pytest.mark.parametrize("number", [4, 5])
def test_a_signature_is_removed(number: int) -> None:
    data = specfile([in_format(number, new) for new in zlib_nodes()], number)

    for text in (data, json.dumps(json.loads(data), indent=1).encode()):
        assert read(signed(text)) == read(data)
        assert read(signed(text).replace(b"\n", b"\r\n")) == read(data)


def test_a_line_with_dashes_is_read_as_it_was_signed() -> None:
    data = as_yaml({"spec": [in_format(1, new) for new in zlib_nodes()]})

    assert b"\n- - zlib" in signed(data)
    assert read(signed(data)) == read(data)


def test_a_missing_signature_is_a_problem() -> None:
    data = signed(specfile())

    specs, problems = read(data[: data.index(b"-----BEGIN PGP SIGNATURE")])

    assert specs == WHOLE
    assert reasons(problems) == [": its signature is missing"]


def test_a_signed_file_cut_anywhere_is_a_problem() -> None:
    data = signed(specfile([node(dependencies=...)]))
    end = data.index(b"-----BEGIN PGP SIGNATURE-----") + len(b"-----BEGIN PGP SIGNATURE-----")
    for length in range(end):
        specs, problems = read(data[:length])
        assert problems
        assert len(specs) <= 1


# Broken files


@pytest.mark.parametrize(
    ("listed", "reason"),
    [
        ({}, ": nodes is an object, expected a list"),
        ("x", ": nodes is a string, expected a list"),
        ([], ": nodes is empty"),
    ],
)
def test_a_spec_file_without_nodes_is_a_problem(listed: object, reason: str) -> None:
    specs, problems = read(specfile(listed))

    assert (specs, reasons(problems)) == ([], [reason])


@pytest.mark.parametrize("value", ODD_VALUES, ids=repr)
def test_a_node_that_is_none_takes_no_other_along(value: object) -> None:
    specs, problems = read(specfile([*zlib_nodes(), value]))

    assert specs == WHOLE
    assert len(problems) == 1


def test_an_abstract_spec_has_no_hash_and_is_not_a_record() -> None:
    specs, problems = read(specfile([node(hash=..., concrete=False)]))

    assert specs == []
    assert reasons(problems) == ["zlib: hash is missing"]


def test_a_repeated_spec_is_a_problem_where_the_two_differ() -> None:
    specs, problems = read(specfile([*zlib_nodes(), zlib_nodes()[1]]))
    assert (specs, problems) == (WHOLE, [])

    specs, problems = read(specfile([*zlib_nodes(), node(GMAKE)]))
    assert [spec.hash for spec in specs] == [ZLIB, GCC, GLIBC, GMAKE]
    assert reasons(problems)[0].startswith(f"zlib/{GMAKE[:7]}: it is listed twice")


def test_dependencies_that_a_file_lacks_are_a_problem() -> None:
    _, problems = read(specfile(zlib_nodes()[:2]))

    assert reasons(problems) == [f": 2 dependencies are missing, such as glibc/{GLIBC[:7]}"]


@given(st.lists(any_json, max_size=3), any_json)
def test_no_json_raises_and_all_that_is_read_can_be_stored(listed: Any, version: object) -> None:
    named = [{"zlib": its} for its in listed]
    for given_ in (listed, named, [{**node(), "dependencies": listed}]):
        for item in each_record(read_document(specfile(given_, version), origin="o")):
            assert isinstance(item, Spec | Problem)
            assert all(text.encode().decode() == text for text in all_texts(item))


def test_the_hash_of_a_build_is_kept_apart_from_that_of_the_spec() -> None:
    listed = zlib_nodes(build_spec={"name": "zlib", "hash": hash_of(50)})

    specs, problems = read(specfile(listed))

    assert (specs[0].build_spec, specs[1].build_spec, problems) == (hash_of(50), "", [])


def test_a_spliced_spec_and_the_one_that_it_was_built_as_are_both_read() -> None:
    built_as = node(hash_of(50), dependencies=[edge("glibc", GLIBC, ["link"], ["libc"])])
    newer = leaf(hash_of(51), "glibc", "2.41")
    spliced = node(
        hash_of(52),
        dependencies=[edge("glibc", hash_of(51), ["link"], ["libc"])],
        build_spec={"name": "zlib", "hash": hash_of(50)},
    )
    listed = [spliced, newer, built_as, leaf(GLIBC, "glibc", "2.39")]

    specs, problems = read(specfile(listed))

    assert problems == []
    assert [(s.hash, s.build_spec, s.in_cache) for s in specs] == [
        (hash_of(52), hash_of(50), True),
        (hash_of(51), "", False),
        (hash_of(50), "", False),
        (GLIBC, "", False),
    ]
