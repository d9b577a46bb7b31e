"""Matches in a text are highlighted."""

from __future__ import annotations

import pytest

from spackscope.model.report.highlight import filter_needles, highlight


@pytest.mark.parametrize(
    ("text", "needles", "matches"),
    [
        ("py-build", ["build"], ["build"]),
        ("Py-Build", ["build"], ["Build"]),
        ("py-build", ["zlib", "py"], ["py"]),
        ("py-build", ["zlib"], []),
        ("py-build", [], []),
        # Lower case would be longer, and its offsets those of another text.
        ("İ-build", ["build"], []),
    ],
)
def test_the_first_needle_that_occurs_is_marked(
    text: str, needles: list[str], matches: list[str]
) -> None:
    pieces = highlight(text, needles, "dim")
    assert "".join(part for part, _ in pieces) == text
    assert [part for part, style in pieces if style == "match"] == matches
    assert {style for _, style in pieces} <= {"dim", "match"}


def test_the_first_included_word_of_a_filter_is_marked() -> None:
    assert filter_needles("!cuda ROCM x86") == ["rocm"]
    assert filter_needles("!cuda") == filter_needles("") == []
