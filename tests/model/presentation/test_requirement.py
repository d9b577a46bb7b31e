"""Specs and queries as requirements of packages.yaml, as Spack's schema has them."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Compiler
from spackscope.model.presentation.paste import query_requirement, spec_requirement
from spackscope.model.query.parser import parse
from tests.model.presentation.test_detail import SPEC

BUILD = replace(
    SPEC,
    variants=("+mpi", "api=default", "patches=0123456789abcdef", "~cxx"),
    compiler="gcc@13.2.0",
    compilers=(Compiler("gcc", "13.2.0", ("c", "fortran")),),
)


def required(text: str) -> dict[str, Any]:
    """Read packages.yaml, and check it as the schema of Spack 0.22 to 1.2 does."""
    (packages,) = yaml.safe_load(text).values()
    assert text.startswith("packages:\n")
    for name, settings in packages.items():
        assert re.fullmatch(r"\w[\w-]*", name), "schema/packages.py: the name of a package"
        assert settings.keys() == {"require"}
        assert isinstance(settings["require"], list)
        for group in settings["require"]:
            strings = [group] if isinstance(group, str) else group["any_of"]
            assert isinstance(group, str) or group.keys() == {"any_of"}
            for string in strings:
                # Spack's own syntax has no negation, no alternatives and no keys of columns.
                assert parse(string)
                assert not re.search(r"[|!]", string)
    return {name: settings["require"] for name, settings in packages.items()}


def test_a_build_is_required_without_its_name_its_patches_and_its_platform() -> None:
    assert required(spec_requirement([BUILD])) == {
        "hdf5": [
            "@=1.14.5 ~cxx+mpi api=default os=ubuntu24.04 target=x86_64_v3 %c,fortran=gcc@13.2.0"
        ]
    }


def test_one_of_several_builds_of_a_package_is_required() -> None:
    other = replace(BUILD, version="1.14.6")
    zlib = replace(BUILD, package="zlib", variants=())
    made = required(spec_requirement([BUILD, other, zlib, BUILD]))
    (group,) = made["hdf5"]
    assert [string.split()[0] for string in group["any_of"]] == ["@=1.14.5", "@=1.14.6"]
    assert len(made["zlib"]) == 1


@pytest.mark.parametrize(
    ("compiler", "end"),
    [("oneapi@2023.1", "%oneapi@2023.1"), ("gcc@11.4.0", "%gcc@11.4.0"), ("none", "x86_64_v3")],
)
def test_a_compiler_that_a_document_states_keeps_its_name(compiler: str, end: str) -> None:
    spec = replace(SPEC, compiler=compiler, compilers=None)
    assert required(spec_requirement([spec]))["hdf5"][0].endswith(end)


def test_a_version_of_a_git_reference_keeps_its_own_sign() -> None:
    spec = replace(BUILD, version="git.main=1.15")
    assert required(spec_requirement([spec]))["hdf5"][0].startswith("@git.main=1.15 ")


@pytest.mark.parametrize("name", ["on", "y", "7zip", "no"])
def test_a_name_that_yaml_reads_otherwise_is_quoted(name: str) -> None:
    spec = replace(BUILD, package=name)
    assert [*required(spec_requirement([spec]))] == [name]


@pytest.mark.parametrize(
    ("query", "packages"),
    [
        (
            "hdf5@1.14.6 +mpi target=:zen3 %gcc@12: os=a | os=b",
            {
                "hdf5": [
                    "@1.14.6",
                    "+mpi",
                    "target=:zen3",
                    {"any_of": ["os=a", "os=b"]},
                    "%gcc@12:",
                ]
            },
        ),
        ("target=x86_64_v3 %gcc", {"all": ["target=x86_64_v3", "%gcc"]}),
        ("hdf5 | zlib +pic", {"hdf5": ["+pic"], "zlib": ["+pic"]}),
        ("hdf5+mpi hdf5~mpi", {"hdf5": [{"any_of": ["+mpi", "~mpi"]}]}),
        ("hdf5 cflags='-O2 -g'", {"hdf5": ["cflags='-O2 -g'"]}),
        ("hdf5 ^zlib-ng@2.2: +pic", {"hdf5": ["^zlib-ng@2.2: +pic"]}),
    ],
)
def test_a_query_is_required_of_the_packages_that_it_names(
    query: str, packages: dict[str, Any]
) -> None:
    made = query_requirement(parse(query))
    assert not made.left_out
    assert required(made.text) == packages


@pytest.mark.parametrize(
    ("query", "left_out"),
    [
        ("hdf5 +mpi !+cxx", "!+cxx"),
        ("hdf5 +mpi stack=e4s", "stack=e4s"),
        ("hdf5 +mpi /abc", "/abc"),
        ("hdf5 +mpi os=ub*", "os=ub*"),
        ("hdf5 +mpi target=:host", "target=:host"),
        ("hdf5 +mpi fits", "fits"),
        ("hdf5 +mpi cached | os=a", "cached | os=a"),
        ("hdf5 +mpi any=x", "any=x"),
        ("hdf5 +mpi ++pic", "++pic"),
        ("hdf5 +mpi ^zlib/abc", "^zlib/abc"),
        ("hdf5 +mpi variants=*x", "variants=*x"),
    ],
)
def test_what_spack_cannot_require_is_left_out_and_named(query: str, left_out: str) -> None:
    made = query_requirement(parse(query))
    assert made.left_out == (left_out,)
    assert required(made.text) == {"hdf5": ["+mpi"]}


@pytest.mark.parametrize("query", ["", "hdf5", "py-* +mpi", "fits +mpi", "mpi=x any=y"])
def test_nothing_is_required_of_all_packages_by_accident(query: str) -> None:
    assert not query_requirement(parse(query)).text
