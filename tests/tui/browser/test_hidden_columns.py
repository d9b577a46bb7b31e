"""Columns can be hidden and brought back, and the program remembers it."""

import json
import os
from pathlib import Path

import pytest

from spackscope.model.sources.session import Session
from spackscope.tui.browser.remembered import MAX_COLUMNS, load_hidden, parse_hidden
from spackscope.tui.browser.screen import Controllers
from spackscope.tui.settings import Settings
from tests.browsing import browsing
from tests.tui.browser.fake_host import FakeHost


def host_of(tmp_path: Path, *configured: str) -> FakeHost:
    session = Session({"XDG_STATE_HOME": str(tmp_path)})
    return FakeHost(session=session, settings=Settings(hidden=configured))


def loaded(tmp_path: Path, *configured: str) -> FakeHost:
    host = host_of(tmp_path, *configured)
    load_hidden(host)
    host.work()
    return host


@pytest.mark.parametrize(
    "data", ["", "[]", "[[", '{"hidden": 1}', '{"shown": 1}', "\\xff", "[" * 100_000, "9" * 5000]
)
def test_a_file_of_something_else_is_an_error(data: str) -> None:
    with pytest.raises(ValueError, match=r"[a-z]"):
        parse_hidden(data.encode("latin-1"))


def test_what_cannot_be_hidden_is_left_out() -> None:
    hidden = ["os", "hash", "package", 1, "", "\x1b[31m", "x" * 200, None]
    # An older version kept widths, too.
    content = {"hidden": hidden, "widths": {"os": 9}}
    assert parse_hidden(json.dumps(content).encode()) == {"os"}


def test_hidden_columns_are_bounded() -> None:
    names = [f"c{number}" for number in range(2 * MAX_COLUMNS)]
    assert len(parse_hidden(json.dumps({"hidden": names}).encode())) == MAX_COLUMNS


def test_a_file_that_cannot_be_read_is_named_once_and_ignored(tmp_path: Path) -> None:
    path = tmp_path / "spackscope" / "columns.json"
    path.parent.mkdir()
    path.write_text("nonsense")
    host = loaded(tmp_path)

    assert [str(path) in text for text in host.messages] == [True]
    assert not host.state.hidden_columns
    assert path.read_text() == "nonsense"


def test_a_pipe_in_the_place_of_the_file_is_not_waited_for(tmp_path: Path) -> None:
    (tmp_path / "spackscope").mkdir()
    os.mkfifo(tmp_path / "spackscope" / "columns.json")
    assert "not a regular file" in loaded(tmp_path).messages[-1]


def test_a_column_is_hidden_and_brought_back(tmp_path: Path) -> None:
    host = host_of(tmp_path)
    rows = Controllers(host, "").specs
    rows.hide("os")
    rows.hide("hash")
    host.work()

    assert host.state.hidden_columns == {"os"} == loaded(tmp_path).state.hidden_columns
    assert [path.name for path in (tmp_path / "spackscope").iterdir()] == ["columns.json"]
    assert host.messages[-2:] == [
        "Hid os (c brings it back)",
        "The column hash cannot be hidden: it names the rows",
    ]

    rows.bring_back("os")
    host.work()
    assert not host.state.hidden_columns
    assert not loaded(tmp_path).state.hidden_columns


async def test_a_message_names_the_key_in_use_for_a_hidden_column() -> None:
    async with browsing(settings=Settings(keys={"specs-columns": ("m",)})) as browser:
        await browser.press("2", "l", "minus", says="(m brings it back)")


def test_columns_that_are_configured_are_hidden_until_they_are_brought_back(
    tmp_path: Path,
) -> None:
    host = host_of(tmp_path, "os", "target")
    load_hidden(host)
    assert host.state.hidden_columns == {"os", "target"}, "before the file is read"
    host.work()
    rows = Controllers(host, "").specs
    rows.bring_back("os")
    rows.hide("compiler")
    host.work()

    assert loaded(tmp_path, "os", "target").state.hidden_columns == {"target", "compiler"}
    assert loaded(tmp_path, "size").state.hidden_columns == {"size", "compiler"}


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "spackscope").write_text("")
    host = host_of(tmp_path)
    Controllers(host, "").specs.hide("os")
    host.work()

    reason = f"cannot write to {tmp_path / 'spackscope'} (not a directory)"
    assert host.messages[-1] == f"The columns will not be remembered: {reason}"
    assert host.state.hidden_columns == {"os"}
