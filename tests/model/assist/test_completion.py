"""The word at the cursor is completed by what still occurs under the other conditions."""

from pathlib import Path

import pytest

from spackscope.model.assist.completion import (
    complete,
    complete_word,
    hashes_with_prefix,
    without_word,
)
from spackscope.model.assist.offers import MAX_CHOICES, Completion, bounded
from spackscope.model.index.catalog import Catalog
from spackscope.model.query.ast import Query, Term, query_of
from spackscope.model.query.column_filter import parse_filter_input
from spackscope.model.query.parser import parse, parse_input
from tests.browsing import sample_where
from tests.builders.catalogs import catalog_of
from tests.builders.nodes import edge, leaf, node
from tests.builders.pages import hash_of
from tests.builders.spack import database, installs, write_index


def offered(catalog: Catalog, text: str) -> dict[str, int]:
    """Complete a text that has its cursor at `|`, or at its end."""
    before, bar, after = text.partition("^I")
    completions = complete(catalog, parse_input(before + after, len(before) if bar else len(text)))
    return {
        before[: completions.start] + item.text + (before + after)[completions.end :]: item.count
        for item in completions.items
    }


@pytest.mark.parametrize(
    ("text", "first", "count"),
    [
        ("py-b", "package=py-build", 24),
        ("py-build os=ub", "py-build os=ubuntu24.04", 13),
        ("os=^I py-build", "os=ubuntu24.04 py-build", 13),
        ("target=v3", "target=x86_64_v3", 180),
        ("py-build@1.2.", "py-build@1.2.1", 13),
        ("py-build@:1", "py-build@:1.2.1", 13),
        ("py-build~v", "py-build~virtualenv", 24),
        ("py-build@1.2.2~v", "py-build@1.2.2~virtualenv", 11),
        ("build_sys", "build_system=python_pip", 346),
        ("build_system=", "build_system=python_pip", 346),
        ("%", "%gcc", 247),
        ("%c,cxx=g", "%c,cxx=gcc", 247),
        ("aarch", "target=aarch64", 150),
        ("py-build zen3", "py-build target=:zen3", 17),
        ("ta", "target=", 346),
        ("stack=rocm", "stack=ml-linux-x86_64-rocm", 38),
        ("!os=ubuntu2", "!os=ubuntu24.04", 208),
        ("os=sequoia | os=ubuntu22", "os=sequoia | os=ubuntu22.04", 131),
        ("(os=ubuntu22", "(os=ubuntu22.04", 67),
        ("%gcc@1 os=ubu", "%gcc@1 os=ubuntu24.04", 208),
        ("operating_system=ubuntu22", "operating_system=ubuntu22.04", 67),
        ("build_system=x,pyth", "build_system=x,python_pip", 346),
    ],
)
def test_a_word_is_completed_with_its_count(
    sample: Catalog, text: str, first: str, count: int
) -> None:
    completions = offered(sample, text)

    assert next(iter(completions)) == first
    if "|" not in text:
        assert completions[first] == count


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Catalog:
    """Index a name, and twice one that begins with it."""
    nodes = [leaf(hash_of(1), "zlib", "1")]
    nodes += [leaf(hash_of(number), "zlib-ng", "2") for number in (2, 3)]
    for each, os in zip(nodes, ("sles15", "sles15-sp5", "sles15-sp5"), strict=True):
        each["arch"] = {"platform": "linux", "platform_os": os, "target": "zen3"}
    path = tmp_path_factory.mktemp("three") / "index.json"
    return catalog_of(write_index(path, *nodes))


def test_a_name_that_is_typed_to_its_end_comes_before_longer_ones(three: Catalog) -> None:
    words = ("zlib", "zli", "^zlib", "os=sles15", "os=sles")
    assert [next(iter(offered(three, word))) for word in words] == [
        "package=zlib", "package=zlib-ng", "^zlib", "os=sles15", "os=sles15-sp5"
    ]  # fmt: skip


NOTHING = ["", "os=^Ix", "package=py-build ", "'c,c+", 'cflags="-O2 -', "py-build ", "^", "^zl",
           "/2", "nothing", "'", "os='ubuntu 2", "\x1b["]  # fmt: skip


@pytest.mark.parametrize("is_listed", [True, False])
def test_a_word_on_a_dependency_is_completed_with_the_count_of_its_dependents(
    tmp_path: Path, is_listed: bool
) -> None:
    one, two, pic, plain = (hash_of(number) for number in range(11, 15))
    apps = [
        node(
            hash_, name="app", parameters={"own": True}, dependencies=[edge("lib", lib, ["link"])]
        )
        for hash_, lib in ((one, pic), (two, plain))
    ]
    libs = [
        node(hash_, name="lib", version=version, parameters={"pic": is_pic})
        for hash_, version, is_pic in ((pic, "1.2", True), (plain, "1.3", False))
    ]
    path = tmp_path / "index.json"
    path.write_bytes(database(installs(*apps) | installs(*libs, in_buildcache=is_listed)))
    catalog = catalog_of(path)
    assert offered(catalog, "app ^lib +") == {"app ^lib +pic": 1}
    for text in ("app ^lib @1.", "app ^lib@1.", "app^lib@"):
        name = text.partition("@")[0]
        assert offered(catalog, text) == {f"{name}@1.2": 1, f"{name}@1.3": 1}
    assert offered(catalog, "app ^lib +o") == {}, "it is a variant of app"
    assert offered(catalog, "app +own ^l") == {"app +own ^lib": 2}
    assert texts(catalog, "app", "^lib@1") == ["^lib@1.3", "^lib@1.2"]


def test_where_nothing_can_follow_nothing_is_offered(sample: Catalog) -> None:
    assert [text for text in NOTHING if offered(sample, text)] == []


def test_what_is_offered_occurs(sample: Catalog) -> None:
    for text in ("py-build ", "os=ubuntu24.04 +", "py-safetensors@", "target=aarch64 %gcc@"):
        for completed, count in offered(sample, f"{text}").items():
            assert sample.count(parse(completed)) == count


def test_a_long_text_is_completed_at_its_end(sample: Catalog) -> None:
    assert list(offered(sample, "os=x" * 2_000 + " py-ml")) == [
        "os=x" * 2_000 + " package=py-ml-dtypes"
    ]
    many = " ".join(f"!os={'x' * length}" for length in range(1, 80))
    assert list(offered(sample, f"{many} py-bui")) == [f"{many} package=py-build"]


@pytest.mark.parametrize(
    ("column", "text", "items"),
    [
        ("os", "24", [("=ubuntu24.04", 208)]),
        ("os", "!seq", [("=sequoia", 64)]),
        ("os", "=ubuntu20.04", []),
        ("variants", "virt", [("~virtualenv", 24)]),
        ("target", "neoverse_v1 | v2", [("=neoverse_v2", 7)]),
        ("hash", "2", []),
        ("version", "1.2", [("=1.2.1", 13), ("=1.2.2", 11)]),
        ("os", "a 'b", []),
    ],
)
def test_a_filter_is_completed(
    sample: Catalog, column: str, text: str, items: list[tuple[str, int]]
) -> None:
    completions = complete(sample, parse_filter_input(text, len(text), column, Query()))

    assert [(item.text, item.count) for item in completions.items] == items


def test_hostile_values_are_not_offered_or_can_be_read(mixed: Catalog) -> None:
    garbage = ("\ud800", "\x1b[2J", "[@click=app.quit]x", "'" * 40, "%[", "^[virtuals=", "@" * 9)
    for text in (*garbage, "l", "r", "1", "os=", "stack=", "variants=", "tag=", "libs=", "%"):
        for column in ("os", "variants", "hash"):
            complete(mixed, parse_filter_input(text, len(text), column, Query()))
        assert all(choice.isprintable() for choice in texts(mixed, "", text))
        for item in complete(mixed, parse_input(text, len(text))).items:
            assert item.text.isprintable()
            assert parse_input(item.text, 0).query is not None or item.text.endswith("=")


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        *((text, "") for text in ("", "py-b")),
        *((f"hdf5 {word}", "hdf5") for word in ("py-b", "", "os=", "!os=x", "os=x | os=y")),
        *(("hdf5@1.2", "hdf5@:"), ("hdf5+mpi", "hdf5@:"), ("hdf5 %gcc@12", "hdf5")),
        *(("hdf5 ^zlib+pic", "hdf5 ^zlib"), ("hdf5@1 zlib@2", "hdf5@1 zlib@:")),
    ],
)
def test_the_word_at_the_cursor_is_left_out(text: str, rest: str) -> None:
    for after in ("", " +shared"):
        parsed = parse_input(text + after, len(text))
        assert without_word(parsed) == parse(rest + after, packages=())


def test_the_word_of_a_filter_is_left_out() -> None:
    parsed = parse_filter_input("+mpi ~cu", 8, "variants", parse("hdf5 +x"))

    assert without_word(parsed) == query_of(Term("package", "hdf5"), Term("variants", "+mpi"))


def texts(catalog: Catalog | None, before: str, word: str) -> list[str]:
    return [choice.text for choice in complete_word(catalog, before, word)]


@pytest.mark.parametrize(
    ("before", "word", "expected"),
    [
        ("", "py-b", ["py-build"]),
        ("", "py-", ["py-ml-dtypes"]),
        ("", "py-build@1.", ["py-build@1.2.2", "py-build@1.2.1"]),
        ("py-build", "build_sys", ["build_system="]),
        ("py-build", "build_system:=", ["build_system:=python_pip"]),
        ("py-build", "os", ["os="]),
        ("py-build", "cac", ["cached"]),
        ("py-build", "!cac", ["!cached"]),
        ("py-build", "fits=n", ["fits=no"]),
        ("py-build", "fits=", ["fits=yes", "fits=no"]),
        ("", "version=1.2.1,1.2.", ["version=1.2.1,1.2.1", "version=1.2.1,1.2.2"]),
        ("", "target=:x86_64_v3", ["target=:x86_64_v3"]),
        ("", "target=:ho", ["target=:host"]),
        ("", "os=ho", ["os=host"]),
        ("", "py-build /pfqg", ["py-build /pfqg2xiq2lfvnrfcf7m3s2rybvpnvrfs"]),
        ("stack='ml", "ub", []),
        ("py-build", "py-saf", ["py-safetensors"]),
        # What fits the host is not found out.
        ("fits py-build", "os=ubuntu24", ["os=ubuntu24.04"]),
        ("reusable=no", "py-b", ["py-build"]),
        ("", "py-build os=nowhere py-sa", ["py-build os=nowhere py-safetensors"]),
    ],
)
def test_choices_begin_with_the_word(
    sample: Catalog, before: str, word: str, expected: list[str]
) -> None:
    if "/" in word:
        prefix = word.rpartition("/")[2]
        expected = [f"py-build /{hash_}" for hash_ in sample.hashes.first(prefix, limit=9)]
    assert texts(sample, before, word)[: len(expected) or 9] == expected


def test_after_a_package_come_its_keys_and_variants(sample: Catalog) -> None:
    after = texts(sample, "py-build", "")

    assert {"os=", "cached", "build_system="} <= {*after}
    # All of py-build have it, so it tells nothing.
    assert "~virtualenv" not in after
    assert texts(sample, "py-build", "~") == ["~virtualenv"]
    assert "py-safetensors" not in after
    assert texts(sample, "", "")[0] == "py-ml-dtypes"


def test_a_name_before_the_word_is_that_of_a_package(three: Catalog) -> None:
    assert texts(three, "zlib", "version=") == ["version=1"]
    assert texts(three, "zlib ^zlib-ng", "version=") == ["version=2"]
    assert texts(three, "zlib", "^zlib-") == ["^zlib-ng"]
    assert [choice.note for choice in complete_word(three, "zlib", "version=")] == ["1 spec"]


def test_without_an_index_the_language_is_completed() -> None:
    words = (("", "os"), ("hdf5", "insta"), ("hdf5", "+m"), ("hdf5", "/a"))
    assert [texts(None, *word) for word in words] == [["os="], ["installed"], [], []]


def test_hashes_are_those_of_few_records_and_else_of_a_prefix(sample: Catalog) -> None:
    few = parse("py-build os=ubuntu22.04")
    found = hashes_with_prefix(sample, "", few)

    expected = sample_where(lambda r: r["package"] == "py-build" and r["os"] == "ubuntu22.04")
    assert sorted(choice.text for choice in found) == sorted(expected)
    assert all("ubuntu22.04" in (choice.note or "") for choice in found)
    assert hashes_with_prefix(sample, "") == []
    assert [c.text for c in hashes_with_prefix(sample, "pfqg2xi")] == [
        *sample.hashes.first("pfqg2xi", limit=2)
    ]


def test_too_many_choices_become_what_they_begin_with() -> None:
    names = [f"py-{letter}{number}" for letter in "ab" for number in range(MAX_CHOICES)]
    whole = [*map(Completion, names)]
    assert bounded(whole[:MAX_CHOICES]) == whole[:MAX_CHOICES]
    groups = bounded([*whole, Completion("py-c")])

    assert [choice.text for choice in groups] == ["py-a", "py-b", "py-c"]
    assert [choice.is_whole for choice in groups] == [False, False, True]
    assert groups[0].note == "100 choices"
