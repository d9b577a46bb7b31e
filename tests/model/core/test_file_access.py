"""Files are private, written completely or not at all, and leftovers are removed."""

import errno
import os
import stat
import subprocess
import time
from pathlib import Path
from typing import Literal

import pytest

from spackscope.model.core.errors import Unwritable
from spackscope.model.core.file_access import (
    keep_private,
    private_directory,
    read_file,
    read_head,
    remove_abandoned,
    temporary_file,
    write_atomically,
    write_private,
    xdg_path,
)


@pytest.mark.parametrize(
    ("kind", "environ", "path"),
    [
        ("cache", {"XDG_CACHE_HOME": "/cache", "HOME": "/home/ada"}, "/cache/spackscope/x"),
        ("cache", {"HOME": "/home/ada"}, "/home/ada/.cache/spackscope/x"),
        *(
            ("cache", {"XDG_CACHE_HOME": odd, "HOME": "/h"}, "/h/.cache/spackscope/x")
            for odd in ("", "cache", "~/c")
        ),
        ("cache", {"XDG_CACHE_HOME": "cache", "HOME": "home"}, None),
        *(("cache", environ, None) for environ in ({"HOME": ""}, {})),
        ("state", {"XDG_STATE_HOME": "/s", "HOME": "/home/ada"}, "/s/spackscope/x"),
        ("state", {"HOME": "/home/ada"}, "/home/ada/.local/state/spackscope/x"),
        ("state", {"XDG_STATE_HOME": "s", "HOME": "/h"}, "/h/.local/state/spackscope/x"),
        *(("state", environ, None) for environ in ({"HOME": "home"}, {})),
    ],
)
def test_files_are_in_the_xdg_directories(
    kind: Literal["cache", "state"], environ: dict[str, str], path: str | None
) -> None:
    assert xdg_path(environ, kind, "x") == path


def mode(path: Path | str) -> int:
    return stat.S_IMODE(os.lstat(path).st_mode)


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_directories_and_files_are_private_under_any_umask(umask: int, tmp_path: Path) -> None:
    inner, before = tmp_path / "cache" / "spackscope" / "copies", os.umask(umask)
    try:
        private_directory(str(inner))
        with temporary_file(str(inner), "index") as file:
            assert mode(file.name) == 0o600
        write_atomically(str(inner / "index"), b"{}")
    finally:
        os.umask(before)

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


def test_what_was_left_an_hour_ago_is_removed_at_any_depth_and_never_through_links(
    tmp_path: Path,
) -> None:
    cache, other = tmp_path / "cache", tmp_path / "other"
    for directory in (cache, cache / "copies", other):
        directory.mkdir()
    (cache / "link").symlink_to(other)
    long_ago = time.time() - 3700
    for directory in (cache, cache / "copies", other):
        with temporary_file(str(directory), "index") as file:
            os.link(file.name, left := file.name.replace("index", "left"))
        os.utime(left, (long_ago, long_ago))
    (cache / "index").touch()
    os.utime(cache / "index", (long_ago, long_ago))
    with temporary_file(str(cache), "begun") as file:
        remove_abandoned(str(cache))
        assert {path.name for path in cache.rglob("*.tmp")} == {os.path.basename(file.name)}
    assert len(list(other.iterdir())) == 1
    assert sorted(path.name for path in cache.iterdir()) == ["copies", "index", "link"]
    remove_abandoned(str(tmp_path / "none"))


def content_of(path: Path) -> bytes:
    return read_file(str(path), 10)


@pytest.mark.parametrize("size", [0, 1, 9, 10])
def test_a_file_is_read_whole_up_to_its_limit(size: int, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * size)
    assert content_of(path) == path.read_bytes()
    assert read_file(str(path), 10, lambda head: head == b"x" * size) == path.read_bytes()
    assert read_head(str(path), 5) == path.read_bytes()[:5]


def test_what_is_larger_or_no_file_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "large").write_bytes(b"x" * 11)
    os.mkfifo(tmp_path / "fifo")
    for path, sentence in (
        (tmp_path / "large", "it has 11 bytes; at most 10 are read"),
        (Path("/proc/self/status"), "it is larger than the 10 bytes that are read"),
        (tmp_path / "fifo", "it is not a regular file"),
        (Path("/dev/zero"), "it is not a regular file"),
        (tmp_path, "is a directory"),
    ):
        with pytest.raises(OSError, match=f"^{sentence}$"):
            content_of(path)
    assert read_file("/proc/self/status").startswith(b"Name:")
    assert read_file(str(tmp_path / "large"), 11, lambda head: False) == b"x" * 11
    with pytest.raises(OSError, match="it is not a regular file"):
        read_head(str(tmp_path / "fifo"), 1)


def test_why_a_file_is_not_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(Unwritable) as caught:
        write_private(str(tmp_path / "file" / "state" / "x"), b"")
    assert str(caught.value) == f"cannot write to {tmp_path}/file/state (not a directory)"
    (tmp_path / "link").symlink_to("/dev/full")
    with pytest.raises(Unwritable, match="link is not a regular file"):
        write_private(str(tmp_path / "link"), b"")
