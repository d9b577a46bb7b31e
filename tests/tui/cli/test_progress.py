"""The progress of a command is drawn on a terminal, and removed."""

from __future__ import annotations

from pathlib import Path

import pyte
import pytest

from spackscope.tui.cli.commands import command_line
from tests.builders import hash_of, record, write_page
from tests.program import Program, for_pyte

LONG = "a-directory-with-a-long-name" * 5


@pytest.fixture(autouse=True)
def at_once(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "DELAY", 0.0)


@pytest.fixture
def page(tmp_path: Path) -> str:
    path = tmp_path / LONG / "develop" / "zlib" / "specs.md"
    write_page(path, [record(number) for number in range(1, 30)])
    return str(tmp_path / LONG)


def lines(written: str, columns: int) -> list[str]:
    """Return what a terminal shows in the end."""
    screen = pyte.Screen(columns, 60)
    pyte.ByteStream(screen).feed(for_pyte(written.replace("\n", "\r\n").encode()))
    return [line.rstrip() for line in screen.display]


@pytest.mark.parametrize("columns", [40, 80])
def test_the_progress_is_in_one_line_and_leaves_nothing(
    program: Program, page: str, columns: int
) -> None:
    code, text = program.on_terminal("find", "-f", page, "--hashes", columns=columns)

    assert code == 0
    assert "Ctrl-C cancels" in text
    assert "━" in text
    shown = [line for line in lines(text, columns) if line]
    assert sorted(shown) == sorted(hash_of(number) for number in range(1, 30))
    drawn = [line for part in text.split("\r") if "cancels" in (line := lines(part, 300)[0])]
    assert max(len(line) for line in drawn) <= columns


def test_the_progress_is_in_ascii_where_a_terminal_shows_nothing_else(
    program: Program, page: str
) -> None:
    _, text = program.on_terminal("find", "-f", page, "--hashes", changes={"TERM": "linux"})

    assert "Ctrl-C cancels" in text
    assert text.isascii()
