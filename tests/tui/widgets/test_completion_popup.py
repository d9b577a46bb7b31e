"""The lines of the box under an input: a note with its caret, and completions with counts."""

import pytest

from spackscope.model.assist.offers import Completion
from spackscope.model.core.text import cell_width
from spackscope.tui.widgets.query_line import PopupLine, item_lines, note_lines

WIDTH = 40


def drawn(lines: list[PopupLine]) -> list[str]:
    return [
        " " * line.column + "".join(text for text, _ in line.pieces).rstrip() for line in lines
    ]


@pytest.mark.parametrize(
    ("note", "caret", "expected"),
    [
        ("wrong", 5, ["     ^ wrong"]),
        ("wrong", 36, [" " * 29 + " wrong ^"]),
        ("wrong", None, ["  wrong"]),
        ("wrong", 99, [" " * 30 + " wrong ^"]),
        (
            "a sentence that fits on neither side",
            20,
            [" " * 20 + "^", "  a sentence that fits on neither side"],
        ),
        (
            "a sentence that is too long for a line of the screen",
            3,
            ["   ^", "   a sentence that is too long for a", "   line of the screen"],
        ),
    ],
)
def test_a_note_is_beside_its_caret_or_under_it(
    note: str, caret: int | None, expected: list[str]
) -> None:
    lines = note_lines(note, caret, WIDTH)
    assert drawn(lines) == expected
    assert all(line.column > 0 and line.end < WIDTH for line in lines)


@pytest.mark.parametrize("column", [1, 10, 39])
def test_completions_are_aligned_and_stay_within_the_screen(column: int) -> None:
    items = [Completion("+mpi", 1_201), Completion("日本語", 7), Completion("x" * 60, 12)]
    lines = item_lines(items, 1, column, WIDTH)
    assert [line.pieces[0][0] for line in lines] == ["  ", "⇥ ", "  "]
    assert len({(line.column, line.end) for line in lines}) == 1
    assert all(line.column > 0 and line.end < WIDTH for line in lines)
    counts = [line.pieces[-1][0] for line in lines]
    assert counts == ["  1,201 ", "      7 ", "     12 "]
    assert {cell_width(line.pieces[1][0]) for line in lines} == {cell_width(lines[0].pieces[1][0])}
    assert item_lines([], 0, column, WIDTH) == []


def test_a_number_that_is_not_known_is_not_shown() -> None:
    """What depends on a package is not counted while it is typed."""
    items = [Completion("^zlib", 469, ""), Completion("hdf5", 63)]
    texts = ["".join(text for text, _ in line.pieces) for line in item_lines(items, 0, 1, 40)]
    assert "469" not in texts[0]
    assert "63" in texts[1]
