"""The content of a node gives the hash that Spack gave it, in every format since Spack 0.18."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

import pytest

from spackscope.model.readers.nodes import content_hash
from tests.builders import FLAGS, INDEX_OF_0_23, INDEX_OF_1_2, edge, hash_of


def installed(path: Any) -> dict[str, dict[str, Any]]:
    records = json.loads(path.read_bytes())["database"]["installs"]
    return {hash_: record["spec"] for hash_, record in records.items()}


def spack_hash(text: str) -> str:
    return base64.b32encode(hashlib.sha1(text.encode()).digest()).decode().lower()


@pytest.mark.parametrize("path", [INDEX_OF_0_23, INDEX_OF_1_2], ids=["0.23", "1.2"])
def test_every_node_that_spack_wrote_gives_its_hash(path: Any) -> None:
    nodes = installed(path)

    assert {hash_ for hash_, node in nodes.items() if content_hash(node) == hash_} == set(nodes)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("version", "0.0.1"),
        ("parameters", {}),
        ("dependencies", []),
        ("package_hash", "other===="),
        ("added", 1),
    ],
)
def test_any_change_of_the_content_gives_another_hash(key: str, value: object) -> None:
    for hash_, node in installed(INDEX_OF_1_2).items():
        assert content_hash(node | {key: value}, hash_) != hash_


def test_the_order_of_the_keys_counts() -> None:
    for hash_, node in installed(INDEX_OF_1_2).items():
        assert content_hash(dict(reversed(node.items())), hash_) != hash_


def test_characters_beyond_ascii_are_hashed_as_spack_escapes_them() -> None:
    node = {"name": "zlib", "external": {"path": "/opt/Bücher 🎉"}}
    text = '{"name":"zlib","external":{"path":"/opt/B\\u00fccher \\ud83c\\udf89"}}'

    assert content_hash(node) == spack_hash(text)


@pytest.mark.parametrize(
    ("value", "written"), [(1.0, "1.0"), (1e16, "1e+16"), (10**30, "1" + "0" * 30), (None, "null")]
)
def test_numbers_are_hashed_as_python_writes_them(value: object, written: str) -> None:
    assert content_hash({"name": value}) == spack_hash(f'{{"name":{written}}}')


def test_a_spliced_spec_ends_like_the_spec_it_was_built_as() -> None:
    node = {"name": "zlib", "build_spec": {"name": "zlib", "hash": hash_of(7)}}
    own = spack_hash(json.dumps(node, separators=(",", ":")))

    assert content_hash(node) == own[:-7] + hash_of(7)[-7:]


OLD = {
    "name": "zlib",
    "version": "1.2.13",
    "arch": {"platform": "linux", "platform_os": "rhel8", "target": "zen"},
    "compiler": {"name": "gcc", "version": "12.1.0"},
    "namespace": "builtin",
    "parameters": FLAGS,
    "package_hash": "abc====",
}


def of_format_3(**fields: Any) -> dict[str, Any]:
    return OLD | {"dependencies": [{"name": "m4", "hash": hash_of(3), "type": ["build"]}]} | fields


def of_format_4(**fields: Any) -> dict[str, Any]:
    return OLD | {"dependencies": [edge("m4", hash_of(3), ["build"], ["sed"])]} | fields


def converted(node: dict[str, Any], original: int) -> dict[str, Any]:
    """Convert a node of format 4 to format 5, as Spack 1 does."""
    notes = {"original_specfile_version": original, "compiler": "gcc@=12.1.0"}
    return {key: value for key, value in node.items() if key != "compiler"} | {
        "annotations": notes
    }


@pytest.mark.parametrize("indent", [None, 2], ids=["0.20", "0.18"])
def test_nodes_of_format_3_give_their_hash_even_where_they_were_converted(
    indent: int | None,
) -> None:
    separators = (",", ": ") if indent else (",", ":")
    hash_ = spack_hash(json.dumps(of_format_3(), indent=indent, separators=separators))

    assert content_hash(of_format_3(hash=hash_), hash_) == hash_
    assert content_hash(of_format_4(hash=hash_), hash_) == hash_
    assert content_hash(converted(of_format_4(), 3) | {"hash": hash_}, hash_) == hash_
    assert content_hash(of_format_4(version="1.2.14"), hash_) != hash_


def test_a_node_of_format_4_gives_its_hash_after_it_was_converted() -> None:
    hash_ = spack_hash(json.dumps(of_format_4(), separators=(",", ":")))

    assert content_hash(converted(of_format_4(), 4), hash_) == hash_


@pytest.mark.parametrize(
    "node",
    [
        {},
        {"annotations": 7, "compiler": []},
        {"annotations": {"compiler": 7}, "dependencies": 7},
        {"compiler": "gcc", "dependencies": [7, {"parameters": {}}, {"name": 1, "hash": 2}]},
        {"compiler": "gcc", "dependencies": [{"name": 1, "hash": 2, "parameters": []}]},
        {"build_spec": {"hash": 7}},
    ],
)
def test_any_node_has_a_hash(node: dict[str, Any]) -> None:
    assert len(content_hash(node, hash_of(1))) == 32


def test_a_node_that_is_nested_too_deeply_gives_no_hash() -> None:
    node: dict[str, Any] = {}
    for _ in range(100_000):
        node = {"name": node}

    assert content_hash(node, hash_of(1)) == ""
