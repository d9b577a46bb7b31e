from __future__ import annotations

import hashlib
import json
import multiprocessing
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from spackscope.model.storage.cache import (
    CachedFile,
    DownloadCache,
    FileVersion,
    open_download_cache,
)

DAY = 86_400.0
KEY = "https://example.org/index.json"


def keep(cache: DownloadCache, data: bytes, key: str = KEY, stamp: str = "1") -> CachedFile:
    with cache.open_new(key) as file:
        file.write(data)
        digest = hashlib.sha256(data).hexdigest()
        return cache.store(key, file, url=key, version=FileVersion(stamp), sha256=digest)


@pytest.fixture
def cache(tmp_path: Path) -> DownloadCache:
    return open_download_cache({"XDG_CACHE_HOME": str(tmp_path / "cache")})


def test_copies_lie_in_the_cache_directory_for_the_user_alone(tmp_path: Path) -> None:
    cache = open_download_cache({"HOME": str(tmp_path)})

    path = Path(keep(cache, b"one").path)

    assert path.parent == tmp_path / ".cache" / "spackscope" / "copies"
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_copy_is_found_as_it_was_kept(cache: DownloadCache) -> None:
    fetched = keep(cache, b"one", stamp='"v1"')

    assert DownloadCache(cache.directory).find(KEY) == fetched
    assert Path(fetched.path).read_bytes() == b"one"
    assert cache.find("https://example.org/other") is None


def test_the_same_content_with_a_new_stamp_leaves_the_file_alone(cache: DownloadCache) -> None:
    first = keep(cache, b"one", stamp="1")
    second = keep(cache, b"one", stamp="2")

    assert (second.mtime_ns, second.ctime_ns) == (first.mtime_ns, first.ctime_ns)
    assert cache.find(KEY) == second
    assert second.stamp == "2"


def test_a_copy_with_new_times_and_the_old_content_is_still_good(cache: DownloadCache) -> None:
    fetched = keep(cache, b"one")
    os.utime(fetched.path, (1, 1))

    cached_file = cache.find(KEY)

    assert cached_file is not None
    assert cached_file.sha256 == fetched.sha256
    assert cache.confirm(cached_file).mtime_ns == 10**9
    assert cache.find(KEY) is not None


@pytest.mark.parametrize("content", [b"", b"two", b"one more", b"\0" * 3])
def test_a_copy_with_another_content_is_none(cache: DownloadCache, content: bytes) -> None:
    Path(keep(cache, b"one").path).write_bytes(content)

    assert cache.find(KEY) is None
    assert Path(keep(cache, b"one").path).read_bytes() == b"one"
    assert cache.find(KEY) is not None


@pytest.mark.parametrize(
    "description",
    [b"", b"{}", b"[]", b"null", b"\xff", b"[" * 100_000, b'{"size": "3"}', b'{"url": 1}'],
)
def test_a_description_that_is_foreign_or_broken_describes_none(
    cache: DownloadCache, description: bytes
) -> None:
    Path(keep(cache, b"one").path + ".json").write_bytes(description)

    assert cache.find(KEY) is None


def test_a_copy_of_which_a_part_is_gone_is_none(cache: DownloadCache) -> None:
    fetched = keep(cache, b"one")
    os.unlink(fetched.path)
    assert cache.find(KEY) is None

    fetched = keep(cache, b"one")
    os.unlink(fetched.path + ".json")
    assert cache.find(KEY) is None


def test_a_directory_instead_of_a_cached_copy_is_ignored(cache: DownloadCache) -> None:
    fetched = keep(cache, b"one")
    os.unlink(fetched.path)
    os.mkdir(fetched.path)

    assert cache.find(KEY) is None


def test_nothing_is_left_of_a_copy_that_was_not_kept(cache: DownloadCache) -> None:
    with cache.open_new(KEY) as file:
        file.write(b"half")
        assert len(os.listdir(cache.directory)) == 1

    assert os.listdir(cache.directory) == []


def test_no_name_and_no_description_holds_the_key(cache: DownloadCache) -> None:
    with cache.open_new("https://host/?token=s3cr3t") as file:
        cache.store("https://host/?token=s3cr3t", file, url="x", version=FileVersion(), sha256="")

    held = "".join(path.name + path.read_text() for path in Path(cache.directory).iterdir())
    assert "s3cr3t" not in held


def age(cache: DownloadCache, copy: CachedFile, days: float) -> None:
    when = copy.checked - days * DAY
    os.utime(copy.path + ".json", (when, when))


def test_what_was_not_used_for_long_is_removed(cache: DownloadCache) -> None:
    old, young = keep(cache, b"old", "old"), keep(cache, b"young", "young")
    age(cache, old, 31)
    age(cache, young, 29)

    cache.prune()

    assert cache.find("old") is None
    assert cache.find("young") == young
    assert len(os.listdir(cache.directory)) == 2


def test_what_is_used_again_stays(cache: DownloadCache) -> None:
    old = keep(cache, b"old", "old")
    age(cache, old, 31)

    assert cache.find("old") == old
    cache.prune()

    assert cache.find("old") == old


def test_beyond_a_total_the_oldest_goes_first_and_nothing_of_today(cache: DownloadCache) -> None:
    for number in range(4):
        age(cache, keep(cache, bytes(100), f"{number}"), number * 2)

    cache.prune(max_size=250)
    assert [cache.find(f"{number}") is not None for number in range(4)] == [
        True,
        True,
        False,
        False,
    ]

    cache.prune(max_size=1)
    assert cache.find("0") is not None


def test_a_file_that_is_being_written_is_not_swept(cache: DownloadCache) -> None:
    with cache.open_new(KEY) as file:
        os.utime(file.name, (1, 1))
        cache.prune()

        assert Path(file.name).exists()


def test_a_file_without_a_description_is_removed_when_it_is_old(cache: DownloadCache) -> None:
    fetched = keep(cache, b"one")
    os.unlink(fetched.path + ".json")
    os.utime(fetched.path, (1, 1))

    cache.prune()

    assert os.listdir(cache.directory) == []


def write_in_turn(directory: str, number: int) -> None:
    cache = DownloadCache(directory)
    for turn in range(30):
        data = f"{number} {turn % 3}".encode() * 5_000
        fetched = keep(cache, data, stamp=f"{number} {turn % 3}")
        cached_file = cache.find(KEY)
        if cached_file is not None:
            read = Path(cached_file.path).read_bytes()
            stamp = cached_file.stamp.encode()
            # Another process may have written another one since; but never half of one.
            whole = {f"{one} {two}".encode() * 5_000 for one in range(8) for two in range(3)}
            assert read in whole
            assert cached_file.sha256 == hashlib.sha256(stamp * 5_000).hexdigest()
        assert fetched.size == len(data)


def test_eight_processes_at_once_do_no_harm(cache: DownloadCache) -> None:
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=write_in_turn, args=(cache.directory, number))
        for number in range(8)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)

    assert [process.exitcode for process in processes] == [0] * 8
    assert not [name for name in os.listdir(cache.directory) if name.endswith(".tmp")]
    keep(cache, b"after all")
    assert cache.find(KEY) is not None


def test_without_a_cache_directory_copies_go_when_the_program_ends(tmp_path: Path) -> None:
    for environ in ({}, {"XDG_CACHE_HOME": "/dev/null"}):
        program = (
            "from spackscope.model.storage.cache import *\n"
            f"cache = open_download_cache({environ!r})\n"
            "with cache.open_new('key') as file:\n"
            "    cache.store('key', file, url='', version=FileVersion(), sha256='')\n"
            "assert cache.find('key') is not None\n"
            "print(cache.directory)"
        )
        answer = subprocess.run(
            [sys.executable, "-c", program],
            env={"TMPDIR": str(tmp_path), "PATH": os.environ["PATH"]},
            capture_output=True,
            check=True,
            text=True,
        )

        assert answer.stdout.startswith(str(tmp_path))
        assert list(tmp_path.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_not_used(unprivileged: Path) -> None:
    home = unprivileged / "cache"
    (home / "spackscope").mkdir(parents=True, mode=0o555)
    (home / "spackscope").chmod(0o555)

    cache = open_download_cache({"XDG_CACHE_HOME": str(home)})

    assert not cache.directory.startswith(str(home))
    keep(cache, b"one")
    assert cache.find(KEY) is not None


def test_a_description_is_plain_json(cache: DownloadCache) -> None:
    fetched = keep(cache, b"one")

    described = json.loads(Path(fetched.path + ".json").read_text())

    assert described["url"] == KEY
    assert set(described) >= {"stamp", "last_modified", "sha256", "size", "checked"}
