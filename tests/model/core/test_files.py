"""Files are private to the user, and those that killed processes left are removed."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from spackscope.model.core.errors import Unwritable
from spackscope.model.core.files import (
    keep_private,
    private_directory,
    remove_abandoned,
    temporary_file,
    tidy,
    write_atomically,
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
