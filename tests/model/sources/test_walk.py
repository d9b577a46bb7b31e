"""Whatever stands at a source is found, said, or refused in one sentence."""

from __future__ import annotations

import contextlib
import itertools
import os
import sqlite3
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.core.errors import (
    Cancelled,
    SourceError,
)
from spackscope.model.core.progress import ShouldStop, never
from spackscope.model.loader.build import build
from spackscope.model.sources import walk
from spackscope.model.sources.discover import discover
from spackscope.model.sources.document import (
    Document,
    fingerprint,
)
from spackscope.model.sources.resolve import SAMPLE, absolute_path, resolve_sources
from spackscope.model.sources.session import Session
from tests.builders import catalog_of, hash_of, page, record, write_page


def scan(sources: list[str], *, should_stop: ShouldStop = never) -> list[Document]:
    """Give the documents of sources that can all be read."""
    found = discover(sources, Session({}, should_stop=should_stop))
    for one in found:
        if one.failure:
            raise SourceError(one.failure)
    return [document for one in found for document in one.documents]


def names(documents: list[Document], below: Path) -> list[str]:
    return [os.path.relpath(document.path, below) for document in documents]


# The choice of sources


@pytest.mark.parametrize(
    ("given", "variable", "sources"),
    [
        ([], None, (SAMPLE,)),
        ([], "", (SAMPLE,)),
        ([], "  ", (SAMPLE,)),
        (["a", "b", "a"], "c", ("a", "b")),
        ([], "a b  a", ("a", "b")),
        ([], "'my mirror' b\\ c", ("my mirror", "b c")),
        ([], " ".join(["far/away"] * 1_000), ("far/away",)),
        ([], "x" * 5_000, ("x" * 5_000,)),
    ],
)
def test_sources_are_given_or_in_the_environment_or_the_sample(
    given: list[str], variable: str | None, sources: tuple[str, ...]
) -> None:
    environ = {} if variable is None else {"SPACKSCOPE_FROM": variable}

    assert resolve_sources(given, Session(environ)) == sources


def test_a_variable_that_names_an_existing_place_is_one_source(tmp_path: Path) -> None:
    place = tmp_path / "my mirror"
    place.mkdir()

    assert resolve_sources([], Session({"SPACKSCOPE_FROM": str(place)})) == (str(place),)


def test_a_variable_may_begin_at_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my mirror").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))

    assert resolve_sources([], Session({"SPACKSCOPE_FROM": "~/my mirror"})) == ("~/my mirror",)


def test_a_variable_with_an_open_quote_is_refused() -> None:
    with pytest.raises(SourceError, match="SPACKSCOPE_FROM cannot be split"):
        resolve_sources([], Session({"SPACKSCOPE_FROM": "it's"}))


def test_a_source_is_found_from_home_from_here_and_in_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    monkeypatch.chdir(tmp_path)

    assert absolute_path("~/mirror") == Path("/home/ada/mirror")
    assert absolute_path("a/../b/") == Path(os.getcwd(), "b")
    assert (absolute_path(SAMPLE) / "develop").is_dir()


def test_a_relative_source_in_a_directory_that_is_gone_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()

    with pytest.raises(SourceError, match="the source mirror cannot be read: no such file"):
        scan(["mirror"])


# Scanning


def test_a_single_page_is_a_source(tmp_path: Path) -> None:
    path = write_page(tmp_path, [record()])

    (document,) = scan([str(path)])

    assert document.path == document.origin == document.source == str(path)
    assert document.size == path.stat().st_size


def test_pages_are_found_at_any_depth_in_the_order_of_their_names(tmp_path: Path) -> None:
    for tag, title in (("develop", "zlib"), ("develop", "bzip2"), ("a/b/c", "zlib")):
        write_page(tmp_path, [record()], title=title, tag=tag)
    (tmp_path / "index.md").write_text("---\n---")

    assert names(scan([str(tmp_path)]), tmp_path) == [
        "index.md",
        "a/b/c/zlib/specs.md",
        "develop/bzip2/specs.md",
        "develop/zlib/specs.md",
    ]


@pytest.mark.parametrize(
    ("source", "origin"),
    [
        (".", "mirror/develop/zlib/specs.md"),
        ("./", "mirror/develop/zlib/specs.md"),
        ("mirror", "mirror/develop/zlib/specs.md"),
        ("mirror//", "mirror/develop/zlib/specs.md"),
        ("../here/mirror", "../here/mirror/develop/zlib/specs.md"),
        ("{here}", "{here}/mirror/develop/zlib/specs.md"),
        ("mirror/develop/zlib/specs.md", "mirror/develop/zlib/specs.md"),
    ],
)
def test_a_document_is_named_as_the_user_would_name_it(
    source: str, origin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    write_page(here / "mirror", [record()])
    monkeypatch.chdir(here)

    (document,) = scan([source.format(here=here)])

    assert document.source == source.format(here=here)
    assert document.origin == origin.format(here=here)


def test_several_sources_come_in_their_order(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write_page(tmp_path / name, [record()])
    sources = [str(tmp_path / "b"), str(tmp_path / "a")]

    assert [document.source for document in scan(sources)] == sources


def test_links_are_followed_and_a_directory_is_read_once(tmp_path: Path) -> None:
    write_page(tmp_path / "elsewhere", [record()])
    mirror = tmp_path / "mirror"
    write_page(mirror, [record()])
    (mirror / "elsewhere").symlink_to(tmp_path / "elsewhere")
    (mirror / "elsewhere again").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere" / "round").symlink_to(".")
    (mirror / "up").symlink_to(mirror)
    (mirror / "develop" / "up").symlink_to("..")

    assert names(scan([str(mirror)]), mirror) == [
        "develop/zlib/specs.md",
        "elsewhere/develop/zlib/specs.md",
    ]


def test_links_that_lead_nowhere_or_round_are_said(tmp_path: Path) -> None:
    write_page(tmp_path, [record()])
    (tmp_path / "nowhere").symlink_to("missing")
    (tmp_path / "round").symlink_to("round")

    problems = catalog_of(tmp_path).problems

    assert [Path(problem.origin).name for problem in problems] == ["nowhere", "round"]
    assert [problem.reason for problem in problems] == [
        "cannot be read: no such file or directory",
        "cannot be read: too many levels of symbolic links",
    ]


def test_links_out_of_a_source_are_followed_within_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mirror = tmp_path / "mirror"
    write_page(mirror, [record()])
    (mirror / "root").symlink_to("/")
    (mirror / "up").symlink_to("../..")
    (mirror / "kernel").symlink_to("/proc/self/fd")
    (mirror / "zfar").symlink_to(tmp_path / "far")
    for number in range(50):
        (tmp_path / "far" / str(number)).mkdir(parents=True)
    monkeypatch.setattr(walk, "MAX_ENTRIES", 40)

    catalog = catalog_of(mirror)

    assert catalog.total == 1
    told = {Path(problem.origin).name: problem.reason for problem in catalog.problems}
    assert told["root"] == "is not followed: it leads to a directory that contains the source"
    assert told["up"] == told["root"]
    assert told["zfar"].endswith("at most 40 files and directories of a source are read")
    if sys.platform == "linux":
        assert told["kernel"] == "is not read: it is a kernel file system"


def test_a_file_of_which_nothing_can_be_read_now_is_said(tmp_path: Path) -> None:
    write_page(tmp_path, [record()])
    (tmp_path / "x.json").symlink_to("/proc/kmsg")

    catalog = catalog_of(tmp_path)

    assert catalog.total == 1
    assert not any("unexpected" in problem.reason for problem in catalog.problems)


def test_directories_may_be_nested_deeper_than_calls(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for _ in range(1_500):
        os.mkdir("d")
        os.chdir("d")
    Path("specs.md").write_bytes(page([record(1)]))

    try:
        assert catalog_of(tmp_path).total == 1
    finally:
        # What pytest removes directories with does not go so deep.
        os.unlink("specs.md")
        for _ in range(1_500):
            os.chdir("..")
            os.rmdir("d")


def test_a_path_that_is_too_long_for_the_system_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_page(tmp_path, [record()])
    monkeypatch.chdir(tmp_path)
    for _ in range(20):
        os.mkdir("d" * 250)
        os.chdir("d" * 250)

    (problem,) = catalog_of(tmp_path).problems

    assert problem.reason == "cannot be read: file name too long"


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (lambda path: None, "does not exist"),
        (lambda path: os.mkfifo(path), "is neither a file nor a directory"),
        (lambda path: path.symlink_to("/dev/zero"), "is neither a file nor a directory"),
        (lambda path: path.symlink_to(path), "cannot be read: too many levels"),
        (lambda path: path.mkdir(), "contains no files"),
        (lambda path: (path / "a" / "b").mkdir(parents=True), "contains no files"),
        (lambda path: path.write_bytes(b""), "cannot be read: it is empty"),
        (lambda path: path.write_bytes(b"\0" * 100), "cannot be read: it is not a page"),
        (lambda path: path.write_text("<html>---</html>"), "cannot be read: it is not a page"),
    ],
    ids=["missing", "FIFO", "device", "loop", "empty", "directories", "nothing", "zeros", "HTML"],
)
def test_what_is_no_source_is_refused_in_one_sentence(
    make: Callable[[Path], object], reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "source"
    make(path)

    with pytest.raises(SourceError) as refusal:
        catalog_of(path)

    assert str(refusal.value).startswith(f"the source {path} {reason}")


@pytest.mark.parametrize("source", ["a\0b", "x" * 5_000])
def test_a_name_that_no_file_can_have_is_refused(source: str) -> None:
    with pytest.raises(SourceError, match="cannot be read"):
        scan([source])


def test_a_page_among_other_files_is_enough(tmp_path: Path) -> None:
    write_page(tmp_path, [record()])
    (tmp_path / "README.md").write_text("# A mirror")
    (tmp_path / "index.json").write_text("{}")
    os.mkfifo(tmp_path / "pipe")

    catalog = catalog_of(tmp_path)

    assert (catalog.total, catalog.problems) == (1, [])


@pytest.mark.parametrize("content", [b"", b"<html>", b"---\ntitle: zlib\nlay"])
def test_a_page_by_name_that_is_none_is_said(content: bytes, tmp_path: Path) -> None:
    write_page(tmp_path, [record()])
    (tmp_path / "specs.md").write_bytes(content)

    (problem,) = catalog_of(tmp_path).problems

    assert str(problem) == f"{tmp_path}/specs.md: it is not a page of cache.spack.io"


def test_one_source_without_a_page_is_enough_to_be_said(tmp_path: Path) -> None:
    write_page(tmp_path / "a", [record()])
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "README.md").touch()

    (problem,) = catalog_of(tmp_path / "a", tmp_path / "b").problems
    assert "/b holds no" in problem.reason


def test_names_of_bytes_that_are_no_text_are_read(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9\x1b[31m")
    write_page(tmp_path / name, [record(1)])
    (tmp_path / name / "broken").symlink_to("missing")

    catalog = catalog_of(tmp_path / name)
    (row,) = catalog.by_hash(hash_of(1))

    assert row.spec.origin == f"{tmp_path}/caf?\x1b[31m/develop/zlib/specs.md"
    assert row.spec.source == f"{tmp_path}/caf?\x1b[31m"
    assert [problem.origin for problem in catalog.problems] == [row.spec.source + "/broken"]


def test_what_may_not_be_read_is_said(unprivileged: Path) -> None:
    write_page(unprivileged, [record()])
    write_page(unprivileged, [record()], title="locked")
    (unprivileged / "develop" / "locked" / "specs.md").chmod(0)
    (unprivileged / "closed").mkdir(0)
    (unprivileged / "listed").mkdir()
    (unprivileged / "listed" / "specs.md").touch()
    (unprivileged / "listed").chmod(0o444)

    catalog = catalog_of(unprivileged)

    assert catalog.total == 1
    assert sorted(
        os.path.relpath(problem.origin, unprivileged) for problem in catalog.problems
    ) == [
        "closed",
        "develop/locked/specs.md",
        "listed/specs.md",
    ]
    assert {problem.reason for problem in catalog.problems} == {
        "cannot be read: permission denied"
    }


@pytest.mark.parametrize("is_directory", [True, False])
def test_a_source_that_may_not_be_read_is_refused(is_directory: bool, unprivileged: Path) -> None:
    path = unprivileged / "source"
    path.mkdir() if is_directory else path.touch()
    path.chmod(0)

    with pytest.raises(SourceError, match=f"the source {path} cannot be read: permission denied"):
        catalog_of(path)


# Between scan and read


def problems_after(directory: Path, change: Callable[[Path], object]) -> list[str]:
    """Change a page that the scan has just found, read on, and give the problems."""
    write_page(directory, [record(1)], title="first")
    victim = write_page(directory, [record(2)], title="victim")
    discovered = discover([str(directory)], Session({}))
    change(victim)
    index = directory / "index.sqlite"
    with contextlib.closing(sqlite3.connect(index)) as connection:
        build(discovered, connection, Session({}))
    catalog = Catalog(f"file:{index}")
    assert catalog.by_hash(hash_of(1))
    return [problem.reason for problem in catalog.problems]


def test_a_page_that_vanishes_is_said(tmp_path: Path) -> None:
    assert problems_after(tmp_path, os.unlink) == ["cannot be read: no such file or directory"]


def test_a_page_that_becomes_a_directory_is_said(tmp_path: Path) -> None:
    def change(path: Path) -> None:
        path.unlink()
        path.mkdir()

    assert problems_after(tmp_path, change) == ["cannot be read: is a directory"]


@pytest.mark.parametrize("has_writer", [False, True])
def test_a_page_that_becomes_a_pipe_is_said_and_not_waited_for(
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


# Fingerprints, stopping


def test_a_fingerprint_tells_every_change(tmp_path: Path) -> None:
    def now() -> str:
        return fingerprint(scan([str(tmp_path)]))

    path = write_page(tmp_path, [record(1)])
    seen = [now()]
    assert now() == seen[0]

    status = path.stat()
    path.write_bytes(page([record(2)]))
    assert path.stat().st_size == status.st_size
    seen.append(now())
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    seen.append(now())
    path.chmod(0o640)
    seen.append(now())
    added = write_page(tmp_path, [record(3)], title="bzip2")
    seen.append(now())
    added.rename(added.with_name("other.md"))
    seen.append(now())
    path.unlink()
    seen.append(now())

    assert len(set(seen)) == len(seen)


def test_scanning_asks_in_every_directory_whether_to_stop(tmp_path: Path) -> None:
    for number in range(100):
        (tmp_path / str(number)).mkdir()
    asked = itertools.count()

    with pytest.raises(Cancelled):
        scan([str(tmp_path)], should_stop=lambda: next(asked) > 50)


@pytest.mark.parametrize("files", [1, 600])
def test_scanning_can_be_stopped(files: int, tmp_path: Path) -> None:
    for number in range(files):
        (tmp_path / f"{number}.md").touch()
    stop = threading.Event()
    stop.set()

    with pytest.raises(Cancelled):
        scan([str(tmp_path)], should_stop=stop.is_set)
