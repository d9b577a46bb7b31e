"""Pages are read completely, and broken ones raise nothing and report a Problem."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.records import Problem, Records, Spec
from spackscope.model.readers import pages as page_records
from spackscope.model.readers.pages import is_page, parse_value, read_page, split
from spackscope.model.sources.source_name import SAMPLE, absolute_path
from tests.builders import (
    PAGES,
    Record,
    each_record,
    hash_of,
    page,
    reasons,
    record,
    split_problems,
)
from tests.examples import examples
from tests.hostile import HOSTILE_TEXT, any_json

DEEP = 100_000


@pytest.fixture(params=["libyaml", "pure Python"])
def yaml_loader(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read YAML as a PyYAML with libyaml does, and as one that was built without it."""
    if request.param == "pure Python":
        monkeypatch.delattr(yaml, "CBaseLoader", raising=False)


def test_a_page_is_split_at_its_top_level_keys() -> None:
    text = (
        '---\ntitle: "zlib"\nlayout: cache\nspec_details:\n- hash: a\n  os: b\nempty:\n---\nbody'
    )

    assert split(text) == (
        {
            "title": '"zlib"',
            "layout": "cache",
            "spec_details": "\n- hash: a\n  os: b",
            "empty": "",
        },
        True,
        (),
    )


@pytest.mark.parametrize("end", ["---", "---  ", "...", "---\n", "---\nbody: no value"])
def test_front_matter_ends_at_its_closing_line(end: str) -> None:
    assert split(f"---\nlayout: cache\n{end}") == ({"layout": "cache"}, True, ())


def test_front_matter_without_a_closing_line_is_read_to_its_end() -> None:
    assert split("---\nlayout: cache\ntags: a") == ({"layout": "cache", "tags": "a"}, False, ())


def test_windows_line_ends_make_no_difference() -> None:
    assert split("---\r\nlayout: cache\r\n---\r\n") == ({"layout": "cache"}, True, ())


def test_the_last_of_two_equal_keys_counts() -> None:
    assert split("---\ntitle: a\ntitle: b\n---") == ({"title": "b"}, True, ("title",))


@pytest.mark.parametrize("text", ["", "\n---\ntitle: a\n---", "title: a", "----\ntitle: a\n---"])
def test_a_text_without_an_opening_line_has_no_front_matter(text: str) -> None:
    with pytest.raises(Unreadable, match="does not begin"):
        split(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"zlib"', "zlib"),
        ("zlib", "zlib"),
        ("'zlib'", "zlib"),
        ("[package, develop]", ["package", "develop"]),
        ("[package, 1.10]", ["package", "1.10"]),
        ("[]", []),
        ("[package, develop,]", ["package", "develop"]),
        ('{"num_specs": 24}', {"num_specs": "24"}),
        ("{num_specs: 24}", {"num_specs": "24"}),
        ('{"a": true, "b": null}', {"a": True, "b": None}),
        ("- 1.10\n- no\n- 12:30\n- 2024-10-06\n- 1e5\n- ~", None),
        ("[1.10, 1e5, NaN, -Infinity]", ["1.10", "1e5", "NaN", "-Infinity"]),
        ('["1.10", 1.10, NaN, -Infinity]', ["1.10", "1.10", "NaN", "-Infinity"]),
        ("9" * 5_000, "9" * 5_000),
        ("[" + "9" * 5_000 + "]", ["9" * 5_000]),
        ('{"os": "a", "os": "b"}', {"os": "b"}),
        ("{os: a, os: b}", {"os": "b"}),
        ("<<: {os: a}\ntarget: b", {"<<": {"os": "a"}, "target": "b"}),
        ('!!python/object/apply:os.system ["exit"]', ["exit"]),
        ("|\n  several\n  lines", "several\nlines"),
        ('["\x1b[31m", "a\x00b", "a\tb", "a\nb"]', ["\x1b[31m", "a\x00b", "a\tb", "a\nb"]),
        ('["\x7f\x9b\u2028"]', ["\x7f\x9b\u2028"]),
        (r'["\ud800"]', ["\ud800"]),
        ("", ""),
        ("# a comment", ""),
    ],
)
def test_a_value_is_read_as_it_is_written(text: str, expected: Any) -> None:
    if expected is None:
        expected = [line.removeprefix("- ") for line in text.split("\n")]

    assert parse_value(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[1, 2", "neither JSON .* nor YAML"),
        ('{"a": "b', "neither JSON .* nor YAML"),
        ('"a" b', "neither JSON .* nor YAML"),
        ("\t- a", "token"),
        ("- a\n\t- b", "tab|token|expected"),
        ("{[a]: b}", "unhashable"),
        ("&a [*a]", "aliases"),
        ("*a", "aliases"),
        ('"\\UFFFFFFFF"', "."),
        ("- a\x9b", "acceptable"),
        ("!%ff a", "."),
    ],
)
@pytest.mark.usefixtures("yaml_loader")
def test_a_value_that_cannot_be_read_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        parse_value(text)


def test_an_alias_bomb_does_not_go_off() -> None:
    bomb = "\n".join(
        ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        + [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    )

    with pytest.raises(Unreadable, match="aliases"):
        parse_value(bomb)


@pytest.mark.parametrize(
    "text",
    [
        "[" * DEEP,
        "[" * DEEP + "]" * DEEP,
        '{"a":' * DEEP,
        "- [" + "[" * DEEP,
        "[{a: " * DEEP,
        "- " * DEEP,
        "? " * DEEP,
        "['" + "]" * DEEP + "', " + "[" * DEEP,
        '["]",' * DEEP,
        "\n".join(" " * depth + "a:" for depth in range(1_000)),
    ],
    ids=range(10),
)
@pytest.mark.usefixtures("yaml_loader")
def test_deep_nesting_is_refused(text: str) -> None:
    with pytest.raises(Unreadable, match="nested too deeply"):
        parse_value(text)


@given(
    st.recursive(
        st.text(st.characters(exclude_categories=[])),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        max_leaves=8,
    )
)
def test_whatever_json_holds_comes_back(written: Any) -> None:
    assert parse_value(json.dumps([written])) == [written]


@given(st.text() | st.text("[]{}:,-?&*!|>'\"%@`# \n\t\\abuU0"))
@examples(300)
@pytest.mark.usefixtures("yaml_loader")
def test_no_text_does_more_than_be_refused(text: str) -> None:
    try:
        value = parse_value(text)
    except Unreadable as refusal:
        value = str(refusal)

    assert isinstance(value, str | list | dict)


SAMPLES = sorted(Path(absolute_path(SAMPLE)).rglob("specs.md"))
DIALECTS = sorted(PAGES.rglob("specs.md"))
SMALL = page([record(1), record(2, compiler="none")], meta={"num_specs": 2})

hostile = pytest.mark.parametrize(
    "text", [pytest.param(text, id=label) for label, text in HOSTILE_TEXT]
)


def read_records(data: bytes) -> tuple[list[Spec], list[Problem]]:
    """Read a page with the reader of pages, whatever its format is detected as."""
    return split_problems(read_page(data, origin="document"))


def written(path: Path) -> tuple[str, str, list[Record]]:
    """Read package, tag and records of a page without the code under test."""
    lines = dict(
        line.split(": ", 1) for line in path.read_text("utf-8").split("\n") if ": " in line
    )
    package, _, tag = lines["categories"].strip("[]").partition(", ")
    assert package == "package"
    return json.loads(lines["title"]), tag, json.loads(lines["spec_details"])


def as_spec(fields: Record, package: str, tag: str) -> Spec:
    (version,) = fields["versions"]
    assert fields["size"] == "-"
    return Spec(
        package=package,
        hash=fields["hash"],
        version=version,
        compiler=fields["compiler"].replace("@=", "@"),
        platform=fields["platform"],
        os=fields["os"],
        target=fields["target"],
        variants=tuple(fields["variants"]),
        stacks=tuple(fields["stacks"]),
        size=None,
        tag=tag,
        origin="document",
        cached=True,
    )


def is_storable(text: str) -> bool:
    return text.encode("utf-8", "replace").decode() == text


# Real pages


def test_the_sample_is_four_packages_of_346_records() -> None:
    packages, tags, records = zip(*map(written, SAMPLES), strict=True)

    assert packages == ("py-build", "py-ml-dtypes", "py-pdm-backend", "py-safetensors")
    assert set(tags) == {"develop"}
    assert sum(map(len, records)) == 346


@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.parent.name)
def test_a_page_of_the_sample_is_read_with_nothing_lost(path: Path) -> None:
    package, tag, records = written(path)

    specs, problems = read_records(path.read_bytes())

    assert specs == [as_spec(fields, package, tag) for fields in records]
    assert problems == []


@pytest.mark.parametrize(
    "path", DIALECTS, ids=lambda path: f"{path.parent.name} of {path.parent.parent.name}"
)
def test_no_record_of_any_dialect_is_lost(path: Path) -> None:
    package, tag, records = written(path)

    specs, _ = read_records(path.read_bytes())

    expected: dict[str, Spec] = {}
    for spec in (as_spec(fields, package, tag) for fields in records):
        stacks = expected[spec.hash].stacks if spec.hash in expected else ()
        together = tuple(sorted(stacks + spec.stacks)) if stacks else spec.stacks
        values = {key: getattr(spec, key) for key in Spec.__match_args__}
        expected[spec.hash] = Spec(**(values | {"stacks": together}))
    assert specs == list(expected.values())


@pytest.mark.parametrize(
    "path", DIALECTS, ids=lambda path: f"{path.parent.name} of {path.parent.parent.name}"
)
def test_only_a_page_whose_meta_is_wrong_has_problems(path: Path) -> None:
    _, problems = read_records(path.read_bytes())

    assert {problem.place for problem in problems} == ({"meta"} if "wrong" in str(path) else set())


def test_spack_0_writes_an_equals_sign_that_makes_no_other_compiler() -> None:
    specs, _ = read_records((PAGES / "v0.23.0" / "m4" / "specs.md").read_bytes())

    assert {spec.compiler for spec in specs} == {
        "apple-clang@16.0.0",
        "gcc@11.4.0",
        "gcc@13.2.0",
        "oneapi@2024.2.1",
    }


def test_spack_1_marks_values_that_are_complete_and_may_name_a_compiler_by_its_hash() -> None:
    specs, _ = read_records((PAGES / "v1.0.0" / "m4" / "specs.md").read_bytes())
    archive, _ = read_records((PAGES / "v1.0.0" / "libarchive" / "specs.md").read_bytes())

    assert "none" in {spec.compiler for spec in specs}
    assert any("/5o2zn6v" in spec.compiler for spec in specs)
    assert "libs:=shared,static" in archive[0].variants


def test_records_of_one_stack_each_are_joined_by_their_hash() -> None:
    path = PAGES / "develop-2025-06-15" / "zstd" / "specs.md"
    _, _, records = written(path)

    specs, problems = read_records(path.read_bytes())

    assert (len(records), len(specs)) == (21, 10)
    assert all(len(spec.stacks) >= 2 and "root" in spec.stacks for spec in specs)
    assert problems == []


def test_records_count_where_meta_differs() -> None:
    specs, problems = read_records((PAGES / "wrong-meta" / "libarchive" / "specs.md").read_bytes())

    assert len(specs) == 4
    assert reasons(problems) == [
        "meta: it counts 7 specs, the page lists 4",
        "meta: it counts 5 specs of stack e4s, the page lists 3",
        "meta: oss differ from those of the records",
        "meta: versions differ from those of the records",
    ]


# Documents


@pytest.mark.parametrize("end", [b"", b"\n", b"\nA body.\n", b"\n---\n"])
def test_what_follows_the_front_matter_is_ignored(end: bytes) -> None:
    assert read_records(SMALL + end) == read_records(SMALL)
    assert read_records(SMALL)[1] == []


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.encode("utf-16"),
        lambda text: ("\ufeff" + text).encode("utf-16-be"),
        lambda text: text.replace(', "os"', ',\n   "os"').encode(),
        lambda text: text.replace("title:", "unknown: x\ntitle:").encode(),
        lambda text: text.replace("layout: cache\n", "").encode(),
        lambda text: text.replace("]\n---", ",]\n---").encode(),
        lambda text: text.replace('"none"', "none").encode(),
        lambda text: text.replace('"+shared"', "+shared").encode(),
        lambda text: text.replace("[package", "!!python/object/apply:exit [package").encode(),
        lambda text: text.replace("spec_details: ", "spec_details: &all ").encode(),
        lambda text: text.replace('{"compiler"', '{"size": "1 MB", "compiler"').encode(),
    ],
    ids=[
        "CRLF",
        "BOM",
        "UTF-16",
        "UTF-16 BE",
        "several lines",
        "unknown key",
        "no layout",
        "trailing comma",
        "bare word",
        "bare flag",
        "python tag",
        "anchor",
        "key of a record twice",
    ],
)
def test_a_page_may_be_written_in_another_way(change: Callable[[str], bytes]) -> None:
    data = change(SMALL.decode())

    assert is_page(data)
    assert read_records(data) == read_records(SMALL)


@pytest.mark.parametrize("key", ["title", "spec_details", "unknown"])
def test_a_repeated_key_of_a_page_is_a_problem(key: str) -> None:
    once = SMALL.replace(b"layout:", b"unknown: x\nlayout:")
    twice = once.replace(f"\n{key}:".encode(), f"\n{key}: other\n{key}: []\n{key}:".encode())

    specs, problems = read_records(twice)

    assert specs == read_records(SMALL)[0]
    assert reasons(problems) == [f"{key}: it is given twice; the last one counts"]


def test_a_page_may_be_plain_yaml() -> None:
    text = f"""\
---
title: zlib
categories: package develop
spec_details:
- hash: {hash_of(1)}
  versions: [1.10]
  compiler: gcc@13.2.0
  platform: linux
  os: no
  target: 12:30
  variants:
  - '+shared'
  stacks:
  - 2024-10-06
...
"""

    ((spec,), problems) = read_records(text.encode())

    assert problems == []
    assert (spec.package, spec.tag, spec.version) == ("zlib", "develop", "1.10")
    assert (spec.os, spec.target, spec.stacks) == ("no", "12:30", ("2024-10-06",))
    assert spec.size is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "does not begin"),
        (b"{}", "does not begin"),
        (b"[]", "does not begin"),
        (b"null", "does not begin"),
        (b"1", "does not begin"),
        (b"<!DOCTYPE html><title>502 Bad Gateway</title>", "does not begin"),
        (gzip.compress(SMALL), "not UTF-8 text|does not begin"),
        (SMALL.replace(b"zlib", "naïve".encode("latin-1")), r"byte 14 is not UTF-8 text"),
        (b"\xff\xfe" + SMALL, "not UTF-16 text|does not begin"),
        (b"---\ntitle: zlib\nlayout: cache\n---", "the page has no spec_details"),
        (b"---\nspec_details: {}\n---", "it is not a list of records"),
        (b"---\nspec_details: null\n---", "it is not a list of records"),
        (b"---\nspec_details:\n---", "it is not a list of records"),
        (b"---\nspec_details: 7\n---", "it is not a list of records"),
        (b"---\nspec_details: [" + b"[" * 100_000 + b"\n---", "nested too deeply"),
        (b"---\nspec_details:\n- ? - [" + b"[" * 100_000 + b"\n---", "nested too deeply"),
        (b"---\nspec_details: &a [*a]\n---", "aliases"),
        (b"---\nspec_details:\n\t- hash\n---", "token"),
        (
            b"---\nspec_details: [1, 2\n---",
            "file is cut off at character 5; the records before it",
        ),
    ],
    ids=range(19),
)
def test_a_page_that_cannot_be_read_is_a_problem(data: bytes, reason: str) -> None:
    specs, problems = read_records(data)

    assert specs == []
    assert any(re.search(reason, problem.reason) for problem in problems)


def test_a_page_without_its_closing_line_is_read_all_the_same() -> None:
    specs, problems = read_records(SMALL.removesuffix(b"\n---"))

    assert specs == read_records(SMALL)[0]
    assert reasons(problems) == [": the front matter has no closing line of three dashes"]


@pytest.mark.parametrize("key", ["title", "categories", "meta"])
def test_a_value_that_cannot_be_read_takes_no_other_along(key: str) -> None:
    lines = [
        f"{key}: [" if line.startswith(f"{key}:") else line for line in SMALL.decode().split("\n")
    ]

    specs, problems = read_records("\n".join(lines).encode())

    assert [spec.hash for spec in specs] == [hash_of(1), hash_of(2)]
    assert key in {problem.place for problem in problems}


def test_the_records_before_a_cut_are_read_and_the_problem_names_it() -> None:
    whole, _ = read_records(SMALL)
    kept = []

    for length in range(len(SMALL)):
        specs, problems = read_records(SMALL[:length])
        assert specs == whole[: len(specs)]
        kept.append(len(specs))
        assert problems
    assert kept == sorted(kept)
    assert set(kept) == set(range(len(whole) + 1))
    assert is_page(SMALL[: SMALL.index(b"meta")])
    assert not is_page(SMALL[:20])


@given(st.binary())
def test_no_bytes_raise(data: bytes) -> None:
    for head in (b"", b"---\nspec_details:", b"---\ntitle: a\nspec_details: [", b"\xff\xfe-\0-\0"):
        items = read_page(head + data, origin="o")
        assert all(isinstance(item, Records | Problem) for item in items)


any_record = st.dictionaries(st.sampled_from(sorted(record())), any_json).map(
    lambda fields: record(1) | fields
)


@given(st.lists(any_record | any_json, max_size=4), any_json, st.none() | any_json)
def test_no_json_raises_and_all_that_is_read_can_be_stored(
    records: list[Any], title: Any, meta: Any
) -> None:
    lines = [f"title: {json.dumps(title)}", f"meta: {json.dumps(meta)}"]
    lines.append(f"spec_details: {json.dumps(records)}")

    data = "\n".join(["---", *lines, "---"]).encode()
    for item in each_record(read_page(data, origin="document")):
        for value in (getattr(item, name) for name in item.__match_args__):
            for text in value if isinstance(value, tuple) else (value,):
                assert is_storable(str(text))


# Records


@pytest.mark.parametrize("key", ["compiler", "os", "platform", "target"])
@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (..., "missing"),
        (None, "missing"),
        ("", "missing"),
        ({}, "an object, expected a string"),
        (True, "true, expected a string"),
        (["linux"], "a list, expected a string"),
        ({"name": "linux"}, "an object, expected a string"),
    ],
)
def test_a_field_that_is_not_a_text_is_empty_and_a_problem(
    key: str, value: Any, kind: str
) -> None:
    (spec,), problems = read_records(page([record(**{key: value})]))

    assert getattr(spec, key) == ""
    assert reasons(problems) == [f"record 1: {key} is {kind}"]


@pytest.mark.parametrize("key", ["variants", "stacks"])
@pytest.mark.parametrize(
    ("value", "kept", "reason"),
    [
        (..., (), "{} is missing"),
        (None, (), "{} is missing"),
        ("+shared", (), "{} is '+shared', expected a list"),
        ({"shared": True}, (), "{} is an object, expected a list"),
        (["a", True, "b"], ("a", "b"), "{} contains true, expected strings"),
        (["a", None], ("a",), "{} contains null, expected strings"),
        ([["a"], "b"], ("b",), "{} contains a list, expected strings"),
        ([{"a": "b"}], (), "{} contains an object, expected strings"),
    ],
)
def test_of_a_list_the_texts_are_kept(
    key: str, value: Any, kept: tuple[str, ...], reason: str
) -> None:
    fields = record(**{key: value})

    (spec, again), problems = read_records(page([fields, fields | {"hash": hash_of(7)}]))

    assert getattr(spec, key) == getattr(again, key) == kept
    assert reasons(problems) == [f"record {n}: {reason.format(key)}" for n in (1, 2)]


@pytest.mark.parametrize(
    ("value", "kept"), [(..., ""), ([], ""), (["1.2", "1.3"], "1.2"), ("1.2", ""), ([["1.2"]], "")]
)
def test_a_record_has_one_version(value: Any, kept: str) -> None:
    (spec,), problems = read_records(page([record(versions=value)]))

    assert spec.version == kept
    assert "version" in problems[-1].reason


@pytest.mark.parametrize(("value", "kept"), [(1, "1"), (1.5, "1.5"), (float("nan"), "NaN")])
def test_a_number_is_the_text_that_it_is_written_as(value: float, kept: str) -> None:
    (spec,), problems = read_records(page([record(os=value, versions=[value], variants=[value])]))

    assert (spec.os, spec.version, spec.variants) == (kept, kept, (kept,))
    assert problems == []


@pytest.mark.parametrize(
    "value",
    [
        ...,
        None,
        "",
        7,
        ["a" * 32],
        "a" * 31,
        "a" * 33,
        "A" * 32,
        "a" * 31 + "1",
        "a" * 32 + "\n",
        " " + "a" * 32,
        "/" + "a" * 31,
        "а" * 32,
        "\x1b]0;owned\x07",
        "a" * 100_000,
    ],
)
def test_a_record_without_a_valid_hash_is_a_problem(value: Any) -> None:
    specs, problems = read_records(page([record(1), record(hash=value), record(3)]))

    assert [spec.hash for spec in specs] == [hash_of(1), hash_of(3)]
    (problem,) = problems
    assert problem.place == "record 2"
    if value in (..., None, ""):
        assert problem.reason == "hash is missing"
    else:
        assert problem.reason.endswith("expected 32 characters of a-z2-7")
    assert problem.reason.isprintable()
    assert len(problem.reason) < 120


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, ""), ("text", "'text'"), (7, "'7'"), ([], "a list"), (True, "true")],
)
def test_a_record_that_is_not_a_mapping_is_a_problem(value: Any, shown: str) -> None:
    specs, problems = read_records(page([value, record(1)]))

    assert len(specs) == 1
    reason = "is missing" if value is None else f"is {shown}, expected an object"
    assert reasons(problems) == [f"record 1: record {reason}"]


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("-", None),
        (..., None),
        (0, 0),
        (5_100_000, 5_100_000),
        ("123", 123),
        ("1.5 MB", 1_500_000),
        ("2 kB", 2_000),
        ("2KiB", 2_048),
        ("1 GiB", 2**30),
        ("0.5 B", 0.5),
        ("9" * 18 + " GB", 1e27),
    ],
)
def test_a_size_is_read_in_bytes(value: Any, size: float | None) -> None:
    (spec,), problems = read_records(page([record(size=value)]))

    assert spec.size == size
    assert problems == []


@pytest.mark.parametrize(
    "value",
    [
        -1,
        "-1",
        None,
        True,
        [],
        {},
        "big",
        "1 XB",
        "1e3 MB",
        float("nan"),
        float("inf"),
        "9" * 5_000,
    ],
)
def test_an_invalid_size_is_none_and_a_problem(value: Any) -> None:
    (spec,), problems = read_records(page([record(size=value)]))

    assert spec.size is None
    (problem,) = problems
    assert problem.reason.endswith("expected a number of bytes") or value is None
    assert len(problem.reason) < 100


def test_a_variant_may_be_called_like_a_column_and_keys_may_be_unknown() -> None:
    variants = ["os=linux", "target=gpu", "stack=deep", "hash=blake"]

    (spec,), problems = read_records(
        page([record(variants=variants, tarball="https://x", build_spec={})])
    )

    assert spec.variants == tuple(variants)
    assert problems == []


def test_a_page_without_title_or_tag_keeps_its_records() -> None:
    lines = [b"---", b"spec_details: " + json.dumps([record(1)]).encode(), b"---"]

    (spec,), problems = read_records(b"\n".join(lines))

    assert (spec.package, spec.tag, spec.hash) == ("", "", hash_of(1))
    assert [problem.place for problem in problems] == ["title"]


def test_a_repeated_record_is_shown_once() -> None:
    specs, problems = read_records(page([record(1), record(2), record(1)]))

    assert [spec.hash for spec in specs] == [hash_of(1), hash_of(2)]
    assert reasons(problems) == [f"spec_details: hash {hash_of(1)} is listed twice"]


def test_a_hash_with_differing_content_stays_in_every_form() -> None:
    records = [record(1), record(1, os="centos7"), record(1, size=5), record(1, os="centos7")]

    specs, problems = read_records(page(records))

    assert [(spec.os, spec.size) for spec in specs] == [
        ("ubuntu24.04", None),
        ("centos7", None),
        ("ubuntu24.04", 5),
    ]
    assert ["different" in problem.reason for problem in problems] == [True, True, False]


def test_a_page_may_repeat_a_hash_thousands_of_times() -> None:
    specs, problems = read_records(page([record(1, os=f"os{n}") for n in range(5_000)]))

    assert len(specs) == 5_000
    assert len(problems) == 4_999


@pytest.mark.parametrize(
    ("meta", "reason"),
    [
        ([], "meta: it is not an object"),
        ("text", "meta: it is not an object"),
        ({"num_specs": 3}, "meta: it counts 3 specs, the page lists 2"),
        ({"num_specs": "9" * 5_000}, f"meta: it counts {'9' * 40} specs, the page lists 2"),
        (
            {"num_specs_by_stack": {"e4s": 1}},
            "meta: it counts 1 specs of stack e4s, the page lists 2",
        ),
        (
            {"num_specs_by_stack": {"hep": 1}},
            "meta: it counts 1 specs of stack hep, the page lists 0",
        ),
        ({"targets": []}, "meta: targets differ from those of the records"),
        ({"oss": ["ubuntu24.04", []]}, "meta: oss differ from those of the records"),
        ({"stacks": ["e4s"]}, "meta: stacks differ from those of the records"),
    ],
)
def test_meta_is_held_against_the_records(meta: Any, reason: str) -> None:
    specs, problems = read_records(page([record(1), record(2)], meta=meta))

    assert len(specs) == 2
    assert reasons(problems) == [reason]


@pytest.mark.parametrize(
    "meta",
    [
        {},
        {"num_specs": 2, "num_specs_by_stack": {"root": 2, "e4s": 2}},
        {"compilers": ["gcc@13.2.0"]},
        {"compilers": ["gcc@=13.2.0"]},
        {"versions": "no list"},
        {"num_specs_by_stack": "no mapping"},
    ],
)
def test_meta_that_agrees_is_not_a_problem(meta: Any) -> None:
    assert read_records(page([record(1), record(2)], meta=meta))[1] == []


@hostile
def test_hostile_text_is_read_as_it_is(text: str) -> None:
    stored = text.encode("utf-8", "replace").decode()
    fields = record(
        1, compiler=text, os=text, platform=text, target=text,
        variants=[text, "+a"], stacks=[text], versions=[text],
    )  # fmt: skip

    (spec,), problems = read_records(page([fields], title=text, tag=text))

    assert [spec.compiler, spec.os, spec.platform, spec.target] == [stored] * 4
    assert (spec.version, spec.package) == (stored.removeprefix("="), stored)
    assert spec.variants == (stored, "+a")
    assert spec.stacks == (stored,)
    assert spec.tag == stored
    assert bool(problems) == (not text)


@hostile
def test_a_page_may_contain_hostile_text_without_escapes(text: str) -> None:
    records = json.dumps([record(1, os=text + "!")], ensure_ascii=False)
    data = f"---\ntitle: zlib\nspec_details: {records}\n---".encode("utf-8", "replace")

    (spec,), problems = read_records(data)

    assert spec.os == text.encode("utf-8", "replace").decode() + "!"
    assert problems == []


@hostile
def test_hostile_text_where_it_is_not_allowed_is_a_problem(text: str) -> None:
    specs, problems = read_records(
        page([record(1, size=text), record(hash=text)], meta={"num_specs": text})
    )

    assert [spec.hash for spec in specs] == [hash_of(1)]
    assert len(problems) >= 2
    assert all(is_storable(problem.reason) for problem in problems)


def test_a_page_that_is_too_large_is_read_record_by_record_or_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records = [record(n, stacks=["s"] * 100, size=None) for n in range(20)]
    whole = read_records(page(records))
    monkeypatch.setattr(page_records, "MAX_VALUES", 1_000)

    assert read_records(page(records)) == whole
    monkeypatch.setattr(page_records, "MAX_PAGE_VALUES", 1_000)
    specs, problems = read_records(page(records))
    assert specs == []
    assert reasons(problems) == ["spec_details: it has 2,260 values; at most 1,000 are read"]


def test_long_lists_are_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [record(n, os=f"os{n % 3}", size=n) for n in range(100)]
    whole = read_records(page(records))
    monkeypatch.setattr(page_records, "_CHUNK", 2_000)

    assert read_records(page(records)) == whole
    records[70]["os"] = "}, {"
    assert [spec.os for spec in read_records(page(records))[0]].count("}, {") == 1


TEXTS = ["-", "", "hash", "12", "1.5 MB", 'a "quote"', "}, {", '"hash": "', "\\", "\n", "ä", "@="]

some_value = st.sampled_from(TEXTS) | st.sampled_from([True, None, 12, -1, 1e300, 0.5, [], ["a"]])
some_fields = st.dictionaries(
    st.sampled_from([*sorted(record()), "hash ", "si\\ze"]), some_value | any_json, max_size=3
)
some_record = st.builds(
    lambda number, alike, fields, order: dict(
        sorted((record(number, **alike) | fields).items(), reverse=order)
    ),
    st.integers(0, 4),
    st.fixed_dictionaries(
        {
            "size": st.sampled_from(["-", 7, "8 MiB", 0.25]),
            "stacks": st.sampled_from([["e4s"], ["root"], ["e4s", "root"]]),
            "versions": st.sampled_from([["1"], ["=1"], ["2"]]),
        }
    ),
    st.just({}) | st.just({}) | some_fields,
    st.booleans(),
)


def items(text: str) -> list[Any]:
    data = page([], meta={"num_specs": 3}).replace(b"[]", text.encode("utf-8", "replace"))
    return list(read_page(data, origin="document"))


@given(st.lists(some_record, max_size=6))
def test_a_page_without_spaces_is_read_record_by_record_and_gives_the_same(
    records: list[Record],
) -> None:
    usual = items(json.dumps(records, ensure_ascii=False))

    assert items(json.dumps(records, ensure_ascii=False, separators=(",", ":"))) == usual


@given(st.lists(some_record, min_size=1, max_size=4), st.data())
def test_a_text_that_is_damaged_anywhere_is_read_as_record_by_record(
    records: list[Record], data: st.DataObject
) -> None:
    text = json.dumps(records, ensure_ascii=False)
    start = data.draw(st.integers(1, len(text) - 1))
    stop = data.draw(st.integers(start, min(start + 40, len(text))))
    damaged = text[:start] + data.draw(st.sampled_from(["", *TEXTS])) + text[stop:]

    def read(text: str) -> list[str]:
        # Where the error is differs by the space.
        return [re.sub(r"(column|char) \d+", "", repr(item)) for item in items(text)]

    # A list that ends with a space is read record by record.
    spaced = re.sub(r"\}\]$", "} ]", damaged := damaged.replace("\n", " "))
    assert read(damaged) == read(spaced)


@pytest.mark.parametrize(
    "sizes", [range(100), ["-"] * 100, ["-", "5 MB"] * 50, [...] * 100], ids=lambda s: str(s[:2])
)
def test_look_alikes_share_what_is_read(sizes: Sequence[object]) -> None:
    records = [record(number, size=size) for number, size in enumerate(sizes)]
    records[40]["os"] = "sequoia"

    its, *problems = items(json.dumps(records))

    assert isinstance(its, Records)
    assert not problems[1:]
    assert len(its.looks) == 2
    assert its.hashes == [hash_of(number) for number in range(100)]
    assert its.sizes[:2] in ([0, 1], [None, None], [None, 5_000_000])
    assert [number for number, look in enumerate(its.numbers) if look] == [40]


@pytest.mark.parametrize("size", ["-", 12, "3 kB", ...])
def test_a_later_record_that_is_unusual_is_read_with_its_problem(size: object) -> None:
    records = [record(number, size=size) for number in range(3)]
    records[1]["versions"] = ["1", "2"]

    its, problem, *_ = items(json.dumps(records))

    assert len(its.hashes) == 3
    assert str(problem) == "document: record 2: versions has 2 items, expected one"
