"""Columns can be hidden and brought back, and the program remembers it."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from spackscope.tui.browser.remembered import MAX_COLUMNS, parse_hidden
from spackscope.tui.settings import DEFAULTS, Settings
from tests.browsing import browsing


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


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file in which the columns are remembered; its directory is there."""
    (tmp_path / "spackscope").mkdir()
    return tmp_path / "spackscope" / "columns.json"


def environ(path: Path) -> dict[str, str]:
    return {"XDG_STATE_HOME": str(path.parents[1])}


def _spoiled(path: Path) -> str:
    path.write_text("nonsense")
    return "columns.json"


def _pipe(path: Path) -> str:
    os.mkfifo(path)
    return "not a regular file"


@pytest.mark.parametrize("spoil", [_spoiled, _pipe])
async def test_a_file_that_cannot_be_read_is_named_and_ignored(
    path: Path, spoil: Callable[[Path], str]
) -> None:
    message = spoil(path)
    async with browsing(environ=environ(path), size=(160, 30)) as browser:
        assert message in browser.status
        assert not browser.state.hidden_columns


async def test_a_column_is_hidden_and_brought_back_in_the_next_run(path: Path) -> None:
    async with browsing(environ=environ(path), size=(160, 30)) as browser:
        await browser.go_to_column("os", "minus", status="Hid os (c brings it back)")
        assert "os" not in browser.placed_names
        await browser.go_to_column("hash", "minus")
        assert browser.status == "The column hash cannot be hidden: it names the rows"
    assert [each.name for each in path.parent.iterdir() if "col" in each.name] == [path.name]
    async with browsing(environ=environ(path), size=(160, 30)) as browser:
        assert "os" not in browser.placed_names
        await browser.press("2", "c", *"os", "enter", column="os")
    async with browsing(environ=environ(path), size=(160, 30)) as browser:
        assert "os" in browser.placed_names


async def test_a_message_names_the_key_in_use_for_a_hidden_column() -> None:
    async with browsing(settings=Settings(keys={"specs-columns": ("m",)})) as browser:
        await browser.press("2", "l", "minus", says="(m brings it back)")


async def test_columns_that_are_configured_are_hidden_until_they_are_brought_back(
    path: Path,
) -> None:
    settings = Settings(hidden=("os", "target"))
    async with browsing(environ=environ(path), settings=settings, size=(160, 30)) as browser:
        assert browser.placed_names.isdisjoint(("os", "target"))
        await browser.press("2", "c", *"os", "enter")
        await browser.go_to_column("compiler", "minus")
    for hidden, expected in ((settings, {"target", "compiler"}), (DEFAULTS, {"compiler"})):
        async with browsing(environ=environ(path), settings=hidden, size=(160, 30)) as browser:
            assert {"os", "target", "compiler"} - browser.placed_names == expected


async def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "spackscope").write_text("")
    async with browsing(environ={"XDG_STATE_HOME": str(tmp_path)}) as browser:
        await browser.go_to_column("os", "minus")
        reason = f"cannot write to {tmp_path / 'spackscope'} (not a directory)"
        assert browser.status == f"The columns will not be remembered: {reason}"
        assert "os" not in browser.placed_names
