"""Pages are read completely, and broken ones raise nothing and report a Problem."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.errors import Unreadable
from spackscope.model.core.records import Problem, Records, Spec
from spackscope.model.readers import pages as page_records
from spackscope.model.readers.pages import is_page, parse_value, read_page
from spackscope.model.readers.yaml import load_yaml
from tests.builders.catalogs import reasons, split_problems
from tests.builders.pages import PAGES, SAMPLE_PAGES, Record, hash_of, page, record
from tests.hostile import any_json

DEEP = 100_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"zlib"', "zlib"),
        ("package develop", "package develop"),
        ("[package, 1.10]", ["package", "1.10"]),
        ("[]", []),
        ("[package, develop,]", ["package", "develop"]),
        ('{"num_specs": 24}', {"num_specs": "24"}),
        ('{"a": true, "b": null}', {"a": True, "b": None}),
        ('["1.10", 1.10, NaN, -Infinity]', ["1.10", "1.10", "NaN", "-Infinity"]),
        ("[" + "9" * 5_000 + "]", ["9" * 5_000]),
        ('{"os": "a", "os": "b"}', {"os": "b"}),
        ('["\x1b[31m", "a\x00b", "a\tb", "a\nb"]', ["\x1b[31m", "a\x00b", "a\tb", "a\nb"]),
        (r'["\ud800"]', ["\ud800"]),
    ],
)
def test_a_value_is_read_as_it_is_written(text: str, expected: Any) -> None:
    assert parse_value(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[1, 2;", "it is not JSON"),
        ('{"a": "b', "it is not JSON"),
        ('"\\UFFFFFFFF"', "it is not JSON"),
        ("[" * DEEP, "nested too deeply"),
        ("[" * DEEP + "]" * DEEP, "nested too deeply"),
    ],
    ids=range(5),
)
def test_a_value_that_cannot_be_read_is_refused_with_a_reason(text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        parse_value(text)


@given(st.text() | st.text("[]{}:,-?&*!|>'\"%@`# \n\t\\abuU0"))
@pytest.mark.usefixtures("yaml_loader")
@pytest.mark.parametrize("parse", [parse_value, load_yaml])
def test_no_text_does_more_than_be_refused(parse: Callable[[str], Any], text: str) -> None:
    try:
        value = parse(text)
    except Unreadable as refusal:
        value = str(refusal)

    assert isinstance(value, str | list | dict | None)


REAL = sorted([*SAMPLE_PAGES.rglob("specs.md"), *PAGES.rglob("specs.md")])
SMALL = page([record(1), record(2, compiler="none")], meta={"num_specs": 2})


def read_records(data: bytes) -> tuple[list[Spec], list[Problem]]:
    """Read a page with the reader of pages, whatever its format is detected as."""
    return split_problems(read_page(data, origin="document"))


def as_spec(fields: Record, package: str, tag: str, stacks: Sequence[str]) -> Spec:
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
        stacks=tuple(stacks),
        size=None,
        tag=tag,
        origin="document",
        cached=True,
    )


@pytest.mark.parametrize("path", REAL, ids=lambda path: "/".join(path.parts[-3:-1]))
def test_a_real_page_is_read_with_nothing_lost(path: Path) -> None:
    texts = path.read_text("utf-8").split("\n")
    lines = dict(line.split(": ", 1) for line in texts if ": " in line)
    tag = lines["categories"].strip("[]").removeprefix("package, ")
    package, records = json.loads(lines["title"]), json.loads(lines["spec_details"])

    specs, problems = read_records(path.read_bytes())

    # One dialect has a record for each stack.
    stacks: dict[str, list[str]] = {}
    for its in records:
        stacks.setdefault(its["hash"], []).extend(its["stacks"])
    first = {its["hash"]: its for its in reversed(records)}
    expected = {
        hash_: as_spec(
            first[hash_],
            package,
            tag,
            all_stacks if all_stacks == first[hash_]["stacks"] else sorted(all_stacks),
        )
        for hash_, all_stacks in stacks.items()
    }
    assert {spec.hash: spec for spec in specs} == expected
    assert [spec.hash for spec in specs] == list(stacks)
    assert {problem.place for problem in problems} == ({"meta"} if "wrong" in str(path) else set())


@pytest.mark.parametrize(
    "change",
    [
        lambda text: (text + "\nA body.\n---\n").encode(),
        lambda text: text.replace("\n", "\r\n").encode(),
        lambda text: text.encode("utf-8-sig"),
        lambda text: text.encode("utf-16"),
        lambda text: ("\ufeff" + text).encode("utf-16-be"),
        lambda text: text.replace(', "os"', ',\n   "os"').encode(),
        lambda text: text.replace("title:", "unknown: x\ntitle:").encode(),
        lambda text: text.replace("layout: cache\n", "").encode(),
        lambda text: text.replace('{"compiler"', '{"size": "1 MB", "compiler"').encode(),
    ],
    ids=range(9),
)
def test_a_page_may_be_written_in_another_way(change: Callable[[str], bytes]) -> None:
    data = change(SMALL.decode())

    assert is_page(data)
    assert read_records(data) == read_records(SMALL)
    assert read_records(data)[1] == []


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "does not begin"),
        (b"\n---\ntitle: a\n---", "does not begin"),
        (SMALL.replace(b"zlib", "naïve".encode("latin-1")), r"byte 14 is not UTF-8 text"),
        (b"---\ntitle: zlib\nlayout: cache\n---", "the page has no spec_details"),
        (b"---\nspec_details: {}\n---", "it is not a list of records"),
        (b"---\nspec_details:\n---", "it is empty"),
        (b"---\nspec_details: [" + b"[" * 100_000 + b"\n---", "nested too deeply"),
        (b"---\nspec_details:\n- hash: a\n---", "it is not JSON"),
        (b"---\nspec_details: [1, 2\n---", "file is cut off at character 5; the records before"),
    ],
    ids=range(9),
)
def test_a_page_that_cannot_be_read_is_a_problem(data: bytes, reason: str) -> None:
    specs, problems = read_records(data)

    assert specs == []
    assert any(re.search(reason, problem.reason) for problem in problems)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("\n---", "", "the front matter has no closing line of three dashes"),
        ("\nlayout", "\ntitle: a\ntitle: zlib\nlayout", "title: it is given twice; the last one"),
        ('{"num_specs": 2}', "[", "meta: it is not JSON"),
    ],
)
def test_a_page_that_is_damaged_keeps_its_records(old: str, new: str, reason: str) -> None:
    specs, (problem,) = read_records(new.join(SMALL.decode().rsplit(old, 1)).encode())

    assert specs == read_records(SMALL)[0]
    assert str(problem).startswith(f"document: {reason}")


def test_a_page_without_title_or_tag_keeps_its_records() -> None:
    lines = [b"---", b"categories: [", b"spec_details: " + json.dumps([record(1)]).encode()]

    (spec,), problems = read_records(b"\n".join([*lines, b"---"]))

    assert (spec.package, spec.tag, spec.hash) == ("", "", hash_of(1))
    assert [problem.place for problem in problems] == ["title", "categories"]


@pytest.mark.parametrize(
    ("key", "value", "kept", "reason"),
    [
        ("os", ..., "", "os is missing"),
        ("compiler", None, "", "compiler is missing"),
        ("platform", {}, "", "platform is an object, expected a string"),
        ("target", True, "", "target is true, expected a string"),
        ("os", ["linux"], "", "os is a list, expected a string"),
        ("variants", ..., (), "variants is missing"),
        ("stacks", "+shared", (), "stacks is '+shared', expected a list"),
        ("variants", {"shared": True}, (), "variants is an object, expected a list"),
        ("stacks", ["a", True, "b"], ("a", "b"), "stacks contains true, expected strings"),
        ("variants", ["a", None], ("a",), "variants contains null, expected strings"),
        ("versions", ["1.2", "1.3"], "1.2", "versions has 2 items, expected one"),
        ("versions", "1", "", "versions is '1', expected a list"),
        ("versions", [["1.2"]], "", "versions contains a list, expected strings"),
        ("size", -1, None, "size is '-1', expected a number of bytes"),
        ("size", None, None, "size is missing"),
        ("size", "5 iB", None, "size is '5 iB', expected a number of bytes"),
        ("size", "5 Kıb", None, "size is '5 Kıb', expected a number of bytes"),
        ("size", "1e3 MB", None, "size is '1e3 MB', expected a number of bytes"),
        ("size", "9" * 5_000, None, f"size is '{'9' * 59}, expected a number of bytes"),
    ],
)
def test_of_a_field_what_can_be_read_is_kept(
    key: str, value: Any, kept: object, reason: str
) -> None:
    fields = record(**{key: value})

    (spec, again), problems = read_records(page([fields, fields | {"hash": hash_of(7)}]))

    name = key.removesuffix("s") if key == "versions" else key
    assert getattr(spec, name) == getattr(again, name) == kept
    assert [problem.place for problem in problems if problem.reason == reason] == [
        "record 1",
        "record 2",
    ]


@pytest.mark.parametrize(("value", "kept"), [(1, "1"), (1.5, "1.5"), (float("nan"), "NaN")])
def test_a_number_is_the_text_that_it_is_written_as(value: float, kept: str) -> None:
    (spec,), problems = read_records(page([record(os=value, versions=[value], variants=[value])]))

    assert (spec.os, spec.version, spec.variants) == (kept, kept, (kept,))
    assert problems == []


@pytest.mark.parametrize(
    "value",
    [..., None, "", 7, ["a" * 32], "a" * 31, "A" * 32, "a" * 31 + "1", "a" * 32 + "\n", "а" * 32,
     "\x1b]0;owned\x07", "a" * 100_000],
)  # fmt: skip
def test_a_record_without_a_valid_hash_is_a_problem(value: Any) -> None:
    specs, (problem,) = read_records(page([record(1), record(hash=value), record(3)]))

    assert [spec.hash for spec in specs] == [hash_of(1), hash_of(3)]
    assert problem.place == "record 2"
    expected = "is missing" if value in (..., None, "") else "expected 32 characters of a-z2-7"
    assert problem.reason.endswith(expected)
    assert problem.reason.isprintable()
    assert len(problem.reason) < 120


@pytest.mark.parametrize(
    ("value", "shown"),
    [(None, "missing"), ("x", "'x', expected an object"), ([], "a list, expected an object")],
)
def test_a_record_that_is_not_a_mapping_is_a_problem(value: Any, shown: str) -> None:
    specs, problems = read_records(page([value, record(1)]))

    assert len(specs) == 1
    assert reasons(problems) == [f"record 1: record is {shown}"]


@pytest.mark.parametrize(
    ("value", "size"),
    [(..., None), (0, 0), (5_100_000, 5_100_000), ("123", 123), ("1.5 MB", 1_500_000),
     ("2 kB", 2_000), ("2KiB", 2_048), ("1 GiB", 2**30), ("3 MiB", 3 * 2**20), ("1 GB", 10**9),
     ("0.5 B", 0.5)],
)  # fmt: skip
def test_a_size_is_read_in_bytes(value: Any, size: float | None) -> None:
    (spec,), problems = read_records(page([record(size=value)]))

    assert spec.size == size
    assert problems == []


def test_a_hash_with_differing_content_stays_in_every_form() -> None:
    other = record(1, os="centos7")
    records = [record(1), other, record(1, size=5), other, record(1, stacks=["b", "a"])]

    specs, problems = read_records(page(records))

    assert [(spec.os, spec.size, spec.stacks) for spec in specs] == [
        ("ubuntu24.04", None, ("a", "b", "e4s", "root")),
        ("centos7", None, ("e4s", "root")),
        ("ubuntu24.04", 5, ("e4s", "root")),
    ]
    twice = f"spec_details: hash {hash_of(1)} is listed twice"
    differently = f"{twice} with different content"
    assert reasons(problems) == [differently, differently, twice]


@pytest.mark.parametrize(
    ("meta", "reason"),
    [
        ([], ""),
        ({"num_specs": 3}, "it counts 3 specs, the page lists 2"),
        ({"num_specs": "9" * 5_000}, f"it counts {'9' * 40} specs, the page lists 2"),
        ({"num_specs": "2"}, ""),
        ({"stacks": ["e4s"]}, ""),
    ],
)
def test_the_number_of_records_is_that_which_the_page_states(meta: Any, reason: str) -> None:
    specs, problems = read_records(page([record(1), record(2)], meta=meta))

    assert len(specs) == 2
    assert reasons(problems) == ([f"meta: {reason}"] if reason else [])


def test_a_page_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    records = [record(n, stacks=["s"] * 100, size=None) for n in range(20)]
    monkeypatch.setattr(page_records, "MAX_PAGE_VALUES", 1_000)
    specs, problems = read_records(page(records))
    assert specs == []
    assert reasons(problems) == ["spec_details: it has 2,260 values; at most 1,000 are read"]


def test_no_more_records_are_read_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_records, "MAX_RECORDS", 3)

    specs, problems = read_records(page([record(n) for n in range(5)]))

    assert len(specs) == 3
    reason = "it has more than 3 records; the records before it were read"
    assert reasons(problems) == [f"spec_details: {reason}"]
    assert read_records(page([record(n) for n in range(3)]))[1] == []


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


@given(st.lists(some_record, min_size=1, max_size=5), st.data())
def test_a_text_whole_or_damaged_is_read_as_record_by_record(
    records: list[Record], data: st.DataObject
) -> None:
    text = json.dumps(records, ensure_ascii=False)
    assert items(json.dumps(records, ensure_ascii=False, separators=(",", ":"))) == items(text)
    start = data.draw(st.integers(1, len(text) - 1))
    stop = data.draw(st.integers(start, min(start + 40, len(text))))
    damaged = text[:start] + data.draw(st.sampled_from(["", *TEXTS])) + text[stop:]

    def read(text: str) -> list[str]:
        # Where the error is differs by the space.
        return [re.sub(r"(column|char|character) \d+", "", repr(item)) for item in items(text)]

    # A list that ends with a space is read record by record.
    spaced = re.sub(r"\}\]$", "} ]", damaged := damaged.replace("\n", " "))
    assert read(damaged) == read(spaced)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"variants": [', '"more": {"variants": ["+x"]}, "variants": ['),
        ('"variants": [', '"variants": ["+x"], "variants": ['),
        ('"variants": [', '"variants": ["a]", "b", '),
        ('"variants": [', '"variants": [["+x"], '),
        ('"hash": ', '"hash": "", "hash": '),
        ('"size": "-"', '"size": 5, "size": "7 MB"'),
        ('"size": "-"', '"size": [5, 6]'),
        ('"size": "-"', '"size": {"a": 1}'),
        ('"size": "-"', '"size": '),
        ('"size": "-", ', ""),
        ('"os": ', '"os": {"os": "a"}, "os": '),
    ],
)
def test_what_is_cut_from_a_text_is_a_value_of_its_record(old: str, new: str) -> None:
    first, second = (json.dumps(record(number, variants=["+mpi"])) for number in range(2))
    changed = first.replace(old, new, 1)
    assert changed != first
    for text in (f"[{changed}, {second}]", f"[{second}, {changed}]", f"[{changed}]"):
        spaced = items(text.removesuffix("]") + " ]")
        assert [re.sub(r"(column|char) \d+", "", repr(item)) for item in items(text)] == [
            re.sub(r"(column|char) \d+", "", repr(item)) for item in spaced
        ]


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
