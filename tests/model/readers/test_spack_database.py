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
from spackscope.model.readers.json import parse
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
    all_texts,
    database,
    edge,
    hash_of,
    in_format,
    installs,
    leaf,
    node,
    read,
    zlib_index,
    zlib_nodes,
)
from tests.hostile import HOSTILE_TEXT

NOT_KNOWN = (
    "it is not a page of cache.spack.io, a Spack database (index.json), a spack.lock,"
    " a spec file or the output of spack find --json"
)


def zlib_of(data: bytes) -> tuple[Spec, list[str]]:
    """Return the first record of a document, and the texts of its problems."""
    specs, problems = read(data)
    return specs[0], [str(problem) for problem in problems]


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


def test_an_index_of_spack_0_23_says_what_the_site_shows_of_it() -> None:
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


def test_an_index_of_spack_1_2_says_what_spack_find_prints() -> None:
    specs, problems = read(INDEX_OF_1_2.read_bytes())
    lines = (SPACK_DATA / "find_format.txt").read_text().splitlines()

    # Spack puts the hash of the compiler behind its version.
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
    specs, _ = read(INDEX_OF_1_2.read_bytes())

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
        ("4", "version is '4', expected 5 to 8"),
        ("99", "version is '99', expected 5 to 8"),
        ("0.9.3", "version is '0.9.3', expected 5 to 8"),
        (8, "version is the number 8, expected a string from 5 to 8"),
        (8.5, "version is the number 8.5, expected a string from 5 to 8"),
        (None, "version is missing"),
        (True, "version is true, expected 5 to 8"),
        ([], "version is a list, expected 5 to 8"),
        ({}, "version is an object, expected 5 to 8"),
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


def test_old_and_new_nodes_may_stand_in_one_database() -> None:
    new, *others = zlib_nodes()
    old = {**in_format(4, new), "hash": hash_of(9)}

    specs, problems = read(database(installs(new, old, *others)))

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
    spec, problems = zlib_of(zlib_index(**fields))

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

    (spec,), problems = read(database(installs(new), "8"))
    assert (spec.variants, problems) == ((since_1_0,), [])
    (spec,), problems = read(database(installs(in_format(4, new)), "7"))
    assert (spec.variants, problems) == ((before,), [])


def test_the_digests_of_patches_stay_whole() -> None:
    digests = ["b" * 64, "a" * 64]

    spec, problems = zlib_of(zlib_index(parameters={"patches": digests}))

    assert spec.variants == (f"patches:={'a' * 64},{'b' * 64}",)
    assert problems == []


def test_flags_that_are_not_empty_are_no_variants() -> None:
    flags = FLAGS | {"cflags": ["-O2", "-g"], "ldlibs": ["-lm"]}

    spec, problems = zlib_of(zlib_index(parameters={"shared": False, **flags}))

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
    spec, problems = zlib_of(zlib_index(external=external))

    assert (spec.external, problems) == (shown, [])


def test_a_spliced_spec_names_the_hash_that_it_was_built_as() -> None:
    spec, problems = zlib_of(zlib_index(build_spec={"name": "zlib", "hash": hash_of(77)}))

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
    spec, problems = zlib_of(zlib_index(**fields))

    assert (spec.version, problems) == (version, [])


def test_a_target_may_be_a_whole_microarchitecture() -> None:
    target = {"name": "zen4", "vendor": "AuthenticAMD", "features": ["abm"], "generation": 0}
    arch = {"platform": "linux", "platform_os": "rhel9", "target": target}

    spec, problems = zlib_of(zlib_index(arch=arch))

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
def test_what_is_odd_beside_a_node_is_told(record: dict[str, Any], reason: str) -> None:
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
        ({}, NOT_KNOWN),
        ([], NOT_KNOWN),
        (None, NOT_KNOWN),
        ("database", NOT_KNOWN),
        ({"database": None}, "database is missing"),
        ({"database": []}, "database is a list, expected an object"),
        ({"database": {"version": "8"}}, "installs is missing"),
        (
            {"database": {"version": "8", "installs": [1]}},
            "installs is a list, expected an object",
        ),
    ],
)
def test_what_is_no_database_is_a_problem(document: object, reason: str) -> None:
    specs, problems = read(json.dumps(document).encode())

    assert specs == []
    assert [str(problem) for problem in problems] == [f"document: {reason}"]


def test_an_empty_database_is_no_problem() -> None:
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


def test_a_node_that_states_another_hash_than_its_key_is_told() -> None:
    data = database({ZLIB: {"spec": node(GCC, dependencies=...)}})

    (spec,), problems = read(data)

    assert spec.hash == ZLIB
    assert [problem.reason for problem in problems] == [f"node states another hash, '{GCC}'"]


@pytest.mark.parametrize("alike", [True, False])
def test_a_hash_that_stands_twice_is_told(alike: bool) -> None:
    one = json.dumps(node(version="1", dependencies=...))
    two = one if alike else json.dumps(node(version="2", dependencies=...))
    data = (
        f'{{"database": {{"version": "8", "installs": '
        f'{{"{ZLIB}": {{"spec": {one}}}, "{ZLIB}": {{"spec": {two}}}}}}}}}'
    ).encode()

    (spec,), (problem,) = read(data)

    assert spec.version == ("1" if alike else "2")
    how = "with equal content" if alike else "the last one counts"
    assert problem.reason == f"hash {ZLIB} is listed twice, {how}"


def test_any_other_key_that_stands_twice_counts_as_in_json() -> None:
    data = zlib_index().replace(b'"version": "1.3.1"', b'"version": "1", "version": "1.3.1"')

    assert read(data) == read(zlib_index())


ODD: list[object] = [True, False, [], ["x"], [[]], {}, {"x": {"y": []}}, None, 7, 1.5, 10**400, ""]


@pytest.mark.parametrize("value", [..., *ODD], ids=repr)
@pytest.mark.parametrize("key", sorted(node() | {"external": 0, "build_spec": 0, "compiler": 0}))
def test_a_field_of_any_other_kind_takes_nothing_else_along(key: str, value: Any) -> None:
    whole, _ = zlib_of(zlib_index())

    # The hash of the node is told, but its key is what counts.
    first, *others = zlib_nodes()
    odd = {**first, key: value} if value is not ... else {k: first[k] for k in first if k != key}
    records = {ZLIB: {"spec": odd, "in_buildcache": True}, **installs(*others)}
    specs, problems = read(database(records))

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
    _, problems = read(database(installs(first, *zlib_nodes()[1:])))

    assert [key in problem.reason for problem in problems][:1] == [True]


@pytest.mark.parametrize("part", ["platform", "platform_os", "target"])
@pytest.mark.parametrize("value", [..., None, "", True, [], {}, {"name": 7}, {"names": "x"}])
def test_a_part_of_the_arch_that_is_missing_leaves_the_others(part: str, value: Any) -> None:
    arch = node()["arch"] | {part: value}
    arch = {key: its for key, its in arch.items() if its is not ...}

    spec, problems = zlib_of(zlib_index(arch=arch))

    shown = {"platform": spec.platform, "platform_os": spec.os, "target": spec.target}
    assert shown.pop(part) in ("", "7")
    assert all(shown.values())
    assert len(problems) == 1
    assert f"{part} is" in problems[0]


@pytest.mark.parametrize("value", [None, {}, {"a": []}, [None], [[]], [{}], [True, "a"]])
def test_a_variant_that_is_none_is_told_and_leaves_the_others(value: object) -> None:
    spec, problems = zlib_of(zlib_index(parameters={"x": value, "shared": True}))

    assert spec.variants == ("+shared",)
    assert len(problems) == 1
    assert "variant x" in problems[0]


@pytest.mark.parametrize("value", ["-O2", True, {"a": 1}, [None], [["-O2"]], [7]])
def test_flags_that_are_none_are_told(value: object) -> None:
    spec, problems = zlib_of(zlib_index(parameters={"cflags": value, "shared": True}))

    assert (spec.variants, spec.flags) == (("+shared",), ())
    assert len(problems) == 1
    assert "cflags" in problems[0]


@pytest.mark.parametrize("name", ["os", "target", "stack", "hash", "tag", "name"])
def test_a_variant_may_have_the_name_of_a_column(name: str) -> None:
    spec, problems = zlib_of(zlib_index(parameters={name: "x"}))

    assert (spec.variants, problems) == ((f"{name}=x",), [])


# Dependencies


def test_absent_dependencies_are_told_once_and_kept() -> None:
    absent = [edge(f"lib{number}", hash_of(number), ["link"]) for number in range(100, 103)]
    gone = edge("clang", hash_of(200), ["build"], ["c"])

    specs, problems = read(database(installs(node(dependencies=[gone, *absent]))))

    names = [one.name for one in specs[0].dependencies or ()]
    assert names == ["clang", "lib100", "lib101", "lib102"]
    assert specs[0].compiler == "clang"
    assert [str(problem) for problem in problems] == [
        f"document: 4 dependencies are missing, such as clang/{hash_of(200)[:7]}"
    ]


def test_a_cycle_and_a_spec_that_needs_itself_are_read() -> None:
    one = node(ZLIB, dependencies=[edge("gcc", GCC, ["build"], ["c"])])
    two = node(GCC, name="gcc", dependencies=[edge("zlib", ZLIB, ["link"])])
    three = node(GMAKE, name="gmake", dependencies=[edge("gmake", GMAKE, ["build"], ["c"])])

    specs, problems = read(database(installs(one, two, three)))

    assert [spec.compiler for spec in specs] == ["gcc@1.3.1", "none", "gmake@1.3.1"]
    assert problems == []


def test_ten_thousand_dependencies_are_read() -> None:
    many = [edge(f"lib{number}", hash_of(number), ["link"]) for number in range(10_000)]

    specs, problems = read(database(installs(node(dependencies=many))))

    assert len(specs[0].dependencies or ()) == 10_000
    # One of them is the hash of the record itself.
    assert "9999" in problems[0].reason


@pytest.mark.parametrize(
    ("odd", "kept", "reason"),
    [
        (None, False, "dependencies contains null, expected objects"),
        ("glibc", False, "dependencies contains a string, expected objects"),
        ([], False, "dependencies contains a list, expected objects"),
        ({}, False, "hash of dependency is missing"),
        ({"name": "x", "hash": "abc"}, False, "hash of dependency x is 'abc'"),
        ({"name": "x", "hash": hash_of(10**40).upper()}, False, "hash of dependency x is"),
        ({"name": "x", "hash": []}, False, "hash of dependency x is a list"),
        ({"name": "x", "hash": GLIBC}, True, "deptypes of dependency x is missing"),
        (
            {"name": "x", "hash": GLIBC, "type": "link"},
            True,
            "deptypes of dependency x is a string, expected a list",
        ),
        (
            {"name": "x", "hash": GLIBC, "type": ["link", 7]},
            True,
            "deptypes of dependency x contains a number, expected strings",
        ),
        ({"hash": GLIBC, "type": ["link"]}, True, "name of dependency is missing"),
        (
            {"name": [], "hash": GLIBC, "type": []},
            True,
            "name of dependency is a list, expected a string",
        ),
        (
            {"name": "x", "hash": GLIBC, "parameters": {"deptypes": ["link"], "virtuals": "c"}},
            True,
            "virtuals of dependency x is a string, expected a list",
        ),
    ],
)
def test_an_odd_dependency_leaves_the_others(odd: object, kept: bool, reason: str) -> None:
    good = edge("gcc", GCC, ["build"], ["c"])

    spec, problems = zlib_of(zlib_index(dependencies=[odd, good]))

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

    specs, problems = read(database(records, "5"))

    assert specs[0].dependencies == (Dependency(GMAKE, "gmake"),)
    assert not any("are missing" in problem.reason for problem in problems)


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

    specs, problems = read(database(installs(first, *zlib_nodes()[1:])))

    assert len(specs) == 4
    for spec in specs:
        assert all(one.encode() for one in all_texts(spec) if one)
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
    for item in read_document(database({ZLIB: {"spec": its, **record}}, version), origin="o"):
        assert isinstance(item, Spec | Problem)
        assert all(text.encode().decode() == text for text in all_texts(item))


# Record by record


def by_record(data: bytes) -> list[Spec | Problem]:
    return list(read_document(data, origin="document"))


@pytest.mark.parametrize(
    "path", [INDEX_OF_0_23, INDEX_OF_1_2, INSTALL_TREE], ids=["0.23", "1.2", "install tree"]
)
def test_a_database_that_begins_with_another_key_is_read_alike(path: Path) -> None:
    data = path.read_bytes()

    assert by_record(b'{"x": [0],' + data.lstrip()[1:]) == by_record(data)


VERSION_LAST = b'{"database": {"installs": %b, "version": %b}}'


@pytest.mark.parametrize("version", [b'"5"', b'"7"', b'"8"', b'"99"', b"8", b"null", b'"\\u0038"'])
@pytest.mark.parametrize("number", [3, 4, 5])
def test_a_version_behind_the_records_counts_as_one_before_them(
    version: bytes, number: int
) -> None:
    records = json.dumps(installs(*(in_format(number, new) for new in zlib_nodes()))).encode()

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
    first = json.dumps(installs(*zlib_nodes(version="1"))).encode()
    second = json.dumps(installs(*zlib_nodes(version="2"))).encode()

    told, *items = by_record(data % (first, second))

    assert told == Problem("document", "", f'"{key}" is given twice; the last one counts')
    assert items == by_record(database(json.loads(second)))


def test_no_more_repeated_keys_are_listed_than_other_problems(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(json_reader, "MAX_PROBLEMS", 3)
    pairs = ", ".join(f'"{hash_of(number // 2)}": {{}}' for number in range(10))

    value, remarks = parse("{" + pairs + "}")

    assert len(value) == 5
    assert [remark.partition(" is listed")[0] for remark in remarks] == [
        *(f"hash {hash_of(number)}" for number in range(3)),
        "more keys are given twice, which are not listed",
    ]


def test_a_record_nested_too_deeply_leaves_those_before_it() -> None:
    before = json.dumps({GCC: {"spec": leaf(GCC, "gcc", "13.2.0")}})[:-1]
    data = '{"database": {"version": "8", "installs": ' + before + f', "{ZLIB}": ' + "[" * 100_000

    (spec,), (problem,) = read(data.encode())

    assert spec.package == "gcc"
    assert "nested too deeply" in problem.reason


@pytest.mark.parametrize("indent", [None, 1])
def test_a_database_damaged_anywhere_is_read_as_far_as_it_is_json(indent: int | None) -> None:
    data = json.dumps(json.loads(database(installs(leaf(ZLIB, "zlib", "1")))), indent=indent)
    valid = 0

    for at in range(len(data)):
        for sign in ('"', "}", ",", "[", ":", " ", ""):
            damaged = (data[:at] + sign + data[at + 1 :]).encode()
            specs, problems = read(damaged)
            try:
                again = json.dumps(json.loads(damaged)).encode()
            except ValueError:
                assert [spec.hash for spec in specs] in ([], [ZLIB])
                assert "character" in problems[0].reason
            else:
                assert (specs, problems) == read(again)
                valid += 1

    assert valid > 1000


def test_a_reader_tells_how_far_it_is_and_can_be_told_to_give_up() -> None:
    data = database(installs(*(leaf(hash_of(number), "zlib", "1") for number in range(1000))))
    told = []

    def watch(count: int) -> None:
        told.append(count)
        if count > 500:
            raise Cancelled

    with pytest.raises(Cancelled):
        list(read_document(data, origin="document", on_count=watch))

    assert told == [256, 512]
    assert gc.isenabled()
