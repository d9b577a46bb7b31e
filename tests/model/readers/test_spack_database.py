"""Spack's databases of every version are read as Spack reads them, broken ones as far as it goes.

The files under `tests/data/spack` were written by Spack 0.23 and 1.2.
"""

from __future__ import annotations

import gc
import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.errors import (
    Cancelled,
)
from spackscope.model.core.records import (
    Dependency,
    Problem,
    Spec,
)
from spackscope.model.readers import json as json_reader
from spackscope.model.readers.detect import read_document
from spackscope.model.readers.json import decode, load
from spackscope.model.readers.json_members import begins_a_database
from spackscope.model.readers.spack_database import database_records, read_database
from tests.builders import hash_of
from tests.hostile import HOSTILE_TEXT
from tests.spack_documents import (
    DATA,
    FLAGS,
    GCC,
    GLIBC,
    GMAKE,
    INDEX_OF_0_23,
    INDEX_OF_1_2,
    INSTALL_TREE,
    ZLIB,
    database,
    edge,
    in_format,
    index,
    installs,
    leaf,
    node,
    nodes,
    read,
    texts_of,
    zlib_of,
)


def known(name: str) -> dict[str, Spec]:
    """Read one of the two large indexes, of which the tests hold a part."""
    data = gzip.decompress((DATA / f"{name}.index.json.gz").read_bytes())
    specs, problems = read(data, read_database)
    assert [problem.reason.split(":")[0] for problem in problems] == [
        "dependencies are missing from it"
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


def test_an_index_of_spack_0_23_says_what_the_site_shows_of_it() -> None:
    specs = known("spack0")
    count = 0
    for line in (DATA / "pages.jsonl").read_text().splitlines():
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


def test_an_index_of_spack_1_2_says_what_spack_find_prints() -> None:
    specs, problems = read(INDEX_OF_1_2.read_bytes(), read_database)
    lines = (DATA / "find_format.txt").read_text().splitlines()

    # Spack puts the hash of the compiler behind its version.
    without_hash = (" ".join(re.sub(r"/[a-z2-7]{32}", "", line).split()) for line in lines)
    assert sorted(map(printed, specs)) == sorted(without_hash)
    assert problems == []


@pytest.mark.parametrize("path", [INDEX_OF_0_23, INDEX_OF_1_2, INSTALL_TREE], ids=str)
def test_nothing_of_a_real_database_is_lost(path: Any) -> None:
    records = json.loads(path.read_bytes())["database"]["installs"]

    specs, problems = read(path.read_bytes(), read_database)

    assert problems == []
    assert [spec.hash for spec in specs] == list(records)
    for spec, record in zip(specs, records.values(), strict=True):
        written = record["spec"]
        assert spec.package_hash == written["package_hash"]
        assert spec.namespace == written["namespace"]
        assert len(spec.variants) == len(written["parameters"].keys() - FLAGS.keys())
        assert spec.dependencies == tuple(
            Dependency(
                one["hash"],
                one["name"],
                tuple(one["parameters"]["deptypes"]),
                tuple(one["parameters"]["virtuals"]),
            )
            for one in written.get("dependencies", ())
        )
        assert spec.external == (written["external"]["path"] if "external" in written else "")
        assert spec.in_cache == record.get("in_buildcache", True)
        assert spec.path == record.get("path", "")
        assert spec.installed == record.get("installed", False)
        assert spec.explicit == record.get("explicit", False)
        assert spec.installed_at == record.get("installation_time")


def test_equal_values_of_a_database_are_one_object() -> None:
    specs, _ = read(INDEX_OF_1_2.read_bytes(), read_database)

    for value in ("compiler", "os", "target", "namespace", "version"):
        texts = [getattr(spec, value) for spec in specs]
        assert len({id(text) for text in texts}) == len(set(texts))
    edges = [dependency for spec in specs for dependency in spec.dependencies or ()]
    assert len({id(one) for one in edges}) == len(set(edges)) < len(edges)


# Formats


@pytest.mark.parametrize(
    ("version", "number"), [("5", 1), ("6", 3), ("7", 4), ("8", 5)], ids=["5", "6", "7", "8"]
)
def test_a_database_of_each_version_tells_the_same(version: str, number: int) -> None:
    records = {
        new["hash"]: {"spec": in_format(number, new), "in_buildcache": True} for new in nodes()
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
        ("4", "the version is '4', and those known are 5 to 8"),
        ("99", "the version is '99', and those known are 5 to 8"),
        ("0.9.3", "the version is '0.9.3', and those known are 5 to 8"),
        (8, "the version is the number 8, and should be a text"),
        (8.5, "the version is the number 8.5, and should be a text"),
        (None, "the version is missing, and should be one of 5 to 8"),
        (True, "the version is true, and should be one of 5 to 8"),
        ([], "the version is a list, and should be one of 5 to 8"),
        ({}, "the version is a mapping, and should be one of 5 to 8"),
    ],
)
@pytest.mark.parametrize("number", [1, 3, 4, 5])
def test_a_database_of_another_version_is_read_and_doubted(
    version: object, reason: str, number: int
) -> None:
    records = {new["hash"]: {"spec": in_format(number, new)} for new in nodes()}

    spec, problems = zlib_of(database(records, version))

    rest = "the records are read as far as they are understood"
    assert problems == [f"document: version: {reason}; {rest}"]
    assert (spec.package, spec.compiler) == ("zlib", "gcc@13.2.0")
    assert spec.variants == ("build_system=generic", "+shared")


def test_old_and_new_nodes_may_stand_in_one_database() -> None:
    new, *others = nodes()
    old = {**in_format(4, new), "hash": hash_of(9)}

    specs, problems = read(database(installs(new, old, *others)), read_database)

    assert {spec.compiler for spec in specs[:2]} == {"gcc@13.2.0"}
    assert problems == []


@pytest.mark.parametrize(
    ("fields", "compiler"),
    [
        ({"compiler": {"name": "gcc", "version": "=11.4.0"}}, "gcc@11.4.0"),
        ({"compiler": {"name": "gcc", "versions": ["=11.4.0"]}}, "gcc@11.4.0"),
        ({"compiler": "gcc@=11.4.0"}, "gcc@11.4.0"),
        ({"annotations": {"compiler": "gcc@=11.4.0"}}, "gcc@11.4.0"),
        ({"annotations": {"original_specfile_version": 5}}, "gcc@13.2.0"),
        ({"annotations": ...}, "gcc@13.2.0"),
        ({"dependencies": []}, "none"),
        ({"dependencies": ...}, "none"),
        ({"dependencies": [edge("gcc", GCC, ["build"])]}, "none"),
        (
            {
                "dependencies": [
                    edge("gcc", GCC, ["build"], ["fortran"]),
                    edge("glibc", GLIBC, ["build"], ["cxx"]),
                    edge("gmake", GMAKE, ["build"], ["c"]),
                ]
            },
            "gmake@4",
        ),
    ],
)
def test_the_compiler_is_what_is_stated_or_else_compiles_c_or_cxx_or_fortran(
    fields: dict[str, Any], compiler: str
) -> None:
    spec, problems = zlib_of(index(**fields))

    assert spec.compiler == compiler
    assert problems == []


@pytest.mark.parametrize(
    ("value", "since_1_0", "before"),
    [
        (True, "+x", "+x"),
        (False, "~x", "~x"),
        ("True", "+x", "+x"),
        ("false", "~x", "~x"),
        ("Release", "x=Release", "x=Release"),
        # Spack prints one value with a comma as two values.
        ("a,b", 'x="a,b"', 'x="a,b"'),
        (["b", "a"], "x:=a,b", "x=b,a"),
        (["none"], "x:=none", "x=none"),
        (["c", "c++", "fortran"], "x:='c,c++,fortran'", "x='c,c++,fortran'"),
        ("<key here>", "x='<key here>'", "x='<key here>'"),
        ("it's", 'x="it\'s"', 'x="it\'s"'),
        ("a[1]", "x=a[1]", "x='a[1]'"),
        ("", "x=''", "x=''"),
        (11, "x=11", "x=11"),
        ([11, 14], "x:=11,14", "x=11,14"),
    ],
)
def test_a_variant_is_spelled_as_the_spack_that_wrote_it_prints_it(
    value: object, since_1_0: str, before: str
) -> None:
    new = node(parameters={"x": value, **FLAGS}, dependencies=...)

    (spec,), problems = read(database(installs(new), "8"), read_database)
    assert (spec.variants, problems) == ((since_1_0,), [])
    (spec,), problems = read(database(installs(in_format(4, new)), "7"), read_database)
    assert (spec.variants, problems) == ((before,), [])


def test_the_digests_of_patches_stay_whole() -> None:
    digests = ["b" * 64, "a" * 64]

    spec, problems = zlib_of(index(parameters={"patches": digests}))

    assert spec.variants == (f"patches:={'a' * 64},{'b' * 64}",)
    assert problems == []


def test_flags_that_are_not_empty_are_no_variants() -> None:
    flags = FLAGS | {"cflags": ["-O2", "-g"], "ldlibs": ["-lm"]}

    spec, problems = zlib_of(index(parameters={"shared": False, **flags}))

    assert spec.variants == ("~shared",)
    assert spec.flags == ("cflags=-O2 -g", "ldlibs=-lm")
    assert problems == []


@pytest.mark.parametrize(
    ("external", "shown"),
    [
        ({"path": "/usr", "module": None, "extra_attributes": {}}, "/usr"),
        ({"path": None, "module": ["gcc/13", "base"], "extra_attributes": {}}, "gcc/13, base"),
        ({"path": "None", "module": "gcc/13"}, "gcc/13"),
        ({"path": "/usr", "module": ["gcc/13"]}, "/usr"),
        ({"path": None, "module": None}, ""),
        (None, ""),
        ({}, ""),
    ],
)
def test_what_spack_did_not_build_names_its_prefix_or_modules(external: Any, shown: str) -> None:
    spec, problems = zlib_of(index(external=external))

    assert (spec.external, problems) == (shown, [])


def test_a_spliced_spec_names_the_hash_that_it_was_built_as() -> None:
    spec, problems = zlib_of(index(build_spec={"name": "zlib", "hash": hash_of(77)}))

    assert (spec.build_spec, problems) == (hash_of(77), [])


@pytest.mark.parametrize(
    ("fields", "version"),
    [
        ({"version": "=1.2"}, "1.2"),
        ({"version": ..., "versions": ["=1.2"]}, "1.2"),
        ({"version": "git.abc=1.2"}, "git.abc=1.2"),
    ],
)
def test_a_version_stands_without_the_sign_that_it_is_exact(
    fields: dict[str, Any], version: str
) -> None:
    spec, problems = zlib_of(index(**fields))

    assert (spec.version, problems) == (version, [])


def test_a_target_may_be_a_whole_microarchitecture() -> None:
    target = {"name": "zen4", "vendor": "AuthenticAMD", "features": ["abm"], "generation": 0}
    arch = {"platform": "linux", "platform_os": "rhel9", "target": target}

    spec, problems = zlib_of(index(arch=arch))

    assert (spec.target, problems) == ("zen4", [])


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
def test_a_record_tells_whether_it_stands_for_a_binary(
    record: dict[str, Any], in_cache: bool, cached: bool, installed: bool
) -> None:
    data = database({ZLIB: {"spec": node(dependencies=...), "ref_count": 0, **record}})

    (spec,), problems = read(data, read_database)

    assert (spec.in_cache, spec.cached, spec.installed) == (in_cache, cached, installed)
    assert problems == []


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"in_buildcache": "yes"}, "its in_buildcache is a text, and should be true or false"),
        ({"in_buildcache": None}, "its in_buildcache is missing, and should be true or false"),
        ({"installed": 1, "path": ""}, "its installed is a number, and should be true or false"),
        ({"explicit": [], "path": ""}, "its explicit is a list, and should be true or false"),
        ({"path": 7}, "its path is a number, and should be a text"),
        ({"path": {}}, "its path is a mapping, and should be a text"),
        ({"installation_time": "now"}, "its installation_time is a text"),
        ({"installation_time": float("nan")}, "its installation_time is NaN"),
        ({"installation_time": float("inf")}, "its installation_time is Infinity"),
        ({"installation_time": -1}, "its installation_time is -1"),
        ({"installation_time": 10**300}, "its installation_time is 1000"),
        ({"installation_time": True}, "its installation_time is true"),
    ],
)
def test_what_is_odd_beside_a_node_is_told(record: dict[str, Any], reason: str) -> None:
    data = database({ZLIB: {"spec": node(dependencies=...), **record}})

    (spec,), (problem,) = read(data, read_database)

    assert problem.place == f"zlib/{ZLIB[:7]}"
    assert problem.reason.startswith(reason)
    assert spec.installed_at is None


def test_no_prefix_may_be_spelled_as_python_does() -> None:
    data = database({ZLIB: {"spec": node(dependencies=...), "path": "None", "installed": True}})

    (spec,), problems = read(data, read_database)

    assert (spec.path, problems) == ("", [])


# Broken databases


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ({}, "it is no Spack database"),
        ([], "it is no Spack database"),
        (None, "it is no Spack database"),
        ("database", "it is no Spack database"),
        ({"database": None}, "database: it is missing, and should be a mapping"),
        ({"database": []}, "database: it is a list, and should be a mapping"),
        ({"database": {"version": "8"}}, "installs: it is missing, and should be a mapping"),
        (
            {"database": {"version": "8", "installs": [1]}},
            "installs: it is a list, and should be a mapping",
        ),
    ],
)
def test_what_is_no_database_is_a_problem(document: object, reason: str) -> None:
    specs, problems = read(json.dumps(document).encode(), read_database)

    assert specs == []
    assert [str(problem) for problem in problems] == [f"document: {reason}"]


def test_an_empty_database_is_no_problem() -> None:
    assert read(database({}), read_database) == ([], [])


@pytest.mark.parametrize("record", [None, 1, "x", [], True, {}, {"spec": None}, {"spec": []}])
def test_a_record_that_is_none_takes_no_other_along(record: object) -> None:
    data = database({hash_of(8): record, **installs(*nodes())})

    specs, problems = read(data, read_database)

    assert [spec.hash for spec in specs] == [ZLIB, GCC, GLIBC, GMAKE]
    (problem,) = problems
    assert problem.place == "spec/2222222"
    assert problem.reason.endswith("and should be a mapping")


@pytest.mark.parametrize(
    "key", ["", "abc", ZLIB[1:], ZLIB + "2", ZLIB[:-1] + "A", ZLIB[:-1] + "1", ZLIB + "\n"]
)
def test_a_record_needs_a_whole_hash(key: str) -> None:
    records: dict[str, Any] = {key: {"spec": node(key)}, **installs(*nodes())}

    specs, problems = read(database(records), read_database)

    assert len(specs) == 4
    assert [problem.place for problem in problems] == ["zlib"]
    assert "32 characters of a-z2-7" in problems[0].reason


def test_a_node_that_states_another_hash_than_its_key_is_told() -> None:
    data = database({ZLIB: {"spec": node(GCC, dependencies=...)}})

    (spec,), problems = read(data, read_database)

    assert spec.hash == ZLIB
    assert [problem.reason for problem in problems] == [f"its node states another hash, '{GCC}'"]


@pytest.mark.parametrize("alike", [True, False])
def test_a_hash_that_stands_twice_is_told(alike: bool) -> None:
    one = json.dumps(node(version="1", dependencies=...))
    two = one if alike else json.dumps(node(version="2", dependencies=...))
    data = (
        f'{{"database": {{"version": "8", "installs": '
        f'{{"{ZLIB}": {{"spec": {one}}}, "{ZLIB}": {{"spec": {two}}}}}}}}}'
    ).encode()

    (spec,), (problem,) = read(data, read_database)

    assert spec.version == ("1" if alike else "2")
    how = "both times alike" if alike else "the last one counts"
    assert problem.reason == f"the hash {ZLIB} stands in it twice, {how}"


def test_any_other_key_that_stands_twice_counts_as_in_json() -> None:
    data = index().replace(b'"version": "1.3.1"', b'"version": "1", "version": "1.3.1"')

    assert read(data, read_database) == read(index(), read_database)


ODD: list[object] = [True, False, [], ["x"], [[]], {}, {"x": {"y": []}}, None, 7, 1.5, 10**400, ""]


@pytest.mark.parametrize("value", [..., *ODD], ids=repr)
@pytest.mark.parametrize("key", sorted(node() | {"external": 0, "build_spec": 0, "compiler": 0}))
def test_a_field_of_any_other_kind_takes_nothing_else_along(key: str, value: Any) -> None:
    whole, _ = zlib_of(index())

    # The hash of the node is told, but its key is what counts.
    first, *others = nodes()
    odd = {**first, key: value} if value is not ... else {k: first[k] for k in first if k != key}
    records = {ZLIB: {"spec": odd, "in_buildcache": True}, **installs(*others)}
    specs, problems = read(database(records), read_database)

    assert [spec.hash for spec in specs] == [ZLIB, GCC, GLIBC, GMAKE]
    of_key = {
        "arch": {"platform", "os", "target"},
        "annotations": {"compiler"},
        "compiler": {"compiler"},
        "dependencies": {"dependencies", "compiler"},
        "name": {"package"},
        "parameters": {"variants"},
    }.get(key, {key})
    for name in set(Spec.__slots__) - of_key:
        assert getattr(specs[0], name) == getattr(whole, name), name
    assert all(problem.place.endswith(f"/{ZLIB[:7]}") for problem in problems)


@pytest.mark.parametrize("key", ["name", "version", "arch", "parameters"])
@pytest.mark.parametrize("value", [..., None, True, [], "", 7], ids=repr)
def test_a_field_that_every_spec_has_is_missed(key: str, value: Any) -> None:
    if (key, value) in (("arch", ...), ("parameters", ...)):
        first = {k: v for k, v in node().items() if k != key}
    else:
        first = node(**{key: value})
    _, problems = read(database(installs(first, *nodes()[1:])), read_database)

    assert [key in problem.reason for problem in problems][:1] == [True]


@pytest.mark.parametrize("part", ["platform", "platform_os", "target"])
@pytest.mark.parametrize("value", [..., None, "", True, [], {}, {"name": 7}, {"names": "x"}])
def test_a_part_of_the_arch_that_is_missing_leaves_the_others(part: str, value: Any) -> None:
    arch = node()["arch"] | {part: value}
    arch = {key: its for key, its in arch.items() if its is not ...}

    spec, problems = zlib_of(index(arch=arch))

    shown = {"platform": spec.platform, "platform_os": spec.os, "target": spec.target}
    assert shown.pop(part) in ("", "7")
    assert all(shown.values())
    assert len(problems) == 1
    assert f"its {part} is" in problems[0]


@pytest.mark.parametrize("value", [None, {}, {"a": []}, [None], [[]], [{}], [True, "a"]])
def test_a_variant_that_is_none_is_told_and_leaves_the_others(value: object) -> None:
    spec, problems = zlib_of(index(parameters={"x": value, "shared": True}))

    assert spec.variants == ("+shared",)
    assert len(problems) == 1
    assert "its variant x" in problems[0]


@pytest.mark.parametrize("value", ["-O2", True, {"a": 1}, [None], [["-O2"]], [7]])
def test_flags_that_are_none_are_told(value: object) -> None:
    spec, problems = zlib_of(index(parameters={"cflags": value, "shared": True}))

    assert (spec.variants, spec.flags) == (("+shared",), ())
    assert len(problems) == 1
    assert "cflags" in problems[0]


@pytest.mark.parametrize("name", ["os", "target", "stack", "hash", "tag", "name"])
def test_a_variant_may_have_the_name_of_a_column(name: str) -> None:
    spec, problems = zlib_of(index(parameters={name: "x"}))

    assert (spec.variants, problems) == ((f"{name}=x",), [])


# Dependencies


def test_absent_dependencies_are_told_once_and_kept() -> None:
    absent = [edge(f"lib{number}", hash_of(number), ["link"]) for number in range(100, 103)]
    gone = edge("clang", hash_of(200), ["build"], ["c"])

    specs, problems = read(database(installs(node(dependencies=[gone, *absent]))), read_database)

    names = [one.name for one in specs[0].dependencies or ()]
    assert names == ["clang", "lib100", "lib101", "lib102"]
    assert specs[0].compiler == "clang"
    assert [str(problem) for problem in problems] == [
        f"document: dependencies are missing from it: 4, such as clang/{hash_of(200)[:7]}"
    ]


def test_a_cycle_and_a_spec_that_needs_itself_are_read() -> None:
    one = node(ZLIB, dependencies=[edge("gcc", GCC, ["build"], ["c"])])
    two = node(GCC, name="gcc", dependencies=[edge("zlib", ZLIB, ["link"])])
    three = node(GMAKE, name="gmake", dependencies=[edge("gmake", GMAKE, ["build"], ["c"])])

    specs, problems = read(database(installs(one, two, three)), read_database)

    assert [spec.compiler for spec in specs] == ["gcc@1.3.1", "none", "gmake@1.3.1"]
    assert problems == []


def test_ten_thousand_dependencies_are_read() -> None:
    many = [edge(f"lib{number}", hash_of(number), ["link"]) for number in range(10_000)]

    specs, problems = read(database(installs(node(dependencies=many))), read_database)

    assert len(specs[0].dependencies or ()) == 10_000
    # One of them is the hash of the record itself.
    assert "9999" in problems[0].reason


@pytest.mark.parametrize(
    ("odd", "kept", "reason"),
    [
        (None, False, "among its dependencies is missing"),
        ("glibc", False, "among its dependencies is a text"),
        ([], False, "among its dependencies is a list"),
        ({}, False, "the hash of its dependency one is missing"),
        ({"name": "x", "hash": "abc"}, False, "the hash of its dependency x is 'abc'"),
        ({"name": "x", "hash": hash_of(10**40).upper()}, False, "the hash of its dependency x is"),
        ({"name": "x", "hash": []}, False, "the hash of its dependency x is a list"),
        ({"name": "x", "hash": GLIBC}, True, "the deptypes of x are missing"),
        ({"name": "x", "hash": GLIBC, "type": "link"}, True, "the deptypes of x are a text"),
        ({"name": "x", "hash": GLIBC, "type": ["link", 7]}, True, "among the deptypes of x is a"),
        ({"hash": GLIBC, "type": ["link"]}, True, "its dependency's name is missing"),
        ({"name": [], "hash": GLIBC, "type": []}, True, "its dependency's name is a list"),
        (
            {"name": "x", "hash": GLIBC, "parameters": {"deptypes": ["link"], "virtuals": "c"}},
            True,
            "the virtuals of x are a text",
        ),
    ],
)
def test_an_odd_dependency_leaves_the_others(odd: object, kept: bool, reason: str) -> None:
    good = edge("gcc", GCC, ["build"], ["c"])

    spec, problems = zlib_of(index(dependencies=[odd, good]))

    assert (spec.dependencies or ())[-1] == Dependency(GCC, "gcc", ("build",), ("c",))
    assert len(spec.dependencies or ()) == (2 if kept else 1)
    assert len(problems) == 1
    assert reason in problems[0]


def test_an_edge_may_name_an_older_hash_of_its_node() -> None:
    old = [
        {
            "zlib": {
                "version": "1",
                "dependencies": {"gmake": {"build_hash": hash_of(70), "type": []}},
            }
        },
        {"gmake": {"version": "4", "build_hash": hash_of(70), "full_hash": hash_of(71)}},
    ]
    records = {ZLIB: {"spec": old[0]}, GMAKE: {"spec": old[1]}}

    specs, problems = read(database(records, "5"), read_database)

    assert specs[0].dependencies == (Dependency(GMAKE, "gmake"),)
    assert not any("missing from it" in problem.reason for problem in problems)


# Hostile text


@pytest.mark.parametrize("text", [pytest.param(text, id=label) for label, text in HOSTILE_TEXT])
def test_hostile_text_in_any_field_is_read_and_can_be_stored(text: str) -> None:
    first = node(
        name=text,
        version=text,
        namespace=text,
        package_hash=text,
        arch={"platform": text, "platform_os": text, "target": text},
        parameters={text: text, "x": [text], "cflags": [text]},
        compiler={"name": text, "version": text},
        external={"path": text, "module": [text]},
        dependencies=[edge(text, GCC, [text], [text])],
    )

    specs, problems = read(database(installs(first, *nodes()[1:])), read_database)

    assert len(specs) == 4
    for spec in specs:
        assert all(one.encode() for one in texts_of(spec) if one)
    for problem in problems:
        assert str(problem).encode()


any_text = st.text(st.characters(exclude_categories=[]))
any_json = st.recursive(
    any_text | st.none() | st.booleans() | st.integers() | st.floats(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=5,
)
any_node = st.dictionaries(st.sampled_from(sorted(node())), any_json).map(
    lambda fields: node(dependencies=...) | fields
)


@given(any_node, st.dictionaries(st.sampled_from(["path", "installed", "x"]), any_json), any_json)
def test_no_json_raises_and_all_that_is_read_can_be_stored(
    its: dict[str, Any], record: dict[str, Any], version: object
) -> None:
    for item in read_database(database({ZLIB: {"spec": its, **record}}, version), origin="o"):
        assert isinstance(item, Spec | Problem)
        assert all(text.encode().decode() == text for text in texts_of(item))


# Record by record


def of_whole(data: bytes) -> list[Spec | Problem]:
    """Read a database from the whole tree of its document."""
    value, remarks = load(decode(data))
    told = [Problem("document", "", remark) for remark in remarks]
    return [*told, *database_records(value, origin="document")]


def by_record(data: bytes) -> list[Spec | Problem]:
    return list(read_database(data, origin="document"))


@pytest.mark.parametrize(
    "path", [INDEX_OF_0_23, INDEX_OF_1_2, INSTALL_TREE], ids=["0.23", "1.2", "install tree"]
)
def test_record_by_record_is_read_what_stands_in_the_whole(path: Path) -> None:
    data = path.read_bytes()

    assert begins_a_database(data.decode())
    assert by_record(data) == of_whole(data)


VERSION_LAST = b'{"database": {"installs": %b, "version": %b}}'


@pytest.mark.parametrize("version", [b'"5"', b'"7"', b'"8"', b'"99"', b"8", b"null", b'"\\u0038"'])
@pytest.mark.parametrize("number", [3, 4, 5])
def test_a_version_behind_the_records_counts_as_one_before_them(
    version: bytes, number: int
) -> None:
    records = json.dumps(installs(*(in_format(number, new) for new in nodes()))).encode()

    items = by_record(VERSION_LAST % (records, version))

    assert items == by_record(
        b'{"database": {"version": %b, "installs": %b}}' % (version, records)
    )


@pytest.mark.parametrize(
    ("data", "key"),
    [
        (b'{"database": {"version": "8", "installs": %b, "installs": %b}}', "installs"),
        (
            b'{"database": {"installs": %b}, "database": {"version": "8", "installs": %b}}',
            "database",
        ),
        (
            b'{"database": {"version": "5", "installs": %b, "version": "8", "installs": %b}}',
            "installs",
        ),
        (b'{"x": 1, "database": {"version": "8", "installs": %b, "installs": %b}}', "installs"),
    ],
)
def test_of_a_key_that_is_given_twice_the_last_one_counts(data: bytes, key: str) -> None:
    first = json.dumps(installs(*nodes(version="1"))).encode()
    second = json.dumps(installs(*nodes(version="2"))).encode()

    told, *items = by_record(data % (first, second))

    assert told == Problem("document", "", f'"{key}" is given twice; the last one counts')
    assert items == by_record(database(json.loads(second)))


def test_no_more_repeated_keys_are_listed_than_other_problems(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_reader, "MAX_PROBLEMS", 3)
    pairs = ", ".join(f'"{hash_of(number // 2)}": {{}}' for number in range(10))

    value, remarks = load("{" + pairs + "}")

    assert len(value) == 5
    assert [remark.partition(" stands")[0] for remark in remarks] == [
        *(f"the hash {hash_of(number)}" for number in range(3)),
        "more keys are given twice, which are not listed",
    ]


def test_a_record_nested_too_deeply_leaves_those_before_it() -> None:
    before = json.dumps({GCC: {"spec": leaf(GCC, "gcc", "13.2.0")}})[:-1]
    data = '{"database": {"version": "8", "installs": ' + before + f', "{ZLIB}": ' + "[" * 100_000

    (spec,), (problem,) = read(data.encode(), read_database)

    assert spec.package == "gcc"
    assert "nested too deeply" in problem.reason


def but_for_installs(items: list[Spec | Problem]) -> list[Spec | Problem]:
    """Leave out what is told of the records as a whole, which may be what breaks off."""
    return [i for i in items if not (isinstance(i, Problem) and i.place == "installs")]


@pytest.mark.parametrize("indent", [None, 1])
def test_a_database_damaged_anywhere_is_read_as_from_the_whole(indent: int | None) -> None:
    data = json.dumps(json.loads(database(installs(leaf(ZLIB, "zlib", "1")))), indent=indent)
    compared = 0

    for at in range(len(data)):
        for sign in ('"', "}", ",", "[", ":", " ", ""):
            damaged = (data[:at] + sign + data[at + 1 :]).encode()
            items = by_record(damaged)
            assert all(isinstance(item, Spec | Problem) for item in items)
            if begins_a_database(damaged.decode()):
                assert but_for_installs(items) == but_for_installs(of_whole(damaged))
                compared += 1

    assert compared > 3000


def test_a_reader_tells_how_far_it_is_and_can_be_told_to_give_up() -> None:
    data = database(installs(*(leaf(hash_of(number), "zlib", "1") for number in range(1000))))
    told = []

    def watch(count: int) -> None:
        told.append(count)
        if count > 500:
            raise Cancelled

    with pytest.raises(Cancelled):
        list(read_document(data, origin="document", watch=watch))

    assert told == [256, 512]
    assert gc.isenabled()
