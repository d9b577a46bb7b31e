"""A file that the user names is written completely or not at all."""

import os
import resource
import signal
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from spackscope.model.core.errors import Cancelled, Unwritable
from spackscope.model.core.tasks import cancelled_when, progress_to
from spackscope.tui.browser.export import find_output, write_lines


def write(name: object, *lines: str) -> int:
    return write_lines(find_output(str(name)), iter(lines))


def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        assert write(tmp_path / "a.txt", "é", "b") == 2
    finally:
        os.umask(before)
    assert (tmp_path / "a.txt").read_bytes() == "é\nb\n".encode()
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_an_old_file_is_replaced_through_links_and_keeps_its_mode(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o604)
    link.symlink_to(target)
    assert find_output(str(link)).size == 3
    write(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new\n"
    assert stat.S_IMODE(target.stat().st_mode) == 0o604
    dangling = tmp_path / "dangling"
    dangling.symlink_to(tmp_path / "elsewhere")
    write(dangling, "new")
    assert (tmp_path / "elsewhere").read_text() == "new\n"


def test_an_old_file_keeps_its_owner_and_group(tmp_path: Path) -> None:
    is_root = not os.geteuid()
    target = tmp_path / "config.toml"
    target.write_text("old")
    target.chmod(0o2640)
    os.chown(
        target, 12345 if is_root else -1, 12346 if is_root else [os.getgid(), *os.getgroups()][-1]
    )
    before = target.stat()
    write(target, "new")
    after = target.stat()
    assert target.read_text() == "new\n"
    assert (after.st_uid, after.st_gid) == (before.st_uid, before.st_gid)
    assert after.st_mode == before.st_mode


def test_a_file_whose_owner_would_change_stays() -> None:
    if os.geteuid():
        pytest.skip("only root can make a file of another user")
    with tempfile.TemporaryDirectory() as shared:
        os.chmod(shared, 0o777)
        target = Path(shared, "config.toml")
        target.write_text("old")
        os.seteuid(12345)
        try:
            with pytest.raises(Unwritable, match="written: its owner and group would change"):
                write(target, "new")
        finally:
            os.seteuid(0)
        assert target.read_text() == "old"
        assert os.listdir(shared) == ["config.toml"]


def test_a_name_is_relative_to_the_directory_or_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_output("a.csv").path == str(tmp_path / "here" / "a.csv")
    assert find_output("~/a.csv").path == str(tmp_path / "a.csv")
    (tmp_path / "here").rmdir()
    with pytest.raises(Unwritable, match=r"a\.csv cannot be written|no directory"):
        find_output("a.csv")


def test_what_is_no_regular_file_is_refused_in_one_sentence(tmp_path: Path) -> None:
    fifo, loop = tmp_path / "fifo", tmp_path / "loop"
    os.mkfifo(fifo)
    loop.symlink_to(loop)
    for name, sentence in (
        ("", "Type the name of a file"),
        ("  ", "Type the name of a file"),
        (tmp_path, "is a directory: add a file name"),
        (f"{tmp_path}/", "is a directory: add a file name"),
        (f"{tmp_path}/none/", "There is no directory"),
        (tmp_path / "none" / "a.txt", f"There is no directory {tmp_path}/none"),
        ("/dev/null", "/dev/null is not a regular file"),
        (fifo, "is not a regular file"),
        (loop, "cannot be written"),
        (tmp_path / ("x" * 300), "cannot be written"),
        ("a\0b", "cannot be written"),
    ):
        with pytest.raises(Unwritable) as refused:
            write(name, "x")
        assert sentence in str(refused.value)
        assert "\0" not in str(refused.value)


def test_a_directory_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    if not os.geteuid():
        pytest.skip("root can write anywhere")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(Unwritable, match="cannot be written: permission denied"):
            write(tmp_path / "a.txt", "x")
    finally:
        tmp_path.chmod(0o700)


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(Unwritable, match="cannot be written: file too large"):
            write(path, *["x" * 100] * 100)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


def test_stopping_leaves_nothing(tmp_path: Path) -> None:
    counts: list[int] = []

    def endless() -> Iterator[str]:
        while True:
            yield "x"

    with (
        progress_to(lambda _what, done, _total: counts.append(done)),
        pytest.raises(Cancelled),
        cancelled_when(lambda: bool(counts)),
    ):
        write_lines(find_output(str(tmp_path / "a.txt")), endless())
    assert not [*tmp_path.iterdir()]


def test_a_file_that_came_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    output = find_output(str(tmp_path / "a.txt"))
    (tmp_path / "a.txt").write_text("other")
    with pytest.raises(Unwritable, match="cannot be written: file exists"):
        write_lines(output, iter(["x"]))
    assert (tmp_path / "a.txt").read_text() == "other"
