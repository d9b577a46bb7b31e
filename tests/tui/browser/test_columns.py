"""Columns can be hidden, resized and brought back, and the program remembers it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from spackscope.model.report.table_columns import ColumnChoices
from spackscope.tui.browser.column_memory import MAX_COLUMNS, ColumnMemory, parse_choices
from spackscope.tui.browser.columns import ColumnsController
from tests.tui.browser.fake_host import FakeHost

CHOICES = ColumnChoices(frozenset({"os", "+hl"}), {"compiler": 12})


def environ_of(tmp_path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(tmp_path)}


def test_choices_are_written_and_read_again(tmp_path: Path) -> None:
    memory = ColumnMemory(environ_of(tmp_path))
    assert memory.read() == ColumnChoices(), "there is no file yet"

    memory.write(CHOICES)

    assert ColumnMemory(environ_of(tmp_path)).read() == CHOICES
    assert [path.name for path in (tmp_path / "spackscope").iterdir()] == ["columns.json"]


@pytest.mark.parametrize(
    "data",
    ["", "[]", "[[", '{"hidden": 1}', '{"widths": []}', "\\xff", "[" * 100_000, "9" * 5000],
)
def test_a_file_of_something_else_is_an_error(data: str) -> None:
    with pytest.raises(ValueError, match=r"[a-z]"):
        parse_choices(data.encode("latin-1"))


def test_what_cannot_be_a_choice_is_left_out() -> None:
    content = {
        "hidden": ["os", "hash", "package", 1, "", "\x1b[31m", "x" * 200, None],
        "widths": {"os": 9, "target": "wide", "compiler": -1, "package": True, "version": 1e300},
        "other": 1,
    }

    assert parse_choices(json.dumps(content).encode()) == ColumnChoices(
        frozenset({"os"}), {"os": 9}
    )


def test_choices_are_bounded() -> None:
    names = [f"c{number}" for number in range(2 * MAX_COLUMNS)]
    content = {"hidden": names, "widths": dict.fromkeys(names, 3)}
    choices = parse_choices(json.dumps(content).encode())

    assert len(choices.hidden) == len(choices.widths) == MAX_COLUMNS
    assert "c999" in choices.widths, "the newest are kept"


def test_a_file_that_cannot_be_read_is_named_once_and_ignored(tmp_path: Path) -> None:
    path = tmp_path / "spackscope" / "columns.json"
    path.parent.mkdir()
    path.write_text("nonsense")
    host = FakeHost()
    ColumnsController(host, environ_of(tmp_path)).load()
    host.work()

    assert [str(path) in text for text in host.messages] == [True]
    assert host.state.column_choices == ColumnChoices()
    assert path.read_text() == "nonsense"


def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "spackscope").mkdir()
    os.mkfifo(tmp_path / "spackscope" / "columns.json")

    with pytest.raises(OSError, match="not a regular file"):
        ColumnMemory(environ_of(tmp_path)).read()


def test_a_column_is_hidden_and_brought_back(tmp_path: Path) -> None:
    host = FakeHost()
    columns = ColumnsController(host, environ_of(tmp_path))
    columns.resize("os", 9)
    columns.hide("os")
    columns.hide("hash")
    host.work()

    assert host.state.column_choices == ColumnChoices(frozenset({"os"}), {"os": 9})
    assert ColumnMemory(environ_of(tmp_path)).read() == host.state.column_choices
    assert host.messages[-2:] == [
        "Hid os (c brings it back)",
        "The hash stays: rows are known by it",
    ]

    columns.bring_back("os")
    host.work()
    assert host.state.column_choices == ColumnChoices()


def test_columns_that_are_configured_are_hidden_until_they_are_brought_back(
    tmp_path: Path,
) -> None:
    host, hidden = FakeHost(), ["os", "target"]
    columns = ColumnsController(host, environ_of(tmp_path), hidden)
    columns.load()
    assert host.state.column_choices.hidden == {"os", "target"}, "before the file is read"
    host.work()
    columns.bring_back("os")
    columns.hide("compiler")
    host.work()

    again = FakeHost()
    ColumnsController(again, environ_of(tmp_path), hidden).load()
    again.work()
    assert again.state.column_choices.hidden == {"target", "compiler"}

    other = FakeHost()
    ColumnsController(other, environ_of(tmp_path), ["size"]).load()
    other.work()
    assert other.state.column_choices.hidden == {"size", "compiler"}
