"""The fields of a node are read independently of each other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.records import Problem, Spec
from spackscope.model.readers.formats import read_document
from tests.builders import (
    GCC,
    GLIBC,
    GMAKE,
    ZLIB,
    all_texts,
    database,
    each_record,
    edge,
    hash_of,
    in_format,
    installs,
    node,
    read,
    zlib_index,
    zlib_nodes,
    zlib_of,
)
from tests.hostile import HOSTILE_TEXT, ODD_VALUES, any_json


def test_old_and_new_nodes_may_be_in_one_database() -> None:
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
def test_a_version_is_read_without_the_sign_that_it_is_exact(
    fields: dict[str, Any], version: str
) -> None:
    spec, problems = zlib_of(zlib_index(**fields))

    assert (spec.version, problems) == (version, [])


def test_a_target_may_be_a_whole_microarchitecture() -> None:
    target = {"name": "zen4", "vendor": "AuthenticAMD", "features": ["abm"], "generation": 0}
    arch = {"platform": "linux", "platform_os": "rhel9", "target": target}

    spec, problems = zlib_of(zlib_index(arch=arch))

    assert (spec.target, problems) == ("zen4", [])


def test_a_node_with_another_hash_than_its_key_is_a_problem() -> None:
    data = database({ZLIB: {"spec": node(GCC, dependencies=...)}})

    (spec,), problems = read(data)

    assert spec.hash == ZLIB
    assert [problem.reason for problem in problems] == [f"node states another hash, '{GCC}'"]


@pytest.mark.parametrize("value", [..., *ODD_VALUES], ids=repr)
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
    for name in set(Spec.__match_args__) - of_key:
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


any_node = st.dictionaries(st.sampled_from(sorted(node())), any_json).map(
    lambda fields: node(dependencies=...) | fields
)


@given(any_node, st.dictionaries(st.sampled_from(["path", "installed", "x"]), any_json), any_json)
def test_no_json_raises_and_all_that_is_read_can_be_stored(
    its: dict[str, Any], record: dict[str, Any], version: object
) -> None:
    data = database({ZLIB: {"spec": its, **record}}, version)
    for item in each_record(read_document(data, origin="o")):
        assert isinstance(item, Spec | Problem)
        assert all(text.encode().decode() == text for text in all_texts(item))
