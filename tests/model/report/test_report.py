"""Tables fit the width that there is, and what is cut keeps its styles."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from spackscope.model.core.text import cell_width
from spackscope.model.report.report import (
    Cell,
    Column,
    Piece,
    Report,
    Row,
    Section,
    cut,
    flow,
    lay_out,
    styled,
    text_of,
)

LIST = Column("variants", floors=(16, 9), keep="start")
NAME = Column("name", floors=(12, 9), is_right=False)
HASH = Column("hash")
PATH = Column("path", floors=(12,), may_go=True)
VARIANTS = (Piece("+mpi", "good"), Piece(" "), Piece("~cxx", "dim"))


def texts(rows: list[tuple[Cell, ...]], *columns: Column, width: int | None = None) -> list[str]:
    return [text_of(line) for line in lay_out([*map(Row, rows)], columns, width)]


def test_columns_are_as_wide_as_their_content_and_numbers_right_aligned() -> None:
    rows: list[tuple[Cell, ...]] = [("zlib", "", "1,234", "é"), ("語", "", "9", "x"), ("a line",)]
    assert texts(rows) == ["zlib  1,234  é", "語        9  x", "a line"]
    assert texts([]) == []


def test_lists_are_cut_first_and_what_may_go_goes() -> None:
    row: tuple[Cell, ...] = ("abcdefg", "n" * 20, VARIANTS * 5, "mpich › libxml2")
    columns = (HASH, NAME, LIST, PATH)

    assert texts([row], *columns, width=99)[1].endswith("  mpich › libxml2")
    assert "mpich …libxml2" in texts([row], *columns, width=92)[1]
    assert "path" not in texts([row], *columns, width=89)[0]
    assert texts([row], *columns, width=50)[1] == f"abcdefg  {'n' * 20}  +mpi ~cxx+mpi ~cxx…"
    assert texts([row], *columns, width=40)[1] == "abcdefg  nnnnnn…nnnnnn  +mpi ~cxx+mpi ~…"
    assert texts([row], *columns, width=20)[1] == "abcdefg  nnnn…nnnn …"


@given(st.lists(st.text("ab語 ", max_size=30), min_size=3, max_size=3), st.integers(1, 90))
def test_a_fitted_table_is_never_wider(cells: list[str], width: int) -> None:
    for line in texts([tuple(cells)], NAME, LIST, PATH, width=width):
        assert cell_width(line) <= width


def test_what_is_cut_keeps_its_styles() -> None:
    (_, line) = lay_out([Row(("x", VARIANTS))], (HASH, LIST._replace(most=7)))
    assert line[-3:] == (Piece("+mpi", "good"), Piece(" "), Piece("~…", "dim"))


def test_values_flow_to_lines() -> None:
    values: list[Cell] = ["aaa", styled("bbb", "dim"), "c" * 9]
    assert [*map(text_of, flow(values, ", ", 8, 2))] == ["aaa, bbb", "  ccccccccc"]
    assert [*map(text_of, flow(values, ", ", None))] == ["aaa, bbb, ccccccccc"]
    assert [*flow([], ", ", 8)] == []


def test_a_report_is_printed_with_its_sections() -> None:
    near = Row(("abc", "zlib"), "nearest def", leads_to="def")
    rows: list[Row | Section] = [near, Row(("b", "c"), "note"), Section("inner", [Row(("d",))])]
    first = Section("head", cut([near, near], 1))
    report = Report("title", [first, Section("", rows, is_apart=True)])

    assert [*map(text_of, report.lines())] == [
        *("title", "head", "  abc  zlib", "       nearest def", "  and 1 more; --all lists all"),
        *("", "  abc  zlib", "       nearest def", "  b    c, note", "  inner", "    d"),
    ]
    assert [line for line in report.lines() if line][:2] == [
        styled("title", "bold"),
        styled("head", "bold"),
    ]
