"""Lines are aligned, and values flow to lines that fit."""

from __future__ import annotations

from spackscope.model.report.report import CellText, Piece, aligned, flow, styled, text_of

VARIANTS = (Piece("+mpi", "good"), Piece(" "), Piece("~cxx", "dim"))


def test_columns_are_as_wide_as_their_content_and_numbers_right_aligned() -> None:
    rows: list[list[CellText]] = [["zlib", "", "1,234", "é"], ["語", "", "9", VARIANTS]]
    assert [*map(text_of, aligned(rows))] == ["zlib  1,234  é", "語        9  +mpi ~cxx"]
    assert [*aligned([])] == []
    *_, last = aligned(rows)
    assert last[-3:] == VARIANTS, "cells keep their styles"


def test_values_flow_to_lines() -> None:
    values: list[CellText] = ["aaa", styled("bbb", "dim"), "c" * 9]
    assert [*map(text_of, flow(values, ", ", 8, 2))] == ["aaa, bbb", "  ccccccccc"]
    assert [*map(text_of, flow(values, ", ", None))] == ["aaa, bbb, ccccccccc"]
    assert [*flow([], ", ", 8)] == []
