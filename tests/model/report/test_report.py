"""Lines are aligned, values flow to lines that fit, and matches are marked."""

import pytest

from spackscope.model.report.report import (
    aligned,
    filter_needles,
    flow,
    highlight,
    path_text,
    styled,
    text_of,
)
from spackscope.model.report.sheet import Sheet, SheetColumn
from spackscope.model.report.writers import plain


def test_columns_are_as_wide_as_their_content_and_numbers_right_aligned() -> None:
    rows = [["zlib", "", "1,234", "é"], ["語", "", "9", "+mpi ~cxx"]]
    assert [*aligned(rows)] == ["zlib  1,234  é", "語        9  +mpi ~cxx"]
    assert [*aligned([])] == []


def test_a_long_path_is_cut_in_its_middle() -> None:
    paths = [[f"p{n}" for n in range(length)] for length in range(12)]
    told = [path_text(path).split(" › ") for path in paths[1:]]
    assert told[:8] == paths[1:9]
    assert told[8:] == [[*path[:4], "…", *path[-4:]] for path in paths[9:]]


def test_values_flow_to_lines() -> None:
    values = [styled("aaa"), styled("bbb", "dim"), styled("c" * 9)]
    assert [*map(text_of, flow(values, ", ", 8, 2))] == ["aaa, bbb", "  ccccccccc"]
    assert [*map(text_of, flow(values, ", ", None))] == ["aaa, bbb, ccccccccc"]
    assert [*flow([], ", ", 8)] == []


@pytest.mark.parametrize(
    ("text", "needles", "is_fuzzy", "matches"),
    [
        # The first needle that occurs is marked.
        ("py-build", ["build"], False, ["build"]),
        ("Py-Build", ["build"], False, ["Build"]),
        ("py-build", ["zlib", "py"], False, ["py"]),
        ("py-build", ["zlib"], False, []),
        ("py-build", [], False, []),
        # Lower case would be longer, and its offsets those of another text.
        ("İ-build", ["build"], False, []),
        # The letters of one are, where they are apart.
        ("py-torch-scatter", ["pyts"], True, ["py", "t", "s"]),
        ("Py-Pyts", ["pyts"], True, ["Pyts"]),
        ("py-torch", ["pyts"], True, []),
        ("py-torch-scatter", [""], True, []),
    ],
)
def test_what_a_text_is_found_by_is_marked(
    text: str, needles: list[str], is_fuzzy: bool, matches: list[str]
) -> None:
    pieces = highlight(text, needles, "dim", is_fuzzy=is_fuzzy)
    assert "".join(part for part, _ in pieces) == text
    assert [part for part, style in pieces if style == "match"] == matches
    assert {style for _, style in pieces} <= {"dim", "match"}


def test_the_first_included_word_of_a_filter_is_marked() -> None:
    assert filter_needles("!cuda ROCM x86") == ["rocm"]
    assert filter_needles("!cuda") == filter_needles("") == []


def test_rows_for_screen_readers_are_apart_and_leave_out_what_is_unknown() -> None:
    columns = [
        SheetColumn[tuple[str, int | None]]("name", lambda row: row[0]),
        SheetColumn[tuple[str, int | None]]("size", lambda row: row[1], "bytes"),
    ]
    sheet = Sheet("", columns, [("a", 1), ("b", None), ("c", 3)])
    assert [*plain(sheet)] == ["name: a", "bytes: 1", "", "name: b", "", "name: c", "bytes: 3"]
