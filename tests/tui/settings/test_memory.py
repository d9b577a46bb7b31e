"""Whether look-alikes are one row is configured, or chosen in the browser, which is remembered."""

import os
from pathlib import Path

import pytest

from spackscope.model.core.errors import Unwritable
from spackscope.tui.settings import FoldMemory


def memory(tmp_path: Path, *, configured: bool = True) -> FoldMemory:
    return FoldMemory({"XDG_STATE_HOME": str(tmp_path)}, configured)


def test_what_was_done_last_has_effect(tmp_path: Path) -> None:
    assert memory(tmp_path).value is True
    assert memory(tmp_path, configured=False).value is False
    memory(tmp_path).remember(False)
    assert memory(tmp_path).value is False, "it was chosen after the setting"
    assert memory(tmp_path, configured=False).value is False
    memory(tmp_path, configured=False).remember(True)
    assert memory(tmp_path, configured=False).value is True
    assert memory(tmp_path).value is True, "it was set after the choice"


@pytest.mark.parametrize(
    "content",
    [
        *("", "[]", "{}", "[" * 9000, "\\xff", "x" * 20_000),
        '{"fold": 0, "configured": true}',
        '{"fold": false, "configured": 1}',
    ],
)
def test_a_file_of_something_else_is_ignored(tmp_path: Path, content: str) -> None:
    path = tmp_path / "spackscope" / "fold.json"
    path.parent.mkdir()
    path.write_bytes(content.encode("latin-1"))
    assert memory(tmp_path).value is True


def test_a_pipe_is_neither_read_nor_replaced(tmp_path: Path) -> None:
    (tmp_path / "spackscope").mkdir()
    os.mkfifo(tmp_path / "spackscope" / "fold.json")
    assert memory(tmp_path).value is True
    with pytest.raises(Unwritable, match="is not a regular file"):
        memory(tmp_path).remember(False)


def test_without_a_home_nothing_is_kept() -> None:
    FoldMemory({}, True).remember(False)
    assert FoldMemory({}, True).value is True
