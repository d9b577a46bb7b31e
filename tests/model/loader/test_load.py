"""An index is saved where possible, reused while current, and never an obstacle."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from spackscope.model.catalog.catalog import Catalog
from spackscope.model.catalog.view import View
from spackscope.model.core.errors import Cancelled, SourceError
from spackscope.model.core.files import private_directory, temporary_file
from spackscope.model.index.columns import HEADER, MAGIC, SCHEMA_VERSION, UNUSED_DAYS
from spackscope.model.loader.load import SMALL, index_path, load, open_cached, open_cached_part
from spackscope.model.query.parser import parse
from spackscope.model.sources.session import Session
from tests.builders import all_records, hash_of, page, record, write_page
from tests.program import PATIENCE


class Home:
    """A home directory and a mirror beside it."""

    def __init__(self, directory: Path) -> None:
        self.cache = directory / "cache"
        self.mirror = directory / "mirror"
        self.environ = {"HOME": str(directory), "XDG_CACHE_HOME": str(self.cache)}
        self.sources = [str(self.mirror)]
        self.add(1)

    def add(self, number: int, count: int = 1) -> Path:
        """Add a page."""
        records = [record(1_000 * number + offset) for offset in range(count)]
        return write_page(self.mirror, records, title=f"package-{number}")

    def load(self, *, keep: bool = True, rebuild: bool = False) -> Catalog:
        """Load the mirror."""
        return load(self.sources, Session(self.environ), keep=keep, rebuild=rebuild)

    @property
    def index(self) -> Path:
        """Return the file of the index, there or not."""
        kept_at = index_path(self.sources, Session(self.environ))
        assert kept_at is not None
        return Path(kept_at)

    @property
    def files(self) -> list[str]:
        """Name all files in the cache directory."""
        return sorted(path.name for path in self.cache.rglob("*") if path.is_file())


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path)


def python(code: str, *arguments: object, **environ: str) -> subprocess.Popen[str]:
    """Run a program that has `sources` and `environ` of its arguments."""
    prelude = """
import resource, signal, sys, time
from spackscope.model.loader.load import load
from spackscope.model.sources.session import Session
sources, environ = [sys.argv[1]], {"XDG_CACHE_HOME": sys.argv[2]}
"""
    return subprocess.Popen(
        [sys.executable, "-c", prelude + code, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environ},
    )


def made(catalog: Catalog) -> object:
    """Return when an index was made."""
    return catalog.meta["built"]


# Where it is kept


@pytest.mark.parametrize(
    ("environ", "directory"),
    [
        ({"XDG_CACHE_HOME": "/cache", "HOME": "/home/ada"}, "/cache/spackscope"),
        ({"HOME": "/home/ada"}, "/home/ada/.cache/spackscope"),
        ({"XDG_CACHE_HOME": "", "HOME": "/home/ada"}, "/home/ada/.cache/spackscope"),
        ({"XDG_CACHE_HOME": "cache", "HOME": "/home/ada"}, "/home/ada/.cache/spackscope"),
        ({"XDG_CACHE_HOME": "~/c", "HOME": "/home/ada"}, "/home/ada/.cache/spackscope"),
        ({"XDG_CACHE_HOME": "cache", "HOME": "home"}, None),
        ({"HOME": ""}, None),
        ({}, None),
    ],
)
def test_the_index_is_in_the_xdg_cache_directory(
    environ: Mapping[str, str], directory: str | None
) -> None:
    path = index_path(["mirror"], Session(environ))

    assert (None if path is None else os.path.dirname(path)) == directory


def test_every_choice_of_sources_has_its_own_index(monkeypatch: pytest.MonkeyPatch) -> None:
    choices = [["a"], ["b"], ["a", "b"], ["b", "a"], ["ab"], ["/a"], ["./a"]]
    monkeypatch.chdir("/")
    paths = {index_path(choice, Session({"HOME": "/home/ada"})) for choice in choices}
    monkeypatch.chdir("/usr")

    assert len(paths) == len(choices)
    assert index_path(["a"], Session({"HOME": "/home/ada"})) not in paths


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
@pytest.mark.parametrize("existed", [True, False])
def test_a_kept_index_is_one_file_for_its_owner_alone(
    umask: int, existed: bool, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    if existed:
        home.index.parent.mkdir(parents=True)
        home.index.parent.chmod(0o777)
        home.index.with_name("older.index").touch(0o600)
    modes: set[int] = set()

    def look(_: int) -> None:
        modes.update(path.stat().st_mode & 0o777 for path in home.index.parent.iterdir())

    monkeypatch.setattr(os, "fsync", look)
    before = os.umask(umask)
    try:
        catalog = home.load()
    finally:
        os.umask(before)

    assert catalog.notice == ""
    assert home.files == [home.index.name, *(["older.index"] if existed else [])]
    assert modes == {0o600}
    assert home.index.stat().st_mode & 0o777 == 0o600
    assert home.index.parent.stat().st_mode & 0o777 == 0o700
    assert home.index.parent.stat().st_mode & 0o777 == 0o700
    assert existed or home.cache.stat().st_mode & 0o777 == 0o700


def test_an_index_that_is_not_opened_for_long_is_removed_when_another_is_written(
    home: Home,
) -> None:
    private_directory(str(home.index.parent))
    unused, used = home.index.with_name("unused.index"), home.index.with_name("used.index")
    other = home.index.with_name("unused.txt")
    long_ago = time.time() - (UNUSED_DAYS + 1) * 24 * 3600
    for path, opened in ((unused, long_ago), (used, time.time()), (other, long_ago)):
        path.touch()
        os.utime(path, (opened, long_ago))

    home.load()

    assert home.files == sorted([home.index.name, used.name, other.name])


def test_a_clock_that_is_ahead_of_the_file_system_removes_no_index(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    private_directory(str(home.index.parent))
    other = home.index.with_name("other.index")
    other.touch()
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + (UNUSED_DAYS + 1) * 24 * 3600)

    assert home.load().total == 1
    assert home.files == sorted([home.index.name, other.name])


def test_an_index_that_is_used_stays_where_reading_leaves_no_time(home: Home) -> None:
    home.load()
    index, long_ago = home.index, time.time() - (UNUSED_DAYS + 1) * 24 * 3600
    os.utime(index, (long_ago, long_ago))
    home.load()
    os.utime(index, (long_ago, index.stat().st_mtime))
    write_page(home.mirror.with_name("other"), [record(1)])
    load([str(home.mirror.with_name("other"))], Session(home.environ), keep=True)

    assert index.exists()


def test_an_index_that_somebody_removes_at_once_is_kept_in_memory(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def replace_and_remove(source: str, target: str) -> None:
        replace(source, target)
        os.unlink(target)

    monkeypatch.setattr(os, "replace", replace_and_remove)

    assert home.load().total == 1


def test_a_small_mirror_needs_no_file(home: Home) -> None:
    catalog = home.load(keep=False)

    assert (catalog.total, catalog.notice, home.files) == (1, "", [])


def test_a_large_mirror_is_kept_unasked(home: Home) -> None:
    home.add(2, count=4_000)
    assert sum(path.stat().st_size for path in home.mirror.rglob("*.md")) > SMALL

    home.load(keep=False)

    assert home.files == [home.index.name]


# When it is used


def test_an_unchanged_mirror_is_not_read_again(home: Home) -> None:
    first = home.load()

    again = home.load(keep=False)
    cached = open_cached(home.sources, Session(home.environ))

    assert cached is not None
    assert made(again) == made(cached) == made(first)
    assert all_records(again) == all_records(first)


def test_a_rebuild_reads_an_unchanged_mirror_again(home: Home) -> None:
    first = home.load()

    assert made(home.load(rebuild=True)) != made(first)


def change(home: Home) -> int:
    (path,) = home.mirror.rglob("*.md")
    path.write_bytes(page([record(5), record(6)], title="package-1"))
    return 2


def appear(home: Home) -> int:
    home.add(2)
    return 2


def vanish(home: Home) -> int:
    home.add(2, count=3)
    home.load()
    (home.mirror / "develop" / "package-1" / "specs.md").unlink()
    return 3


def replace_by_an_equally_old_and_large_page(home: Home) -> int:
    (path,) = home.mirror.rglob("*.md")
    status = path.stat()
    path.write_bytes(page([record(1_001)], title="package-1"))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    return 1


def allow(home: Home) -> int:
    path = home.add(2)
    path.chmod(0)
    home.load()
    path.chmod(0o644)
    return 2


@pytest.mark.parametrize(
    "changed", [change, appear, vanish, replace_by_an_equally_old_and_large_page, allow]
)
def test_a_changed_mirror_is_read_again(
    changed: Callable[[Home], int], unprivileged: Path
) -> None:
    home = Home(unprivileged)
    first = home.load()
    total = changed(home)

    catalog = home.load()

    assert catalog.total == total
    assert catalog.problems == []
    assert made(catalog) != made(first)


def cut(length: int) -> Callable[[Path], object]:
    return lambda path: os.truncate(path, length)


def write_magic(magic: bytes) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        path.write_bytes(magic + path.read_bytes()[len(magic) :])

    return write


def directory_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


def link_instead(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def pipe_instead(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


@pytest.mark.parametrize(
    "spoil",
    [
        write_magic(MAGIC + bytes(1)),
        write_magic(MAGIC + bytes([SCHEMA_VERSION - 1])),
        write_magic(b"another magic   "),
        lambda path: path.chmod(0o620),
        lambda path: path.chmod(0o602),
        link_instead,
        cut(0),
        cut(1),
        cut(HEADER - 1),
        cut(HEADER),
        cut(HEADER + 100),
        lambda path: os.truncate(path, path.stat().st_size - 1),
        lambda path: os.truncate(path, path.stat().st_size + 1),
        lambda path: path.write_bytes(b"\0" * 10_000),
        lambda path: path.write_bytes(MAGIC + b"\xff" * 10_000),
        lambda path: path.write_bytes(path.read_bytes()[:HEADER] + os.urandom(10_000)),
        lambda path: path.write_text("garbage"),
        lambda path: path.unlink(),
        lambda path: (path.unlink(), path.symlink_to("nowhere")),
        directory_instead,
        pipe_instead,
    ],
    ids=range(21),
)
def test_an_index_that_cannot_be_trusted_is_built_again(
    spoil: Callable[[Path], object], home: Home
) -> None:
    home.load()
    spoil(home.index)
    assert open_cached(home.sources, Session(home.environ)) is None

    catalog = home.load()

    assert (catalog.total, catalog.notice) == (1, "")
    assert open_cached(home.sources, Session(home.environ)) is not None


def test_an_index_of_another_owner_is_not_trusted(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = home.load()
    me = os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: me + 1)

    assert open_cached(home.sources, Session(home.environ)) is None
    catalog = home.load()
    assert made(catalog) != made(first)
    assert catalog.notice.endswith("spackscope (it belongs to another user)")


def test_a_link_in_the_place_of_a_temporary_file_is_not_followed(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = iter(["taken", "free"])
    monkeypatch.setattr(tempfile, "_get_candidate_names", lambda: names)
    with temporary_file(str(home.mirror), home.index.stem) as file:
        first = file.name
    private_directory(str(home.index.parent))
    victim = home.mirror / "victim"
    home.index.with_name(os.path.basename(first)).symlink_to(victim)
    names = iter(["taken", "free"])

    assert home.load().notice == ""
    assert not victim.exists()


# Where nothing can be kept


def read_only(home: Home) -> str:
    home.cache.mkdir(0o555)
    return f"cannot write to {home.cache}/spackscope (permission denied)"


def read_only_inside(home: Home) -> str:
    home.index.parent.mkdir(parents=True)
    home.index.parent.chmod(0o555)
    return f"cannot write to {home.cache}/spackscope (permission denied)"


def a_file(home: Home) -> str:
    home.cache.touch()
    return f"cannot write to {home.cache}/spackscope (not a directory)"


def a_file_inside(home: Home) -> str:
    home.cache.mkdir()
    home.index.parent.touch()
    return f"cannot write to {home.cache}/spackscope (not a directory)"


def a_full_directory_for_an_index(home: Home) -> str:
    home.index.mkdir(parents=True)
    (home.index / "file").touch()
    return f"cannot write to {home.cache}/spackscope (directory not empty)"


def no_home(home: Home) -> str:
    home.environ.clear()
    return "there is no home directory"


def a_relative_cache_and_no_home(home: Home) -> str:
    home.environ = {"XDG_CACHE_HOME": "cache"}
    return "there is no home directory"


@pytest.mark.parametrize(
    "hinder",
    [
        read_only,
        read_only_inside,
        a_file,
        a_file_inside,
        a_full_directory_for_an_index,
        no_home,
        a_relative_cache_and_no_home,
    ],
)
def test_what_cannot_be_kept_stays_in_memory_with_a_notice(
    hinder: Callable[[Home], str], unprivileged: Path
) -> None:
    home = Home(unprivileged)
    reason = hinder(home)

    catalog = home.load()

    assert catalog.notice == f"the index is kept in memory: {reason}"
    assert catalog.total == 1
    assert open_cached(home.sources, Session(home.environ)) is None
    assert not list(home.mirror.parent.rglob("*.tmp"))


def test_a_full_disk_is_a_notice(home: Home) -> None:
    records = [record(number, variants=[]) for number in range(30_000)]
    write_page(home.mirror, records, title="large")
    code = """
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000))
catalog = load(sources, Session(environ))
print(catalog.total, catalog.notice)
"""
    output, errors = python(code, home.mirror, home.cache).communicate(timeout=PATIENCE)

    assert errors == ""
    assert output.startswith("30001 the index is kept in memory: ")
    assert "cannot write to " in output
    assert home.files == []


@pytest.mark.parametrize(
    "name", ["a b", "a?b#c%20&d", "naïve", os.fsdecode(b"caf\xe9"), "a'b\"c", "a\nb"]
)
def test_a_cache_directory_may_have_any_name(name: str, home: Home) -> None:
    home.environ["XDG_CACHE_HOME"] = str(home.cache / name)
    first = home.load()

    assert first.notice == ""
    assert made(home.load()) == made(first)


def test_a_cache_directory_may_begin_with_two_slashes(home: Home) -> None:
    home.environ["XDG_CACHE_HOME"] = f"/{home.cache}"
    first = home.load()

    assert first.notice == ""
    assert made(home.load()) == made(first)


# Stopping, killing, several at once


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("patience", [0, 1, 2])
def test_a_stopped_build_leaves_the_old_index_and_nothing_else(
    keep: bool, patience: int, home: Home
) -> None:
    first = home.load()
    home.add(2)
    answers = iter([False] * patience + [True] * 9)

    with pytest.raises(Cancelled):
        load(home.sources, Session(home.environ, should_stop=lambda: next(answers)), keep=keep)

    cached = open_cached(home.sources, Session(home.environ))
    assert cached is not None
    assert made(cached) == made(first)
    assert home.files == [home.index.name]


def test_a_build_that_fails_leaves_the_old_index_and_nothing_else(home: Home) -> None:
    home.load()
    (home.mirror / "develop" / "package-1" / "specs.md").write_text("")

    with pytest.raises(SourceError):
        home.load()

    assert open_cached(home.sources, Session(home.environ)) is not None
    assert home.files == [home.index.name]


def test_a_build_that_is_killed_leaves_the_old_index_working(home: Home) -> None:
    first = home.load()
    for number in range(2, 32):
        home.add(number, count=200)
    code = """
import itertools
time.monotonic = itertools.count().__next__  # so that every page is told
def pause(what, done, total):
    if what.startswith("reading ") and done > total / 2:
        print("half", flush=True)
        time.sleep(60)
load(sources, Session(environ, on_progress=pause), keep=True)
"""
    process = python(code, home.mirror, home.cache)
    assert process.stdout is not None
    assert process.stdout.readline() == "half\n"
    process.kill()
    process.communicate()
    assert process.returncode == -signal.SIGKILL

    cached = open_cached(home.sources, Session(home.environ))
    assert cached is not None
    assert made(cached) == made(first)
    assert home.load(keep=False).total == 1 + 30 * 200
    assert home.files == [home.index.name]


def test_eight_builds_of_one_index_at_once_all_answer_right(home: Home) -> None:
    for number in range(2, 22):
        home.add(number, count=100)
    code = """
catalog = load(sources, Session(environ), keep=True, rebuild=True)
print(catalog.total, len(catalog.hashes("", limit=10_000)), catalog.notice)
"""
    processes = [python(code, home.mirror, home.cache) for _ in range(8)]
    answers = [process.communicate(timeout=PATIENCE) for process in processes]

    assert answers == [("2001 2001 \n", "")] * 8
    assert home.files == [home.index.name]
    assert home.load().total == 2001


@pytest.mark.parametrize("keep", [True, False])
def test_threads_share_a_catalog(keep: bool, home: Home) -> None:
    home.add(2, count=300)
    catalog = home.load(keep=keep)
    found: list[int] = []

    def ask() -> None:
        listing = catalog.listing(View(parse("package-2")), should_stop=lambda: False)
        found.append(len(list(catalog.specs(listing))))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [300] * 8


@pytest.mark.parametrize("end", ["replaced", "removed", "spoiled"])
def test_a_catalog_keeps_its_answers_when_its_file_is_gone(end: str, home: Home) -> None:
    catalog = home.load()
    expected = all_records(catalog)
    if end == "replaced":
        home.add(0, count=5)
        assert home.load().total == 6
    else:
        home.index.unlink()
    if end == "spoiled":
        home.index.write_bytes(b"garbage")
    answers: list[object] = []

    def ask() -> None:
        answers.append(all_records(catalog))
        answers.append(catalog.hashes("", limit=10))

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()

    assert answers == [expected, [hash_of(1_000)]]


def test_of_much_to_read_the_first_documents_are_shown_before_the_end(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spackscope.model.loader.load._LONG", 1)
    monkeypatch.setattr("spackscope.model.loader.load._PART", 20_000)
    for number in range(2, 12):
        home.add(number, count=20)
    parts: list[int] = []
    whole = load(
        home.sources, Session(home.environ), on_late=lambda part: parts.append(part.total)
    )
    assert len(parts) == 1
    assert 0 < parts[0] < whole.total


def test_of_several_sources_one_that_was_open_alone_is_ready(home: Home) -> None:
    session = Session(home.environ)
    alone = home.load()
    assert open_cached([*home.sources, "gone"], session) is None
    part = open_cached_part([*home.sources, "gone"], session)
    assert part is not None
    assert part.total == alone.total
    assert open_cached_part(home.sources, session) is None, "it is no part"
