"""The progress of a command is drawn on a terminal, and removed."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyte
import pytest
from rich.progress import Progress

from spackscope.model.sources.document import read_bytes
from spackscope.model.sources.source_name import absolute_path
from spackscope.tui.cli import command_line
from tests.builders.pages import hash_of, record, write_page
from tests.program import PATIENCE, Program, for_pyte

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


@pytest.mark.parametrize(
    ("hangs", "named"),
    [
        ("pipe", "pipe: no answer yet"),
        ("directory", "long-name: no answer yet"),
        ("page", "0 B of 7.3 kB"),
    ],
)
def test_what_hangs_is_named(
    hangs: str, named: str, program: Program, page: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_drawn, update = threading.Event(), Progress.update

    def draw(progress: Progress, *arguments: Any, **options: Any) -> None:
        update(progress, *arguments, **options)
        progress.refresh()
        if named in options["description"]:
            is_drawn.set()

    def hanging(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments: is_drawn.wait(PATIENCE) and function(*arguments)

    monkeypatch.setattr(Progress, "update", draw)
    monkeypatch.setattr(command_line, "DELAY", 0.05)
    monkeypatch.setattr("spackscope.model.sources.discover._LATE_SECONDS", 0.05)
    source = page
    if hangs == "pipe":
        source = str(program.home / "pipe")
        os.mkfifo(source)
        (written,) = Path(page).rglob("*.md")
        write = hanging(Path(source).write_bytes)
        threading.Thread(target=write, args=(written.read_bytes(),), daemon=True).start()
    elif hangs == "directory":
        where = "spackscope.model.sources.discover.absolute_path"
        monkeypatch.setattr(where, hanging(absolute_path))
    else:
        monkeypatch.setattr("spackscope.model.index.build.read_bytes", hanging(read_bytes))

    code, text = program.on_terminal("find", "-f", source, "--hashes", columns=200)

    assert (code, hash_of(1) in text) == (0, True)
    assert named in text
