"""The data of cache.spack.io is read from its two files, and from each alone as far as it goes."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.records import Problem, Spec
from spackscope.model.readers import site
from spackscope.model.readers.formats import check_document, read_document
from spackscope.model.readers.site import PackageFile
from tests.builders import (
    GCC,
    GLIBC,
    GMAKE,
    INDEX_OF_0_23,
    INDEX_OF_1_2,
    ZLIB,
    all_texts,
    hash_of,
    read,
    reasons,
    split_problems,
    zlib_index,
)
from tests.builders.site import PACKAGES, SPECS, saved, site_data
from tests.hostile import HOSTILE_TEXT, any_json

NEW, OLD = INDEX_OF_1_2.read_bytes(), INDEX_OF_0_23.read_bytes()
FLAGGED = {"cflags": ["-O2", "-g"], "languages": ["c", "fortran"], "shared": True, "opt": "3"}


def read_both(files: dict[str, bytes]) -> tuple[list[Spec], list[Problem]]:
    packages = PackageFile(files[PACKAGES], "packages")
    return split_problems(read_document(files[SPECS], origin="document", packages=packages))


def changed(**fields: Any) -> bytes:
    """Return the data of one release with other fields of zlib; `...` leaves one out."""
    specs = json.loads(gzip.decompress(site_data({"develop": {"e4s": zlib_index()}})[SPECS]))
    specs[ZLIB] = {k: v for k, v in {**specs[ZLIB], **fields}.items() if v is not ...}
    return saved(specs)


@pytest.mark.parametrize("index", [NEW, OLD])
def test_a_spec_is_what_its_index_says_as_far_as_the_site_knows(index: bytes) -> None:
    specs, problems = read_both(site_data({"develop": {"e4s": index}}))

    assert problems == []
    listed = {spec.hash: spec for spec in read(index)[0]}
    assert {spec.hash for spec in specs} == listed.keys()
    for spec in specs:
        its = listed[spec.hash]
        assert (spec.package, spec.version, spec.target) == (its.package, its.version, its.target)
        assert spec.dependencies == its.dependencies
        assert [text.replace(":=", "=") for text in its.variants] == [*spec.variants]
        assert (spec.tag, spec.stacks, spec.cached) == ("develop", ("e4s",), True)


def test_values_of_lists_and_flags_are_joined_again() -> None:
    specs, _ = read_both(site_data({"develop": {"e4s": zlib_index(parameters=FLAGGED)}}))

    zlib = next(spec for spec in specs if spec.hash == ZLIB)
    assert zlib.variants == ("languages=c,fortran", "+shared", "opt=3")
    assert zlib.flags == ("cflags=-O2 -g",)


def test_the_compiler_is_a_dependency_or_unknown_but_never_none() -> None:
    specs, _ = read_both(site_data({"v1": {"e4s": zlib_index()}}))

    assert {spec.package: spec.compiler for spec in specs} == {
        "zlib": "gcc@13.2.0",
        "gcc": "",
        "glibc": "",
        "gmake": "",
    }


def test_a_hash_is_listed_in_each_release_with_all_its_stacks() -> None:
    one = zlib_index()
    releases = {"develop": {"ml": one, "e4s": one}, "v1": {"e4s": one}, "v2": {"e4s": NEW}}

    specs, problems = read_both(site_data(releases))

    zlib = [(spec.tag, spec.stacks) for spec in specs if spec.hash == ZLIB]
    assert zlib == [("v1", ("e4s", "ml")), ("develop", ("e4s", "ml"))]
    assert problems == []


def test_specs_alone_have_the_names_of_dependencies_and_count_the_others() -> None:
    specs, problems = read(site_data({"develop": {"e4s": zlib_index()}})[SPECS])

    assert [(spec.hash, spec.package) for spec in specs] == [
        (ZLIB, ""),
        (GCC, "gcc"),
        (GLIBC, "glibc"),
        (GMAKE, "gmake"),
    ]
    assert reasons(problems) == [
        ": 1 spec without a name: package_data.json.gz, which has the names, is needed next to it"
    ]


def test_packages_alone_say_that_the_specs_are_needed() -> None:
    specs, problems = read(site_data({"develop": {"e4s": NEW}})[PACKAGES])

    assert specs == []
    assert reasons(problems) == [
        ": it has only the packages and hashes of cache.spack.io: specs_data.json.gz, which has"
        " the specs, is needed next to it"
    ]


def test_what_one_file_has_and_the_other_lacks_is_counted() -> None:
    files = site_data({"develop": {"e4s": zlib_index()}})
    other = {"bzip2": {"uid": "bzip2", "specs": [hash_of(8), hash_of(9)]}}

    _, problems = read_both({**files, PACKAGES: saved(other)})

    assert reasons(problems) == [
        ": 1 spec without a name: not in packages",
        ": 2 hashes of packages are not in it",
    ]


def test_records_before_a_cut_are_read_of_both_files() -> None:
    files = site_data({"develop": {"e4s": NEW}})
    whole = len(read_both(files)[0])

    for name, origin in ((SPECS, "document"), (PACKAGES, "packages")):
        specs, problems = read_both({**files, name: files[name][: len(files[name]) // 2]})

        cut = {problem.reason for problem in problems if problem.origin == origin}
        assert "it cannot be unpacked completely: file is cut off" in cut
        assert 0 < len(specs) <= whole
        with pytest.raises(Unreadable, match="cut off"):
            check_document(files[name][: len(files[name]) // 2])


def test_a_bomb_is_not_unpacked() -> None:
    files = site_data({"develop": {"e4s": zlib_index()}})
    bomb = gzip.compress(b'{"a": {"uid": "a", "specs": []}}' + b" " * 2**27)

    specs, problems = read_both({**files, PACKAGES: bomb})

    assert len(specs) == 4
    assert "it unpacks to more than" in problems[0].reason


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"hash": hash_of(9)}, f"node states another hash, '{hash_of(9)}'"),
        ({"version": 5}, "version is 5, expected a string"),
        ({"variants": "+x"}, "variants is '+x', expected a list"),
        ({"variants": ["x"]}, "variants contains 'x', expected +name, ~name or name=value"),
        ({"variants": ["+x", "~x"]}, "variant x is given twice; the first one counts"),
        ({"variants": ["x=1", "+x"]}, "variant x is given twice; the first one counts"),
        ({"os": ...}, "platform_os is missing"),
        ({"dependencies": {"zlib": 1}}, "dependencies contains 1, expected objects"),
        ({"stacks": None}, "stacks is missing"),
        ({"releases": [1]}, "releases contains 1, expected strings"),
    ],
)
def test_of_a_wrong_record_what_can_be_read_is_kept(fields: dict[str, Any], problem: str) -> None:
    specs, problems = read(changed(**fields))

    assert ZLIB in [spec.hash for spec in specs]
    assert problem in [problem.reason for problem in problems]


def test_a_hash_of_two_packages_has_the_first_name() -> None:
    files = site_data({"develop": {"e4s": zlib_index()}})
    packages = json.loads(gzip.decompress(files[PACKAGES]))
    packages["other"] = {"uid": "other", "specs": [ZLIB, "short", 5]}

    specs, problems = read_both({**files, PACKAGES: saved(packages)})

    assert [spec.package for spec in specs if spec.hash == ZLIB] == ["zlib"]
    assert reasons(problems) == [
        "other: specs contains 5, expected strings",
        f"other: {ZLIB} is also a hash of zlib; the first one counts",
        "other: hash is 'short', expected 32 characters of a-z2-7",
    ]


def test_releases_that_exceed_the_limits_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(site, "MAX_LISTED", 14)
    releases = {"develop-2026-11-22": {"e4s": zlib_index()}, "develop": {"e4s": zlib_index()}}

    specs, problems = read_both(site_data({**releases, "v1": {"e4s": zlib_index()}}))

    assert {spec.tag for spec in specs} == {"v1", "develop"}
    assert reasons(problems) == [
        ": it has more than 14 specs and dependencies of 1,000 releases; these are left out:"
        " develop-2026-11-22"
    ]


@pytest.mark.parametrize("text", [text for _, text in HOSTILE_TEXT])
def test_hostile_texts_are_read_as_they_are(text: str) -> None:
    files = {SPECS: changed(version=text, releases=[text], stacks=[text], variants=[f"x={text}"])}

    specs, problems = read_both({**files, PACKAGES: saved({text: {"uid": "", "specs": [ZLIB]}})})

    (zlib,) = (spec for spec in specs if spec.hash == ZLIB)
    for its in (zlib.package, zlib.version, zlib.tag, *zlib.stacks):
        assert its == text.encode("utf-8", "replace").decode()
    for item in [*all_texts(zlib), *(text for problem in problems for text in all_texts(problem))]:
        item.encode()


@given(any_json, st.sampled_from(["variants", "dependencies", "releases", "stacks", "hash"]))
def test_any_value_of_a_field_is_survived(value: Any, name: str) -> None:
    read_both({SPECS: changed(**{name: value}), PACKAGES: saved({"zlib": {"uid": value}})})
