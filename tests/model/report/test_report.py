"""Lines are aligned, and values flow to lines that fit."""

from __future__ import annotations

from spackscope.model.report.report import (
    CellText,
    Piece,
    aligned,
    flow,
    path_text,
    styled,
    text_of,
)

VARIANTS = (Piece("+mpi", "good"), Piece(" "), Piece("~cxx", "dim"))


def test_columns_are_as_wide_as_their_content_and_numbers_right_aligned() -> None:
    rows: list[list[CellText]] = [["zlib", "", "1,234", "é"], ["語", "", "9", VARIANTS]]
    assert [*map(text_of, aligned(rows))] == ["zlib  1,234  é", "語        9  +mpi ~cxx"]
    assert [*aligned([])] == []
    *_, last = aligned(rows)
    assert last[-3:] == VARIANTS, "cells keep their styles"


def test_a_long_path_is_cut_in_its_middle() -> None:
    paths = [[f"p{n}" for n in range(length)] for length in range(12)]
    told = [path_text(path).split(" › ") for path in paths[1:]]
    assert told[:8] == paths[1:9]
    assert told[8:] == [[*path[:4], "…", *path[-4:]] for path in paths[9:]]


def test_values_flow_to_lines() -> None:
    values: list[CellText] = ["aaa", styled("bbb", "dim"), "c" * 9]
    assert [*map(text_of, flow(values, ", ", 8, 2))] == ["aaa, bbb", "  ccccccccc"]
    assert [*map(text_of, flow(values, ", ", None))] == ["aaa, bbb, ccccccccc"]
    assert [*flow([], ", ", 8)] == []
