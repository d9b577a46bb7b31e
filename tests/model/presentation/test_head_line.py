"""The head line has what all rows share, cut between values."""

from __future__ import annotations

from spackscope.model.presentation.table_columns import HeadText, head_line

HEAD = (
    HeadText("version", "hdf5@1.14.6"),
    HeadText("os", "linux"),
    HeadText("+shared", "+shared"),
    HeadText("+java", "~java"),
    HeadText("+api", "api=default"),
)


def line(width: int, current: str = "", before: str = "") -> str:
    pieces = head_line(HEAD, width, current=current, before=before)
    return "".join(piece.text for piece in pieces)


def test_all_values_are_in_the_line_where_they_fit() -> None:
    assert line(80) == "hdf5@1.14.6 · same in all: linux +shared ~java api=default"
    assert len(line(58)) == 58


def test_values_are_cut_off_whole_and_counted() -> None:
    assert line(57) == "hdf5@1.14.6 · same in all: linux +shared ~java … 1 more"
    assert line(50) == "hdf5@1.14.6 · same in all: linux +shared … 2 more"


def test_the_line_fits_and_has_the_current_value() -> None:
    for width in range(46, 70):
        for head in HEAD:
            assert len(line(width, head.column)) <= width
            assert head.text in line(width, head.column)


def test_a_value_knows_its_column() -> None:
    pieces = {piece.text: piece.column for piece in head_line(HEAD, 80)}

    assert pieces["~java"] == "+java"
    assert pieces["hdf5@1.14.6"] == "version"
    assert pieces[" · same in all: "] == ""


def test_something_else_comes_before() -> None:
    assert line(80, before="3 hidden").startswith("3 hidden · hdf5@1.14.6")
    assert head_line((), 80) == []


def test_a_long_value_is_cut() -> None:
    (_, piece) = head_line((HeadText("+libs", "libs=" + "x" * 90),), 80)

    assert len(piece.text) == 28
    assert piece.text.endswith("…")


def test_values_that_do_not_fit_at_all_are_counted() -> None:
    assert line(36) == "hdf5@1.14.6 · 4 same in all"
    assert line(36, "+java", "3 hidden") == "3 hidden · hdf5@1.14.6 · 4 same in all"
    assert all(len(line(width)) <= width for width in range(27, 46))
