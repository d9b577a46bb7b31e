"""Files are private, written completely or not at all, and leftovers are removed."""

from __future__ import annotations

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from spackscope.model.core.errors import Cancelled, Unwritable
from spackscope.model.core.files import (
    find_output,
    keep_private,
    private_directory,
    remove_abandoned,
    temporary_file,
    tidy,
    write_atomically,
    write_lines,
    write_private,
)


def mode(path: Path | str) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_directories_and_files_are_private_under_any_umask(tmp_path: Path) -> None:
    inner = tmp_path / "cache" / "spackscope" / "copies"

    private_directory(str(inner))
    with temporary_file(str(inner), "index") as file:
        assert mode(file.name) == 0o600
    write_atomically(str(inner / "index"), b"{}")

    assert [mode(p) for p in (inner, inner.parent, inner.parent.parent)] == [0o700] * 3
    assert mode(inner / "index") == 0o600


@pytest.mark.parametrize(("before", "after"), [(0o777, 0o700), (0o2755, 0o700), (0o555, 0o500)])
def test_the_rights_of_others_to_a_directory_are_taken_away(
    before: int, after: int, tmp_path: Path
) -> None:
    directory = tmp_path / "cache"
    directory.mkdir()
    directory.chmod(before)

    private_directory(str(directory))

    assert mode(directory) & 0o777 == after


def test_a_directory_of_another_user_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    me = os.geteuid()
    monkeypatch.setattr("os.geteuid", lambda: me + 1)

    with pytest.raises(PermissionError, match="belongs to another user"):
        keep_private(str(tmp_path))


def test_a_directory_that_stays_open_to_others_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "read-only file system")

    monkeypatch.setattr("os.chmod", refuse)
    readable, writable = tmp_path / "readable", tmp_path / "writable"
    for directory, mode_ in ((readable, 0o755), (writable, 0o775)):
        directory.mkdir()
        subprocess.run(["chmod", f"{mode_:o}", directory], check=True)

    keep_private(str(readable))
    with pytest.raises(PermissionError, match="others can write to it"):
        keep_private(str(writable))


def left_by(code: str, directory: Path) -> str:
    """Run a process that makes a temporary file and is killed, and return the file's path."""
    program = (
        "import os, signal, subprocess, sys\n"
        "from spackscope.model.core.files import temporary_file\n"
        f"file = temporary_file({str(directory)!r}, 'index')\n"
        "print(file.__enter__().name, flush=True)\n"
    )
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    run = [sys.executable, "-c", program + code]
    answer = subprocess.run(run, env=environ, stdout=subprocess.PIPE, text=True, check=False)
    return answer.stdout.strip()


def test_what_a_killed_process_left_is_removed_at_once(tmp_path: Path) -> None:
    left = left_by("os.kill(os.getpid(), signal.SIGKILL)", tmp_path)
    assert os.path.exists(left)

    remove_abandoned(str(tmp_path))

    assert os.listdir(tmp_path) == []


def test_what_a_zombie_left_is_removed(tmp_path: Path) -> None:
    # The child stays a zombie until this process, which waits for it, has looked.
    pid = os.fork()
    if pid == 0:
        with temporary_file(str(tmp_path), "index"):
            os._exit(0)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    assert len(os.listdir(tmp_path)) == 1

    remove_abandoned(str(tmp_path))
    os.waitpid(pid, 0)

    assert os.listdir(tmp_path) == []


def test_a_file_of_a_running_process_stays_however_old(tmp_path: Path) -> None:
    with temporary_file(str(tmp_path), "index") as file:
        os.utime(file.name, (1, 1))

        tidy(str(tmp_path))

        assert os.listdir(tmp_path) == [os.path.basename(file.name)]


def test_a_number_given_to_another_process_since_is_not_taken_for_it(tmp_path: Path) -> None:
    with temporary_file(str(tmp_path), "index") as file:
        *front, started, end, suffix = file.name.split(".")
        earlier = ".".join([*front, str(int(started) - 1), end, suffix])
        os.rename(file.name, earlier)

    remove_abandoned(str(tmp_path))

    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    "name", [".index.elsewhere+1.{pid}.1.x.tmp", ".a.1.tmp", "..tmp", ".a.b.99999999999.1.x.tmp"]
)
def test_a_file_of_another_host_or_an_older_version_stays_for_a_day(
    name: str, tmp_path: Path
) -> None:
    path = tmp_path / name.format(pid=os.getpid())
    path.touch()

    remove_abandoned(str(tmp_path))
    assert path.exists()
    os.utime(path, (time.time() - 90_000,) * 2)
    remove_abandoned(str(tmp_path))
    assert not path.exists()


def test_tidying_looks_one_level_down_and_never_through_links(tmp_path: Path) -> None:
    cache, other = tmp_path / "cache", tmp_path / "other"
    for directory in (cache, cache / "copies", other):
        directory.mkdir()
        directory.chmod(0o755)
    left = [Path(left_by("os._exit(0)", directory)) for directory in (cache / "copies", other)]
    (cache / "old.sqlite").touch(0o644)
    (other / "file").touch(0o644)
    (cache / "link").symlink_to(other)
    (cache / "file").symlink_to(other / "file")

    tidy(str(cache))

    assert [path.exists() for path in left] == [False, True]
    assert [mode(cache / "copies"), mode(cache / "old.sqlite")] == [0o700, 0o600]
    assert [mode(other), mode(other / "file")] == [0o755, 0o644]


def test_why_a_file_is_not_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unwritable) as caught:
        write_private(str(tmp_path / "file" / "state" / "x"), b"")
    assert str(caught.value) == f"cannot write to {tmp_path}/file/state (not a directory)"
    (tmp_path / "link").symlink_to("/dev/full")
    with pytest.raises(Unwritable, match="link is not a regular file"):
        write_private(str(tmp_path / "link"), b"")


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
        ("", "The file needs a name"),
        ("  ", "The file needs a name"),
        (tmp_path, "is a directory: add the name of a file"),
        (f"{tmp_path}/", "is a directory: add the name of a file"),
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

    with pytest.raises(Cancelled):
        write_lines(
            find_output(str(tmp_path / "a.txt")),
            endless(),
            on_lines=counts.append,
            should_stop=lambda: len(counts) > 3,
        )
    assert counts == [0, 500, 1000, 1500]
    assert not [*tmp_path.iterdir()]


def test_a_file_that_came_meanwhile_is_not_replaced(tmp_path: Path) -> None:
    output = find_output(str(tmp_path / "a.txt"))
    (tmp_path / "a.txt").write_text("other")
    with pytest.raises(Unwritable, match="cannot be written: file exists"):
        write_lines(output, iter(["x"]))
    assert (tmp_path / "a.txt").read_text() == "other"
