"""Documents may change between discovery and reading."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.index.columns import Columns
from spackscope.model.loader.build import build
from spackscope.model.sources.discover import discover
from spackscope.model.sources.session import Session
from tests.builders import hash_of, record, write_page


def problems_after(directory: Path, change: Callable[[Path], object]) -> list[str]:
    """Change a page that the scan has just found, read on, and give the problems."""
    write_page(directory, [record(1)], title="first")
    victim = write_page(directory, [record(2)], title="victim")
    discovered = discover([str(directory)], Session({}))
    change(victim)
    catalog = Catalog(Columns(build(discovered, Session({}))))
    assert catalog.by_hash(hash_of(1))
    return [problem.reason for problem in catalog.problems]


def test_a_page_that_vanishes_is_reported(tmp_path: Path) -> None:
    assert problems_after(tmp_path, os.unlink) == ["cannot be read: no such file or directory"]


def test_a_page_that_becomes_a_directory_is_reported(tmp_path: Path) -> None:
    def change(path: Path) -> None:
        path.unlink()
        path.mkdir()

    assert problems_after(tmp_path, change) == ["cannot be read: is a directory"]


@pytest.mark.parametrize("has_writer", [False, True])
def test_a_page_that_becomes_a_pipe_is_reported_without_waiting(
    has_writer: bool, tmp_path: Path
) -> None:
    writers = []

    def change(path: Path) -> None:
        path.unlink()
        os.mkfifo(path)
        if has_writer:
            writers.append(os.open(path, os.O_RDWR))

    problems = problems_after(tmp_path, change)

    for writer in writers:
        os.close(writer)
    assert problems == ["cannot be read: it is not a regular file"]


def test_a_page_that_is_being_written_is_read_as_far_as_it_is(tmp_path: Path) -> None:
    problems = problems_after(tmp_path, lambda path: os.truncate(path, path.stat().st_size - 20))

    assert problems[0] == "the front matter has no closing line of three dashes"
    assert "neither JSON" in problems[1]
