"""The real program under a limit of memory, with documents that are made to do harm."""

from __future__ import annotations

import os
import resource
import subprocess
import zlib
from pathlib import Path

import pytest

from tests.cli.program import COMMAND, PATIENCE, Program, environment, hash_of, record, write_page

MEMORY = 1 << 30
"""Bytes of address space, in which what these documents cost without bounds has no room."""

Result = subprocess.CompletedProcess[str]


def limited(program: Program, *words: str, memory: int = MEMORY) -> Result:
    """Run the program with no more than this much memory."""
    return subprocess.run(
        [*COMMAND, *words],
        env=environment(program.home),
        cwd=program.home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=2 * PATIENCE,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (memory, memory)),
    )


def good_page(program: Program) -> None:
    write_page(program.home / "pages" / "zlib" / "specs.md", [record(hash_of(1))])


def sparse(path: Path, size: int, head: bytes = b"---\nlayout: cache\nspec_details: [") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head)
    os.truncate(path, size)
    return path


def packed(path: Path, part: bytes, times: int) -> Path:
    """Write gzip that unpacks to a part many times over."""
    path.parent.mkdir(parents=True, exist_ok=True)
    packer = zlib.compressobj(9, wbits=31)
    with path.open("wb") as file:
        for _ in range(times):
            file.write(packer.compress(part))
        file.write(packer.flush())
    return path


TOO_MANY_BYTES = "it has 60,000,000,000 bytes; at most 1,073,741,824 are read"


@pytest.mark.parametrize("way", ["file", "symlink", "hard link"])
def test_a_page_of_60_gb_loses_only_itself(way: str, program: Program) -> None:
    good_page(program)
    page = program.home / "pages" / "huge" / "specs.md"
    huge = sparse(page if way == "file" else program.home / "huge", 60_000_000_000)
    if way != "file":
        page.parent.mkdir()
        (page.symlink_to if way == "symlink" else page.hardlink_to)(huge)

    result = limited(program, "find", "-f", "pages")

    assert result.returncode == 0, result.stderr
    assert len(result.stdout.splitlines()) == 2
    assert f"pages/huge/specs.md: cannot be read: {TOO_MANY_BYTES}" in result.stderr


def test_a_database_of_60_gb_is_not_read(program: Program) -> None:
    good_page(program)
    sparse(program.home / "index.json", 60_000_000_000, b'{"database":')

    result = limited(program, "find", "-f", "pages", "-f", "index.json")

    assert len(result.stdout.splitlines()) == 2
    assert f"index.json cannot be read: {TOO_MANY_BYTES}" in result.stderr
