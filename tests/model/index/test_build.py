"""Documents may change between discovery and reading."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from spackscope.model.index.build import build
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.columns import Columns
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


def put_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def put_pipe_with_a_writer(path: Path) -> None:
    put_pipe(path)
    # Reading it would wait.
    os.open(path, os.O_RDWR)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (os.unlink, "no such file or directory"),
        (lambda path: (path.unlink(), path.mkdir()), "is a directory"),
        (put_pipe, "it is not a regular file"),
        (put_pipe_with_a_writer, "it is not a regular file"),
    ],
)
def test_a_page_that_is_no_file_any_more_is_reported_without_waiting(
    change: Callable[[Path], object], reason: str, tmp_path: Path
) -> None:
    assert problems_after(tmp_path, change) == [f"cannot be read: {reason}"]


def test_a_page_that_is_being_written_is_read_as_far_as_it_is(tmp_path: Path) -> None:
    problems = problems_after(tmp_path, lambda path: os.truncate(path, path.stat().st_size - 20))

    assert problems[0] == "the front matter has no closing line of three dashes"
    assert "neither JSON" in problems[1]
