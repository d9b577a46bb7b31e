"""Records are told apart: whole, wrong, or not to be checked, in every kind of document."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from spackscope.model.core.errors import Cancelled
from spackscope.model.readers import nodes as stored_hashes
from spackscope.model.readers.formats import PAGE, check_hashes
from spackscope.model.readers.nodes import StoredHashes, content_hash
from tests.builders import (
    INDEX_OF_0_23,
    INDEX_OF_1_2,
    INSTALL_TREE,
    SPACK_DATA,
    SPEC_FILES,
    as_yaml,
    database,
    hash_of,
    in_format,
    in_format_6,
    installs,
    node,
    page,
    record,
    whole_index,
)
from tests.hostile import ODD_VALUES
from tests.model.readers.test_formats import lock as lock_file
from tests.model.readers.test_formats import specfile


def check(data: bytes) -> StoredHashes:
    return check_hashes(data, origin="document")


def unchecked(data: bytes) -> dict[str, int]:
    hashes = check(data)
    assert (hashes.whole, hashes.wrong) == (set(), [])
    return {reason: len(of_reason) for reason, of_reason in hashes.unchecked.items()}


def whole(**fields: Any) -> dict[str, Any]:
    """Build a node with the hash of its content."""
    made = node(**fields)
    return made | {"hash": content_hash(made)}


def lock(nodes: Mapping[str, Any], version: int = 6, **more: Any) -> bytes:
    return lock_file(nodes, [], version, **more)


@pytest.mark.parametrize(
    "path",
    [INDEX_OF_0_23, INDEX_OF_1_2, INSTALL_TREE, *SPEC_FILES[:3]],
    ids=lambda path: path.name,
)
def test_what_spack_wrote_is_whole(path: Any) -> None:
    hashes = check(path.read_bytes())
    assert hashes.whole
    assert hashes == StoredHashes(whole=hashes.whole, cached=hashes.cached)


@pytest.mark.exhaustive
def test_of_a_large_index_only_externals_with_rewritten_prefixes_cannot_be_checked() -> None:
    hashes = check(whole_index("spack1"))
    assert (len(hashes.whole), hashes.wrong_count) == (8991, 0)
    assert {reason: len(its) for reason, its in hashes.unchecked.items()} == {
        stored_hashes.EXTERNAL: 16
    }

    assert len(check(whole_index("spack0")).whole) == 4201


def test_a_changed_record_is_named_with_the_hash_of_its_content() -> None:
    good, bad = whole(), whole(name="hdf5", version="1.14")
    changed = bad | {"version": "1.15"}
    hashes = check(database(installs(good, changed)))
    assert hashes.whole == {good["hash"]}
    (wrong,) = hashes.wrong
    assert wrong == ("hdf5", "1.15", bad["hash"], content_hash(changed))


def test_every_kind_of_document_is_checked() -> None:
    good, bad = whole(), node(hash_of(9))
    nodes = {made["hash"]: made for made in (good, bad)}
    included = {"/other": {"roots": [], "concrete_specs": {bad["hash"]: bad}}}
    for data in (
        database(installs(good, bad)),
        lock(nodes),
        lock({good["hash"]: good}, include_concrete=included),
        specfile([good, bad, bad]),
        json.dumps([good, bad]).encode(),
        gzip.compress(database(installs(good, bad))),
    ):
        hashes = check(data)
        assert hashes.whole == {good["hash"]}
        assert [wrong.hash for wrong in hashes.wrong] == [bad["hash"]]
        assert (hashes.wrong_count, hashes.unchecked, hashes.problems) == (1, {}, [])


def test_the_hash_is_that_by_which_a_database_or_lock_file_lists_the_record() -> None:
    good = whole()
    for data in (database({hash_of(9): {"spec": good}}), lock({hash_of(9): good})):
        assert [wrong.hash for wrong in check(data).wrong] == [hash_of(9)]


@pytest.mark.parametrize(
    "data",
    [
        database({hash_of(1): {"spec": in_format(1, node(hash_of(1)))}}, "5"),
        lock({hash_of(1): in_format(1, node(hash_of(1)))}, 3),
        specfile([in_format(3, node(hash_of(1)))], 2),
        as_yaml({"spec": [in_format(1, node(hash_of(1)))]}),
        database(installs(node(hash_of(1), package_hash=...))),
    ],
    ids=["database 5", "lock 3", "spec file 2", "YAML", "no recipe"],
)
def test_formats_from_before_spack_0_18_are_not_checked(data: bytes) -> None:
    assert unchecked(data) == {stored_hashes.OLD: 1}


def test_pages_and_converted_nodes_are_not_checked() -> None:
    notes = {"original_specfile_version": 4, "compiler": "gcc@=12.1.0"}
    data = database(installs(node(hash_of(1), annotations=notes)))

    assert unchecked(data) == {stored_hashes.CONVERTED: 1}
    assert unchecked(page([record(1), record(2)])) == {PAGE: 2}


def test_a_node_of_an_unknown_format_is_not_called_wrong() -> None:
    newer = node(hash_of(1), annotations={"original_specfile_version": 7})
    for data in (
        database(installs(node(hash_of(1))), "10"),
        lock({hash_of(1): node(hash_of(1))}, 9),
        specfile([node(hash_of(1))], 7),
        database(installs(newer)),
    ):
        assert unchecked(data) == {stored_hashes.UNKNOWN: 1}

    good = whole()
    assert check(database(installs(good), "10")).whole == {good["hash"]}


def test_a_node_that_spack_1_3_converted_keeps_its_hash() -> None:
    old = whole()
    converted = in_format_6(old, "zlib-api", converted=True)
    new = in_format_6(node(), "zlib-api")
    new |= {"hash": content_hash(new)}
    nodes = {made["hash"]: made for made in (converted, new)}
    for data in (database(installs(*nodes.values()), "9"), lock(nodes, 8)):
        hashes = check(data)
        assert hashes == StoredHashes(whole={old["hash"], new["hash"]}, cached=hashes.cached)

    # Of a new node they are a part of the hash.
    changed = [{**new, "provided_virtuals": ["mpi"]}, {**converted, "version": "0"}]
    assert check(database(installs(*changed), "9")).wrong_count == 2


def test_numbers_are_checked_as_spack_reads_them() -> None:
    values = {"a": 1.0, "b": 1e-07, "c": 10**30, "d": float("inf"), "e": -0.0}
    good = whole(external={"path": "/usr", "module": None, "extra_attributes": values})
    text = json.dumps(good).replace("1e-07", "1.0e-7")
    assert check(specfile([]).replace(b"[]", f"[{text}]".encode())).whole == {good["hash"]}

    long = json.dumps(good).replace(str(10**30), "1" * 5000)
    hashes = check(specfile([]).replace(b"[]", f"[{long}]".encode()))
    assert hashes.unchecked == {stored_hashes.EXTERNAL: {good["hash"]}}


def test_what_is_not_a_record_is_not_counted() -> None:
    hashes = check(database({"no hash": {"spec": node()}, hash_of(1): 7, hash_of(2): {}}))
    assert hashes == StoredHashes()


def test_the_records_before_an_error_are_checked() -> None:
    good = whole()
    hashes = check(database(installs(good, node(hash_of(2))))[:-200])
    assert hashes.whole == {good["hash"]}
    assert "cut off" in hashes.problems[0]


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"hello", b"[1]", b"\x1f\x8b\x08", b"<html>", b'{"spec": {"nodes": 7}}']
)
def test_another_document_is_a_problem(data: bytes) -> None:
    hashes = check(data)
    assert (hashes.is_known, len(hashes.problems)) == (False, 1 + (data[:1] == b"\x1f"))


def places(value: Any, *before: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the keys that lead to each value in a document."""
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for key, member in members:
        yield (*before, key)
        if isinstance(member, dict | list):
            yield from places(member, *before, key)


def replaced(document: Any, place: tuple[Any, ...], value: object) -> bytes:
    copy = inner = json.loads(json.dumps(document))
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return json.dumps(copy).encode()


@pytest.mark.parametrize(
    "data",
    [
        database(installs(in_format(4, node(build_spec={"name": "zlib", "hash": hash_of(7)})))),
        lock({hash_of(1): node()}, include_concrete={"/x": {"concrete_specs": {}}}),
        specfile([node(annotations={"original_specfile_version": 4, "compiler": "gcc@=12"})]),
    ],
    ids=["database", "lock file", "spec file"],
)
def test_any_value_may_be_anywhere(data: bytes) -> None:
    document = json.loads(data)
    for place in places(document):
        for value in ODD_VALUES:
            hashes = check(replaced(document, place, value))
            assert len(hashes.whole) + hashes.wrong_count <= 1


def test_a_check_can_be_stopped_while_it_reads() -> None:
    def stop(count: int) -> None:
        raise Cancelled

    data = gzip.decompress((SPACK_DATA / "spack0.index.json.gz").read_bytes())
    with pytest.raises(Cancelled):
        check_hashes(data, origin="document", on_count=stop)
