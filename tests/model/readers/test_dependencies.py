"""Dependencies are read with their deptypes and virtuals, odd ones left out."""

from __future__ import annotations

import pytest

from spackscope.model.core.records import Dependency
from tests.builders import (
    GCC,
    GLIBC,
    GMAKE,
    ZLIB,
    database,
    edge,
    hash_of,
    installs,
    node,
    read,
    zlib_index,
    zlib_of,
)


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


def test_ten_thousand_dependencies_are_read() -> None:
    many = [edge(f"lib{number}", hash_of(number), ["link"]) for number in range(10_000)]

    specs, problems = read(database(installs(node(dependencies=many))))

    assert len(specs[0].dependencies or ()) == 10_000
    # One of them is the hash of the record itself.
    assert "9,999" in problems[0].reason


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
