"""Variants and flags are written as the Spack that wrote a document prints them."""

from __future__ import annotations

import pytest

from tests.builders import FLAGS, database, in_format, installs, node, read, zlib_index, zlib_of


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


@pytest.mark.parametrize("value", [None, {}, {"a": []}, [None], [[]], [{}], [True, "a"]])
def test_an_invalid_variant_is_a_problem_and_leaves_the_others(value: object) -> None:
    spec, problems = zlib_of(zlib_index(parameters={"x": value, "shared": True}))

    assert spec.variants == ("+shared",)
    assert len(problems) == 1
    assert "variant x" in problems[0]


@pytest.mark.parametrize("value", ["-O2", True, {"a": 1}, [None], [["-O2"]], [7]])
def test_invalid_flags_are_a_problem(value: object) -> None:
    spec, problems = zlib_of(zlib_index(parameters={"cflags": value, "shared": True}))

    assert (spec.variants, spec.flags) == (("+shared",), ())
    assert len(problems) == 1
    assert "cflags" in problems[0]


@pytest.mark.parametrize("name", ["os", "target", "stack", "hash", "tag", "name"])
def test_a_variant_may_have_the_name_of_a_column(name: str) -> None:
    spec, problems = zlib_of(zlib_index(parameters={name: "x"}))

    assert (spec.variants, problems) == ((f"{name}=x",), [])
