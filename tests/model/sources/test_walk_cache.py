"""Names are listed again wherever they may have changed."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from spackscope.model.sources import walk_cache
from spackscope.model.sources.discover import discover
from spackscope.model.sources.document import DiscoveredSource
from spackscope.model.sources.session import Session
from spackscope.model.sources.walk_cache import MIN_DIRECTORIES
from tests.builders.pages import record, write_page


class Tree:
    """A directory with many pages, and the cache of its names."""

    def __init__(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.top, self._environ = path / "top", {"HOME": str(path)}
        for number in range(MIN_DIRECTORIES):
            write_page(self.top, [record(number)], title=f"package-{number}")
        self.page = self.top / "develop" / "package-7" / "specs.md"
        self._monkeypatch = monkeypatch

    def settle(self) -> None:
        """Let the directories be older than a minute, as far as can be told."""
        self._monkeypatch.setattr(walk_cache, "SETTLED_SECONDS", -3600)

    def discover(self, *, asks_anew: bool = False) -> DiscoveredSource:
        (found,) = discover([str(self.top)], Session(self._environ, asks_anew=asks_anew))
        return found

    def is_listed(self, *, asks_anew: bool = False) -> bool:
        """Discover the documents; return whether directories were listed."""
        listed = []
        scandir = os.scandir

        def noted(path: str) -> object:
            listed.append(path)
            return scandir(path)

        with self._monkeypatch.context() as context:
            context.setattr(os, "scandir", noted)
            found = self.discover(asks_anew=asks_anew)
        expected = self.discover(asks_anew=True)
        assert list(found.documents) == list(expected.documents)
        assert found.documents.fingerprint == expected.documents.fingerprint
        return bool(listed)

    @property
    def files(self) -> list[Path]:
        return list((self.top.parent / ".cache" / "spackscope").glob("*.walk"))


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    tree = Tree(tmp_path, monkeypatch)
    if not walk_cache.dates_directories(str(tmp_path)):
        pytest.skip("the directories of this file system need not be dated")
    return tree


def test_directories_that_stay_the_same_are_not_listed_again(tree: Tree) -> None:
    # Other programs take these for the ends of lines.
    tree.page.with_name("with\rodd\x0bnames\x85.md").write_text("---\n---\n")
    tree.settle()
    tree.discover()

    assert not tree.is_listed()
    assert tree.is_listed(asks_anew=True)
    before = tree.discover()
    tree.page.write_text("---\n---\n")
    assert not tree.is_listed()
    assert before.documents.fingerprint != tree.discover().documents.fingerprint


def add(tree: Tree) -> None:
    tree.page.with_name("more.md").touch()


def put_another_in_its_place(tree: Tree) -> None:
    directory = tree.page.parent
    shutil.copytree(directory, directory.with_name("new"))
    (directory.with_name("new") / "more.md").touch()
    shutil.copystat(directory, directory.with_name("new"))
    shutil.rmtree(directory)
    directory.with_name("new").rename(directory)


def restore_its_time(tree: Tree) -> None:
    status = tree.page.parent.stat()
    add(tree)
    os.utime(tree.page.parent, ns=(status.st_atime_ns, status.st_mtime_ns))


def damage_the_cache(tree: Tree) -> None:
    (path,) = tree.files
    path.write_bytes(path.read_bytes()[:-9])


@pytest.mark.parametrize(
    "change",
    [
        *(add, put_another_in_its_place, restore_its_time, damage_the_cache),
        lambda tree: tree.page.unlink(),
        lambda tree: tree.page.rename(tree.page.with_name("other.md")),
        lambda tree: tree.page.with_name("below").mkdir(),
    ],
)
def test_changed_directories_are_listed_again(tree: Tree, change: Callable[[Tree], None]) -> None:
    tree.settle()
    tree.discover()
    change(tree)

    assert tree.is_listed()
    assert not tree.is_listed()


def shrink(tree: Tree) -> None:
    shutil.rmtree(tree.page.parent)
    shutil.rmtree(tree.top / "develop" / "package-8")
    shutil.rmtree(tree.top / "develop" / "package-9")


@pytest.mark.parametrize(
    "change",
    [
        lambda tree: tree.page.with_name("link.md").symlink_to(tree.page),
        lambda tree: tree.page.with_name("a\nb").touch(),
        shrink,
        # What has just changed.
        None,
    ],
)
def test_what_may_change_without_a_trace_is_not_remembered(
    tree: Tree, change: Callable[[Tree], None] | None
) -> None:
    if change is not None:
        tree.settle()
        change(tree)

    assert tree.is_listed()
    assert tree.is_listed()
    assert not tree.files


def test_file_systems_that_may_not_date_directories_are_listed(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = tmp_path / "mounts"
    # As `mangle_path` of Linux writes names.
    place = str(tmp_path).replace(" ", "\\040")
    mounts.write_text(f"disk / ext4 rw 0 0\nbucket {place} fuse.s3fs rw 0 0\n")
    monkeypatch.setattr(walk_cache, "MOUNTS", str(mounts))
    tree.settle()

    assert tree.is_listed()
    assert tree.is_listed()
    assert not tree.files
