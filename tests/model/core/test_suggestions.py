"""Names that fit typed text come in the order of how well they fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.suggestions import letters_in, matching
from tests.examples import examples

NAMES = ["py-zlib", "zlib-ng", "Zlib", "libzlibx", "z-l-i-b", "cmake"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", NAMES),
        ("zlib", ["Zlib", "zlib-ng", "py-zlib", "libzlibx", "z-l-i-b"]),
        ("ZLIB", ["Zlib", "zlib-ng", "py-zlib", "libzlibx", "z-l-i-b"]),
        ("zlib !ng", ["Zlib", "py-zlib", "libzlibx", "z-l-i-b"]),
        ("zlib !x", ["Zlib", "zlib-ng", "py-zlib", "z-l-i-b"]),
        ("zn", ["zlib-ng"]),
        ("zb", ["z-l-i-b"]),
        ("k", ["cmake"]),
        ("lib py", ["py-zlib"]),
        ("cmk", ["cmake"]),
        ("!", NAMES),
        ("nothing", []),
    ],
)
def test_the_best_names_come_first(text: str, names: list[str]) -> None:
    assert matching(text, NAMES, str) == names


def test_scattered_letters_are_of_one_word() -> None:
    sentences = ["Type a filter for the column or the list", "List the columns"]
    assert matching("prune", sentences, str) == []
    assert matching("clmn", sentences, str) == sentences


def test_letters_that_begin_the_parts_of_a_name_find_it_in_a_cache_of_many() -> None:
    names = ["py-tables", "python", "py-torchsde", "py-pytest", "py-torch-scatter", "r-pytsx"]
    assert matching("pyts", names, str) == ["r-pytsx", "py-torch-scatter"]
    assert matching("pyts !r-", names, str) == ["py-torch-scatter"]
    assert letters_in("py-torch-scatter", "pyts") == [0, 1, 3, 9]
    # Letters that no part begins with are found where nothing fits better.
    assert matching("pytrs", names, str) == ["py-torchsde", "py-torch-scatter"]
    assert matching("pthn", names, str) == ["python"]


def test_a_strict_search_has_scattered_letters_only_where_nothing_has_the_text() -> None:
    versions = ["gcc@13.2.0", "gcc@12.1.0"]
    assert matching("12", versions, str) == ["gcc@12.1.0", "gcc@13.2.0"]
    assert matching("12", versions, str, is_strict=True) == ["gcc@12.1.0"]
    assert matching("132", versions, str, is_strict=True) == ["gcc@13.2.0"]


def test_one_letter_is_found_only_as_it_is() -> None:
    assert matching("b", ["a-b", "abc", "cab", "b"], str) == ["b", "a-b", "abc", "cab"]


@given(st.text("ab- ", max_size=12), st.text("ab", min_size=2, max_size=4))
@examples(400)
def test_letters_are_found_in_their_order_in_one_word_or_not_at_all(name: str, text: str) -> None:
    offsets = letters_in(name, text)
    assert list(offsets) == sorted({*offsets})
    # An iterator has each letter after the one before.
    fits = any(all(letter in rest for letter in text) for rest in map(iter, name.split(" ")))
    assert bool(offsets) is fits
    if offsets:
        assert "".join(name[at] for at in offsets) == text
        assert " " not in name[offsets[0] : offsets[-1]]
        assert (offsets[-1] - offsets[0] == len(text) - 1) >= (text in name)


@pytest.mark.parametrize("name", ["a" * 100_000, "-a" * 100_000, "a " * 100_000])
def test_a_long_name_is_read_once(name: str) -> None:
    assert matching("a" * 60 + "b", [name], str) == []
    assert matching("ab", [name, f"{name}-b"], str) == [f"{name}-b"] * (" " not in name)
