"""Names that fit typed text come in the order of how well they fit."""

from __future__ import annotations

import pytest

from spackscope.model.core.suggestions import matching

NAMES = ["py-zlib", "zlib-ng", "Zlib", "libzlibx", "z-l-i-b", "cmake"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", NAMES),
        ("zlib", ["Zlib", "zlib-ng", "py-zlib", "libzlibx"]),
        ("ZLIB", ["Zlib", "zlib-ng", "py-zlib", "libzlibx"]),
        ("zlib !ng", ["Zlib", "py-zlib", "libzlibx"]),
        ("zlib !x", ["Zlib", "zlib-ng", "py-zlib"]),
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
