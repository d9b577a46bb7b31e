"""Tests of the room that notes take from a table."""

from __future__ import annotations

import pytest

from spackscope.tui.widgets.note_columns import NoteColumns, note_columns


@pytest.mark.parametrize("width", [36, 47, 48, 89, 90, 200])
def test_notes_take_less_and_less_and_at_last_only_what_differs(width: int) -> None:
    widths = note_columns(width, is_told=True)

    assert [notes.total for notes in widths] == sorted(
        (notes.total for notes in widths), reverse=True
    )
    assert all(notes.total <= width * 2 // 3 for notes in widths)
    assert widths[-1] == NoteColumns(0, 12)
    assert {notes.users for notes in widths[:-1]} == {0 if width < 48 else 4 if width < 90 else 7}


def test_narrow_tables_have_no_notes() -> None:
    assert note_columns(35, is_told=True) == [NoteColumns()]


def test_what_is_not_told_takes_room_only_where_there_is_some() -> None:
    assert note_columns(100, is_told=False) == [
        NoteColumns(0, len("not told here")),
        NoteColumns(),
    ]


def test_what_differs_gets_what_other_columns_leave() -> None:
    assert NoteColumns(4, 12).widened(8) == NoteColumns(4, 20)
    assert NoteColumns(4, 12).widened(-1) == NoteColumns(4, 12)
    assert NoteColumns().widened(8) == NoteColumns()
