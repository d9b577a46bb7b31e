"""Documents may change between discovery and reading, and an error in one ends with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from spackscope.model.core.frozen import replace
from spackscope.model.core.records import Problem, Records
from spackscope.model.index.build import build
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.columns import Columns
from spackscope.model.readers.formats import read_document
from spackscope.model.sources.discover import discover
from spackscope.model.sources.session import Session
from tests.builders import all_records, hash_of, leaf, record, write_index, write_page


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


BUGS: dict[str, Callable[[Any], Any]] = {
    "a list": lambda spec: replace(spec, stacks=["e4s"]),
    "an object": lambda spec: SimpleNamespace(in_cache=True, hash=spec.hash),
    "no edges": lambda spec: replace(spec, dependencies=(), package_hash={}),
    "an exception": lambda spec: raised(RecursionError("https://user:hunter2@host")),
}


def raised(error: Exception) -> None:
    raise error


@pytest.mark.parametrize("bug", BUGS)
@pytest.mark.parametrize("place", range(3))
def test_an_error_in_one_document_ends_with_it(
    bug: str, place: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [tmp_path / f"{number}.json" for number in range(3)]
    for number, path in enumerate(paths):
        write_index(path, *(leaf(hash_of(2 * number + n), f"p{n}", "1") for n in range(2)))
    bad = str(paths[place])

    def read_with_bug(data: bytes, *, origin: str, **options: Any) -> Iterator[Records | Problem]:
        for item in read_document(data, origin=origin, **options):
            if origin != bad or not isinstance(item, Records):
                yield item
                continue
            looks: Any = item.looks
            good, other = looks
            yield Records([good], [0], item.hashes[:1], [None])
            yield Records([BUGS[bug](other)], [0], item.hashes[1:], [None])

    monkeypatch.setattr("spackscope.model.index.build.read_document", read_with_bug)
    session = Session({})
    discovered = discover([str(path) for path in paths], session)
    columns = Columns(build(discovered, session))
    again = Columns(build(discovered, session, old=columns))

    for each in (columns, again):
        catalog = Catalog(each)
        expected = {hash_of(number) for number in range(6)} - {hash_of(2 * place + 1)}
        assert {spec.hash for spec in all_records(catalog)} == expected
        (problem,) = catalog.problems
        assert str(problem).startswith(f"{bad}: cannot be read to its end: ")
        assert "hunter2" not in str(problem)
