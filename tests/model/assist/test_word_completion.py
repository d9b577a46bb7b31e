"""The last word of a query on a command line is completed by what the index has."""

from __future__ import annotations

from pathlib import Path

import pytest

from spackscope.model.assist.answers import MAX_CHOICES, Choice, bounded
from spackscope.model.assist.completion import complete_word, hashes_with_prefix
from spackscope.model.catalog.catalog import Catalog
from spackscope.model.query.parser import parse
from tests.builders import catalog_of, database, hash_of, installs, leaf
from tests.hostile import HOSTILE_TEXT


def texts(catalog: Catalog | None, before: str, word: str) -> list[str]:
    return [choice.text for choice in complete_word(catalog, before, word)]


@pytest.mark.parametrize(
    ("before", "word", "expected"),
    [
        ("", "py-b", ["py-build"]),
        ("", "py-", ["py-ml-dtypes"]),
        ("py-build", "os=ub", ["os=ubuntu24.04", "os=ubuntu22.04"]),
        ("py-build", "operating_system=ubuntu22", ["operating_system=ubuntu22.04"]),
        ("", "py-build@1.", ["py-build@1.2.2", "py-build@1.2.1"]),
        ("", "py-build@1.2.2~v", ["py-build@1.2.2~virtualenv"]),
        ("py-build", "build_sys", ["build_system="]),
        ("py-build", "build_system=", ["build_system=python_pip"]),
        ("py-build", "build_system:=", ["build_system:=python_pip"]),
        ("py-build", "%gcc@1", ["%gcc@11.4.0"]),
        ("py-build", "os", ["os="]),
        ("py-build", "cac", ["cached"]),
        ("py-build", "!cac", ["!cached"]),
        ("py-build", "fits=n", ["fits=no"]),
        ("", "version=1.2.1,1.2.", ["version=1.2.1,1.2.1", "version=1.2.1,1.2.2"]),
        ("", "build_system=x,p", ["build_system=x,python_pip"]),
        ("", "target=:x86_64_v3", ["target=:x86_64_v3"]),
        ("", "target=:ho", ["target=:host"]),
        ("", "os=ho", ["os=host"]),
        ("", "py-build /pfqg", ["py-build /pfqg2xiq2lfvnrfcf7m3s2rybvpnvrfs"]),
        ("stack='ml", "ub", []),
        ("", "zzz", []),
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
        expected = [f"py-build /{hash_}" for hash_ in sample.hashes(prefix, limit=9)]
    assert texts(sample, before, word)[: len(expected) or 9] == expected


def test_after_a_package_come_its_keys_and_variants(sample: Catalog) -> None:
    after = texts(sample, "py-build", "")

    assert {"os=", "cached", "build_system="} <= {*after}
    # All of py-build have it, so it tells nothing.
    assert "~virtualenv" not in after
    assert texts(sample, "py-build", "~") == ["~virtualenv"]
    assert "py-safetensors" not in after
    assert texts(sample, "", "")[0] == "py-ml-dtypes"


def test_a_name_before_the_word_is_that_of_a_package(tmp_path: Path) -> None:
    nodes = [leaf(hash_of(1), "hdf5", "1"), leaf(hash_of(2), "hdf5-blosc", "2")]
    nodes += [leaf(hash_of(3), "zlib", "3")]
    path = tmp_path / "index.json"
    path.write_bytes(database(installs(*nodes)))
    catalog = catalog_of(path)

    assert texts(catalog, "hdf5", "version=") == ["version=1"]
    assert texts(catalog, "hdf5 ^zlib", "version=") == ["version=3"]
    assert texts(catalog, "hdf5", "^zl") == ["^zlib"]
    assert [choice.note for choice in complete_word(catalog, "hdf5", "version=")] == ["1 spec"]


def test_without_an_index_the_language_is_completed() -> None:
    words = (("", "os"), ("hdf5", "insta"), ("hdf5", "+m"), ("hdf5", "/a"))
    assert [texts(None, *word) for word in words] == [["os="], ["installed"], [], []]


def test_hashes_are_those_of_few_records_and_else_of_a_prefix(sample: Catalog) -> None:
    few = parse("py-build os=ubuntu22.04")
    found = hashes_with_prefix(sample, "", few)

    assert 0 < len(found) == len({choice.text for choice in found})
    assert all("ubuntu22.04" in choice.note for choice in found)
    assert hashes_with_prefix(sample, "") == []
    assert [c.text for c in hashes_with_prefix(sample, "pfqg2xi")] == [
        *sample.hashes("pfqg2xi", limit=2)
    ]


def test_too_many_choices_become_what_they_begin_with() -> None:
    names = [f"py-{letter}{number}" for letter in "ab" for number in range(MAX_CHOICES)]
    groups = bounded([*map(Choice, names), Choice("py-c")])

    assert [choice.text for choice in groups] == ["py-a", "py-b", "py-c"]
    assert [choice.is_whole for choice in groups] == [False, False, True]
    assert groups[0].note == "100 choices"


def test_no_choice_has_what_a_terminal_would_act_on(tmp_path: Path) -> None:
    nodes = [
        {**leaf(hash_of(number), "zlib", "1"), "parameters": {"key": text}}
        for number, (_, text) in enumerate(HOSTILE_TEXT)
    ]
    path = tmp_path / "index.json"
    path.write_bytes(database(installs(*nodes)))
    catalog = catalog_of(path)

    for text in texts(catalog, "zlib", "key="):
        assert text.isprintable()
