"""A lock file contains all specs of an environment, and which of them are its roots."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given

from spackscope.model.core.records import Problem, Spec
from spackscope.model.readers.formats import read_document
from tests.builders import (
    GCC,
    GLIBC,
    GMAKE,
    INDEX_OF_0_23,
    INDEX_OF_1_2,
    ZLIB,
    all_texts,
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

ROOTS = [{"hash": ZLIB, "spec": "zlib +shared"}]


def lock(
    concrete: object = None, roots: object = ROOTS, version: object = 6, **more: object
) -> bytes:
    """Write a lock file; a value that is given as `...` is left out."""
    whole: dict[str, object] = {
        "_meta": {"file-type": "spack-lockfile", "lockfile-version": version},
        "spack": {"version": "1.2.0", "type": "git", "commit": "abc"},
        "roots": roots,
        "concrete_specs": {its["hash"]: its for its in zlib_nodes()}
        if concrete is None
        else concrete,
        **more,
    }
    return json.dumps({key: value for key, value in whole.items() if value is not ...}).encode()


@pytest.mark.parametrize(
    ("path", "version"), [(INDEX_OF_0_23, 5), (INDEX_OF_1_2, 6)], ids=["0.23", "1.2"]
)
def test_the_nodes_of_a_lock_file_are_those_of_an_index(path: Any, version: int) -> None:
    records = json.loads(path.read_bytes())["database"]["installs"]
    concrete = {hash_: record["spec"] for hash_, record in records.items()}
    first = next(iter(concrete))

    specs, problems = read(lock(concrete, [{"hash": first, "spec": "x"}], version))

    of_index, _ = read(path.read_bytes())
    assert problems == []
    assert [spec.explicit for spec in specs] == [True] + [False] * (len(specs) - 1)
    for spec, other in zip(specs, of_index, strict=True):
        for name in set(Spec.__match_args__) - {"explicit", "in_cache", "cached"}:
            assert getattr(spec, name) == getattr(other, name)
        assert spec.in_cache


@pytest.mark.parametrize(("version", "number"), [(4, 3), (5, 4), (6, 5)])
def test_lock_files_of_all_versions_are_read_alike(version: int, number: int) -> None:
    concrete = {new["hash"]: in_format(number, new) for new in zlib_nodes()}

    specs, problems = read(lock(concrete, version=version))

    assert problems == []
    assert [spec.package for spec in specs] == ["zlib", "gcc", "glibc", "gmake"]
    assert [spec.explicit for spec in specs] == [True, False, False, False]
    assert specs[0].compiler == "gcc@13.2.0"


@pytest.mark.parametrize("version", [1, 2, 3])
def test_an_earlier_lock_file_is_read_and_doubted(version: int) -> None:
    """Its keys are not the hashes of the specs."""
    concrete = {hash_of(90 + at): in_format(1, new) for at, new in enumerate(zlib_nodes())}
    roots = [{"hash": hash_of(90), "spec": "zlib"}]

    specs, problems = read(lock(concrete, roots, version))

    assert [spec.hash for spec in specs] == [ZLIB, GCC, GLIBC, GMAKE]
    assert specs[0].explicit
    assert reasons(problems) == [
        f": lockfile-version {version} is from before Spack 0.18; "
        "the records are read as far as they are understood"
    ]


def test_the_edges_of_an_earlier_lock_file_name_its_keys() -> None:
    keys = {hash_: hash_of(90 + at) for at, hash_ in enumerate([ZLIB, GCC, GLIBC, GMAKE])}
    concrete = {}
    for key, new in zip(keys.values(), zlib_nodes(), strict=True):
        old = in_format(1, new)
        for fields in old.values():
            for told in fields.get("dependencies", {}).values():
                told["hash"] = keys[told["hash"]]
        concrete[key] = old

    specs, problems = read(lock(concrete, [{"hash": keys[ZLIB], "spec": "zlib"}], 3))

    named = {edge.hash for spec in specs for edge in spec.dependencies or ()}
    assert named == {GLIBC, GMAKE}
    assert len(problems) == 1


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        (7, "lockfile-version is 7, expected a number from 4 to 6; the records are read"),
        (10**50, "lockfile-version is 1000"),
        ("6", "lockfile-version is '6', expected a number from 4 to 6"),
        (None, "lockfile-version is missing; the records are read"),
        (True, "lockfile-version is true, expected a number from 4 to 6"),
        ([], "lockfile-version is a list, expected a number from 4 to 6"),
    ],
)
def test_a_lock_file_of_an_unknown_version_is_read_and_doubted(
    version: object, reason: str
) -> None:
    specs, (problem,) = read(lock(version=version))

    assert len(specs) == 4
    assert problem.reason.startswith(reason)


def test_a_lock_file_without_its_own_description_is_read_and_doubted() -> None:
    specs, problems = read(lock(_meta=...))

    assert len(specs) == 4
    assert ["lockfile-version is missing" in reason for reason in reasons(problems)] == [True]


@pytest.mark.parametrize(
    ("roots", "reason"),
    [
        (..., ": roots is missing"),
        ({}, ": roots is an object, expected a list"),
        ([7], ": roots contains a number without a hash"),
        ([{"spec": "zlib"}], ": roots contains an object without a hash"),
        (
            [{"hash": hash_of(50), "spec": "zstd@1.5"}],
            f": root zstd@1.5 /{hash_of(50)[:7]} is not in concrete_specs",
        ),
        ([{"hash": hash_of(50), "spec": []}], f": root /{hash_of(50)[:7]} is not"),
    ],
)
def test_odd_roots_leave_the_specs(roots: object, reason: str) -> None:
    specs, problems = read(lock(roots=roots))

    assert [spec.explicit for spec in specs] == [False] * 4
    assert reasons(problems)[0].startswith(reason)
    assert len(problems) == 1


# Environments within environments


def included(*arguments: dict[str, Any], roots: list[str], **more: Any) -> dict[str, Any]:
    return {
        "roots": [{"hash": root, "spec": "x"} for root in roots],
        "concrete_specs": {its["hash"]: its for its in arguments},
        **more,
    }


def test_included_environments_are_read_however_deep() -> None:
    zstd, xz = leaf(hash_of(20), "zstd", "1.5"), leaf(hash_of(21), "xz", "5.4")
    inner = included(xz, roots=[xz["hash"]])
    outer = included(zstd, *zlib_nodes(), roots=[zstd["hash"]], include_concrete={"/inner": inner})

    specs, problems = read(lock(include_concrete={"/outer": outer}))

    assert problems == []
    assert [spec.package for spec in specs] == ["zlib", "gcc", "glibc", "gmake", "zstd", "xz"]
    assert [spec.package for spec in specs if spec.explicit] == ["zlib", "zstd", "xz"]


def test_what_only_an_included_environment_holds_is_not_missing() -> None:
    zstd = leaf(hash_of(20), "zstd", "1.5")
    concrete = {ZLIB: node(dependencies=[edge("zstd", zstd["hash"], ["build"], ["c"])])}

    specs, problems = read(lock(concrete, include_concrete={"/e": included(zstd, roots=[])}))

    assert problems == []
    assert specs[0].compiler == "zstd@1.5"


def test_a_spec_with_another_content_elsewhere_is_a_problem() -> None:
    other = included(leaf(ZLIB, "zlib", "2"), roots=[])

    specs, problems = read(lock(include_concrete={"/e": other}))

    assert [spec.version for spec in specs if spec.hash == ZLIB] == ["1.3.1"]
    assert reasons(problems) == [
        f"/e: zlib/{ZLIB[:7]}: it is listed twice with different content; the first one counts"
    ]


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"include_concrete": []}, ": include_concrete is a list, expected an object"),
        ({"include_concrete": {"/e": 7}}, "/e: environment is a number"),
        ({"include_concrete": {"/e": {}}}, "/e: concrete_specs is missing"),
        ({"concrete_specs": []}, ": concrete_specs is a list"),
        ({"concrete_specs": None}, ": concrete_specs is missing"),
    ],
)
def test_an_odd_environment_is_a_problem(more: dict[str, object], reason: str) -> None:
    _, problems = read(lock(**more))

    assert reasons(problems)[0].startswith(reason)


# Broken lock files


@pytest.mark.parametrize("value", ODD_VALUES, ids=repr)
def test_a_node_that_is_none_takes_no_other_along(value: object) -> None:
    concrete = {hash_of(30): value, **{its["hash"]: its for its in zlib_nodes()}}

    specs, problems = read(lock(concrete))

    assert [spec.package for spec in specs][-4:] == ["zlib", "gcc", "glibc", "gmake"]
    assert {problem.place.split("/")[-1] for problem in problems} == {hash_of(30)[:7]}


@given(any_json, any_json, any_json, any_json)
def test_no_json_raises_and_all_that_is_read_can_be_stored(
    its: object, roots: object, version: object, more: object
) -> None:
    data = lock({ZLIB: its, GCC: node(GCC)}, roots, version, include_concrete=more)
    for item in each_record(read_document(data, origin="o")):
        assert isinstance(item, Spec | Problem)
        assert all(text.encode().decode() == text for text in all_texts(item))
