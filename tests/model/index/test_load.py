"""An index is saved where possible, reused while current, and never an obstacle."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from spackscope.model.core.errors import Cancelled, SourceError
from spackscope.model.core.file_access import private_directory
from spackscope.model.core.tasks import cancelled_when
from spackscope.model.index.catalog import Catalog
from spackscope.model.index.index_file import HEADER, MAGIC, SCHEMA, UNUSED_DAYS
from spackscope.model.index.load import SMALL, index_path, load, open_cached, open_cached_part
from spackscope.model.sources.document import Document, read_bytes
from spackscope.model.sources.session import Session
from tests.builders.catalogs import all_records
from tests.builders.pages import record, write_page
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
from spackscope.model.core.tasks import progress_to
from spackscope.model.index.load import load
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


def test_every_choice_of_sources_has_its_own_index(monkeypatch: pytest.MonkeyPatch) -> None:
    choices = [["a"], ["b"], ["a", "b"], ["b", "a"], ["ab"], ["/a"], ["./a"]]
    monkeypatch.chdir("/")
    paths = {index_path(choice, Session({"HOME": "/home/ada"})) for choice in choices}
    monkeypatch.chdir("/usr")

    assert len(paths) == len(choices)
    assert index_path(["a"], Session({"HOME": "/home/ada"})) not in paths


def test_a_kept_index_is_one_file_for_its_owner_alone(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    modes: set[int] = set()

    def look(_: int) -> None:
        modes.update(path.stat().st_mode & 0o777 for path in home.index.parent.iterdir())

    monkeypatch.setattr(os, "fsync", look)

    assert home.load().notice == ""
    assert home.files == [home.index.name]
    assert modes == {0o600}
    parts = (home.index, home.index.parent, home.cache)
    assert [path.stat().st_mode & 0o777 for path in parts] == [0o600, 0o700, 0o700]


LONG = (UNUSED_DAYS + 1) * 24 * 3600


@pytest.mark.parametrize(
    ("opened_and_written", "ahead", "is_removed"),
    [
        ((LONG, LONG), 0, True),
        ((0, LONG), 0, False),
        # The clock is ahead of the file system.
        ((0, 0), LONG, False),
    ],
)
def test_an_index_that_is_not_opened_for_long_is_removed_when_another_is_written(
    opened_and_written: tuple[int, int],
    ahead: int,
    is_removed: bool,
    home: Home,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    private_directory(str(home.index.parent))
    now = time.time()
    for name in ("other.index", "other.txt"):
        home.index.with_name(name).touch()
        opened, written = (now - ago for ago in opened_and_written)
        os.utime(home.index.with_name(name), (opened, written))
    monkeypatch.setattr(time, "time", lambda: now + ahead)

    home.load()

    kept = [home.index.name, "other.txt", *(["other.index"] if not is_removed else [])]
    assert home.files == sorted(kept)


def test_an_index_that_is_used_stays_where_reading_leaves_no_time(home: Home) -> None:
    home.load()
    index, long_ago = home.index, time.time() - LONG
    os.utime(index, (long_ago, long_ago))
    home.load()
    os.utime(index, (long_ago, index.stat().st_mtime))
    write_page(home.mirror.with_name("other"), [record(1)])
    load([str(home.mirror.with_name("other"))], Session(home.environ), keep=True)

    assert index.exists()


def test_only_a_large_mirror_is_kept_unasked(home: Home) -> None:
    catalog = home.load(keep=False)
    assert (catalog.total, catalog.notice, home.files) == (1, "", [])
    home.add(2, count=4_000)
    assert sum(path.stat().st_size for path in home.mirror.rglob("*.md")) > SMALL

    home.load(keep=False)

    assert home.files == [home.index.name]


@pytest.mark.parametrize(
    "name", ["cache", "a?b#c%20&d", os.fsdecode(b"caf\xe9"), "a'b\"c", "a\nb"]
)
def test_an_unchanged_mirror_is_only_read_again_for_a_rebuild(name: str, home: Home) -> None:
    home.environ["XDG_CACHE_HOME"] = f"/{home.cache}/{name}"
    first = home.load()

    again = home.load(keep=False)
    cached = open_cached(home.sources, Session(home.environ))

    assert cached is not None
    assert first.notice == ""
    assert made(again) == made(cached) == made(first)
    assert all_records(again) == all_records(first)
    assert made(home.load(rebuild=True)) != made(first)


def test_a_page_is_read_once_it_may_be(unprivileged: Path) -> None:
    home = Home(unprivileged)
    path = home.add(2)
    path.chmod(0)
    assert home.load().total == 1
    path.chmod(0o644)

    catalog = home.load()
    assert (catalog.total, catalog.problems) == (2, [])


def put_magic(path: Path, magic: bytes) -> None:
    path.write_bytes(magic + path.read_bytes()[len(magic) :])


def replaced(path: Path, make: Callable[[Path], object]) -> None:
    path.rename(path.with_name("elsewhere"))
    make(path)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: put_magic(path, MAGIC + bytes([SCHEMA[0] - 1])),
        lambda path: put_magic(path, MAGIC + SCHEMA[:-1] + bytes([SCHEMA[-1] ^ 1])),
        lambda path: put_magic(path, b"another magic   "),
        lambda path: path.chmod(0o620),
        lambda path: path.chmod(0o602),
        *(
            lambda path, length=length: os.truncate(path, length)
            for length in (0, 1, HEADER - 1, HEADER, HEADER + 100)
        ),
        lambda path: os.truncate(path, path.stat().st_size - 1),
        lambda path: os.truncate(path, path.stat().st_size + 1),
        lambda path: path.write_bytes(MAGIC + b"\xff" * 10_000),
        lambda path: path.unlink(),
        lambda path: replaced(path, lambda path: path.symlink_to("nowhere")),
        lambda path: replaced(path, lambda path: path.symlink_to(path.with_name("elsewhere"))),
        lambda path: replaced(path, Path.mkdir),
        lambda path: replaced(path, os.mkfifo),
    ],
)
def test_an_index_that_cannot_be_trusted_is_built_again(
    spoil: Callable[[Path], object], home: Home
) -> None:
    records = all_records(home.load())
    spoil(home.index)
    assert open_cached(home.sources, Session(home.environ)) is None

    catalog = home.load()

    assert (all_records(catalog), catalog.notice) == (records, "")
    assert open_cached(home.sources, Session(home.environ)) is not None


@pytest.mark.parametrize("seed", range(20))
def test_whichever_byte_of_an_index_changes_it_is_built_again(seed: int, home: Home) -> None:
    chance, records = random.Random(seed), all_records(home.load())
    data = bytearray(home.index.read_bytes())
    place = chance.randrange(HEADER if seed % 2 else len(data))
    data[place] ^= chance.randrange(1, 256)
    home.index.write_bytes(data)
    assert open_cached(home.sources, Session(home.environ)) is None

    catalog, again = home.load(), home.load()

    # That of another version is not damaged.
    assert catalog.was_damaged is (not 0 <= place - len(MAGIC) < len(SCHEMA))
    assert all_records(catalog) == all_records(again) == records
    assert (again.was_damaged, made(again)) == (False, made(catalog))


@pytest.mark.parametrize("end", [Path.unlink, lambda path: os.truncate(path, 0)])
def test_a_catalog_keeps_its_answers_when_its_file_is_gone(
    end: Callable[[Path], object], home: Home
) -> None:
    catalog, opened = home.load(), open_cached(home.sources, Session(home.environ))
    assert opened is not None

    end(home.index)

    assert all_records(catalog) == all_records(opened) != []


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


@pytest.mark.parametrize(
    ("hinder", "reason"),
    [
        (lambda home: home.cache.mkdir(0o555), "(permission denied)"),
        (lambda home: home.cache.touch(), "(not a directory)"),
        (lambda home: (home.cache.mkdir(), home.index.parent.touch()), "(not a directory)"),
        (lambda home: (home.index / "file").mkdir(parents=True), "(directory not empty)"),
        (lambda home: home.environ.clear(), ""),
        (lambda home: home.environ.update(XDG_CACHE_HOME="cache", HOME=""), ""),
    ],
)
def test_what_cannot_be_kept_stays_in_memory_with_a_notice(
    hinder: Callable[[Home], object], reason: str, unprivileged: Path
) -> None:
    home = Home(unprivileged)
    hinder(home)

    catalog = home.load()

    where = f"cannot write to {home.cache}/spackscope {reason}"
    why = where if reason else "there is no home directory"
    assert catalog.notice == f"the index is kept in memory: {why}"
    assert catalog.total == 1
    assert home.load(keep=False).notice == "", "a small source needs no file"
    assert open_cached(home.sources, Session(home.environ)) is None
    assert not list(home.mirror.parent.rglob("*.tmp"))


@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("patience", [0, 1, 2])
def test_a_stopped_build_leaves_the_old_index_and_nothing_else(
    keep: bool, patience: int, home: Home
) -> None:
    first = home.load()
    home.add(2)
    answers = iter([False] * patience + [True] * 9)

    with pytest.raises(Cancelled), cancelled_when(lambda: next(answers)):
        load(home.sources, Session(home.environ), keep=keep)

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
with progress_to(pause):
    load(sources, Session(environ), keep=True)
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


@pytest.mark.exhaustive
def test_eight_builds_of_one_index_at_once_all_answer_right(home: Home) -> None:
    for number in range(2, 22):
        home.add(number, count=100)
    code = """
catalog = load(sources, Session(environ), keep=True, rebuild=True)
print(catalog.total, len(catalog.hashes.first("", limit=10_000)), catalog.notice)
"""
    processes = [python(code, home.mirror, home.cache) for _ in range(8)]
    answers = [process.communicate(timeout=PATIENCE) for process in processes]

    assert answers == [("2001 2001 \n", "")] * 8
    assert home.files == [home.index.name]
    assert home.load().total == 2001


def test_of_much_to_read_the_first_documents_are_shown_before_the_end(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spackscope.model.index.load._LONG", 1)
    monkeypatch.setattr("spackscope.model.index.load._PART", 20_000)
    for number in range(2, 12):
        home.add(number, count=20)
    parts: list[int] = []
    whole = load(
        home.sources, Session(home.environ), on_late=lambda part: parts.append(part.total)
    )
    assert len(parts) == 1
    assert 0 < parts[0] < whole.total


@pytest.mark.parametrize("hanging", [{0}, {1}, {0, 2}])
def test_a_document_that_hangs_hides_no_other_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hanging: set[int]
) -> None:
    """As below a mount whose server has gone since the status of the file was read."""
    monkeypatch.setattr("spackscope.model.index.load._SILENT", 0.1)
    is_shown, parts = threading.Event(), list[Catalog]()
    sources = [str(tmp_path / str(number)) for number in range(3)]
    for number, source in enumerate(sources):
        write_page(Path(source), [record(number)])

    def read(document: Document) -> bytes:
        if document.source in {sources[number] for number in hanging}:
            assert is_shown.wait(PATIENCE)
        return read_bytes(document)

    def show(part: Catalog) -> None:
        parts.append(part)
        is_shown.set()

    monkeypatch.setattr("spackscope.model.index.build.read_bytes", read)
    whole = load(sources, Session({"HOME": str(tmp_path)}), on_late=show)
    states = parts[0].sources
    late = {sources.index(s.name) for s in states if s.failure.endswith("not answered yet")}
    assert (late, parts[0].total, whole.total) == (hanging, 3 - len(hanging), 3)
    assert not any(state.failure for state in whole.sources)


def test_of_several_sources_one_that_was_open_alone_is_ready(home: Home) -> None:
    session = Session(home.environ)
    alone = home.load()
    assert open_cached([*home.sources, "gone"], session) is None
    part = open_cached_part([*home.sources, "gone"], session)
    assert part is not None
    assert part.total == alone.total
    assert open_cached_part(home.sources, session) is None, "it is no part"
