"""Tests of the room that notes take from a table."""

from __future__ import annotations

import pytest

from spackscope.tui.widgets.note_columns import NoteColumns, note_columns


@pytest.mark.parametrize("is_opened", [False, True])
@pytest.mark.parametrize("width", [36, 89, 90, 200])
def test_notes_take_less_and_less_and_at_last_little(width: int, is_opened: bool) -> None:
    widths = note_columns(width, is_told=True, is_opened=is_opened)

    totals = [notes.total for notes in widths]
    assert totals == sorted(totals, reverse=True)
    assert all(total <= width * 2 // 3 for total in totals)
    assert widths[-1] == NoteColumns(4 if is_opened else 0, 12)
    assert {notes.users for notes in widths[:-1]} == {4 if width < 90 else 7}


def test_narrow_tables_have_no_notes() -> None:
    assert note_columns(35, is_told=True, is_opened=True) == [NoteColumns()]


def test_what_is_not_told_takes_room_only_where_there_is_some() -> None:
    widths = note_columns(100, is_told=False, is_opened=False)

    assert widths == [NoteColumns(0, len("not told here")), NoteColumns()]


def test_what_differs_gets_what_other_columns_leave() -> None:
    assert NoteColumns(4, 12).widened(8) == NoteColumns(4, 20)
    assert NoteColumns(4, 12).widened(-1) == NoteColumns(4, 12)
    assert NoteColumns().widened(30) == NoteColumns()
    assert NoteColumns(0, 12).widened(8) == NoteColumns(0, 20)
    assert NoteColumns(0, 12).widened(9) == NoteColumns(4, 16)
