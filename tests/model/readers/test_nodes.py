"""The fields of a node are read independently of each other."""

from typing import Any

import pytest

from spackscope.model.core.records import Dependency, Spec
from tests.builders.catalogs import read, zlib_of
from tests.builders.nodes import FLAGS, GCC, GLIBC, GMAKE, ZLIB, edge, in_format, node, zlib_nodes
from tests.builders.pages import hash_of
from tests.builders.spack import database, installs, zlib_index
from tests.hostile import ODD_VALUES


def test_old_and_new_nodes_may_be_in_one_database() -> None:
    new, *others = zlib_nodes()
    old = {**in_format(4, new), "hash": hash_of(9)}

    specs, problems = read(database(installs(new, old, *others)))

    assert {spec.compiler for spec in specs[:2]} == {"gcc@13.2.0"}
    assert problems == []


EDGES = [
    edge("gcc", GCC, ["build"], ["fortran"]),
    edge("glibc", GLIBC, ["build"], ["cxx"]),
    edge("gmake", GMAKE, ["build"], ["c"]),
]
SET_FLAGS = FLAGS | {"cflags": ["-O2", "-g"], "ldlibs": ["-lm"]}
EXTRA: dict[str, object] = {"path": "/usr", "extra_attributes": {"a": [1]}}
PATCHES = f"patches:={'a' * 9},{'b' * 9}"
MODULES: dict[str, object] = {"path": None, "module": ["gcc/13", "base"], "extra_attributes": {}}


@pytest.mark.parametrize(
    ("fields", "attribute", "value"),
    [
        ({"compiler": {"name": "gcc", "version": "=11.4.0"}}, "compiler", "gcc@11.4.0"),
        ({"compiler": {"name": "gcc", "versions": ["=11.4.0"]}}, "compiler", "gcc@11.4.0"),
        ({"compiler": "gcc@=11.4.0"}, "compiler", "gcc@11.4.0"),
        ({"annotations": {"compiler": "gcc@=11.4.0"}}, "compiler", "gcc@11.4.0"),
        ({"annotations": {"original_specfile_version": 5}}, "compiler", "gcc@13.2.0"),
        ({"annotations": ...}, "compiler", "gcc@13.2.0"),
        ({"dependencies": ...}, "compiler", "none"),
        ({"dependencies": [edge("gcc", GCC, ["build"])]}, "compiler", "none"),
        # That of C counts before the others.
        ({"dependencies": EDGES}, "compiler", "gmake@4"),
        ({"external": {"path": "/usr", "module": ["gcc/13"]}}, "external", "/usr"),
        ({"external": {"path": "/usr", "module": ["gcc/13"]}}, "external_modules", ("gcc/13",)),
        ({"external": MODULES}, "external", "gcc/13, base"),
        ({"external": {"path": "None", "module": "gcc/13"}}, "external", "gcc/13"),
        ({"external": {"path": None, "module": None}}, "external", ""),
        ({"external": None}, "external", ""),
        ({"external": EXTRA}, "external_attributes", '{"a": ["1"]}'),
        ({"version": "=1.2"}, "version", "1.2"),
        ({"version": ..., "versions": ["=1.2"]}, "version", "1.2"),
        ({"version": "git.abc=1.2"}, "version", "git.abc=1.2"),
        ({"arch": {**node()["arch"], "target": {"name": "zen4"}}}, "target", "zen4"),
        ({"build_spec": {"name": "zlib", "hash": hash_of(77)}}, "build_spec", hash_of(77)),
        ({"patches": ["b", "a"]}, "patches", ("b", "a")),
        ({"parameters": {"patches": ["b" * 9, "a" * 9]}}, "variants", (PATCHES,)),
        ({"parameters": {"shared": False, **SET_FLAGS}}, "variants", ("~shared",)),
        ({"parameters": SET_FLAGS}, "flags", ("cflags=-O2 -g", "ldlibs=-lm")),
        ({"annotations": {"original_specfile_version": 4}}, "spec_format", 4),
        ({"annotations": {"original_specfile_version": 9}}, "spec_format", 6),
        ({"provided_virtuals": ["mpi@:3", "pmi"]}, "provided_virtuals", ("mpi@:3", "pmi")),
    ],
)
def test_a_field_of_a_node_is_read(fields: dict[str, Any], attribute: str, value: object) -> None:
    spec, problems = zlib_of(zlib_index(**fields))

    assert getattr(spec, attribute) == value
    assert problems == []


def test_a_node_with_another_hash_than_its_key_is_a_problem() -> None:
    data = database({ZLIB: {"spec": node(GCC, dependencies=...)}})

    (spec,), problems = read(data)

    assert spec.hash == ZLIB
    assert [problem.reason for problem in problems] == [f"node states another hash, '{GCC}'"]


@pytest.mark.parametrize("key", sorted(node() | {"external": 0, "build_spec": 0, "compiler": 0}))
def test_a_field_of_any_other_kind_takes_nothing_else_along(key: str) -> None:
    whole, _ = zlib_of(zlib_index())
    first, *others = zlib_nodes()
    of_key = {
        "arch": {"platform", "os", "target"},
        "annotations": {"compiler"},
        "compiler": {"compiler"},
        "dependencies": {"dependencies", "compiler"},
        "name": {"package"},
        "parameters": {"variants"},
    }.get(key, {key})
    rest = {name: value for name, value in first.items() if name != key}
    for odd in (rest, *({**rest, key: value} for value in ODD_VALUES)):
        # The hash of the node is told, but its key is what counts.
        records = {ZLIB: {"spec": odd, "in_buildcache": True}, **installs(*others)}
        specs, problems = read(database(records))

        assert [spec.hash for spec in specs] == [ZLIB, GCC, GLIBC, GMAKE]
        for name in set(Spec.__match_args__) - of_key:
            assert getattr(specs[0], name) == getattr(whole, name), (name, odd)
        assert all(problem.place.endswith(f"/{ZLIB[:7]}") for problem in problems), odd


@pytest.mark.parametrize("key", ["name", "version", "arch", "parameters"])
def test_a_field_that_every_spec_has_is_missed(key: str) -> None:
    values: list[Any] = [..., None, True, [], "", 7]
    for value in values:
        _, problems = read(database(installs(node(**{key: value}), *zlib_nodes()[1:])))

        assert key in problems[0].reason, value


@pytest.mark.parametrize("part", ["platform", "platform_os", "target"])
def test_a_part_of_the_arch_that_is_missing_leaves_the_others(part: str) -> None:
    values: list[Any] = [..., None, "", True, [], {}, {"name": 7}, {"names": "x"}]
    for value in values:
        arch = {
            name: its for name, its in {**node()["arch"], part: value}.items() if its is not ...
        }

        spec, (problem,) = zlib_of(zlib_index(arch=arch))

        shown = {"platform": spec.platform, "platform_os": spec.os, "target": spec.target}
        assert shown.pop(part) in ("", "7"), value
        assert all(shown.values())
        assert f"{part} is" in problem


def test_absent_dependencies_are_reported_once_and_kept() -> None:
    absent = [edge(f"lib{number}", hash_of(number), ["link"]) for number in range(100, 103)]
    gone = edge("clang", hash_of(200), ["build"], ["c"])

    specs, problems = read(database(installs(node(dependencies=[gone, *absent]))))

    names = [dependency.name for dependency in specs[0].dependencies or ()]
    assert names == ["clang", "lib100", "lib101", "lib102"]
    assert specs[0].compiler == "clang"
    assert [str(problem) for problem in problems] == [
        f"document: 4 dependencies are missing, such as clang/{hash_of(200)[:7]}"
    ]


def test_a_cycle_and_a_spec_that_needs_itself_are_read() -> None:
    first = node(ZLIB, dependencies=[edge("gcc", GCC, ["build"], ["c"])])
    two = node(GCC, name="gcc", dependencies=[edge("zlib", ZLIB, ["link"])])
    three = node(GMAKE, name="gmake", dependencies=[edge("gmake", GMAKE, ["build"], ["c"])])

    specs, problems = read(database(installs(first, two, three)))

    assert [spec.compiler for spec in specs] == ["gcc@1.3.1", "none", "gmake@1.3.1"]
    assert problems == []


X: dict[str, object] = {"name": "x", "hash": GLIBC}


@pytest.mark.parametrize(
    ("odd", "kept", "reason"),
    [
        (None, False, "dependencies contains null, expected objects"),
        ("glibc", False, "dependencies contains 'glibc', expected objects"),
        ({}, False, "hash of dependency is missing"),
        ({**X, "hash": "abc"}, False, "hash of dependency x is 'abc'"),
        (X, True, "deptypes of dependency x is missing"),
        ({**X, "type": "link"}, True, "deptypes of dependency x is 'link', expected a list"),
        ({**X, "type": ["link", 7]}, True, "deptypes of dependency x contains 7, expected str"),
        ({"hash": GLIBC, "type": ["link"]}, True, "name of dependency is missing"),
        (
            {**X, "parameters": {"virtuals": "c", "deptypes": []}},
            True,
            "virtuals of dependency x",
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


@pytest.mark.parametrize("key", ["x", "cflags"])
@pytest.mark.parametrize("value", [{"a": []}, [None], [[]], [{}], [True, "a"]])
def test_an_invalid_variant_or_flag_is_a_problem_and_leaves_the_others(
    key: str, value: object
) -> None:
    spec, problems = zlib_of(zlib_index(parameters={key: value, "shared": True, "os": "x"}))

    assert spec.variants == ("+shared", "os=x")
    assert spec.flags == (("cflags=a",) if (key, value) == ("cflags", [True, "a"]) else ())
    assert len(problems) == 1
    assert key in problems[0]
