"""Spack's databases of every version are read as Spack reads them, broken ones as far as it goes.

The files under `tests/data/spack` were written by Spack 0.23 and 1.2.
"""

from __future__ import annotations

import gc
import gzip
import json
import re
from typing import Any

import pytest

from spackscope.model.core.errors import Cancelled
from spackscope.model.core.records import Dependency, Spec
from spackscope.model.readers.formats import read_document
from tests.builders import (
    FLAGS,
    GCC,
    GLIBC,
    GMAKE,
    INDEX_OF_0_23,
    INDEX_OF_1_2,
    INSTALL_TREE,
    SPACK_DATA,
    ZLIB,
    database,
    hash_of,
    in_format,
    installs,
    leaf,
    node,
    read,
    zlib_nodes,
    zlib_of,
)


def known(name: str) -> dict[str, Spec]:
    """Read one of the two large indexes, of which the tests hold a part."""
    data = gzip.decompress((SPACK_DATA / f"{name}.index.json.gz").read_bytes())
    specs, problems = read(data)
    assert [problem.reason.split(",")[0].split(" ", 1)[1] for problem in problems] == [
        "dependencies are missing"
    ]
    return {spec.hash: spec for spec in specs}


def as_shown(variant: str) -> str:
    """Cut the digests of patches as Spack does where it prints them."""
    is_patches = variant.startswith("patches")
    return (
        re.sub(r"[0-9a-f]{64}", lambda digest: digest[0][:7], variant) if is_patches else variant
    )


def printed(spec: Spec) -> str:
    """Spell a record as `spack find --format` does."""
    variants = sorted((as_shown(text) for text in spec.variants), key=lambda text: text[1:])
    flags = "".join(text for text in variants if text[0] in "+~")
    others = " ".join(sorted(text for text in variants if text[0] not in "+~"))
    arch = f"{spec.platform}-{spec.os}-{spec.target} {spec.os} {spec.target} {spec.platform}"
    name = f"{spec.package}-{spec.version}-{spec.hash[:7]}"
    return " ".join(f"{name} {flags} {others} {spec.compiler} {arch}".split())


# Real databases


def test_an_index_of_spack_0_23_equals_the_site() -> None:
    specs = known("spack0")
    count = 0
    for line in (SPACK_DATA / "pages.jsonl").read_text().splitlines():
        page = json.loads(line)
        for record in page["records"]:
            if record["hash"] not in specs:
                continue
            spec = specs[record["hash"]]
            count += 1
            assert spec.package == page["name"]
            assert [spec.version] == record["versions"]
            assert spec.compiler == record["compiler"].replace("@=", "@")
            assert (spec.platform, spec.os) == (record["platform"], record["os"])
            assert spec.target == record["target"]
            assert list(map(as_shown, spec.variants)) == record["variants"]
    assert count == 173


def test_an_index_of_spack_1_2_equals_what_spack_find_prints() -> None:
    specs, problems = read(INDEX_OF_1_2.read_bytes())
    lines = (SPACK_DATA / "find_format.txt").read_text().splitlines()

    # Spack writes the hash of the compiler after its version.
    without_hash = (" ".join(re.sub(r"/[a-z2-7]{32}", "", line).split()) for line in lines)
    assert sorted(map(printed, specs)) == sorted(without_hash)
    assert problems == []


@pytest.mark.parametrize("path", [INDEX_OF_0_23, INDEX_OF_1_2, INSTALL_TREE], ids=str)
def test_nothing_of_a_real_database_is_lost(path: Any) -> None:
    records = json.loads(path.read_bytes())["database"]["installs"]

    specs, problems = read(path.read_bytes())

    assert problems == []
    assert [spec.hash for spec in specs] == list(records)
    for spec, record in zip(specs, records.values(), strict=True):
        written = record["spec"]
        assert spec.package_hash == written["package_hash"]
        assert spec.namespace == written["namespace"]
        assert len(spec.variants) == len(written["parameters"].keys() - FLAGS.keys())
        assert spec.dependencies == tuple(
            Dependency(
                dependency["hash"],
                dependency["name"],
                tuple(dependency["parameters"]["deptypes"]),
                tuple(dependency["parameters"]["virtuals"]),
            )
            for dependency in written.get("dependencies", ())
        )
        assert spec.external == (written["external"]["path"] if "external" in written else "")
        assert spec.in_cache == record.get("in_buildcache", True)
        assert spec.path == record.get("path", "")
        assert spec.installed == record.get("installed", False)
        assert spec.explicit == record.get("explicit", False)
        assert spec.installed_at == record.get("installation_time")


def test_equal_values_of_a_database_are_one_object() -> None:
    specs, _ = read(INDEX_OF_1_2.read_bytes())

    for value in ("compiler", "os", "target", "namespace", "version"):
        texts = [getattr(spec, value) for spec in specs]
        assert len({id(text) for text in texts}) == len(set(texts))
    edges = [dependency for spec in specs for dependency in spec.dependencies or ()]
    assert len({id(dependency) for dependency in edges}) == len(set(edges)) < len(edges)


# Formats


@pytest.mark.parametrize(
    ("version", "number"), [("5", 1), ("6", 3), ("7", 4), ("8", 5)], ids=["5", "6", "7", "8"]
)
def test_databases_of_all_versions_are_read_alike(version: str, number: int) -> None:
    records = {
        new["hash"]: {"spec": in_format(number, new), "in_buildcache": True}
        for new in zlib_nodes()
    }

    spec, problems = zlib_of(database(records, version))

    assert problems == []
    assert (spec.package, spec.version, spec.compiler) == ("zlib", "1.3.1", "gcc@13.2.0")
    assert (spec.platform, spec.os, spec.target) == ("linux", "ubuntu24.04", "x86_64_v3")
    assert spec.variants == ("build_system=generic", "+shared")
    libc = ("libc",) if number > 3 else ()
    assert (spec.dependencies or ())[-2:] == (
        Dependency(GLIBC, "glibc", ("link",), libc),
        Dependency(GMAKE, "gmake", ("build",)),
    )
    assert len(spec.dependencies or ()) == (3 if number == 5 else 2)


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("4", "version is '4', expected a string from 5 to 8"),
        ("99", "version is '99', expected a string from 5 to 8"),
        ("0.9.3", "version is '0.9.3', expected a string from 5 to 8"),
        (8, "version is 8, expected a string from 5 to 8"),
        (8.5, "version is 8.5, expected a string from 5 to 8"),
        (None, "version is missing"),
        (True, "version is true, expected a string from 5 to 8"),
        ([], "version is a list, expected a string from 5 to 8"),
        ({}, "version is an object, expected a string from 5 to 8"),
    ],
)
@pytest.mark.parametrize("number", [1, 3, 4, 5])
def test_a_database_of_another_version_is_read_and_doubted(
    version: object, reason: str, number: int
) -> None:
    records = {new["hash"]: {"spec": in_format(number, new)} for new in zlib_nodes()}

    spec, problems = zlib_of(database(records, version))

    rest = "the records are read as far as they are understood"
    assert problems == [f"document: {reason}; {rest}"]
    assert (spec.package, spec.compiler) == ("zlib", "gcc@13.2.0")
    assert spec.variants == ("build_system=generic", "+shared")


# Install records


@pytest.mark.parametrize(
    ("record", "in_cache", "cached", "installed"),
    [
        ({}, True, False, False),
        ({"in_buildcache": True}, True, True, False),
        ({"in_buildcache": False}, False, False, False),
        ({"in_buildcache": True, "installed": True, "path": "/opt/zlib"}, True, True, True),
        ({"installed": True, "path": "/opt/zlib"}, True, False, True),
        ({"installed": False, "path": "/opt/zlib", "deprecated_for": GCC}, False, False, False),
        ({"installed": True, "in_buildcache": False, "path": "/opt/zlib"}, False, False, True),
    ],
)
def test_a_record_has_whether_it_is_in_the_cache(
    record: dict[str, Any], in_cache: bool, cached: bool, installed: bool
) -> None:
    data = database({ZLIB: {"spec": node(dependencies=...), "ref_count": 0, **record}})

    (spec,), problems = read(data)

    assert (spec.in_cache, spec.cached, spec.installed) == (in_cache, cached, installed)
    assert problems == []


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"in_buildcache": "yes"}, "in_buildcache is a string, expected true or false"),
        ({"in_buildcache": None}, "in_buildcache is null, expected true or false"),
        ({"installed": 1, "path": ""}, "installed is a number, expected true or false"),
        ({"explicit": [], "path": ""}, "explicit is a list, expected true or false"),
        ({"path": 7}, "path is a number, expected a string"),
        ({"path": {}}, "path is an object, expected a string"),
        ({"installation_time": "now"}, "installation_time is 'now', expected seconds since 1970"),
        ({"installation_time": float("nan")}, "installation_time is NaN"),
        ({"installation_time": float("inf")}, "installation_time is Infinity"),
        ({"installation_time": -1}, "installation_time is -1"),
        ({"installation_time": 10**300}, "installation_time is 1000"),
        ({"installation_time": True}, "installation_time is true"),
    ],
)
def test_odd_fields_beside_a_node_are_a_problem(record: dict[str, Any], reason: str) -> None:
    data = database({ZLIB: {"spec": node(dependencies=...), **record}})

    (spec,), (problem,) = read(data)

    assert problem.place == f"zlib/{ZLIB[:7]}"
    assert problem.reason.startswith(reason)
    assert spec.installed_at is None


def test_no_prefix_may_be_spelled_as_python_does() -> None:
    data = database({ZLIB: {"spec": node(dependencies=...), "path": "None", "installed": True}})

    (spec,), problems = read(data)

    assert (spec.path, problems) == ("", [])


# Broken databases


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({"database": None}, "database is missing"),
        ({"database": []}, "database is a list, expected an object"),
        ({"database": {"version": "8"}}, "installs is missing"),
        (
            {"database": {"version": "8", "installs": [1]}},
            "installs is a list, expected an object",
        ),
    ],
)
def test_a_text_that_is_not_a_database_is_a_problem(document: object, reason: str) -> None:
    specs, problems = read(json.dumps(document).encode())

    assert specs == []
    assert [str(problem) for problem in problems] == [f"document: {reason}"]


def test_an_empty_database_is_not_a_problem() -> None:
    assert read(database({})) == ([], [])


@pytest.mark.parametrize("record", [None, 1, "x", [], True, {}, {"spec": None}, {"spec": []}])
def test_a_record_that_is_none_takes_no_other_along(record: object) -> None:
    data = database({hash_of(8): record, **installs(*zlib_nodes())})

    specs, problems = read(data)

    assert [spec.hash for spec in specs] == [ZLIB, GCC, GLIBC, GMAKE]
    (problem,) = problems
    assert problem.place == "spec/2222222"
    assert problem.reason.endswith((" is missing", ", expected an object"))


@pytest.mark.parametrize(
    "key", ["", "abc", ZLIB[1:], ZLIB + "2", ZLIB[:-1] + "A", ZLIB[:-1] + "1", ZLIB + "\n"]
)
def test_a_record_needs_a_whole_hash(key: str) -> None:
    records: dict[str, Any] = {key: {"spec": node(key)}, **installs(*zlib_nodes())}

    specs, problems = read(database(records))

    assert len(specs) == 4
    assert [problem.place for problem in problems] == ["zlib"]
    expected = "expected 32 characters of a-z2-7" if key else "hash is missing"
    assert expected in problems[0].reason


# Record by record


VERSION_LAST = b'{"database": {"installs": %b, "version": %b}}'


@pytest.mark.parametrize("version", [b'"5"', b'"7"', b'"8"', b'"99"', b"8", b"null", b'"\\u0038"'])
@pytest.mark.parametrize("number", [3, 4, 5])
def test_a_version_after_the_records_counts_like_one_before_them(
    version: bytes, number: int
) -> None:
    records = json.dumps(installs(*(in_format(number, new) for new in zlib_nodes()))).encode()

    items = read(VERSION_LAST % (records, version))

    assert items == read(b'{"database": {"version": %b, "installs": %b}}' % (version, records))


def test_a_reader_reports_its_progress_and_can_be_stopped() -> None:
    data = database(installs(*(leaf(hash_of(number), "zlib", "1") for number in range(1000))))
    reports = []

    def watch(count: int, expected: int) -> None:
        reports.append((count, expected))
        if count > 500:
            raise Cancelled

    with pytest.raises(Cancelled):
        list(read_document(data, origin="document", on_count=watch))

    assert reports == [(256, 1000), (512, 1000)]
    assert gc.isenabled()
